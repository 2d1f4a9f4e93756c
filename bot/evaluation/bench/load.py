"""Many people at once: the first sign, what an answer takes beyond its model's time, answers a second, memory.

The road is the real one: the durable inbox in the embedded Valkey, worker, desk, relay, agent, the openai reasoner over
a socket, the embedded index. Only the ends are not: a scripted model in another process, whose own time is written down
there, and a platform that keeps nothing but times. Each question opens a thread of its own and is new to every cache.
"""

import asyncio
import os
import resource
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from adapters.desk import Desk
from adapters.incoming import IncomingMessage, delivery
from adapters.stores.redis_connection import reaching
from adapters.worker import Worker
from bot.config import Settings
from bot.evaluation.bench.endpoint import Span, asked_as, covered, running
from bot.evaluation.bench.stopwatch import StopwatchPlatform, Times
from bot.evaluation.bench.texts import SAMPLES
from bot.evaluation.reading import read
from bot.evaluation.rows import Row, percentile
from bot.evaluation.temporary import fill, opened
from bot.wiring import Footnote
from core.answer import Outcome
from core.conversation import Person, ThreadKey
from core.errors import FootnoteError

MODEL = "scripted"
THREADS = 50
LANES = 128  # 20 answers a second of 5 seconds each are 100 under way; the rest is room for slower ones
ROUNDS = 3
PEOPLE = 500
PATIENCE = 120.0  # seconds for one question; then it counts as an error
CHECKPOINTS = 20  # looks at the memory
SETTLED = 0.3  # the share of them after which memory is compared: caches fill first
GROWTH_JUDGED = 10_000  # answers
GROWTH = 1.0  # MB for 1,000 answers; below that it is no growth


@dataclass(slots=True)
class Look:
    """The process at one moment of the sustained part."""

    answers: int
    at: float
    resident: int  # bytes
    processor: float  # seconds, all threads
    loop: float  # seconds, this thread
    redis: int  # bytes


@dataclass(frozen=True, slots=True)
class _Plan:
    """Which cases belong to what. They are numbered from 1 in the order in which they are asked."""

    questions: int
    rounds: int
    threads: int
    answers: int
    ramp: int  # under way at a time; so many are asked before the sustained part is counted, and so many after it

    @property
    def cases(self) -> int:
        """All of them."""
        return self.sustained[-1]

    @property
    def first(self) -> range:
        """Every question, several times: caches are warm then, and it is known which ones this model can answer."""
        return range(1, self.rounds * self.questions + 1)

    @property
    def burst(self) -> range:
        """Many threads at once, several times."""
        return range(self.first.stop, self.first.stop + self.rounds * self.threads)

    @property
    def sustained(self) -> range:
        """As many as there are lanes, all the time."""
        return range(self.burst.stop, self.burst.stop + self.answers + 2 * self.ramp)


@dataclass(slots=True)
class Figures:
    """What was measured, before it is judged."""

    times: Times
    calls: dict[int, list[Span]]
    plan: _Plan
    lanes: int
    looks: list[Look] = field(default_factory=list)


async def load_rows(
    settings: Settings,
    *,
    answers: int,
    seconds: float = 1.0,
    threads: int = THREADS,
    lanes: int = LANES,
    rounds: int = ROUNDS,
    refused: int = 0,
) -> list[Row]:
    """The rows of load, on embedded stores in a temporary home.

    ``rounds`` times every question is asked to warm up, and ``threads`` at once are measured. Then ``answers`` are
    counted, beside those that fill and empty the ``lanes``. A model's call takes ``seconds``. The endpoint refuses the
    last ``refused`` questions, to see that a failure is not taken for speed.
    """
    sample = await asyncio.to_thread(read, SAMPLES / "eval", None)
    asked = [query.text for query in sample.queries if query.expect == "answered" and not query.thread]
    plan = _Plan(len(asked), rounds, threads, answers, min(lanes, answers))
    with tempfile.TemporaryDirectory(prefix="footnote-load-") as folder:
        log = Path(folder) / "calls.tsv"
        async with running(log, seconds=seconds, refused_from=plan.cases + 1 - refused) as endpoint:
            model = {
                "llm_base_url": endpoint.base_url,
                "llm_model": MODEL,
                "llm_api_key": None,
                "llm_daily_budget": None,
            }
            async with opened(settings.model_copy(update=model)) as footnote:
                await fill(footnote, sample)
                figures = await _measured(footnote, lanes, plan, asked)
        figures.calls = await asyncio.to_thread(endpoint.calls)
    return _rows(figures)


