"""The composition root: opens everything in order, closes it in reverse.

With ``knowledge_stack``, ``page`` and ``platforms``, whose parts are put together there, it names the concrete classes.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from shutil import disk_usage
from time import monotonic
from typing import TYPE_CHECKING

import structlog

from adapters.documents.parser import DocumentParser
from adapters.encoders.answer_reader import LowRankAnswerReader
from adapters.encoders.reranker import CrossEncoderReranker
from adapters.encoders.text_encoder import SentenceTransformerEncoder
from adapters.milvus.connection import is_server
from adapters.milvus.embedded_server import REFILL, RESERVE, is_damaged
from adapters.milvus.index import MilvusIndex
from adapters.reasoner_plugin import ReasonerDeps
from adapters.reasoners.extractive.reasoner import ExtractiveReasoner
from adapters.redis.catalog import RedisCatalog
from adapters.redis.checkpoints import RedisCheckpoints
from adapters.redis.client import connect
from adapters.redis.daily_budget import RedisDailyBudget
from adapters.redis.embedded_server import EmbeddedValkey
from adapters.redis.inbox import RedisInbox
from adapters.redis.job_store import RedisJobStore
from adapters.redis.kb_stores import RedisScheduleStore
from adapters.redis.memory import RedisMemory
from adapters.redis.message_state import RedisMessageStateStore
from adapters.redis.processes import RedisNamedLeases, RedisProcessRegistry
from adapters.redis.question_log import RedisFeedbackStore, RedisQuestionLog
from adapters.redis.schema import check_schema
from adapters.redis.settings import RedisAudit, RedisChannelSettingsStore, RedisVerifierRecords
from adapters.redis.trace_store import RedisTraceStore
from adapters.redis.web_stores import RedisApiTokens
from adapters.terminal.chat import Chat
from bot.garbage_collection import collector_paused
from bot.home import secure_home
from bot.knowledge_stack import KnowledgeStack, blob_store, knowledge_stack
from bot.plugins import installed_platforms, installed_reasoners, principal_forms
from bot.settings import Settings
from bot.store_startup import StoreStartup
from core.agent.agent import Agent
from core.agent.run import AgentDeps
from core.ingestion.change_ledger import ChangeLedger
from core.ingestion.consistency import IndexConsistency
from core.ingestion.ingestor import Ingestor
from core.ingestion.originals import Originals
from core.ingestion.recorded_catalog import RecordedCatalog
from core.model.budget import Prices
from core.model.channel_settings import ChannelSettings
from core.model.clock import Clock
from core.model.conversation import ThreadKey
from core.model.errors import ConfigurationError, DiskFull, ModelFailure, ModelUnavailable, NotFound, first_of_ours
from core.model.inquiry import PROFILE_LIMITS, AnswerPolicy, Limits
from core.model.principals import Principal, PrincipalKind
from core.ports.blob_store import BlobStore
from core.ports.daily_budget import DailyBudget
from core.ports.encoder import Encoder
from core.ports.memory import Memory
from core.ports.named_leases import NamedLeases
from core.ports.process_registry import ProcessRegistry
from core.ports.question_log import QuestionLog
from core.ports.reasoner import Reasoner, VerifierRecords
from core.ports.trace_store import TraceStore
from core.retrieval.hybrid import Retriever
from core.service.actions.user_actions import UserActions
from core.service.gaps.analysis import GapAnalysis
from core.service.gaps.digest import GapDigest
from core.service.gaps.drafts import GapDrafts
from core.service.gaps.overview import GapOverview
from core.service.kb.proposal_digest import ProposalDigest
from core.service.knowledge_reader import KnowledgeReader
from core.service.lost_changes import LostChanges
from core.service.question_recorder import QuestionRecorder
from core.service.question_service import QuestionService
from core.service.visible_memory import VisibleMemory

if TYPE_CHECKING:
    from redis.asyncio import Redis
    from rich.console import Console

    from adapters.reasoners.openai.reasoner import OpenAIReasoner
    from core.ports.platform_capabilities import Announcements, PlatformCapabilities

log = structlog.get_logger(__name__)

# With a model, whatever the first search finds is written from at once; a draft that does not fit is declined and the
# long way begins (core.agent.retries). Without a model the long way costs nothing, so that it is always taken.
CONFIDENT = 0.0
NEVER = 2.0
NOTHING_TO_READ = "An admin can add some: `/kb` in chat, *Knowledge* on the page, `footnote ingest` in a terminal."
ANSWER_SECONDS = 60.0  # what an answer may take where nothing else is set
OPENAI = "https://api.openai.com/v1"


class SystemClock(Clock):
    """``core.model.clock.Clock`` by the machine's clock."""

    def now(self) -> datetime:
        """The current time in UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Seconds that only ever grow."""
        return monotonic()


