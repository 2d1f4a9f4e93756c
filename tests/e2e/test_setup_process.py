"""``footnote setup`` as a person meets it: the real process at a terminal, against a Slack and a Discord."""

import asyncio
import os
import re
import stat
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pexpect
import pytest

from tests.fakes.discord import SPECIFICATION, FakeDiscord
from tests.fakes.model.endpoint import Fails, RecordedRequest, Says, ScriptedEndpoint
from tests.fakes.slack import FakeSlack, specs_are_here

ROOT = Path(__file__).parents[2]
STARTING = 180  # seconds; on a machine that has other things to do

pytestmark = [pytest.mark.e2e, pytest.mark.live, pytest.mark.timeout(400)]
needs_slack = pytest.mark.skipif(
    not specs_are_here(), reason="Slack's method descriptions are not beside this checkout"
)
needs_discord = pytest.mark.skipif(
    not SPECIFICATION.exists(), reason="the shared discord-openapi.json is not beside the checkout"
)


class Setup:
    """The process at a terminal of 40 columns without colours, and what was read from it."""

    def __init__(self, home: Path, *words: str, **env: str) -> None:
        kept = {name: value for name, value in os.environ.items() if name in {"PATH", "HOME", "TMPDIR"}}
        kept |= {"LANG": "C.UTF-8", "TERM": "xterm", "NO_COLOR": "1", "OMP_NUM_THREADS": "1"}
        home.mkdir(exist_ok=True)
        self.child = pexpect.spawn(
            sys.executable,
            ["-m", "bot", "setup", *words],
            env=kept | {"FOOTNOTE_HOME": str(home), "PYTHONPATH": str(ROOT), "XDG_CONFIG_HOME": str(home)} | env,
            cwd=str(home),
            dimensions=(24, 40),
            encoding="utf-8",
            timeout=STARTING,
        )
        self.screen = ""

    def until(self, *said: str) -> str:
        """What is read until these words have come, one after the other; line breaks are spaces."""
        start = len(self.screen)
        for words in said:
            self.child.expect(r"\s+".join(re.escape(word) for word in words.split()))
            self.screen += self.child.before + self.child.after
        return " ".join(self.screen[start:].split())

    def type(self, text: str) -> None:
        """A line, when the question has been asked and the terminal's echo is as it shall be."""
        self.child.sendline(text)

    def paste(self, secret: str) -> None:
        """A secret at the prompt that shows none."""
        self.until("Paste it (hidden; Enter to skip)")
        assert self.child.waitnoecho(30)
        self.child.sendline(secret)

    def interrupt(self) -> int:
        """The exit code after Ctrl-C: pressed again where it came just before the process began to read."""
        for _ in range(6):
            self.child.sendintr()
            if self.child.expect([pexpect.EOF, pexpect.TIMEOUT], timeout=STARTING / 6) == 0:
                break
        return self._close()

    def end(self) -> int:
        """The exit code, when it has ended."""
        self.child.expect(pexpect.EOF)
        return self._close()

    def _close(self) -> int:
        self.screen += str(self.child.before)
        self.child.close()
        return int(self.child.exitstatus if self.child.exitstatus is not None else -1)


