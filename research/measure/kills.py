# ruff: noqa: T201 - a script speaks to its caller
"""SIGKILL at random moments of a stream of questions.

    python -m research.measure.kills [--platform slack|discord] [--processes 1] [--seed 1] [--kills 50] [--times 1]

With several processes on one home one of them is killed each time. The real process with its embedded stores and the
extractive reasoner, against the fake platform over its real sockets. Counted at the end, for each question: no outcome
(lost), more than one (doubled), the word that it was given up, another error, and stubs that nobody finished.
"""

import argparse
import asyncio
import random
import subprocess
import sys
import tempfile
import time
from asyncio.subprocess import DEVNULL
from collections import Counter
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Protocol

from core.service.answer_run import GIVEN_UP
from tests.e2e import test_discord_process
from tests.e2e.test_slack_process import ROOT, SAMPLES, end_server, environment, free_port
from tests.fakes.discord import FakeDiscord
from tests.fakes.slack import FakeSlack

QUESTIONS = ("who approves refunds?", "how are refunds paid?", "how long do refunds take?", "when is the office open?")
LIVES = (2.0, 12.0)  # seconds between a start and a kill; about half of the shorter ones end before it is warm
SETTLE_SECONDS = 600.0  # after the last kill
PEOPLE = 60


class Place(Protocol):
    """Where questions are asked, and how each of them ended."""

    fake: AbstractAsyncContextManager[Any]

    def environment(self, home: Path) -> dict[str, str]:
        """Return what the process is started with."""

    async def says(self, person: str, words: str) -> Any:
        """Ask a question."""

    def ending(self, question: Any) -> str:
        """How it ended, in one word; "lost" or "stub" as long as it has not."""


class Slack(Place):
    """A fake workspace."""

    def __init__(self) -> None:
        self.fake = self.slack = FakeSlack(retry_delays=(1.0, 10.0, 30.0))

    def environment(self, home: Path) -> dict[str, str]:
        return environment(home) | self.slack.environment() | {"HTTP_PORT": str(free_port())}

    async def says(self, person: str, words: str) -> Any:
        return await self.slack.person(person).says(words, "general")

    def ending(self, question: Any) -> str:
        shown = self.slack.answers_to(question)
        ends = [one for one in shown if not one.streaming and ("Why" in one.buttons() or "trace " in one.markdown)]
        return _ending(len(shown), [one.markdown for one in ends], cited=any(one.buttons() for one in ends))


class Discord(Place):
    """A fake server."""

    def __init__(self) -> None:
        self.fake = self.discord = FakeDiscord()

    def environment(self, home: Path) -> dict[str, str]:
        return test_discord_process.environment(self.discord, home) | {"HTTP_PORT": str(free_port())}

    async def says(self, person: str, words: str) -> Any:
        return await self.discord.person(person).says(words)

    def ending(self, question: Any) -> str:
        shown = self.discord.answers_to(question)
        ends = [one for one in shown if "Why" in one.buttons() or "trace " in one.text]
        return _ending(len(shown), [one.text for one in ends], cited=any(one.buttons() for one in ends))


def _ending(shown: int, ends: list[str], *, cited: bool) -> str:
    if any(GIVEN_UP in text for text in ends):
        return "given up"
    if len(ends) > 1:
        return "doubled"
    if shown > len(ends):
        return "stub beside the outcome" if ends else "stub"
    if not ends:
        return "lost"
    return "answered" if cited else "an error"


async def measure(
    place: Place, home: Path, *, seed: int, kills: int, questions: int, processes: int = 1
) -> Counter[str]:
    """Ask and kill, then let it finish; how many questions ended how."""
    chance = random.Random(seed)
    async with place.fake:
        environments = [place.environment(home) for _ in range(processes)]
        running = [await _start(env) for env in environments]
        lives = [chance.uniform(*LIVES) for _ in range(kills)]
        asking = asyncio.create_task(_ask(place, questions, sum(lives) / questions, chance))
        for number, life in enumerate(lives, 1):
            await asyncio.sleep(life)
            which = chance.randrange(processes)
            running[which].kill()
            await running[which].wait()
            print(f"kill {number} of {kills} after {life:.1f} s", file=sys.stderr)
            running[which] = await _start(environments[which])
        try:
            asked = await asking
            await _settled(place, asked)
        finally:
            for process in running:
                process.terminate()
                await process.wait()
        for number, question in enumerate(asked):
            if place.ending(question) != "answered":
                print(f"question {number}: {place.ending(question)}", file=sys.stderr)
        return Counter(place.ending(question) for question in asked)


async def _start(env: dict[str, str]) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bot", "serve", env=env, cwd=ROOT, stdout=DEVNULL, stderr=DEVNULL
    )


async def _ask(place: Place, count: int, pause: float, chance: random.Random) -> list[Any]:
    asked = []
    for number in range(count):
        words = f"<@bot> {chance.choice(QUESTIONS)}"
        asked.append(await place.says(f"person{number % PEOPLE}", words))
        await asyncio.sleep(pause)
    return asked


async def _settled(place: Place, asked: list[Any]) -> None:
    """Until every question has an outcome, or so long that none will come."""
    deadline = time.monotonic() + SETTLE_SECONDS
    while time.monotonic() < deadline and any(place.ending(one) in {"lost", "stub"} for one in asked):
        await asyncio.sleep(1.0)


def main() -> int:
    """Run as a command."""
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--platform", choices=("slack", "discord"), default="slack")
    given.add_argument("--processes", type=int, default=1)
    given.add_argument("--seed", type=int, default=1)
    given.add_argument("--kills", type=int, default=50)
    given.add_argument("--questions", type=int, default=300)
    given.add_argument("--times", type=int, default=1, help="run it so often, each time with the next seed")
    chosen = given.parse_args()
    endings = [_run(chosen, chosen.seed + number) for number in range(chosen.times)]
    return 0 if set().union(*endings) == {"answered"} else 1


def _run(chosen: argparse.Namespace, seed: int) -> Counter[str]:
    place: Place = Discord() if chosen.platform == "discord" else Slack()
    with tempfile.TemporaryDirectory(prefix="kills-") as folder:
        home = Path(folder) / "home"
        ingest = [sys.executable, "-m", "bot", "ingest", str(SAMPLES)]
        subprocess.run(ingest, env=environment(home), cwd=ROOT, check=True, stdout=DEVNULL, timeout=300)
        started = time.monotonic()
        sizes = {"kills": chosen.kills, "questions": chosen.questions, "processes": chosen.processes}
        found = asyncio.run(measure(place, home, seed=seed, **sizes))
        asyncio.run(end_server(home))
    told = ", ".join(f"{count} {word}" for word, count in found.most_common())
    took = time.monotonic() - started
    print(
        f"{chosen.platform}, {chosen.processes} at a time, seed {seed}: {chosen.kills} kills, "
        f"{found.total()} questions: {told}; {took:.0f} s",
        flush=True,
    )
    return found


if __name__ == "__main__":
    sys.exit(main())