@dataclass(frozen=True, slots=True)
class Footnote:
    """Everything that is open, for commands and platforms to use."""

    settings: Settings
    clock: Clock
    opened: "asyncio.Task[None]"
    opening: StoreStartup
    redis: "Redis"
    index: MilvusIndex
    encoder: Encoder
    reranker: CrossEncoderReranker
    retriever: Retriever
    catalog: RecordedCatalog
    lost_changes: LostChanges
    memory: Memory
    checkpoints: RedisCheckpoints
    trace_store: TraceStore
    message_states: RedisMessageStateStore
    leases: NamedLeases
    processes: ProcessRegistry
    inbox: RedisInbox
    settings_store: RedisChannelSettingsStore
    audit: RedisAudit
    feedback: RedisFeedbackStore
    questions: QuestionLog
    parser: DocumentParser
    reasoner: Reasoner
    agent: Agent
    question_service: QuestionService
    ingestor: Ingestor
    knowledge_stack: KnowledgeStack
    policy: AnswerPolicy
    daily_budget: DailyBudget | None
    capabilities: "dict[str, PlatformCapabilities]" = field(default_factory=dict)  # of platforms connected here

    def take_notices(self) -> tuple[str, ...]:
        """What the stores have lost as far as it was noticed since this was last called, each in one line."""
        noticed = (*self.opening.notices, *self.lost_changes.take_notices())
        self.opening.notices.clear()
        return noticed

    async def all_bases(self) -> frozenset[str]:
        """The names of all knowledge bases."""
        return frozenset(base.name for base in await self.catalog.bases())

    async def only(self, base: str | None) -> frozenset[str] | None:
        """Just this base, or None for all. Raises NotFound when there is none of that name."""
        if base is None:
            return None
        names = await self.all_bases()
        if base not in names:
            there = ", ".join(sorted(names)) or "none yet"
            raise NotFound(f"There is no knowledge base called {base!r}; there is: {there}.")
        return frozenset({base})

    def user_actions(self) -> UserActions:
        """What people can do beside asking."""
        return UserActions.build(
            memory=self.memory,
            trace_store=self.trace_store,
            catalog=self.catalog,
            feedback=self.feedback,
            settings_store=self.settings_store,
            audit=self.audit,
            inbox=self.inbox,
            message_states=self.message_states,
            checkpoints=self.checkpoints,
            defaults=ChannelSettings(self.policy),
        )

    def knowledge_reader(self) -> KnowledgeReader:
        """What can be read without asking."""
        return KnowledgeReader(self.catalog, self.index, self.retriever)

    def gaps(self) -> GapAnalysis:
        """What the documents lack."""
        return GapAnalysis(self.questions, self.feedback, self.catalog, self.clock)

    def gap_drafts(self) -> GapDrafts:
        """Drafts of what they lack, with the words of threads of the platforms that are connected."""
        return GapDrafts(
            self.feedback, self.knowledge_stack.deps.proposal_store, self.audit, self.clock, self.capabilities
        )

    def gap_digest(self) -> GapDigest | None:
        """What tells a channel of it every week; None where none is set. Raises ConfigurationError."""
        channel = digest_channel(self.settings.gaps_digest)
        if channel is None:
            return None

        def announcements() -> "Announcements | None":
            found = self.capabilities.get(channel.platform)
            return found.announcements if found is not None else None

        return GapDigest(self.gaps(), self.catalog, self.message_states, self.clock, channel, announcements)

    def gap_overview(self) -> GapOverview:
        """The same in a few lines, for an admin."""
        return GapOverview(self.gaps(), self.catalog, self.audit)

    def proposal_digest(self) -> ProposalDigest:
        """What tells admins once a day, where they chose it, that proposals wait."""

        def announcements(platform: str) -> "Announcements | None":
            found = self.capabilities.get(platform)
            return found.announcements if found is not None else None

        waiting = self.knowledge_stack.deps.proposal_store
        return ProposalDigest(waiting, self.settings_store, self.message_states, self.clock, announcements)

    def chat(self, console: "Console", bases: frozenset[str] | None) -> Chat:
        """A conversation in the terminal."""
        return Chat(console, self.question_service, self.trace_store, self.catalog, self.policy, bases)


