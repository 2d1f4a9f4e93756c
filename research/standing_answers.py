"""How well notices of changed answers do: a repository's documents replayed commit by commit, after 50 questions.

    git clone https://github.com/basecamp/handbook
    python -m research.standing_answers handbook

Fifty people ask one question each. A pattern finds what holds: a notice is due where that changes for somebody who
was told it. Only the first version of the comparison was written before the handbook was read.
"""

# ruff: noqa: T201, S603, S607 - a measurement is printed; git is run on a checkout of the caller's

import argparse
import asyncio
import json
import re
import subprocess
from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path

from bot.container import Footnote
from bot.digests import standing_answers
from bot.evaluation.temp_index import open_temporary
from bot.settings import load_settings
from bot.stores import SystemClock
from core.ingestion.originals import Material
from core.model.channel_settings import ChannelSettings, ChosenSettings
from core.model.conversation import Audience, Person, ThreadKey
from core.model.events import AgentCompleted
from core.ports.platform import Notice, PlatformCapabilities, ReadersToday
from core.service.question_service import Question

QUESTIONS = Path(__file__).parent / "questions" / "changed_answers.json"
FILE, FIRST, COMMITS = "benefits-and-perks.md", "545f244", 20
CHANNEL = ThreadKey("replay", "T", "C", "")
READERS = Audience(frozenset({"replay:team:T"}), public=True)


@dataclass
class Days(SystemClock):
    """A clock that a commit moves by a day."""

    days: float = 0.0

    def now(self) -> datetime:
        """The current time, so many days on."""
        return super().now() + timedelta(days=self.days)


@dataclass
class Post:
    """``PersonalNotices`` that keeps what was sent, by person."""

    sent: dict[str, list[Notice]] = field(default_factory=dict)

    async def settings(self, channel: ThreadKey) -> ChannelSettings:
        """The channel has it on."""
        return ChannelSettings(standing_answers=True)

    async def readers(self, person: Person, channel: ThreadKey) -> ReadersToday | None:
        """Everybody reads everything."""
        return ReadersToday(READERS, READERS)

    async def link(self, thread: ThreadKey, trace: str) -> str:
        """There is none."""
        return ""

    async def has_sent(self, person: Person, notice: Notice, *, since: datetime) -> bool:
        """Nobody dies here."""
        return False

    async def send(self, person: Person, notice: Notice) -> None:
        """Keep it."""
        self.sent.setdefault(person.id, []).append(notice)


@dataclass
class Asked:
    """One question: what its pattern finds, and what its asker was told of it last; empty: something else."""

    question: str
    holds: str
    told: str = ""

    def value(self, text: str) -> str:
        """What holds in this version of the file; empty where the pattern finds nothing."""
        found = re.search(self.holds, " ".join(text.split()))
        return next(filter(None, found.groups()), "") if found else ""


def git(repository: Path, *words: str) -> str:
    """What git says."""
    return subprocess.run(["git", "-C", str(repository), *words], capture_output=True, text=True, check=True).stdout


async def fill(footnote: Footnote, repository: Path, commit: str) -> None:
    """Make the documents those of a commit."""
    await footnote.ingestor.ensure_base("handbook")
    for name in git(repository, "ls-tree", "--name-only", commit).split("\n"):
        if name.endswith(".md"):
            data = git(repository, "show", f"{commit}:{name}").encode()
            await footnote.ingestor.ingest(Material(name, name, data), "handbook")


async def replay(repository: Path) -> None:
    """Ask, replay, and print what was due and what was sent."""
    found = git(repository, "log", "--reverse", "--first-parent", "--format=%H", "--", FILE).split()
    first = next(number for number, commit in enumerate(found) if commit.startswith(FIRST))
    asked = [Asked(**one) for one in json.loads(QUESTIONS.read_text(encoding="utf-8"))]
    post, clock, total = Post(), Days(), Counter[str]()
    async with open_temporary(load_settings()) as footnote:
        await fill(footnote, repository, found[first])
        footnote.capabilities["replay"] = PlatformCapabilities(notices=post)
        await footnote.settings_store.write(CHANNEL.place, ChosenSettings(standing_answers=True))
        standing = standing_answers(footnote, "replay")
        object.__setattr__(standing.check, "clock", clock)
        await standing.look()
        text = git(repository, "show", f"{found[first]}:{FILE}")
        for number, one in enumerate(asked):
            thread, person = replace(CHANNEL, thread=str(number)), Person(f"replay:p{number}")
            question = Question(one.question, thread, person, READERS, ChannelSettings().policy)
            *_, last = [event async for event in footnote.question_service.ask(question)]
            shown = last.answer.text if isinstance(last, AgentCompleted) else ""
            one.told = one.value(text) if one.value(text) in shown else ""
        total["told"] = sum(bool(one.told) for one in asked)
        for commit in found[first + 1 : first + 1 + COMMITS]:
            clock.days += 1
            await fill(footnote, repository, commit)
            post.sent.clear()
            await standing.look()
            text = git(repository, "show", f"{commit}:{FILE}")
            for number, one in enumerate(asked):
                total[verdict(one, text, post.sent.get(f"replay:p{number}", []), commit)] += 1
    for name in ("told", "due and sent", "missed", "needless", "due, but something else was sent", "nothing due"):
        print(f"{name:>36}{total[name]:>6}")


def verdict(one: Asked, text: str, notices: list[Notice], commit: str) -> str:
    """What became of one question at one commit."""
    now = one.value(text)
    due = bool(one.told and now and now != one.told)
    right = any(now and now in notice.lines[-1] for notice in notices)
    name = "due and sent" if right else "due, but something else was sent" if notices else "missed"
    if not due:
        name = "needless" if notices else "nothing due"
    if due or notices:
        print(f"{commit[:7]} {name}: {one.question} {one.told} -> {now} | {[notice.lines[-1] for notice in notices]}")
    one.told = now if due else one.told
    return name


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("repository", type=Path, help="a clone of github.com/basecamp/handbook")
    asyncio.run(replay(parser.parse_args().repository))