@asynccontextmanager
async def serving(home: Path, slack: FakeSlack) -> AsyncIterator[None]:
    """``footnote serve``, which is told nothing but where the data directory is and that this is Slack."""
    kept = {name: value for name, value in os.environ.items() if name in {"PATH", "HOME", "TMPDIR", "LANG"}}
    sockets = slack.sockets.opened
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bot", "serve",
        env=kept | {"FOOTNOTE_HOME": str(home), "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "HTTP_PORT": "0"}
        | {"SLACK_API_URL": slack.api_url},
        cwd=str(home),
        stdout=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    try:
        await slack.until(lambda: slack.sockets.opened > sockets, STARTING, what="a connection")
        yield
    finally:
        process.terminate()
        await process.wait()


async def played(harness: Callable[[], None]) -> None:
    """A test beside the platform that answers in this loop."""
    await asyncio.to_thread(harness)


@needs_slack
async def test_slack_from_nothing_to_the_first_cited_answer(tmp_path: Path) -> None:
    home, documents = tmp_path / "home", tmp_path / "documents"
    documents.mkdir()
    (documents / "ferry.md").write_text("# Ferry\n\nThe ferry leaves at nine.")

    async with FakeSlack() as slack:

        def harness() -> None:
            setup = Setup(home, SLACK_API_URL=slack.api_url)
            setup.until("Where should Footnote answer?", "Number [1]:")
            setup.type("7")
            setup.until("Enter a number from 1 to 4.", "Number [1]:")
            setup.type("2")
            setup.until("https://api.slack.com/apps?new_app=1&manifest_json=")
            setup.paste(slack.app_token)
            setup.until("That is the app token, which comes next.")
            setup.paste("xoxb-refused-by-slack")
            setup.until("refused: invalid_auth")
            setup.paste(f"SLACK_BOT_TOKEN={slack.bot_token}")
            setup.until("all 16 granted", "Saved as SLACK_BOT_TOKEN")
            setup.paste(slack.app_token)
            setup.until("a connection was offered", "Saved as SLACK_APP_TOKEN")
            setup.until("A folder or file to read (Enter to skip):")
            setup.type(str(tmp_path / "nowhere"))
            setup.until("There is no file or folder", "A folder or file to read (Enter to skip):")
            setup.type(str(documents))
            setup.until("1 added", "Everything checked", "Slack Socket Mode", "Start it", "footnote serve")
            if "Write that file?" in _rest(setup):
                setup.type("y")
            assert setup.end() == 0
            assert "/invite @Footnote" in setup.screen
            for secret in (slack.bot_token, slack.app_token, "xoxb-refused-by-slack"):
                assert secret not in setup.screen

        await played(harness)
        async with serving(home, slack):
            question = await slack.person("alice").says("<@bot> when does the ferry leave?", "general")
            answer = await slack.reply_to(question, STARTING, until=lambda one: "[1]" in one.markdown)
            assert "The ferry leaves at nine." in answer.markdown
        assert slack.violations == []
        kept = (home / ".env").read_text()
        assert kept == f"SLACK_BOT_TOKEN={slack.bot_token}\nSLACK_APP_TOKEN={slack.app_token}\n"
        assert stat.S_IMODE((home / ".env").stat().st_mode) == 0o600


def _rest(setup: Setup) -> str:
    """What is asked at the end, if anything: without systemd there is no question."""
    setup.child.expect(["Write that file\\?", pexpect.EOF])
    setup.screen += setup.child.before + (setup.child.after if isinstance(setup.child.after, str) else "")
    return setup.screen


@needs_discord
async def test_discord_stopped_in_the_middle_and_gone_on_with(tmp_path: Path) -> None:
    home = tmp_path / "home"

    async with FakeDiscord() as discord:
        urls = {"DISCORD_API_URL": discord.api_url, "DISCORD_GATEWAY_URL": discord.gateway_url}

        def stopped() -> None:
            setup = Setup(home, "discord", **urls)
            setup.until("https://discord.com/developers/applications")
            setup.paste("1234567890123456789")
            setup.until("This is not valid. The bot token has three parts")
            setup.paste(discord.token)
            setup.until("Saved as DISCORD_BOT_TOKEN", "message content is off", "switched on and saved; s: later:")
            setup.type("")
            setup.until("message content is off", "switched on and saved; s: later:")
            setup.type("s")
            setup.until("A folder or file to read (Enter to skip):")
            assert setup.interrupt() == 130
            assert "Your settings so far are saved. footnote setup continues from there." in " ".join(
                setup.screen.split()
            )
            assert "Traceback" not in setup.screen

        def gone_on() -> None:
            setup = Setup(home, "discord", **urls)
            before = setup.until(
                "DISCORD_BOT_TOKEN is set in", "message content is on", "A folder or file to read (Enter to skip):"
            )
            assert "Paste it" not in before
            assert "applications" not in before
            assert setup.interrupt() == 130
            assert discord.token not in setup.screen

        discord.disallow_intent("message_content")
        await played(stopped)
        discord.allow_intent("message_content")
        await played(gone_on)
        assert discord.violations == []
    assert (home / ".env").read_text() == f"DISCORD_BOT_TOKEN={discord.token}\n"


async def test_a_model_is_kept_when_it_has_answered(tmp_path: Path) -> None:
    home, key = tmp_path / "home", "sk-our-own-key"

    async with ScriptedEndpoint() as endpoint:
        endpoint.answers_with(lambda request: _guarded(request, key))

        def harness() -> None:
            setup = Setup(home, "model")
            setup.until("4 another compatible endpoint", "Number [1]:")
            setup.type("4")
            for pasted in ("sk-of-somebody-else", key):
                setup.until("Address (Enter to skip):")
                setup.type(endpoint.base_url)
                setup.until("Model, such as the name it serves (Enter to skip):")
                setup.type("scripted")
                setup.paste(pasted)
                setup.until("model endpoint")
            setup.until("scripted answers", "Kept in")
            assert setup.end() == 0
            assert key not in setup.screen

        await played(harness)
        kept = (home / ".env").read_text()
        assert kept == f"LLM_BASE_URL={endpoint.base_url}\nLLM_MODEL=scripted\nLLM_API_KEY={key}\n"


def _guarded(request: RecordedRequest, key: str) -> Says | Fails:
    if request.headers.get("Authorization") != f"Bearer {key}":
        return Fails(401, "Incorrect API key")
    return Says('{"ready": true}')


def test_without_a_terminal_it_says_what_to_do_instead(tmp_path: Path) -> None:
    out, code = pexpect.run(
        f"/bin/sh -c '{sys.executable} -m bot setup </dev/null'",
        env={**os.environ, "FOOTNOTE_HOME": str(tmp_path), "PYTHONPATH": str(ROOT)},
        cwd=str(tmp_path),
        withexitstatus=True,
        timeout=STARTING,
    )
    assert code == 1
    assert b"there is no terminal to answer in" in out
