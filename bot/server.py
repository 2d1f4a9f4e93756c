"""Platforms and workers in one process: started together, drained together."""

import asyncio
import os
import secrets
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any

import structlog

from adapters.http_bounds import HttpBounds
from adapters.observability import logs
from adapters.observability.prometheus import PrometheusMetrics
from adapters.platform_plugin import ConnectedPlatform, split_names
from adapters.reasoners.fallback import FallbackReasoner
from adapters.redis.client import memory_use
from adapters.redis.usage import RedisAnswerCounts
from adapters.redis.web_stores import RedisWebSessions
from adapters.web.access.sign_in import new_sign_in_path
from bot.container import Footnote, open_footnote
from bot.digests import gap_digest, proposal_digest, standing_answers
from bot.garbage_collection import freeze_loaded_objects
from bot.health import application, listen
from bot.page import has_platform, open_platforms
from bot.plugins import installed_platforms
from bot.programs import open_api
from bot.readiness import Readiness
from bot.roles import ProcessRole
from bot.settings import Settings, load_settings
from bot.signals import ending_signals
from bot.store_checks import redis_memory_check
from bot.supervision import LoopWatch, SupervisedPlatform
from bot.terminal_socket import serve_terminal
from core.model.errors import ConfigurationError, StoreUnavailable, first_of_ours
from core.ports.platform import OffersKnowledge
from core.service.actions.user_actions import MemoryControls
from core.service.message_handler import MessageHandler
from core.service.message_router import AnswerLimits
from core.service.shared_stores import SharedStores
from core.service.workers import Worker

DRAIN_SECONDS = 25.0  # then unfinished work is released; the process ends within 30
LEAVE_SECONDS = 3.0  # for a platform to disconnect, which may be waiting for a server that does not answer

log = structlog.get_logger(__name__)


async def run(role: ProcessRole = ProcessRole.ALL) -> int:
    """Serve until a signal; return 0 when drained. Raises ConfigurationError if there is nothing to serve."""
    settings = load_settings()
    logs.configure(settings.log_level, settings.log_format, settings.secrets())
    problems = installed_platforms().problems
    for problem in problems:
        log.error("platform_unusable", platform=problem.name, reason=problem.detail, remedy=problem.remedy)
    if not has_platform(settings) and problems:
        raise ConfigurationError(f"{problems[0].name}: {problems[0].detail}.", remedy=problems[0].remedy)
    if not has_platform(settings):
        raise ConfigurationError(
            "No platform is configured yet.",
            remedy="Run footnote setup. Or run footnote web, which needs no platform.",
        )
    stop, name = _stop_on_signals(), _process_name()
    unknown = settings.embedding_model is not None and not settings.embedding_base_url
    models = role.works or unknown  # another model's dimension is known only once it is loaded
    try:
        async with (
            open_footnote(settings, models=models, wait=False) as footnote,
            _connect_platforms(settings, footnote, role, name) as connected,
        ):
            await _ServedPlatform(settings, footnote, role, name, connected).run(stop)
    except BaseExceptionGroup as failures:
        raise first_of_ours(failures) from None
    return 0


async def run_page(port: int | None = None, announce: Callable[[str], None] = print) -> int:
    """Serve only the page, on this port or HTTP_PORT, and announce the operator's sign-in link."""
    from bot.page import open_page

    settings = load_settings()
    settings = settings if port is None else settings.model_copy(update={"http_port": port})
    logs.configure("warning" if settings.log_level == "info" else settings.log_level, "text", settings.secrets())
    stop = _stop_on_signals()
    try:
        async with open_footnote(settings, wait=False) as footnote, open_page(settings, footnote) as page:

            async def report_ready(address: str) -> None:
                announce(address + await new_sign_in_path(RedisWebSessions(footnote.redis)))

            await _ServedPlatform(settings, footnote, ProcessRole.ALL, _process_name(), [page]).run(stop, report_ready)
    except BaseExceptionGroup as failures:
        raise first_of_ours(failures) from None
    return 0


def _process_name() -> str:
    return f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(3)}"  # a container's process always has id 1


