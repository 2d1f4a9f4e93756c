# ruff: noqa: T201 - a script speaks to its caller
"""Conversations as newcomers hold them, played on the fake platforms and shown as a person sees them.

    python -m research.measure.conversations [--platform slack|discord] [--show] [--only WORDS] [--home DIRECTORY]

The real process with its embedded stores and no model, over real sockets: the sample documents, and those of
../shared/data where they are there. Counted are the turns whose answer holds the facts that a right one has
(``conversation_scripts``); the rest is for reading, with --show. --home keeps what was ingested for the next time.
"""

import argparse
import asyncio
import subprocess
import sys
import tempfile
import time
from asyncio.subprocess import DEVNULL
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, assert_never

from research.measure.conversation_scripts import CONVERSATIONS, SAMPLES, Command, Conversation, Fill, Press, Say, Turn
from tests.e2e import test_discord_process as discord_process
from tests.e2e import test_slack_process as slack_process
from tests.e2e.discord_driver import DiscordDriver
from tests.e2e.driver import PlatformDriver, Seen
from tests.e2e.slack_driver import SlackDriver
from tests.fakes.discord import FakeDiscord
from tests.fakes.slack import FakeSlack

SHARED = slack_process.ROOT.parent / "shared" / "data"
PATIENCE = 60.0  # seconds for something to be seen
SILENCE = 12.0  # seconds after which nothing will come, where nothing should
SETTLED = 1.5  # seconds without a change
MOST_BUTTONS = 12

Sight = tuple[str, tuple[str, ...]]  # the text of a message or form, and its buttons


class Screen(Protocol):
    """What one platform shows."""

    driver: PlatformDriver

    def shown(self, person: str) -> Mapping[str, tuple[Sight, Any]]:
        """Return what the bot shows this person, by id, oldest first: how it looks, and the platform's message."""

    def is_working(self) -> bool:
        """Whether something is visibly not finished."""


class SlackScreen:
    """A person before Slack."""

    def __init__(self, slack: FakeSlack) -> None:
        self.slack = slack
        self.driver: PlatformDriver = SlackDriver(slack, "socket")

    def shown(self, person: str) -> Mapping[str, tuple[Sight, Any]]:
        who, me = self.slack.person(person), self.slack.bot_user_id
        mine = [one for one in self.slack.world.all_messages() if one.user == me or one.bot_id]
        found: dict[str, tuple[Sight, Any]] = {}
        for one in sorted(mine, key=lambda message: float(message.ts)):
            if one.visible and one.visible_to in (None, who.id):
                found[f"{one.channel.id} {one.ts}"] = ((one.markdown, tuple(one.buttons())), one)
        if who.modal is not None:
            found[who.modal.id] = ((who.modal.markdown, tuple(who.modal.buttons())), who.modal)
        return found

    def is_working(self) -> bool:
        world = self.slack.world
        streams = any(one.streaming for one in world.all_messages())
        return streams or "processing" in world.session_status.values() or bool(world.assistant_status)


class DiscordScreen:
    """A person before Discord."""

    def __init__(self, discord: FakeDiscord) -> None:
        self.discord = discord
        self._people = DiscordDriver(discord)
        self.driver: PlatformDriver = self._people

    def shown(self, person: str) -> Mapping[str, tuple[Sight, Any]]:
        who = self._people.person(person)
        everywhere = [one for channel in self.discord.world.channels.values() for one in channel.posts()]
        mine = [one for one in everywhere if one.author is self.discord.me and one.visible_to(who.member)]
        found: dict[str, tuple[Sight, Any]] = {
            str(one.id): ((one.text, tuple(one.buttons())), one)
            for one in sorted(mine, key=lambda message: message.id)
            if not one.loading
        }
        if who.modal is not None:
            found[f"form {id(who.modal)}"] = ((who.modal.text, ()), who.modal)
        return found

    def is_working(self) -> bool:
        everywhere = (one for channel in self.discord.world.channels.values() for one in channel.posts())
        mine = (one for one in everywhere if one.author is self.discord.me)
        return any(one.loading or one.buttons() == ["Stop"] for one in mine)  # a card has other buttons beside it