@asynccontextmanager
async def open_footnote(
    settings: Settings, *, models: bool = True, wait: bool = True, any_index: bool = False
) -> AsyncIterator[Footnote]:
    """Open the stores and models; on leaving, close everything again, whatever happened.

    Without ``models`` they are loaded at their first use, for commands that only look at what is kept. Without
    ``wait`` index and models open while the caller goes on: ``Footnote.opened`` ends when they are ready, or fails, and
    servers that are not there yet are waited for: ``Footnote.opening`` says which.
    Who is to answer gets the index that the catalog's documents are in, or IndexMismatch; ``any_index`` is for what
    fills or compares one.
    """
    await asyncio.to_thread(_secure_home, settings.home)
    async with AsyncExitStack() as stack:
        search = await _open_search(settings, stack, models=models, wait=wait, any_index=any_index)
        extractive = ExtractiveReasoner(search.encoder, search.answer_reader, search.index)
        writer = await _installed_reasoner(settings, extractive, search.clock, stack)
        yield _footnote(settings, search, stack, extractive, writer)


@dataclass(frozen=True, slots=True)
class _Search:
    """What is opened before anything can be asked: the stores, the index, the models, and what searches with them."""

    clock: Clock
    redis: "Redis"
    encoder: SentenceTransformerEncoder
    answer_reader: LowRankAnswerReader
    index: MilvusIndex
    reranker: CrossEncoderReranker
    catalog: RecordedCatalog
    lost_changes: LostChanges
    originals: BlobStore
    retriever: Retriever
    parser: DocumentParser
    opening: StoreStartup
    opened: "asyncio.Task[None]"


async def _open_search(
    settings: Settings, stack: AsyncExitStack, *, models: bool, wait: bool, any_index: bool
) -> _Search:
    """Open them side by side; what was opened is closed by ``stack``, in reverse."""
    encoder = SentenceTransformerEncoder(settings.embedding_model or "")
    stack.push_async_callback(encoder.close)
    answer_reader = LowRankAnswerReader()
    stack.push_async_callback(answer_reader.close)
    quotes = not settings.has_writer  # with a model they stand by, and their reader is loaded when they are needed
    # Models take longest: the stores open beside them.
    loading = asyncio.create_task(_open_models(encoder, answer_reader if quotes else None)) if models else None
    if loading is not None:
        stack.push_async_callback(_cancel, loading)
    opening = StoreStartup(patient=not wait)
    redis = await _redis(settings, stack, opening.notices)
    if settings.embedding_model and loading is not None:
        await loading  # a model from a hub tells its dimension only when it is loaded
    index = _index(settings, encoder)
    stack.push_async_callback(index.close)
    stack.push_async_callback(_cancel, asyncio.create_task(index.watch()))
    reranker = CrossEncoderReranker(settings.reranker_model)
    stack.push_async_callback(reranker.close)
    found = _catalog(settings, redis, opening.notices)
    catalog = found.catalog
    originals = blob_store(settings, "originals")
    consistency = IndexConsistency(catalog, index, Originals(originals))
    agreement = consistency if (models or not wait) and not any_index else None
    opened = asyncio.create_task(_open_index_and_model(settings, opening, redis, index, loading, agreement))
    stack.push_async_callback(_cancel, opened)
    if wait:
        await opened
    return _Search(
        clock=SystemClock(),
        redis=redis,
        encoder=encoder,
        answer_reader=answer_reader,
        index=index,
        reranker=reranker,
        catalog=catalog,
        lost_changes=found.lost_changes,
        originals=originals,
        retriever=Retriever(index, encoder, reranker, catalog),
        parser=await stack.enter_async_context(DocumentParser()),
        opening=opening,
        opened=opened,
    )


