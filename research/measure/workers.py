# ruff: noqa: T201 - a script speaks to its caller
"""Several workers under load, killed again and again: ``python -m research.measure.workers [--workers 2] [--kills 6]``.

One platform process and so many workers, each a real ``footnote serve`` with a home of its own, on one real
``redis-server`` and one Milvus Lite server behind its socket; the fake Slack over its real sockets. Every thread asks
three questions at once, of which the second and third wait. Every few seconds one of the workers is killed (SIGKILL)
and started again. Counted at the end: questions without an answer (lost), answers beyond one a question (doubled),
threads whose answers stand in another order than their questions, and how long people waited.
"""

import argparse
import asyncio
import random
import statistics
import tempfile
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from tests.fakes.slack import FakeSlack, Message
from tests.topologies.installation import Installation, installation
from tests.topologies.servers import server_binary
from tests.topologies.test_workers import ASKED, OFFICE, answers, conversation

SETTLE_SECONDS = 600.0
LIFE_SECONDS = (4.0, 10.0)  # of a worker between its readiness and its end


@dataclass(frozen=True)
class Outcome:
    """What became of all threads."""

    questions: int
    lost: int
    doubled: int
    disordered: int
    waited: list[float]  # seconds from a thread's first question to its last answer
    seconds: float

    def __str__(self) -> str:
        spread = statistics.quantiles(self.waited, n=20)
        return (
            f"{self.questions} questions in {self.seconds:.0f} s: {self.lost} lost, {self.doubled} doubled, "
            f"{self.disordered} threads out of order; a thread of three done after p50 {spread[9]:.1f} s, "
            f"p95 {spread[18]:.1f} s"
        )


async def measure(made: Installation, *, workers: int, threads: int, kills: int, seed: int) -> Outcome:
    """Ask, kill, wait until everything has its outcome."""
    chance = random.Random(seed)
    async with FakeSlack(retry_delays=(1.0, 5.0, 30.0)) as slack, AsyncExitStack() as stack:
        names = [f"worker-{number}" for number in range(workers)]
        await stack.enter_async_context(made.serving(slack, "platform", "platform"))
        for name in names:
            await stack.enter_async_context(made.serving(slack, name, "worker", WORKERS="4"))
        await made.ready("platform", *names)
        began = time.monotonic()
        killing = asyncio.create_task(_kill(made, slack, stack, names, kills, chance))
        roots, done = [], dict[str, float]()
        for number in range(threads):
            root = await conversation(slack, number)
            roots.append((root, time.monotonic()))
        deadline = time.monotonic() + SETTLE_SECONDS
        while (len(done) < threads or not killing.done()) and time.monotonic() < deadline:
            for root, asked in roots:
                if root.ts not in done and len(answers(slack, root)) >= len(ASKED):
                    done[root.ts] = time.monotonic() - asked
            await asyncio.sleep(0.2)
        await killing
        return _outcome(slack, [root for root, _ in roots], list(done.values()), time.monotonic() - began)


async def _kill(
    made: Installation, slack: FakeSlack, stack: AsyncExitStack, names: list[str], kills: int, chance: random.Random
) -> None:
    for number in range(kills):
        await asyncio.sleep(chance.uniform(*LIFE_SECONDS))
        name = chance.choice(names)
        made.processes[name].kill()
        await made.processes[name].wait()
        print(f"kill {number + 1} of {kills}: {name}", flush=True)
        await stack.enter_async_context(made.serving(slack, name, "worker", WORKERS="4"))


def _outcome(slack: FakeSlack, roots: list[Message], waited: list[float], seconds: float) -> Outcome:
    shown = [answers(slack, root) for root in roots]
    wanted = len(ASKED)
    return Outcome(
        questions=wanted * len(roots),
        lost=sum(max(0, wanted - len(one)) for one in shown),
        doubled=sum(max(0, len(slack.answers_to(root)) - wanted) for root in roots),
        disordered=sum(not _in_order(one) for one in shown),
        waited=waited,
        seconds=seconds,
    )


def _in_order(shown: list[Message]) -> bool:
    return all(fact in answer.markdown for fact, answer in zip(ASKED.values(), shown, strict=False))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--threads", type=int, default=40)
    parser.add_argument("--kills", type=int, default=6)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    binary = server_binary()
    if binary is None:
        raise SystemExit("There is no Redis or Valkey server here: apt-get install redis-server.")
    with tempfile.TemporaryDirectory(prefix="workers-", ignore_cleanup_errors=True) as folder:
        document = Path(folder) / "office.md"
        document.write_text(OFFICE, encoding="utf-8")
        with installation(binary, Path(folder), document) as made:
            done = measure(made, workers=given.workers, threads=given.threads, kills=given.kills, seed=given.seed)
            print(asyncio.run(done))


if __name__ == "__main__":
    main()