@dataclass
class Player:
    """One conversation under way."""

    screen: Screen
    conversation: Conversation
    root: Any = None
    seen: list[str] = field(default_factory=list)  # the transcript
    wrong: list[str] = field(default_factory=list)
    asked: int = 0

    async def play(self) -> None:
        """All turns, one after the other."""
        for turn in self.conversation.turns:
            before = {key: sight for key, (sight, _) in self.screen.shown(turn.by).items()}
            self.seen.append(f"\n{turn.by} {_doing(turn, first=self.root is None and not self.conversation.direct)}")
            try:
                await self._do(turn)
            except (AssertionError, LookupError) as error:
                self._judge(turn, f"    ({error})")
                continue
            self._judge(turn, await self._outcome(turn, before))

    async def _do(self, turn: Turn) -> None:
        driver = self.screen.driver
        match turn:
            case Say() if self.conversation.direct:
                await driver.says_directly(turn.by, turn.text)
            case Say():
                mention = self.root is None or turn.mentions
                said = await driver.says(turn.by, turn.text, mention=mention, thread=self.root, files=turn.files)
                self.root = self.root or said
            case Press():
                message, label = self._button(turn)
                await driver.presses(turn.by, message, label)
            case Fill():
                _, form = list(self.screen.shown(turn.by).values())[-1]
                await driver.submits(turn.by, Seen("", (), form), _fields(form, turn.text))
            case Command():
                await driver.commands(turn.by, turn.words)
            case _:
                assert_never(turn)

    def _button(self, turn: Press) -> tuple[Seen, str]:
        """Return the newest message with such a button, and its label. Raises LookupError."""
        for (text, buttons), raw in reversed(list(self.screen.shown(turn.by).values())):
            for label in buttons:
                if label.startswith(turn.label):
                    return Seen(text, buttons, raw), label
        raise LookupError(f"there is no button {turn.label!r}")

    async def _outcome(self, turn: Turn, before: Mapping[str, Sight]) -> str:
        """Return what is new or has changed on this person's screen, once it stands."""
        began = changed = time.monotonic()
        patience = SILENCE if isinstance(turn, Say) and turn.silence else PATIENCE
        latest: dict[str, Sight] = dict(before)
        while time.monotonic() < began + 2 * PATIENCE:
            now = {key: sight for key, (sight, _) in self.screen.shown(turn.by).items()}
            if now != latest:
                latest, changed = now, time.monotonic()
            quiet = time.monotonic() - changed
            begun = any(not (text.strip() or buttons) for text, buttons in now.values())  # and nothing in it yet
            if not begun and quiet > (SETTLED if latest != before else patience) and not self.screen.is_working():
                break
            await asyncio.sleep(0.1)
        news = [
            (key in before, text, buttons)
            for key, (text, buttons) in latest.items()
            if before.get(key) != (text, buttons)
        ]
        return "\n".join(_laid_out(text, buttons, edited=edited) for edited, text, buttons in news)

    def _judge(self, turn: Turn, answer: str) -> None:
        self.seen.append(answer or "    (silence)")
        wants_silence = isinstance(turn, Say) and turn.silence
        if not turn.facts and not wants_silence:
            return
        self.asked += 1
        lacking = [fact for fact in turn.facts if fact.casefold() not in answer.casefold()]
        if lacking or (wants_silence and answer):
            self.wrong.append(f"{_doing(turn)}: lacks {lacking}" if lacking else f"{_doing(turn)}: answered")


def _doing(turn: Turn, *, first: bool = False) -> str:
    match turn:
        case Say():
            files = "".join(f" ({name})" for name, _ in turn.files)
            return f"says: {'@Footnote ' if first or turn.mentions else ''}{turn.text}{files}"
        case Press():
            return f"presses [{turn.label}]"
        case Fill():
            return f"fills in: {turn.text}"
        case Command():
            return f"commands: /footnote {turn.words}"
        case _:
            assert_never(turn)