async def _installed_reasoner(
    settings: Settings, extractive: ExtractiveReasoner, clock: Clock, stack: AsyncExitStack
) -> Reasoner | None:
    """Open the reasoner that REASONER names; None if it names none. Raises ConfigurationError."""
    if not settings.reasoner:
        return None
    installed = installed_reasoners()
    if (plugin := installed.plugins.get(settings.reasoner)) is None:
        why = [f"{one.name}: {one.detail}." for one in installed.problems]
        there = ", ".join(installed.plugins) or "none"
        raise ConfigurationError(
            " ".join([f"REASONER is {settings.reasoner!r}, which is not installed; installed: {there}.", *why]),
            remedy="Install its package, or unset REASONER.",
        )
    deps = ReasonerDeps(standby=extractive, clock=clock, answer_seconds=settings.answer_deadline)
    return await stack.enter_async_context(plugin.open(settings.of(plugin), deps))


def _agent(
    settings: Settings,
    search: _Search,
    stack: AsyncExitStack,
    budget: DailyBudget | None,
    records: VerifierRecords,
    extractive: ExtractiveReasoner,
    writer: Reasoner | None,
) -> tuple[Reasoner, Agent]:
    """Return the agent and the reasoner it decides by: what writes, if anything does, with quotes as its standby."""
    if writer is not None:
        reasoner = _with_standby(writer, extractive, search.clock)
    else:
        reasoner = model_with_standby(settings, extractive, search.clock, stack, budget, records)
    deps = AgentDeps(
        reasoner=reasoner,
        retriever=search.retriever,
        index=search.index,
        catalog=search.catalog,
        clock=search.clock,
        prices=_prices(settings),
        confident=CONFIDENT if settings.has_writer else NEVER,
        checkpoint_seconds=settings.checkpoint_expiry * 60,
        names=" ".join(plugin.label for plugin in installed_platforms()),  # a reply may say where people ask
        remedy=NOTHING_TO_READ,
        link_hosts=frozenset(name.strip().casefold() for name in settings.answer_link_hosts.split(",") if name.strip()),
        quote_fallback=extractive if settings.has_writer else None,
    )
    limits = {
        profile: replace(limit, seconds=_seconds(limit, settings.answer_deadline), cost=_answer_budget(settings))
        for profile, limit in PROFILE_LIMITS.items()
    }
    return reasoner, Agent(deps, limits)


def _question_service(
    search: _Search, reasoner: Reasoner, agent: Agent, memory: Memory, trace_store: TraceStore, questions: QuestionLog
) -> QuestionService:
    return QuestionService(
        agent=agent,
        reasoner=reasoner,
        memory=memory,
        checkpoints=RedisCheckpoints(search.redis),
        trace_store=trace_store,
        catalog=search.catalog,
        clock=search.clock,
        recorder=QuestionRecorder(questions, search.encoder),
    )


