"""Redis and its catalog, which every command opens and which suffice for most admin commands.

Servers that are still starting are waited for, and losses of the stores are noticed.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from adapters.files.blob_store import FolderBlobStore
from adapters.redis.catalog import RedisCatalog
from adapters.redis.client import connect
from adapters.redis.embedded_server import EmbeddedValkey
from adapters.redis.kb_stores import RedisJobStore, RedisScheduleStore
from adapters.redis.memory import RedisMemory
from adapters.redis.processes import RedisNamedLeases
from adapters.redis.schema import check_schema
from adapters.redis.web_stores import RedisApiTokens
from bot.home import secure_home
from bot.settings import Settings
from core.ingestion.change_ledger import ChangeLedger, RecordedCatalog
from core.model.clock import Clock
from core.model.errors import ConfigurationError, StoreRefused, StoreUnavailable
from core.ports.catalog import BlobStore
from core.service.lost_changes import LostChanges

if TYPE_CHECKING:
    from redis.asyncio import Redis

    from adapters.redis.inbox import RedisInbox
    from adapters.redis.memory import RedisCheckpoints
    from adapters.redis.message_state import RedisMessageStateStore
    from adapters.redis.question_log import RedisFeedbackStore
    from adapters.redis.settings import RedisAudit, RedisChannelSettingsStore
    from core.ports.inbox import NamedLeases, ProcessRegistry
    from core.ports.memory import Memory
    from core.ports.usage import QuestionLog, TraceStore

RETRY_SECONDS = (1.0, 2.0, 5.0)  # the last one repeats

log = logging.getLogger(__name__)


class SystemClock(Clock):
    """The machine's clock."""

    def now(self) -> datetime:
        """Return the current time in UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Return monotonic seconds."""
        return monotonic()


class StoreStartup:
    """The stores that the startup waits for, by name, as of their last attempt."""

    def __init__(self, notices: list[str], *, patient: bool) -> None:
        """Begin with these notices. If ``patient``, wait for servers, as ``serve`` does; otherwise raise at once."""
        self._patient = patient
        self._reasons: dict[str, str] = {}
        self.notices = notices  # losses of the stores, each in one line

    def readiness_problems(self) -> dict[str, str]:
        """Return the reason for each store that is not open."""
        return dict(self._reasons)

    async def reach(self, name: str, open_it: Callable[[], Awaitable[None]], *, remote: bool) -> None:
        """Open a store. If patient, retry a remote one until it answers.

        Raises StoreRefused and ConfigurationError, which waiting cannot fix, and StoreUnavailable if not patient.
        """
        for attempt in range(1_000_000):
            try:
                await open_it()
            except StoreRefused:
                raise
            except StoreUnavailable as error:
                if not (self._patient and remote):
                    raise
                if self._reasons.get(name) != str(error):
                    log.warning("waiting_for_store", extra={"store": name, "reason": str(error)})
                self._reasons[name] = str(error)
                await asyncio.sleep(RETRY_SECONDS[min(attempt, len(RETRY_SECONDS) - 1)])
            else:
                self._reasons.pop(name, None)
                return


@dataclass(frozen=True)
class Stores:
    """Redis and its stores, without index and models. Each store is created at its first use."""

    settings: Settings
    stack: AsyncExitStack  # closes everything opened later
    redis: "Redis"
    kept: RedisCatalog  # without the ledger
    ledger: ChangeLedger
    catalog: RecordedCatalog
    lost_changes: LostChanges
    startup_notices: list[str]  # problems of Redis itself noticed at its start

    @property
    def clock(self) -> Clock:
        """The machine's clock."""
        return SystemClock()

    @cached_property
    def memory(self) -> "Memory":
        """Conversations, filtered by what may be read now."""
        from core.service.visibility import VisibleMemory

        return VisibleMemory(RedisMemory(self.redis), self.catalog, self.catalog.record_end)

    @cached_property
    def checkpoints(self) -> "RedisCheckpoints":
        """Parked inquiries."""
        from adapters.redis.memory import RedisCheckpoints

        return RedisCheckpoints(self.redis)

    @cached_property
    def trace_store(self) -> "TraceStore":
        """Traces of runs, also exported if that is configured."""
        from adapters.redis.usage import RedisTraceStore

        trace_store = RedisTraceStore(self.redis)
        if not self.settings.otel_exporter_otlp_endpoint:
            return trace_store
        from adapters.observability.opentelemetry import TracingStore, tracer_to

        tracer, shut_down = tracer_to(self.settings.otel_exporter_otlp_endpoint)
        self.stack.push_async_callback(asyncio.to_thread, shut_down)
        return TracingStore(trace_store, tracer)

    @cached_property
    def message_states(self) -> "RedisMessageStateStore":
        """Records about posted messages."""
        from adapters.redis.message_state import RedisMessageStateStore

        return RedisMessageStateStore(self.redis)

    @cached_property
    def leases(self) -> "NamedLeases":
        """Leases by name."""
        from adapters.redis.processes import RedisNamedLeases

        return RedisNamedLeases(self.redis)

    @cached_property
    def processes(self) -> "ProcessRegistry":
        """The processes that serve."""
        from adapters.redis.processes import RedisProcessRegistry

        return RedisProcessRegistry(self.redis)

    @cached_property
    def inbox(self) -> "RedisInbox":
        """Messages that wait for an answer."""
        from adapters.redis.inbox import RedisInbox

        return RedisInbox(self.redis)

    @cached_property
    def settings_store(self) -> "RedisChannelSettingsStore":
        """Settings chosen in channels."""
        from adapters.redis.settings import RedisChannelSettingsStore

        return RedisChannelSettingsStore(self.redis)

    @cached_property
    def audit(self) -> "RedisAudit":
        """The audit log of admins' actions and denied attempts."""
        from adapters.redis.settings import RedisAudit

        return RedisAudit(self.redis)

    @cached_property
    def feedback(self) -> "RedisFeedbackStore":
        """Feedback on answers."""
        from adapters.redis.question_log import RedisFeedbackStore

        return RedisFeedbackStore(self.redis)

    @cached_property
    def questions(self) -> "QuestionLog":
        """The log of how questions ended."""
        from adapters.redis.question_log import RedisQuestionLog

        return RedisQuestionLog(self.redis)


