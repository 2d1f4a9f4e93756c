# ruff: noqa: T201 - a script speaks to its caller
"""How long an answer takes without a model: ``python -m research.measure.answer_seconds ../shared/data/SET…``.

All sets are brought in by the product's own ingestion, and some questions of each, spread over it, are asked of all
passages together, each in a thread of its own, one after another, as ``footnote ask`` and a platform ask them. Printed
are seconds of the clock and of the processor (the whole program's) and the share of each stage. ``--vectors`` names a
folder that keeps the passages' vectors for the next run, ``--answers`` a file that the answers are written to, so that
two runs can be compared. On two cores: ``taskset -c 0,1``.
"""

import argparse
import asyncio
import json
import os
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from adapters.terminal.operator import OPERATOR
from bot.container import Footnote
from bot.evaluation.temp_index import open_temporary
from core.model.answer import Answer
from core.model.conversation import Audience, ThreadKey
from core.model.events import AgentCompleted, CheckpointReached
from core.service.question_service import Question
from research.evaluation.corpus import fill
from research.evaluation.dataset_loader import Dataset, read
from research.evaluation.datasets import spread
from tests.live.conftest import settings_for

WARM_UP = 4  # questions, which are not counted


@dataclass(frozen=True, slots=True)
class AnswerTime:
    """One question with its answer: seconds of the clock, of the processor, and by stage."""

    question: str
    answer: Answer
    clock: float
    processor: float

    def stage(self, name: str) -> float:
        """Seconds of this stage."""
        return dict(self.answer.timings).get(name, 0.0)


async def time_answer(footnote: Footnote, text: str) -> AnswerTime:
    """Ask it in a thread of its own."""
    key = ThreadKey("console", "", "measured", text[:40] + str(time.monotonic_ns()))
    question = Question(text, key, OPERATOR, Audience(unrestricted=True))
    answer: Answer | None = None
    began, used = time.perf_counter(), time.process_time()
    async for event in footnote.question_service.ask(question):
        if isinstance(event, AgentCompleted | CheckpointReached):
            answer = event.answer
    clock, processor = time.perf_counter() - began, time.process_time() - used
    assert answer is not None
    return AnswerTime(text, answer, clock, processor)


def row(name: str, times: list[AnswerTime]) -> str:
    """One line of the table."""
    clock, processor = [one.clock for one in times], [one.processor for one in times]
    figures = [float(np.percentile(of, share)) for of in (clock, processor) for share in (50, 95)]
    stages = "  ".join(
        f"{name} {float(np.percentile([one.stage(name) for one in times], 50)):.3f}"
        for name in dict.fromkeys(stage for one in times for stage, _ in one.answer.timings)
    )
    return f"{name:24} {len(times):4} " + " ".join(f"{figure:7.3f}" for figure in figures) + f"   {stages}"


async def measure(sets: list[Dataset], each: int, vectors: Path | None, answers: Path | None) -> None:
    """Fill, ask, print."""
    async with open_temporary(settings_for(Path())) as footnote:
        passages = sum([await fill(footnote, one, vectors) for one in sets])
        print(f"{passages} passages, load {os.getloadavg()[0]:.1f}, cores {len(os.sched_getaffinity(0))}")
        for query in sets[0].queries[:WARM_UP]:
            await time_answer(footnote, query.text)
        print(f"{'set':24} {'n':>4} {'p50':>7} {'p95':>7} {'cpu p50':>7} {'cpu p95':>7}   stages, p50 of the clock")
        everything: list[AnswerTime] = []
        for one in sets:
            times = [await time_answer(footnote, query.text) for query in spread(one.queries, each)]
            print(row(one.name, times), flush=True)
            everything += times
        print(row("all", everything))
        print(f"load {os.getloadavg()[0]:.1f}")
        if answers is not None:
            kept = [(one.question, one.answer.outcome, one.answer.text) for one in everything]
            answers.write_text(json.dumps(kept, indent=1))


if __name__ == "__main__":
    given = argparse.ArgumentParser()
    given.add_argument("sets", nargs="+", type=Path)
    given.add_argument("--each", type=int, default=16)
    given.add_argument("--vectors", type=Path)
    given.add_argument("--answers", type=Path)
    parsed = given.parse_args()
    asyncio.run(measure([read(path, None) for path in parsed.sets], parsed.each, parsed.vectors, parsed.answers))