def _knowledge_stack(
    settings: Settings, search: _Search, audit: RedisAudit, questions: QuestionLog
) -> tuple[Ingestor, KnowledgeStack]:
    originals = search.originals
    ingestor = Ingestor(
        index=search.index,
        encoder=search.encoder,
        catalog=search.catalog,
        parser=search.parser,
        clock=search.clock,
        originals=Originals(originals),
    )
    return ingestor, knowledge_stack(
        settings,
        redis=search.redis,
        index=search.index,
        encoder=search.encoder,
        retriever=search.retriever,
        catalog=search.catalog,
        ingestor=ingestor,
        audit=audit,
        clock=search.clock,
        kept_originals=originals,
        questions=questions,
        lost_changes=search.lost_changes,
    )


def _footnote(
    settings: Settings,
    search: _Search,
    stack: AsyncExitStack,
    extractive: ExtractiveReasoner,
    writer: Reasoner | None,
) -> Footnote:
    redis = search.redis
    budget = _daily_budget(settings, redis, search.clock)
    reasoner, agent = _agent(settings, search, stack, budget, RedisVerifierRecords(redis), extractive, writer)
    trace_store, audit, questions = _trace_store(settings, redis, stack), RedisAudit(redis), RedisQuestionLog(redis)
    memory = VisibleMemory(RedisMemory(redis), search.catalog, search.catalog.record_end)
    question_service = _question_service(search, reasoner, agent, memory, trace_store, questions)
    ingestor, knowledge = _knowledge_stack(settings, search, audit, questions)
    return Footnote(
        settings=settings,
        clock=search.clock,
        opened=search.opened,
        opening=search.opening,
        redis=redis,
        index=search.index,
        encoder=search.encoder,
        reranker=search.reranker,
        retriever=search.retriever,
        catalog=search.catalog,
        lost_changes=search.lost_changes,
        memory=memory,
        checkpoints=RedisCheckpoints(redis),
        trace_store=trace_store,
        message_states=RedisMessageStateStore(redis),
        leases=RedisNamedLeases(redis),
        processes=RedisProcessRegistry(redis),
        inbox=RedisInbox(redis),
        settings_store=RedisChannelSettingsStore(redis),
        audit=audit,
        feedback=RedisFeedbackStore(redis),
        questions=questions,
        parser=search.parser,
        reasoner=reasoner,
        agent=agent,
        question_service=question_service,
        ingestor=ingestor,
        knowledge_stack=knowledge,
        policy=AnswerPolicy(profile=settings.profile, behaviour=settings.behaviour, follow_ups=settings.follow_ups),
        daily_budget=budget,
    )


@dataclass(frozen=True, slots=True)
class OpenCatalog:
    """Redis and the catalog in it, without index and models."""

    redis: "Redis"
    kept: RedisCatalog  # without its ledger
    ledger: ChangeLedger
    catalog: RecordedCatalog
    lost_changes: LostChanges
    notices: list[str]  # what was noticed of Redis itself as it started


@asynccontextmanager
async def open_catalog(settings: Settings) -> AsyncIterator[OpenCatalog]:
    """Open Redis alone, for what needs nothing else."""
    await asyncio.to_thread(_secure_home, settings.home)
    async with AsyncExitStack() as stack:
        notices: list[str] = []
        redis = await _redis(settings, stack, notices)
        await check_schema(redis)
        yield _catalog(settings, redis, notices)


async def has_documents(settings: Settings) -> bool:
    """Whether anything is indexed, from the catalog alone: index and models stay closed. Raises StoreUnavailable."""
    if settings.redis_url is None and not (settings.home / "valkey").is_dir():
        return False
    async with open_catalog(settings) as opened:
        if await opened.ledger.number() > await opened.kept.changes():
            return True  # which Redis has lost
        bases = await opened.kept.bases()
        return bool(await opened.kept.documents(frozenset(base.name for base in bases)))


