# ruff: noqa: T201 - a script speaks to its caller
"""SIGKILL at random moments of a stream of questions: ``python -m research.measure.kills [--seed N] [--kills 50]``.

The real process with its embedded stores and the extractive reasoner, against the fake Slack over its real sockets.
Counted at the end, for each question: no outcome (lost), more than one (doubled), the word that it was given up,
another error, and stubs that nobody finished.
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
from pathlib import Path

from core.service.answer_run import GIVEN_UP
from tests.e2e.test_slack_process import ROOT, SAMPLES, end_server, environment, free_port
from tests.fakes.slack import FakeSlack, Message

QUESTIONS = ("who approves refunds?", "how are refunds paid?", "how long do refunds take?", "when is the office open?")
LIVES = (2.0, 12.0)  # seconds between a start and a kill; about half of the shorter ones end before it is warm
SETTLE_SECONDS = 600.0  # after the last kill
PEOPLE = 60


async def measure(home: Path, *, seed: int, kills: int, questions: int) -> Counter[str]:
    """Ask and kill, then let it finish; how many questions ended how."""
    chance = random.Random(seed)
    async with FakeSlack(retry_delays=(1.0, 10.0, 30.0)) as slack:
        env = environment(home) | slack.environment() | {"HTTP_PORT": str(free_port())}
        lives = [chance.uniform(*LIVES) for _ in range(kills)]
        asking = asyncio.create_task(_ask(slack, questions, sum(lives) / questions, chance))
        for number, life in enumerate(lives, 1):
            process = await _start(env)
            await asyncio.sleep(life)
            process.kill()
            await process.wait()
            print(f"kill {number} of {kills} after {life:.1f} s", file=sys.stderr)
        process = await _start(env)
        try:
            asked = await asking
            await _settled(slack, asked)
        finally:
            process.terminate()
            await process.wait()
        for question in asked:
            if _ending(slack, question) != "answered":
                print(f"{_ending(slack, question)}: {slack.describe(question)}", file=sys.stderr)
        return Counter(_ending(slack, question) for question in asked)


async def _start(env: dict[str, str]) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bot", "serve", env=env, cwd=ROOT, stdout=DEVNULL, stderr=DEVNULL
    )


async def _ask(slack: FakeSlack, count: int, pause: float, chance: random.Random) -> list[Message]:
    asked = []
    for number in range(count):
        words = f"<@bot> {chance.choice(QUESTIONS)}"
        asked.append(await slack.person(f"person{number % PEOPLE}").says(words, "general"))
        await asyncio.sleep(pause)
    return asked


async def _settled(slack: FakeSlack, asked: list[Message]) -> None:
    """Until every question has an outcome, or so long that none will come."""
    deadline = time.monotonic() + SETTLE_SECONDS
    while time.monotonic() < deadline and any(_ending(slack, one) in {"lost", "stub"} for one in asked):
        await asyncio.sleep(1.0)


def _ending(slack: FakeSlack, question: Message) -> str:
    shown = slack.answers_to(question)
    ends = [one for one in shown if not one.streaming and ("Why" in one.buttons() or "trace " in one.markdown)]
    if any(GIVEN_UP in one.markdown for one in ends):
        return "given up"
    if len(ends) > 1:
        return "doubled"
    if len(shown) > len(ends):
        return "stub beside the outcome" if ends else "stub"
    if not ends:
        return "lost"
    cited = any(one.buttons() for one in ends)
    return "answered" if cited else "an error"


def main() -> int:
    """Run as a command."""
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--seed", type=int, default=1)
    given.add_argument("--kills", type=int, default=50)
    given.add_argument("--questions", type=int, default=300)
    chosen = given.parse_args()
    with tempfile.TemporaryDirectory(prefix="kills-") as folder:
        home = Path(folder) / "home"
        ingest = [sys.executable, "-m", "bot", "ingest", str(SAMPLES)]
        subprocess.run(ingest, env=environment(home), cwd=ROOT, check=True, stdout=DEVNULL, timeout=300)
        started = time.monotonic()
        found = asyncio.run(measure(home, seed=chosen.seed, kills=chosen.kills, questions=chosen.questions))
        asyncio.run(end_server(home))
    told = ", ".join(f"{count} {word}" for word, count in found.most_common())
    took = time.monotonic() - started
    print(f"seed {chosen.seed}: {chosen.kills} kills, {found.total()} questions: {told}; {took:.0f} s")
    return 0 if set(found) == {"answered"} else 1


if __name__ == "__main__":
    sys.exit(main())