def _laid_out(text: str, buttons: Sequence[str], *, edited: bool) -> str:
    lines = [f"    {'(now) ' if edited else ''}{text}".replace("\n", "\n    ")]
    return "\n".join(lines + ["    " + " ".join(f"[{label}]" for label in buttons[:MOST_BUTTONS])] * bool(buttons))


def _fields(form: Any, text: str) -> dict[str, Any]:
    """Return the one field of a form: Discord's driver finds it, Slack's is named by its block."""
    blocks = getattr(form, "blocks", None)
    if blocks is None:
        return {"text": text}
    return {next(one["element"]["action_id"] for one in blocks if one.get("type") == "input"): text}


def _documents(name: str) -> Path:
    return slack_process.SAMPLES if name == SAMPLES else SHARED / name / "md"


def _ingested(homes: Path, name: str) -> Path:
    """Return a data directory with these documents in it, made where it is not there."""
    home = homes / name
    if not home.exists():
        ingest = [sys.executable, "-m", "bot", "ingest", str(_documents(name))]
        environment = slack_process.environment(home)
        subprocess.run(ingest, env=environment, cwd=slack_process.ROOT, check=True, stdout=DEVNULL, timeout=1_800)
    return home


@asynccontextmanager
async def _slack(home: Path) -> AsyncIterator[Screen]:
    async with FakeSlack(retry_delays=(1.0, 10.0, 30.0)) as slack, slack_process.serving(home, slack):
        yield SlackScreen(slack)


@asynccontextmanager
async def _discord(home: Path) -> AsyncIterator[Screen]:
    async with FakeDiscord() as discord, discord_process.serving(discord, home):
        yield DiscordScreen(discord)


PLATFORMS = {"slack": _slack, "discord": _discord}


async def play(platform: str, homes: Path, chosen: Sequence[Conversation]) -> AsyncIterator[Player]:
    """Each conversation once it is over; one process of the bot for each set of documents."""
    for documents in dict.fromkeys(one.documents for one in chosen):
        home = _ingested(homes, documents)
        async with PLATFORMS[platform](home) as screen:
            for conversation in (one for one in chosen if one.documents == documents):
                player = Player(screen, conversation)
                await player.play()
                yield player
            for rule in screen.driver.broken_rules:
                print(f"{platform}: {rule}", file=sys.stderr)
        await slack_process.end_server(home)


def _chosen(only: str) -> Iterator[Conversation]:
    for one in CONVERSATIONS:
        if only not in one.name:
            continue
        if _documents(one.documents).is_dir():
            yield one
        else:
            print(f"left out, its documents are not here: {one.name}", file=sys.stderr)


async def _report(platform: str, homes: Path, chosen: Sequence[Conversation], *, show: bool) -> None:
    asked = wrong = 0
    async for player in play(platform, homes, chosen):
        asked, wrong = asked + player.asked, wrong + len(player.wrong)
        print(f"\n== {player.conversation.name} ({platform}, {player.conversation.documents})", flush=True)
        print("\n".join(player.seen if show else player.wrong))
    print(f"\n{platform}: {asked - wrong} of {asked} turns with facts were answered with them", flush=True)


def main() -> None:
    """Run as a command."""
    given = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    given.add_argument("--platform", choices=sorted(PLATFORMS))
    given.add_argument("--show", action="store_true", help="print the transcripts")
    given.add_argument("--only", default="", help="conversations whose name has these words")
    given.add_argument("--home", type=Path, help="where what is ingested is kept")
    wanted = given.parse_args()
    with tempfile.TemporaryDirectory(prefix="conversations-") as folder:
        chosen = list(_chosen(wanted.only))
        for platform in [wanted.platform] if wanted.platform else sorted(PLATFORMS, reverse=True):
            asyncio.run(_report(platform, wanted.home or Path(folder), chosen, show=wanted.show))


if __name__ == "__main__":
    main()
