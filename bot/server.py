"""Platforms and workers in one process: started together, drained together."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress

import structlog

from adapters.observability import logs
from adapters.observability import prometheus as metrics
from adapters.observability.prometheus import PrometheusMetrics
from adapters.reasoners.fallback import FallbackReasoner
from bot.container import Footnote, open_footnote
from bot.health import address_of, application, listen
from bot.platforms import ConnectedPlatform, page, platforms_of
from bot.settings import Settings, load_settings
from bot.signals import ending_signals
from bot.supervision import SupervisedPlatform
from core.ingestion.consistency import REPAIR
from core.model.errors import ConfigurationError, FootnoteError, first_of_ours
from core.ports.platform_capabilities import OffersKnowledge
from core.service.message_handler import MessageHandler
from core.service.queue_worker import Worker

DRAIN_SECONDS = 25.0  # then what is unfinished is handed back; the process is gone within 30
LEAVE_SECONDS = 3.0  # for a platform to hang up, which may be in the middle of asking a server that does not answer

log = structlog.get_logger(__name__)


async def run() -> int:
    """Serve until a signal; 0 when drained. Raises ConfigurationError when there is nothing to serve."""
    settings = load_settings()
    logs.configure(settings.log_level, settings.log_format, settings.secrets())
    if not settings.has_slack and not settings.has_discord and not settings.has_page:
        raise ConfigurationError(
            "No platform is configured yet.",
            remedy="footnote manifest slack and footnote manifest discord say how; footnote web works without.",
        )
    stop = _stop_on_signals()
    try:
        async with open_footnote(settings, wait=False) as footnote, _connect_platforms(settings, footnote) as connected:
            await _serve(settings, footnote, connected, stop)
    except BaseExceptionGroup as failures:
        raise first_of_ours(failures) from None
    return 0


async def run_page(port: int | None = None, announce: Callable[[str], None] = print) -> int:
    """Serve the page alone, on this port or HTTP_PORT, and announce the link that signs its operator in."""
    settings = load_settings()
    settings = settings if port is None else settings.model_copy(update={"http_port": port})
    logs.configure("warning" if settings.log_level == "info" else settings.log_level, "text", settings.secrets())
    stop = _stop_on_signals()
    try:
        async with open_footnote(settings, wait=False) as footnote, page(settings, footnote) as shown:

            async def listening(address: str) -> None:
                announce(address + await shown.sign_in_link())

            await _serve(settings, footnote, [shown], stop, listening)
    except BaseExceptionGroup as failures:
        raise first_of_ours(failures) from None
    return 0


def _stop_on_signals() -> asyncio.Event:
    """What is set when the process is asked to end."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in ending_signals():
        loop.add_signal_handler(name, stop.set)
    return stop


@asynccontextmanager
async def _connect_platforms(settings: Settings, footnote: Footnote) -> AsyncIterator[list[ConnectedPlatform]]:
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(opening) for opening in platforms_of(settings, footnote)]


async def _serve(
    settings: Settings,
    footnote: Footnote,
    connected: list[ConnectedPlatform],
    stop: asyncio.Event,
    listening: Callable[[str], Awaitable[None]] | None = None,
) -> None:
    message_handler = MessageHandler(
        question_service=footnote.question_service,
        memory=footnote.memory,
        checkpoints=footnote.checkpoints,
        message_states=footnote.message_states,
        inbox=footnote.inbox,
        platforms={platform.name: platform for platform in connected},
        warming=lambda: not footnote.opened.done(),
        metrics=PrometheusMetrics(),
    )
    name = f"{socket.gethostname()}-{os.getpid()}"
    worker = Worker(
        name=name, inbox=footnote.inbox, message_handler=message_handler, clock=footnote.clock, lanes=settings.workers
    )
    capabilities = {
        platform.name: platform.capabilities() for platform in connected if isinstance(platform, OffersKnowledge)
    }
    job_worker = footnote.knowledge_stack.worker(name, capabilities)
    supervised = [SupervisedPlatform(platform, alone=len(connected) == 1) for platform in connected]

    async def ready() -> dict[str, str]:
        return await _waiting_for(footnote, supervised)

    routes = [route for platform in connected for route in platform.routes()]
    runner = await listen(
        application(ready, routes, lambda: _model_failure(footnote)), settings.http_host, settings.http_port
    )
    if listening is not None:
        await listening(address_of(runner))
    log.info("serving", platforms=[platform.name for platform in connected], worker=name)
    try:
        async with asyncio.TaskGroup() as group:
            working = {group.create_task(worker.run(stop)), group.create_task(job_worker.run(stop))}
            leaving = {group.create_task(platform.run(stop)) for platform in supervised}
            warming = group.create_task(_warm_up(footnote))
            group.create_task(_drain(stop, working, leaving, warming))
    finally:
        await runner.cleanup()
        log.info("stopped")


async def _warm_up(footnote: Footnote) -> None:
    """Raises what kept index or models from opening; the reranker, which can be done without, comes last."""
    await footnote.opened
    log.info("ready", passages=await footnote.index.count())
    report = await footnote.knowledge_stack.consistency.report()
    if report.incomplete:
        log.warning("index_incomplete", documents=len(report.incomplete), remedy=f"{REPAIR} fills it again.")
    await footnote.reranker.open()


async def _drain(
    stop: asyncio.Event,
    working: "set[asyncio.Task[None]]",
    leaving: "set[asyncio.Task[None]]",
    warming: "asyncio.Task[None]",
    *,
    drain_seconds: float = DRAIN_SECONDS,
    leave_seconds: float = LEAVE_SECONDS,
) -> None:
    """After the signal, let the workers finish for a while; then cancel them, so that they hand back.

    The platforms, over which the workers speak, leave after them. What is still opening is not waited for.
    """
    await stop.wait()
    log.info("draining")
    warming.cancel()
    with suppress(asyncio.CancelledError):
        for tasks, seconds in ((working, drain_seconds), (leaving, leave_seconds)):
            if tasks:
                await asyncio.wait(tasks, timeout=seconds)
            for task in tasks:
                task.cancel()


def _model_failure(footnote: Footnote) -> str:
    """What was last wrong at the model's endpoint; empty where it works, or where there is none."""
    reasoner = footnote.reasoner
    return reasoner.last_failure if isinstance(reasoner, FallbackReasoner) else ""


async def _waiting_for(footnote: Footnote, platforms: list[SupervisedPlatform]) -> dict[str, str]:
    """What is not ready yet, each with its reason."""
    waiting = {platform.name: platform.waiting_for() for platform in platforms if platform.waiting_for()}
    if not footnote.index.ready:
        waiting["index"] = "it is still opening"
    try:
        metrics.WAITING.set(await footnote.inbox.count_waiting())
    except FootnoteError as error:
        waiting["redis"] = str(error)
    return waiting
