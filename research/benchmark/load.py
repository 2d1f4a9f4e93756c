"""Many people at once: the first sign, what an answer takes beyond its model's time, answers a second, memory.

The road is the real one: the durable inbox in the embedded Valkey, worker, message handler, presenter, agent, the
openai reasoner over a socket, the embedded index. Only the ends are not: a scripted model in another process, whose own
time is written down there, and a platform that keeps nothing but times. Each question opens a thread of its own and is
new to every cache.

``load_plan`` says which questions are asked for what, ``load_driver`` asks them, ``resource_samples`` sees what the
process uses meanwhile, ``load_figures`` makes rows of it.
"""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from bot.container import Footnote
from bot.evaluation.temp_index import open_temporary
from bot.settings import Settings
from core.service.actions.user_actions import MemoryControls
from core.service.message_handler import MessageHandler
from core.service.workers import Worker
from research.benchmark.endpoint import run_endpoint
from research.benchmark.load_driver import PATIENCE, Load
from research.benchmark.load_figures import Figures, rows_of
from research.benchmark.load_plan import Plan
from research.benchmark.resource_samples import Look
from research.benchmark.rows import ReportRow
from research.benchmark.stopwatch import StopwatchPlatform, Times
from research.benchmark.texts import SAMPLES
from research.benchmark.yardstick import Yardstick
from research.evaluation.corpus import fill
from research.evaluation.dataset_loader import read

MODEL = "scripted"
THREADS = 50
LANES = 128  # 20 answers a second of 5 seconds each are 100 under way; the rest is room for slower ones
ROUNDS = 3
THINKING_SECONDS = 2.0  # a pause before the next question is as likely to be short as that: a person takes longer


async def load_rows(
    settings: Settings,
    yardstick: Yardstick,
    *,
    answers: int,
    seconds: float = 1.0,
    threads: int = THREADS,
    lanes: int = LANES,
    rounds: int = ROUNDS,
    thinking: float = THINKING_SECONDS,
    refused: int = 0,
) -> list[ReportRow]:
    """Return the rows of load, on embedded stores in a temporary home.

    ``rounds`` times every question is asked to warm up, ``threads`` in the same instant are measured, and ``threads``
    that go on by themselves, each with up to ``thinking`` seconds before its next question. Then ``answers`` are
    counted, beside those that fill and empty the ``lanes``. A model's call takes ``seconds``. The endpoint refuses the
    last ``refused`` questions, to see that a failure is not taken for speed.
    """
    sample = await asyncio.to_thread(read, SAMPLES / "eval", None)
    asked = [query.text for query in sample.queries if query.expect == "answered" and not query.thread]
    plan = Plan(len(asked), rounds, threads, answers, min(lanes, answers), thinking)
    times = Times(plan.cases)
    with tempfile.TemporaryDirectory(prefix="footnote-load-") as folder:
        log = Path(folder) / "calls.tsv"
        async with (
            run_endpoint(log, seconds=seconds, refused_from=plan.cases + 1 - refused) as endpoint,
            open_temporary(settings.model_copy(update=_model(endpoint.base_url))) as footnote,
        ):
            await fill(footnote, sample)
            looks = await _driven(footnote, times, plan, asked, lanes)
        calls = await asyncio.to_thread(endpoint.calls)
    return rows_of(Figures(times, calls, plan, lanes, looks, yardstick))


def _model(base_url: str) -> dict[str, object]:
    return {"llm_base_url": base_url, "llm_model": MODEL, "llm_api_key": None, "llm_daily_budget": None}


async def _driven(footnote: Footnote, times: Times, plan: Plan, asked: list[str], lanes: int) -> list[Look]:
    platform = StopwatchPlatform(times, MODEL)
    load = Load(footnote, platform, plan, asked)
    async with _run_worker(footnote, platform, lanes):
        await load.warm_up()
        await load.bursts()
        await load.run_conversations()
        return await load.run_sustained()


@asynccontextmanager
async def _run_worker(footnote: Footnote, platform: StopwatchPlatform, lanes: int) -> AsyncIterator[None]:
    """Yield a worker with its message handler, as ``serve`` has one."""
    message_handler = MessageHandler(
        question_service=footnote.question_service,
        memory_controls=MemoryControls(footnote.memory, footnote.audit),
        checkpoints=footnote.checkpoints,
        message_states=footnote.message_states,
        inbox=footnote.inbox,
        platforms={platform.name: platform},
    )
    worker = Worker(
        name="load", inbox=footnote.inbox, message_handler=message_handler, clock=footnote.clock, lanes=lanes
    )
    stop = asyncio.Event()
    working = asyncio.create_task(worker.run(stop))
    try:
        yield
    finally:
        stop.set()
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE):
                await working
        working.cancel()
