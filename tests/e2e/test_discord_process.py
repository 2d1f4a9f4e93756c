"""The real process, started as a person starts it, against the fake Discord: embedded stores and no key."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.e2e.discord_library import add_files
from tests.fakes.discord import SPECIFICATION, FakeDiscord

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.live,
    pytest.mark.timeout(300),
    pytest.mark.skipif(not SPECIFICATION.exists(), reason="the shared discord-openapi.json is not beside the checkout"),
]

ROOT = Path(__file__).parents[2]
START_SECONDS = 120
POLICY = """\
# Refunds

Annual plans are refunded within 30 days of purchase.

# Travel

Trains are booked in second class.
"""


HANDBOOK = """\
# Router

The router is reset by holding its button for ten seconds.
"""

GUIDE = "<html><title>Printer</title><body><h1>Printer</h1><p>The printer takes A4 paper.</p></body></html>"


def environment(discord: FakeDiscord, home: Path) -> dict[str, str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("SLACK_", "LLM_", "REDIS_"))}
    clean |= {"FETCH_ALLOW_PRIVATE": discord.url.removeprefix("http://")}  # what is attached there is a page to fetch
    clean |= {"DISCORD_ALLOWED_BOTS": str(discord.bot("deploybot").id)}
    return clean | discord.environment() | {"FOOTNOTE_HOME": str(home), "HTTP_PORT": "0", "OMP_NUM_THREADS": "1"}


async def run(discord: FakeDiscord, home: Path, *words: str) -> str:
    """A command of Footnote, to its end; what it printed."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bot", *words, cwd=ROOT, env=environment(discord, home),
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    async with asyncio.timeout(START_SECONDS):
        printed, _ = await process.communicate()
    assert process.returncode == 0, printed.decode()
    return printed.decode()


@asynccontextmanager
async def serving(discord: FakeDiscord, home: Path, *, end: signal.Signals = signal.SIGTERM) -> AsyncIterator[Path]:
    """``footnote serve`` until the block ends; the file that it logs to."""
    log = home / f"serve-{discord.identifies}.log"
    with log.open("wb") as out:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "bot", "serve", cwd=ROOT, env=environment(discord, home), stdout=out, stderr=out
        )
    try:
        before = discord.identifies
        await discord.until(lambda: discord.identifies > before and discord.is_connected(), START_SECONDS, what="a bot")
        yield log
    finally:
        if process.returncode is None:
            process.send_signal(end)
        async with asyncio.timeout(120):
            await process.wait()


@pytest.fixture
async def discord() -> AsyncIterator[FakeDiscord]:
    async with FakeDiscord() as server:
        yield server
        assert server.violations == []


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "policy.md").write_text(POLICY, encoding="utf-8")
    return tmp_path


async def test_from_nothing_to_a_cited_answer_and_on_after_a_kill(discord: FakeDiscord, home: Path) -> None:
    await run(discord, home, "ingest", str(home / "policy.md"))
    alice = discord.person("alice")
    async with serving(discord, home, end=signal.SIGKILL) as log:
        asked = await alice.says("<@bot> within how many days are annual plans refunded?")
        answer = await discord.reply_to(asked, 60)
        assert "30 days" in answer.text
        assert "[1]" in answer.text
        assert "[1] Refunds" in answer.text
    async with serving(discord, home) as again:
        quotes = await alice.clicks(answer, "Show quotes")
        await discord.until(lambda: "Annual plans are refunded within 30 days" in quotes.text, 60, what="the quote")
        follow_up = await alice.says("and how are trains booked?", thread=asked)
        assert "second class" in (await discord.reply_to(follow_up, 60)).text
        await _an_admin_adds_files(discord)
    assert discord.token not in log.read_text() + again.read_text()
    assert discord.pings() == []


async def _an_admin_adds_files(discord: FakeDiscord) -> None:
    """Attached files go into the knowledge while it answers, and come out again: the same process plays it on."""
    ada, alice = discord.person("ada", admin=True), discord.person("alice")
    files = (("handbook.md", HANDBOOK.encode()), ("broken.pdf", b"%PDF-1.4 nothing"))
    given = await add_files(ada, *files)
    await discord.until(lambda: "Done" in given.text, 60, what="the end of the job")
    assert "1 added, 1 failed" in given.text
    assert [card.buttons() for card in given.messages] == [[]]
    page = await alice.says("Our guide to the printer is here.", files=[("printer.html", GUIDE.encode())])
    fetched = await ada.slash("kb add link", link=page.attachments[0].url)
    await discord.until(lambda: "Done" in fetched.text and "1 added" in fetched.text, 60, what="the page")
    asked = await discord.bot("deploybot").says("<@bot> which paper does the printer take?")
    assert "A4" in (await discord.reply_to(asked, 60)).text
    asked = await alice.says("<@bot> how is the router reset?")
    assert "ten seconds" in (await discord.reply_to(asked, 60)).text
    confirm = await discord.reply_to(await ada.slash("kb sources remove", source="Router"), 60)
    await ada.clicks(confirm, "Remove it")
    await discord.until(lambda: confirm.buttons() == [], 60, what="the outcome of the removal")
    again = await discord.reply_to(await alice.says("<@bot> how is the router reset?"), 60)
    assert "ten seconds" not in again.text