def digest_channel(setting: str) -> ThreadKey | None:
    """Return the channel of GAPS_DIGEST; None if it is empty. Raises ConfigurationError if it names none."""
    text = setting.strip()
    if not text:
        return None
    forms = [form for form in principal_forms() if form.kind == PrincipalKind.CHANNEL]
    if not any(form.accepts(text) for form in forms):
        raise ConfigurationError("GAPS_DIGEST is no channel.", remedy=f"It looks like {' or '.join(map(str, forms))}.")
    channel = Principal.parse(text)
    return ThreadKey(channel.platform, channel.space or "", channel.id, "")


def _secure_home(home: Path) -> None:
    """The data directory, for its owner alone."""
    try:
        tightened = secure_home(home)
    except OSError as error:
        raise ConfigurationError(
            f"The data directory {home} cannot be used: {error.strerror}.",
            remedy="Set FOOTNOTE_HOME to one that is writable and has room.",
        ) from None
    if tightened:
        log.warning("home_tightened", entries=tightened, home=str(home))


def _catalog(settings: Settings, redis: "Redis", notices: list[str]) -> OpenCatalog:
    """The catalog with its ledger, and what makes changes again that Redis has lost."""
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
    return OpenCatalog(redis, kept, ledger, recorded, lost_changes, notices)


async def _redis(settings: Settings, stack: AsyncExitStack, notices: list[str]) -> "Redis":
    """The configured Redis, or the embedded server in the data directory, which may have found its file cut short."""
    if settings.redis_url is not None:
        url = settings.redis_url.get_secret_value()
    else:
        server = await stack.enter_async_context(EmbeddedValkey(settings.home / "valkey"))
        watching = asyncio.create_task(server.watch())
        stack.push_async_callback(_cancel, watching)
        notices += filter(None, [await server.truncation()])
        url = server.url
    client = connect(url)
    stack.push_async_callback(client.aclose)
    return client


async def _open_index_and_model(
    settings: Settings,
    opening: StoreStartup,
    redis: "Redis",
    index: MilvusIndex,
    loading: "asyncio.Task[None] | None",
    consistency: IndexConsistency | None,
) -> None:
    """Index and model, side by side: each takes seconds and neither needs the other."""
    if disk_usage(settings.home).free < RESERVE:
        opening.notices.append(f"{DiskFull(settings.home)} Nothing can be added until then.")
    await opening.reach("redis", lambda: check_schema(redis), remote=settings.redis_url is not None)
    remote = is_server(settings.milvus_uri or "")
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(opening.reach("index", index.open, remote=remote))
            if loading is not None:
                group.create_task(_await(loading))
    except BaseExceptionGroup as failures:
        raise first_of_ours(failures) from None
    if consistency is not None:

        async def compare() -> None:
            await consistency.check()
            if losses := await consistency.find_losses():
                file = Path(settings.milvus_uri or settings.home / "milvus.db")
                damaged = await asyncio.to_thread(is_damaged, file)
                opening.notices.append(f"The index in {file} is damaged. {REFILL}" if damaged else losses)

        await opening.reach("catalog", compare, remote=True)


async def _open_models(encoder: SentenceTransformerEncoder, answer_reader: LowRankAnswerReader | None) -> None:
    """The encoder, then the reader of answers, which can be done without."""
    with collector_paused():
        await encoder.open()
        if answer_reader is not None:
            with suppress(ModelUnavailable):
                await answer_reader.open()


async def _await(task: "asyncio.Task[None]") -> None:
    await task


async def _cancel(task: "asyncio.Task[None]") -> None:
    task.cancel()
    with suppress(asyncio.CancelledError, Exception):
        await task


def _trace_store(settings: Settings, redis: "Redis", stack: AsyncExitStack) -> TraceStore:
    """The trace store in Redis, exporting its runs where that is configured."""
    trace_store = RedisTraceStore(redis)
    if not settings.otel_exporter_otlp_endpoint:
        return trace_store
    from adapters.observability.opentelemetry import TracingStore, tracer_to

    tracer, shut_down = tracer_to(settings.otel_exporter_otlp_endpoint)
    stack.push_async_callback(asyncio.to_thread, shut_down)
    return TracingStore(trace_store, tracer)