def _stop_on_signals() -> asyncio.Event:
    """Return an event that is set when a signal asks the process to end."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in ending_signals():
        loop.add_signal_handler(name, stop.set)
    return stop


@asynccontextmanager
async def _connect_platforms(
    settings: Settings, footnote: Footnote, role: ProcessRole, name: str
) -> AsyncIterator[list[ConnectedPlatform]]:
    connected: list[ConnectedPlatform] = []
    async with AsyncExitStack() as stack:
        opened = open_platforms(settings, footnote, role, name, connected)
        connected += [await stack.enter_async_context(opening) for opening in opened]
        yield connected


class _ServedPlatform:
    """One serving process, under its name in the registry."""

    def __init__(
        self, settings: Settings, footnote: Footnote, role: ProcessRole, name: str, connected: list[ConnectedPlatform]
    ) -> None:
        self._settings = settings
        self._footnote = footnote
        self._role = role
        self._name = name
        self._connected = connected
        self._address = settings.web_address
        self._supervised = [SupervisedPlatform(platform, alone=len(connected) == 1) for platform in connected]
        self._stores = SharedStores(
            name=name,
            role=role.value,
            registry=footnote.processes,
            leases=footnote.leases,
            blobs=footnote.originals,
        )
        self._readiness = Readiness(
            footnote, self._stores, self._supervised, settings.home, lambda: _model_failure(footnote)
        )

    async def run(self, stop: asyncio.Event, report_ready: Callable[[str], Awaitable[None]] | None = None) -> None:
        """Serve until ``stop`` is set and current work is finished. Calls ``report_ready`` with our address."""
        settings, footnote = self._settings, self._footnote
        offering = [platform for platform in self._connected if isinstance(platform, OffersKnowledge)]
        footnote.capabilities.update({one.name: one.capabilities() for one in offering})
        routes = [route for platform in self._connected for route in platform.routes() if self._role.listens]
        if self._role.works:
            routes += open_api(footnote, warming=lambda: not self._stores.joined.is_set()).routes()
        bounds = HttpBounds(proxies=split_names(settings.web_proxies))
        app = application(self._readiness.report, routes, lambda: _model_failure(footnote), bounds)
        port = await listen(app, settings.http_host, settings.http_port)
        self._address = self._address or port.address
        if report_ready is not None:
            await report_ready(port.address)
        names = [platform.name for platform in self._connected]
        log.info("serving", role=self._role.value, platforms=names, process=self._name)
        try:
            with LoopWatch(asyncio.get_running_loop()):
                await self._work_until(stop)
        finally:
            await port.cleanup()
            log.info("stopped")

    async def _work_until(self, stop: asyncio.Event) -> None:
        async with asyncio.TaskGroup() as group:
            working = {group.create_task(work) for work in self._works(stop)}
            leaving = {group.create_task(platform.run(stop)) for platform in self._supervised}
            warming = group.create_task(self._warm_up())
            staying = group.create_task(self._stores.stay(stop))
            group.create_task(_drain(stop, working, leaving | {staying}, warming))

    def _works(self, stop: asyncio.Event) -> Sequence[Coroutine[Any, Any, None]]:
        """Return the work of this process: answers, jobs and digests; nothing if it only holds connections."""
        if not self._role.works:
            return []
        footnote = self._footnote
        answers = footnote.knowledge_stack.person_answers
        message_handler = MessageHandler(
            question_service=footnote.question_service,
            memory_controls=MemoryControls(footnote.memory, footnote.audit, answers),
            checkpoints=footnote.checkpoints,
            message_states=footnote.message_states,
            inbox=footnote.inbox,
            platforms={platform.name: platform for platform in self._connected},
            warming=lambda: not self._stores.joined.is_set(),
            metrics=PrometheusMetrics(),
            daily_budget=footnote.daily_budget,
            person_answers=answers,
            answer_limits=AnswerLimits(RedisAnswerCounts(footnote.redis, footnote.days), footnote.days),
        )
        lanes = self._settings.workers
        worker = Worker(
            name=self._name, inbox=footnote.inbox, message_handler=message_handler, clock=footnote.clock, lanes=lanes
        )
        digest = gap_digest(footnote)
        proposals = proposal_digest(footnote)
        return [
            worker.run(stop),
            self._do_jobs(stop),
            proposals.run(stop),
            standing_answers(footnote, self._name).run(stop),
            *([digest.run(stop)] if digest is not None else []),
        ]

    async def _do_jobs(self, stop: asyncio.Event) -> None:
        """Run jobs. They write, so they begin only when index and files are known to be the shared ones."""
        jobs = self._footnote.knowledge_stack.worker(self._name, self._footnote.capabilities)
        joined, stopping = asyncio.create_task(self._stores.joined.wait()), asyncio.create_task(stop.wait())
        try:
            await asyncio.wait({joined, stopping}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            joined.cancel()
            stopping.cancel()
        await jobs.run(stop)

    async def _warm_up(self) -> None:
        """Wait for index and models, raising their errors; the optional reranker is last. Then serve the terminal."""
        footnote = self._footnote
        await footnote.opened
        await footnote.opening.reach("files", lambda: self._stores.join(footnote.index.identity), remote=True)
        await footnote.opening.reach("index", self._report, remote=True)
        if self._role.works:
            await footnote.reranker.open()
        freeze_loaded_objects()
        if self._role.works:
            await serve_terminal(footnote, DRAIN_SECONDS)

    async def _report(self) -> None:
        log.info("ready", passages=await self._footnote.index.count())
        for notice in self._footnote.take_notices():
            log.warning("stores_lost_something", reason=notice)
        if self._settings.web_link and self._role.listens:
            path = await new_sign_in_path(RedisWebSessions(self._footnote.redis))
            log.info("page", sign_in_once=self._address.rstrip("/") + path, another="footnote web --link")
        with suppress(StoreUnavailable):  # the Redis account may lack permission
            limited = redis_memory_check(await memory_use(self._footnote.redis))
            if limited is not None:
                log.warning("redis_memory", reason=limited.detail, remedy=limited.remedy)


async def _drain(
    stop: asyncio.Event,
    working: "set[asyncio.Task[None]]",
    leaving: "set[asyncio.Task[None]]",
    warming: "asyncio.Task[None]",
    *,
    drain_seconds: float = DRAIN_SECONDS,
    leave_seconds: float = LEAVE_SECONDS,
) -> None:
    """Let the workers finish for a while after the signal, then cancel them so that they release their work."""
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
    """Return the last failure of the model endpoint; empty if it works or there is none."""
    reasoner = footnote.reasoner
    return reasoner.last_failure if isinstance(reasoner, FallbackReasoner) else ""