@asynccontextmanager
async def open_catalog(settings: Settings) -> AsyncIterator[Stores]:
    """Open only Redis, for commands that need nothing else."""
    async with AsyncExitStack() as stack:
        opened = await enter_catalog(settings, stack)
        await check_schema(opened.redis)
        yield opened


async def enter_catalog(settings: Settings, stack: AsyncExitStack) -> Stores:
    """Open the data directory and Redis until ``stack`` closes. Does not check the schema."""
    await asyncio.to_thread(_secure_home, settings.home)
    notices: list[str] = []
    redis = await _redis(settings, stack, notices)
    return _stores(settings, stack, redis, notices)


async def has_documents(settings: Settings) -> bool:
    """Return whether anything is indexed, from the catalog alone. Raises StoreUnavailable."""
    if settings.redis_url is None and not (settings.home / "valkey").is_dir():
        return False
    async with open_catalog(settings) as opened:
        if await opened.ledger.number() > await opened.kept.changes():
            return True  # changes that Redis has lost
        bases = await opened.kept.bases()
        return bool(await opened.kept.documents(frozenset(base.name for base in bases)))


def _secure_home(home: Path) -> None:
    """Create the data directory, only for its owner. Raises ConfigurationError."""
    try:
        tightened = secure_home(home)
    except OSError as error:
        raise ConfigurationError(
            f"The data directory {home} cannot be used: {error.strerror}.",
            remedy="Set FOOTNOTE_HOME to a folder that is writable and has free space.",
        ) from None
    if tightened:
        log.warning("home_tightened", extra={"entries": tightened, "home": str(home)})


def _stores(settings: Settings, stack: AsyncExitStack, redis: "Redis", notices: list[str]) -> Stores:
    kept, ledger = RedisCatalog(redis), ChangeLedger(blob_store(settings, "ledger"))
    lost_changes = LostChanges(
        catalog=kept,
        ledger=ledger,
        memory=RedisMemory(redis),
        jobs=RedisJobStore(redis),
        schedules=RedisScheduleStore(redis),
        leases=RedisNamedLeases(redis),
        tokens=RedisApiTokens(redis),
        clock=SystemClock(),
    )
    recorded = RecordedCatalog(kept, ledger, lost_changes.recover)
    return Stores(settings, stack, redis, kept, ledger, recorded, lost_changes, notices)


async def _redis(settings: Settings, stack: AsyncExitStack, notices: list[str]) -> "Redis":
    """Connect to the configured Redis or the embedded server, which may have found its file truncated."""
    if settings.redis_url is not None:
        url = settings.redis_url.get_secret_value()
    else:
        server = await stack.enter_async_context(EmbeddedValkey(settings.home / "valkey"))
        watching = asyncio.create_task(server.watch())
        stack.push_async_callback(cancel, watching)
        notices += filter(None, [await server.truncation()])
        url = server.url
    client = connect(url)
    stack.push_async_callback(client.aclose)
    return client


async def cancel(task: "asyncio.Task[Any]") -> None:
    """Cancel a task and wait for its end, whatever its result."""
    task.cancel()
    with suppress(asyncio.CancelledError, Exception):
        await task


def blob_store(settings: Settings, what: str) -> BlobStore:
    """Return the store for bytes of this kind, below BLOB_STORE_URL or in the data directory.

    A folder shared between machines (a path, or file://) is written like our own: each file whole and synced to disk.
    """
    url = settings.blob_store_url or str(settings.home)
    if "://" in url and not url.startswith("file://"):
        from adapters.files.object_store import ObjectBlobStore

        return ObjectBlobStore(f"{url.rstrip('/')}/{what}")
    return FolderBlobStore(Path(url.removeprefix("file://")).expanduser() / what)