def _index(settings: Settings, encoder: Encoder) -> MilvusIndex:
    token = settings.milvus_token.get_secret_value() if settings.milvus_token else ""
    uri = settings.milvus_uri or str(settings.home / "milvus.db")
    return MilvusIndex(uri, model=encoder.name, dimension=encoder.dimension, token=token)


def model_with_standby(
    settings: Settings,
    extractive: ExtractiveReasoner,
    clock: Clock,
    stack: AsyncExitStack,
    daily_budget: DailyBudget | None,
    records: VerifierRecords | None = None,
) -> Reasoner:
    """The model endpoint with the extractive reasoner standing by, or the extractive reasoner alone."""
    if not settings.has_llm:
        return extractive
    primary = model_endpoint(settings, daily_budget, records)
    stack.push_async_callback(primary.close)
    return _with_standby(primary, extractive, clock)


def _with_standby(primary: Reasoner, extractive: ExtractiveReasoner, clock: Clock) -> Reasoner:
    from adapters.reasoners.fallback import FallbackReasoner

    return FallbackReasoner(primary, extractive, clock=clock, on_failure=_count_model_failure)


def _count_model_failure(kind: ModelFailure) -> None:
    from adapters.observability.prometheus import MODEL_FAILURES

    MODEL_FAILURES.labels(kind.value).inc()


def _daily_budget(settings: Settings, redis: "Redis", clock: Clock) -> DailyBudget | None:
    """The day's budget, where one is set and prices say what a call costs."""
    budget = _require_prices(settings, "LLM_DAILY_BUDGET", settings.llm_daily_budget)
    return None if budget is None else RedisDailyBudget(redis, clock, budget)


def _answer_budget(settings: Settings) -> float | None:
    """What one answer may cost, where that is set."""
    return _require_prices(settings, "LLM_ANSWER_BUDGET", settings.llm_answer_budget)


def _seconds(limit: Limits, deadline: float) -> float:
    """How long this profile may take: a higher deadline than its own makes every profile longer in proportion."""
    return min(limit.seconds, deadline) if deadline <= ANSWER_SECONDS else limit.seconds * deadline / ANSWER_SECONDS


def _require_prices(settings: Settings, name: str, budget: float | None) -> float | None:
    """This budget. Raises ConfigurationError when there are no prices to hold it by."""
    if budget is not None and not settings.llm_price_in and not settings.llm_price_out:
        raise ConfigurationError(
            f"{name} is set, but no price.", remedy="Set LLM_PRICE_IN and LLM_PRICE_OUT, per million tokens."
        )
    return budget


def model_endpoint(
    settings: Settings, daily_budget: DailyBudget | None = None, records: VerifierRecords | None = None
) -> "OpenAIReasoner":
    """The reasoner of the configured endpoint alone, paid from this budget; nothing is connected yet.

    ``records`` keep whether its checks are believed.
    """
    from adapters.reasoners.openai.reasoner import OpenAIReasoner

    return OpenAIReasoner(
        base_url=settings.llm_base_url or OPENAI,
        api_key=settings.llm_api_key.get_secret_value() if settings.llm_api_key else "",
        model=settings.llm_model or "",
        timeout_seconds=min(settings.llm_timeout, settings.answer_deadline),
        answer_seconds=settings.answer_deadline,
        fast_model=settings.llm_model_fast or "",
        temperature=settings.llm_temperature,
        reasoning_effort=settings.llm_reasoning_effort or "",
        context_tokens=settings.llm_context,
        daily_budget=daily_budget,
        prices=_prices(settings),
        records=records,
    )


def _prices(settings: Settings) -> Prices:
    return Prices(settings.llm_price_in, settings.llm_price_out, settings.llm_price_cached)
