"""Messages for pictures: the payloads that the real process posts for the sample documents.

The platforms are the fakes; everything else is what ``footnote serve`` is without a model.
"""

import asyncio
import os
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.fakes.discord import FakeDiscord
from tests.fakes.discord import Message as DiscordMessage
from tests.fakes.slack import FakeSlack
from tests.fakes.slack import Message as SlackMessage

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / "bot" / "samples" / "documents"
STARTING = 180.0  # seconds: the model is loaded
ASKED = "How long are driver positions kept?"
UNCLEAR = "How do I configure the timeout?"
NOT_COVERED = "Which coffee machine does the Rotterdam office have?"
ADDED = ("lift.md", b"# Lift\n\nThe lift is inspected in spring and in autumn.")

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Shown:
    """One picture: what a person wrote, if anything, and what was shown to them. ``kind``: message, modal or home."""

    name: str
    parts: tuple[Json, ...]  # Slack's blocks, Discord's components
    kind: str = "message"
    asked: str = ""
    title: str = ""  # of a modal
    text: str = ""  # streamed before the blocks, in Markdown
    tasks: tuple[Json, ...] = field(default=())
    alone: bool = False  # for one person's eyes


@asynccontextmanager
async def serving(environment: Mapping[str, str]) -> AsyncIterator[None]:
    """``footnote serve`` over the sample documents, in a home that is gone afterwards."""
    kept = {name: value for name, value in os.environ.items() if name in {"PATH", "HOME", "LANG", "TMPDIR"}}
    with tempfile.TemporaryDirectory(prefix="footnote-pictures-") as home:
        env = kept | {"FOOTNOTE_HOME": home, "HTTP_PORT": "0", "LOG_LEVEL": "error"} | dict(environment)
        await _run(env, "ingest", str(SAMPLES))
        process = await asyncio.create_subprocess_exec(sys.executable, "-m", "bot", "serve", cwd=ROOT, env=env)
        try:
            yield
        finally:
            process.send_signal(signal.SIGTERM)
            async with asyncio.timeout(60):
                await process.wait()


async def _run(env: Mapping[str, str], *words: str) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bot", *words, cwd=ROOT, env=env, stdout=asyncio.subprocess.DEVNULL
    )
    async with asyncio.timeout(STARTING):
        if await process.wait():
            raise RuntimeError(f"footnote {' '.join(words)} failed")


# --- Slack


async def slack_messages() -> list[Shown]:
    """An answer, a checkpoint, an abstention, a job's card, the Home tab and the settings of a channel."""
    async with FakeSlack() as slack:
        async with serving(slack.environment()):
            await slack.until(lambda: slack.sockets.opened, STARTING, what="a connection")
            shown = [
                await _slack_answer(slack, "answer", ASKED, "Why"),
                await _slack_answer(slack, "checkpoint", UNCLEAR, ""),
                await _slack_answer(slack, "abstention", NOT_COVERED, "Why"),
                await _slack_job(slack),
                await _slack_home(slack),
                await _slack_settings(slack),
            ]
        assert slack.violations == []
        return shown


async def _slack_answer(slack: FakeSlack, name: str, asked: str, button: str) -> Shown:
    question = await slack.person("alice").says(f"<@bot> {asked}", "general")
    answer = await slack.reply_to(question, 60, until=lambda one: button in one.buttons() or not button)
    await asyncio.sleep(1.0)  # what follows the end of a stream: its buttons
    return _slack_message(name, answer, asked=f"@Footnote {asked}")


def _slack_message(name: str, message: SlackMessage, *, asked: str = "", alone: bool = False) -> Shown:
    return Shown(
        name,
        tuple(message.blocks),
        asked=asked,
        text=message.stream_text,
        tasks=tuple(message.tasks.values()),
        alone=alone,
    )


async def _slack_job(slack: FakeSlack) -> Shown:
    ada = slack.person("ada")
    await ada.slash("/kb", "", "general")
    await ada.submits(await ada.next_modal(), {"files": [ADDED]})
    await slack.until(lambda: any("Done" in one.markdown for one in slack.visible(ada.dm)), 60, what="a job's card")
    return _slack_message("job", slack.visible(ada.dm)[-1])


async def _slack_home(slack: FakeSlack) -> Shown:
    ada = slack.person("ada")
    await ada.opens_home()
    home = await ada.home_shows("Knowledge bases")
    return Shown("home", tuple(home.blocks), kind="home")


async def _slack_settings(slack: FakeSlack) -> Shown:
    ada = slack.person("ada")
    await ada.slash("/footnote", "settings", "general")
    form = await ada.next_modal()
    return Shown("settings", tuple(form.blocks), kind="modal", title=form.payload["title"]["text"])


# --- Discord


async def discord_messages() -> list[Shown]:
    """An answer, a checkpoint, an abstention, a job's card, and the settings of a channel."""
    async with FakeDiscord() as discord:
        async with serving(discord.environment()):
            await discord.until(lambda: discord.commands.syncs, STARTING, what="a connection")
            shown = [
                await _discord_answer(discord, "answer", ASKED),
                await _discord_answer(discord, "checkpoint", UNCLEAR),
                await _discord_answer(discord, "abstention", NOT_COVERED),
                await _discord_job(discord),
                await _discord_settings(discord),
            ]
        assert discord.violations == []
        return shown


async def _discord_answer(discord: FakeDiscord, name: str, asked: str) -> Shown:
    question = await discord.person("alice").says(f"<@bot> {asked}")
    answer = await discord.reply_to(question, 60, settle=3.0)
    return _discord_message(name, answer, asked=f"@Footnote {asked}")


def _discord_message(name: str, message: DiscordMessage, *, asked: str = "", alone: bool = False) -> Shown:
    return Shown(name, tuple(message.components), asked=asked, alone=alone)


async def _discord_job(discord: FakeDiscord) -> Shown:
    ada = discord.person("ada", admin=True)
    sent = await ada.submits(await ada.slash("kb add files"), {"Files": [ADDED]})
    await discord.until(lambda: "Done" in sent.text, 60, what="a job's card")
    return _discord_message("job", sent.messages[-1], alone=True)


async def _discord_settings(discord: FakeDiscord) -> Shown:
    ada = discord.person("ada", admin=True)
    menu = await discord.reply_to(await ada.slash("footnote settings"), 60)
    return _discord_message("settings", menu, alone=True)