async def _measured(footnote: Footnote, lanes: int, plan: "_Plan", asked: list[str]) -> Figures:
    platform = StopwatchPlatform(Times(plan.cases), MODEL)
    load = _Load(footnote, platform, asked)
    desk = Desk(
        assistant=footnote.assistant,
        memory=footnote.memory,
        checkpoints=footnote.checkpoints,
        postings=footnote.postings,
        platforms={platform.name: platform},
    )
    worker = Worker(name="load", inbox=footnote.inbox, desk=desk, clock=footnote.clock, lanes=lanes)
    figures = Figures(platform.times, {}, plan, lanes)
    stop = asyncio.Event()
    working = asyncio.create_task(worker.run(stop))
    try:
        await load.all_at_once(plan.first)
        load.keep_answered()
        for start in plan.burst[:: plan.threads]:
            await load.all_at_once(range(start, start + plan.threads))
        await load.sustained(figures)
    finally:
        stop.set()
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE):
                await working
        working.cancel()
    return figures


class _Load:
    """Puts questions into the inbox as a platform does, and waits for their outcomes."""

    def __init__(self, footnote: Footnote, platform: StopwatchPlatform, questions: list[str]) -> None:
        self._footnote = footnote
        self._platform = platform
        self._questions = questions
        self._looking = asyncio.Lock()

    def keep_answered(self) -> None:
        """From now on ask only what this model has answered each time: the case's number moves what is close."""
        count = len(self._questions)
        wrong = {(case - 1) % count for case in self._platform.times.wrong}
        kept = [question for place, question in enumerate(self._questions) if place not in wrong]
        self._questions = kept or self._questions

    async def all_at_once(self, cases: range) -> None:
        """All of these, at the same moment."""
        async with asyncio.TaskGroup() as group:
            for case in cases:
                group.create_task(self._ask(case))

    async def sustained(self, figures: Figures) -> None:
        """As many under way as there are lanes, until all cases are asked; looks at the process on the way."""
        answers, ramp = figures.plan.answers, figures.plan.ramp
        cases = iter(figures.plan.sustained)
        every = max(1, answers // CHECKPOINTS)
        times, done = self._platform.times, 0
        one_takes = [times.ended[case] - times.put[case] for case in figures.plan.burst if case not in times.wrong]
        spacing = percentile(one_takes, 0.5) / ramp if one_takes else 0.0

        async def one_after_the_other(wait: float) -> None:
            nonlocal done
            await asyncio.sleep(wait)  # spread, or they would all come to the same step at the same time
            for case in cases:
                await self._ask(case)
                done += 1
                counted = done - ramp
                if 0 <= counted <= answers and (counted % every == 0 or counted == answers):
                    with suppress(FootnoteError):  # one look less
                        figures.looks.append(await self._look(counted))

        async with asyncio.TaskGroup() as group:
            for lane in range(ramp):
                group.create_task(one_after_the_other(lane * spacing))

    async def _look(self, answers: int) -> Look:
        async with self._looking:
            at = time.monotonic()
            usage = resource.getrusage(resource.RUSAGE_SELF)
            async with reaching():
                kept: Any = await self._footnote.redis.info("memory")
            return Look(
                answers,
                at,
                _resident(),
                usage.ru_utime + usage.ru_stime,
                time.thread_time(),
                int(kept["used_memory_dataset"]),
            )

    async def _ask(self, case: int) -> None:
        thread = ThreadKey(self._platform.name, "bench", "load", f"case-{case}")
        person = Person(f"paper:person-{case % PEOPLE}", "Ada")
        text = asked_as(case, self._questions[(case - 1) % len(self._questions)])
        message = IncomingMessage(f"m{case}", thread, text, person, {}, mentions_us=True)
        ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._platform.waiting[case] = ended
        self._platform.times.put[case] = time.monotonic()
        try:
            async with asyncio.timeout(PATIENCE):
                await self._footnote.inbox.put(delivery(f"d{case}", message))
                await ended
        except TimeoutError:
            self._platform.times.wrong[case] = "no outcome in time"
        except FootnoteError as error:  # a platform would not have said "ok", and the question would come again
            self._platform.times.wrong[case] = str(error)


def _resident() -> int:
    """Bytes of this process in memory; 0 where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def _rows(figures: Figures) -> list[Row]:
    return [*_burst(figures), *_pace(figures), _errors(figures), _growth(figures)]


def _burst(figures: Figures) -> list[Row]:
    threads = figures.plan.threads
    times, cases = figures.times, _answered(figures, figures.plan.burst)
    if not cases:
        return [
            Row(f"{what}, {threads} at once", "no answer", "", "", met=False) for what in ("first sign", "overhead")
        ]
    shown = [(times.shown[case] - times.put[case]) * 1000 for case in cases]
    beyond, model = _overheads(figures, cases)
    calls = sum(len(figures.calls.get(case, ())) for case in cases) / len(cases)
    sign, over = percentile(shown, 0.95), percentile(beyond, 0.95)
    return [
        Row(
            f"first sign p95, {threads} threads at once",
            f"{sign:.0f} ms",
            f"p50 {percentile(shown, 0.5):.0f} ms",
            "under 300 ms",
            sign < 300,
        ),
        Row(
            f"answer beyond its model's time p95, {threads} at once",
            f"{over:.0f} ms (p50 {percentile(beyond, 0.5):.0f})",
            f"model {percentile(model, 0.5):.2f} s in {calls:.1f} calls",
            "under 250 ms",
            over < 250,
        ),
    ]


def _pace(figures: Figures) -> list[Row]:
    cases, looks = _answered(figures, figures.plan.sustained), figures.looks
    if not cases or len(looks) < 2:
        return [Row("answers per second, sustained", "no answer", "", "20", met=False)]
    first, last = looks[0], looks[-1]
    count, elapsed = last.answers - first.answers, last.at - first.at
    beyond, model = _overheads(figures, cases)
    right = len(cases) / len(figures.plan.sustained)
    pace, lanes = right * count / elapsed, figures.plan.ramp
    processor, loop = (
        1000 * (end - start) / count for start, end in ((first.processor, last.processor), (first.loop, last.loop))
    )
    return [
        Row(
            "answers per second, sustained",
            f"{pace:.1f} in {figures.lanes} lanes",
            f"{lanes * len(model) / sum(model):.1f} if only the model took time",
            "20",
            pace >= 20,
        ),
        Row(
            "processor time per answer, this process",
            f"{processor:.1f} ms",
            f"{loop:.1f} ms on the loop's thread",
            "",
            None,
        ),
        Row(
            "answer beyond its model's time p95, sustained",
            f"{percentile(beyond, 0.95):.0f} ms (p50 {percentile(beyond, 0.5):.0f})",
            "",
            "",
            None,
        ),
    ]


def _errors(figures: Figures) -> Row:
    """What failed, was late or was answered by the one who stands in. To abstain is an outcome, and told beside it."""
    asked = [*figures.plan.burst, *figures.plan.sustained]
    wrong = Counter(figures.times.wrong[case] for case in asked if case in figures.times.wrong)
    abstained = wrong.pop(str(Outcome.ABSTAINED), 0)
    said = "; ".join([f"{abstained} abstained", *(f"{count} {what}" for what, count in wrong.most_common(3))])
    return Row("questions that failed", f"{wrong.total()} of {len(asked):,}", said[:80], "0", not wrong)


def _growth(figures: Figures) -> Row:
    looks = figures.looks[int(SETTLED * len(figures.looks)) :]
    if len(looks) < 2:
        return Row("memory growth per 1,000 answers", "not known", "", "none", None)
    ours = _slope(looks, [look.resident for look in looks])
    redis = _slope(looks, [look.redis for look in looks])
    return Row(
        "memory growth per 1,000 answers",
        f"{ours:+.2f} MB of {looks[-1].resident / 1e6:.0f}",
        f"Redis {redis:+.2f} MB, kept 14 to 30 days",
        f"under {GROWTH:g} MB",
        ours < GROWTH if figures.plan.answers >= GROWTH_JUDGED else None,
    )


def _slope(looks: Sequence[Look], sizes: Sequence[int]) -> float:
    """MB for 1,000 answers, by least squares."""
    import numpy as np

    slope, _ = np.polyfit([look.answers for look in looks], sizes, 1)
    return float(slope) * 1000 / 1e6


def _answered(figures: Figures, cases: range) -> list[int]:
    return [case for case in cases if case not in figures.times.wrong]


def _overheads(figures: Figures, cases: Sequence[int]) -> tuple[list[float], list[float]]:
    """For each case the milliseconds that its answer took beyond its model's time, and that time in seconds."""
    times = figures.times
    model = [covered(figures.calls.get(case, ())) for case in cases]
    took = [times.ended[case] - times.put[case] for case in cases]
    return [(whole - own) * 1000 for whole, own in zip(took, model, strict=True)], model
