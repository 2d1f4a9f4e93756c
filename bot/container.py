"""The composition root: opens everything in order and closes it in reverse.

It and ``stores``, ``model_endpoint``, ``knowledge_stack``, ``page`` and ``platforms`` name the concrete classes. A part
is built, and its modules imported, at its first use: a command that lists bases loads no model.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from shutil import disk_usage
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from adapters.encoders.endpoint_encoder import EndpointEncoder
from adapters.encoders.text_encoder import SentenceTransformerEncoder
from adapters.milvus.connection import is_server
from adapters.milvus.embedded_server import REFILL, RESERVE, is_damaged
from adapters.milvus.index import MilvusIndex
from adapters.redis.schema import check_schema
from bot.garbage_collection import collector_paused
from bot.plugins import installed_platforms
from bot.settings import Settings
from bot.stores import Stores, StoreStartup, blob_store, cancel, enter_catalog
from core.ingestion.consistency import IndexConsistency
from core.ingestion.originals import Originals
from core.model.channel_settings import ChannelSettings
from core.model.clock import Days
from core.model.errors import DiskFull, ModelUnavailable, NotFound, first_of_ours
from core.model.inquiry import AnswerPolicy, DailyLimits
from core.ports.catalog import BlobStore
from core.ports.index import Encoder

if TYPE_CHECKING:
    from redis.asyncio import Redis
    from rich.console import Console

    from adapters.backup.backup import Backup
    from adapters.documents.parser import DocumentParser
    from adapters.encoders.answer_reader import LowRankAnswerReader
    from adapters.encoders.reranker import CrossEncoderReranker
    from adapters.reasoners.extractive.reasoner import ExtractiveReasoner
    from adapters.terminal.chat import Chat
    from bot.knowledge_stack import KnowledgeStack
    from core.agent.agent import Agent
    from core.ingestion.ingestor import Ingestor
    from core.model.conversation import Audience, ThreadKey
    from core.ports.platform import PlatformCapabilities
    from core.ports.reasoner import Reasoner
    from core.ports.usage import DailyBudget, UsageBook
    from core.retrieval.hybrid import Retriever
    from core.service.actions.user_actions import UserActions
    from core.service.api_clients import KnowledgeReader
    from core.service.gaps.analysis import GapAnalysis
    from core.service.gaps.drafts import GapDrafts
    from core.service.question_service import QuestionService
    from core.service.standing_answers.checks import AnswerCheck

# With a model, the answer is always written from the first search. If the draft does not fit, it is declined and the
# full loop begins (core.agent.retries). Without a model the full loop is free, so it always runs.
CONFIDENT = 0.0
NEVER = 2.0
NOTHING_TO_READ = (
    "An admin can add some with `/kb` in chat, on the page under *Knowledge*, or with `footnote ingest` in a terminal."
)


@dataclass(frozen=True)
class Footnote(Stores):
    """Everything that is open, for use by commands and platforms."""

    index: MilvusIndex
    encoder: SentenceTransformerEncoder | EndpointEncoder
    answer_reader: "LowRankAnswerReader"
    parser: "DocumentParser"
    originals: BlobStore
    opening: StoreStartup
    opened: "asyncio.Task[None]"
    writer: "Reasoner | None" = None  # from another package
    capabilities: "dict[str, PlatformCapabilities]" = field(default_factory=dict)  # of platforms connected here

    # --- what answers

    @property
    def policy(self) -> AnswerPolicy:
        """The default answer policy, for channels without their own choices."""
        settings = self.settings
        limits = DailyLimits(settings.answers_per_person, settings.answers_per_channel, settings.llm_channel_budget)
        return AnswerPolicy(
            profile=settings.profile, behaviour=settings.behaviour, follow_ups=settings.follow_ups, limits=limits
        )

    @property
    def days(self) -> Days:
        """The days of this installation."""
        return Days(self.clock, ZoneInfo(self.settings.time_zone) if self.settings.time_zone else None)

    @cached_property
    def reranker(self) -> "CrossEncoderReranker":
        """The cross-encoder, loaded at its first use."""
        from adapters.encoders.reranker import CrossEncoderReranker

        reranker = CrossEncoderReranker(self.settings.reranker_model)
        self.stack.push_async_callback(reranker.close)
        return reranker

    @cached_property
    def retriever(self) -> "Retriever":
        """The retriever."""
        from core.retrieval.hybrid import Retriever

        return Retriever(self.index, self.encoder, self.reranker, self.catalog)

    @cached_property
    def daily_budget(self) -> "DailyBudget | None":
        """The daily budget of answers. Raises ConfigurationError if a budget is set but no price."""
        from bot.model_endpoint import daily_budget_of

        return daily_budget_of(self.settings, self.redis, self.days)

    @cached_property
    def usage_book(self) -> "UsageBook":
        """Usage by day, channel and base."""
        from adapters.redis.usage import RedisUsageBook

        return RedisUsageBook(self.redis)

    @cached_property
    def extractive(self) -> "ExtractiveReasoner":
        """The reasoner without a model."""
        from adapters.reasoners.extractive.reasoner import ExtractiveReasoner

        return ExtractiveReasoner(self.encoder, self.answer_reader, self.index)

    @cached_property
    def reasoner(self) -> "Reasoner":
        """The reasoner that writes, with quotes as its fallback; without a model, quotes only."""
        from adapters.redis.settings import RedisVerifierRecords
        from bot.model_endpoint import model_with_standby, with_standby

        if self.writer is not None:
            return with_standby(self.writer, self.extractive, self.clock)
        records = RedisVerifierRecords(self.redis)
        return model_with_standby(self.settings, self.extractive, self.clock, self.stack, self.daily_budget, records)

    @cached_property
    def agent(self) -> "Agent":
        """The loop from a question to an answer."""
        from bot.model_endpoint import answer_limits, prices_of
        from core.agent.agent import Agent
        from core.agent.run import AgentDeps

        settings = self.settings
        hosts = (name.strip().casefold() for name in settings.answer_link_hosts.split(","))
        deps = AgentDeps(
            reasoner=self.reasoner,
            retriever=self.retriever,
            index=self.index,
            catalog=self.catalog,
            clock=self.clock,
            prices=prices_of(settings),
            confident=CONFIDENT if settings.has_writer else NEVER,
            checkpoint_seconds=settings.checkpoint_expiry * 60,
            names=" ".join(plugin.label for plugin in installed_platforms()),  # a reply may say where people ask
            remedy=NOTHING_TO_READ,
            link_hosts=frozenset(filter(None, hosts)),
            quote_fallback=self.extractive if settings.has_writer else None,
        )
        return Agent(deps, answer_limits(settings))

    @cached_property
    def question_service(self) -> "QuestionService":
        """The service that answers and records questions and choices."""
        from core.service.question_recorder import QuestionRecorder, UsageRecorder
        from core.service.question_service import QuestionService

        return QuestionService(
            agent=self.agent,
            reasoner=self.reasoner,
            memory=self.memory,
            checkpoints=self.checkpoints,
            trace_store=self.trace_store,
            catalog=self.catalog,
            clock=self.clock,
            recorder=QuestionRecorder(self.questions, self.encoder, UsageRecorder(self.usage_book, self.days)),
        )

    def with_agent(self, agent: "Agent") -> "Footnote":
        """Return a copy whose questions this agent answers."""
        copy = replace(self)
        vars(copy)["agent"] = agent
        return copy

    # --- what governs the knowledge

    @cached_property
    def ingestor(self) -> "Ingestor":
        """The ingestor."""
        from core.ingestion.ingestor import Ingestor

        return Ingestor(
            index=self.index,
            encoder=self.encoder,
            catalog=self.catalog,
            parser=self.parser,
            clock=self.clock,
            originals=Originals(self.originals),
        )

    @cached_property
    def knowledge_stack(self) -> "KnowledgeStack":
        """The services behind ``/kb``."""
        from bot.knowledge_stack import knowledge_stack

        return knowledge_stack(
            self.settings,
            redis=self.redis,
            index=self.index,
            encoder=self.encoder,
            retriever=self.retriever,
            catalog=self.catalog,
            ingestor=self.ingestor,
            audit=self.audit,
            clock=self.clock,
            kept_originals=self.originals,
            questions=self.questions,
            lost_changes=self.lost_changes,
            memory=self.memory,
            capabilities=self.capabilities,
        )

    @cached_property
    def backup(self) -> "Backup":
        """The service that makes and restores backups."""
        from adapters.backup.backup import Backup
        from bot.home import find_installation

        return Backup(
            redis=self.redis,
            catalog=self.catalog,
            index=self.index,
            encoder=self.encoder,
            blob_stores={"kept": blob_store(self.settings, "kept"), "originals": self.originals},
            clock=self.clock,
            installation=find_installation(self.settings.home),
        )

    async def carry_over(self) -> None:
        """Back up an older version's data once, before this version uses it. Raises ConfigurationError."""
        from adapters.backup.backup import back_up_older_data

        if folder := await back_up_older_data(self.backup, self.settings.home):
            self.opening.notices.append(f"This data comes from an older Footnote. It was backed up first, to {folder}.")

    def take_notices(self) -> tuple[str, ...]:
        """Return the losses of the stores noticed since the last call, each in one line."""
        noticed = (*self.opening.notices, *self.lost_changes.take_notices())
        self.opening.notices.clear()
        return noticed

    async def all_bases(self) -> frozenset[str]:
        """Return the names of all knowledge bases."""
        return frozenset(base.name for base in await self.catalog.bases())

    async def only(self, base: str | None) -> frozenset[str] | None:
        """Return only this base, or None for all. Raises NotFound if there is none of that name."""
        if base is None:
            return None
        names = await self.all_bases()
        if base not in names:
            there = ", ".join(sorted(names)) or "none yet"
            raise NotFound(f"There is no knowledge base called {base!r}. Available: {there}.")
        return frozenset({base})

    def user_actions(self) -> "UserActions":
        """Return the actions of people besides asking."""
        from adapters.redis.kb_stores import RedisProposalStore
        from core.service.actions.user_actions import UserActions
        from core.service.disputes.decisions import DisputeReports

        async def preview(channel: "ThreadKey", readers: "Audience", settings: ChannelSettings) -> str:
            from core.service.standing_answers.notices import NoticePreview

            return await NoticePreview(self.answer_check(), self.questions, self.memory).text(
                channel, readers, settings
            )

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
            disputes=DisputeReports(RedisProposalStore(self.redis), self.clock),
            preview=preview,
            person_answers=self.knowledge_stack.person_answers,
        )

    def answer_check(self) -> "AnswerCheck":
        """Return the service that compares given answers with the current documents."""
        from core.service.standing_answers.checks import AnswerCheck

        return AnswerCheck(self.agent, self.catalog, self.index, self.clock)

    def knowledge_reader(self) -> "KnowledgeReader":
        """Return the reader of documents, which works without asking questions."""
        from core.service.api_clients import KnowledgeReader

        return KnowledgeReader(self.catalog, self.index, self.retriever)

    def gaps(self) -> "GapAnalysis":
        """Return the analysis of gaps in the documents."""
        from core.service.gaps.analysis import GapAnalysis

        return GapAnalysis(self.questions, self.feedback, self.catalog, self.clock)

    def gap_drafts(self) -> "GapDrafts":
        """Return the drafts for gaps, which use texts of threads on the connected platforms."""
        from core.service.gaps.drafts import GapDrafts

        return GapDrafts(
            self.feedback, self.knowledge_stack.deps.proposal_store, self.audit, self.clock, self.capabilities
        )

    def chat(self, console: "Console", bases: frozenset[str] | None) -> "Chat":
        """Return a conversation in the terminal."""
        from adapters.terminal.chat import Chat

        return Chat(console, self.question_service, self.trace_store, self.catalog, self.policy, bases)


@asynccontextmanager
async def open_footnote(
    settings: Settings,
    *,
    models: bool = True,
    wait: bool = True,
    any_index: bool = False,
    index: bool = True,
    upgrade: bool = True,
) -> AsyncIterator[Footnote]:
    """Open the stores and models, and close everything again in any case.

    Without ``models`` they load at their first use, for commands that only read stored data. Without ``index`` it opens
    at its first use too. Without ``wait`` the index and models open in the background, and servers that are not up yet
    are waited for. ``Footnote.opened`` then ends when they are ready, or fails, and ``Footnote.opening`` says what is
    pending.

    Processes that answer get the index of the catalog's documents, or IndexMismatch. ``any_index`` is for commands that
    fill or compare one. With ``upgrade``, data of an older version is backed up once, if the index is opened.
    """
    from adapters.documents.parser import DocumentParser
    from adapters.encoders.answer_reader import LowRankAnswerReader

    async with AsyncExitStack() as stack:
        encoder = encoder_of(settings)
        stack.push_async_callback(encoder.close)
        answer_reader = LowRankAnswerReader()
        stack.push_async_callback(answer_reader.close)
        quotes = not settings.has_writer  # with a model, quotes are a fallback, and their reader loads when needed
        # Models take longest, so the stores open at the same time.
        loading = asyncio.create_task(_open_models(encoder, answer_reader if quotes else None)) if models else None
        if loading is not None:
            stack.push_async_callback(cancel, loading)
        stores = await enter_catalog(settings, stack)
        if isinstance(encoder, EndpointEncoder):
            await encoder.open()  # gets the dimension, once and for all
        elif settings.embedding_model and loading is not None:
            await loading  # the dimension of a hub's model is known only once it is loaded
        milvus = _index(settings, encoder, on_demand=not index)
        stack.push_async_callback(milvus.close)
        stack.push_async_callback(cancel, asyncio.create_task(milvus.watch()))
        originals = blob_store(settings, "originals")
        agreement = None
        if (models or not wait) and not any_index:
            agreement = IndexConsistency(stores.catalog, milvus, Originals(originals))
        opening = StoreStartup(stores.startup_notices, patient=not wait)
        parser = await stack.enter_async_context(DocumentParser())

        async def carry_over() -> None:
            await footnote.carry_over()

        opened = asyncio.create_task(
            _open_index_and_model(
                settings,
                opening,
                stores.redis,
                milvus if index else None,
                loading,
                agreement,
                carry_over if index and upgrade else None,
            )
        )
        stack.push_async_callback(cancel, opened)
        footnote = Footnote(
            **{one.name: getattr(stores, one.name) for one in fields(stores)},
            index=milvus,
            encoder=encoder,
            answer_reader=answer_reader,
            parser=parser,
            originals=originals,
            opening=opening,
            opened=opened,
        )
        if settings.reasoner:
            from bot.model_endpoint import installed_reasoner

            footnote = replace(
                footnote, writer=await installed_reasoner(settings, footnote.extractive, footnote.clock, stack)
            )
        if models or not wait:
            _ = footnote.question_service  # reports wrong settings now
        if wait:
            await opened
        yield footnote


async def _open_index_and_model(
    settings: Settings,
    opening: StoreStartup,
    redis: "Redis",
    index: MilvusIndex | None,
    loading: "asyncio.Task[None] | None",
    consistency: IndexConsistency | None,
    carry_over: Callable[[], Awaitable[None]] | None,
) -> None:
    """Open index and model in parallel: each takes seconds and neither needs the other."""
    if disk_usage(settings.home).free < RESERVE:
        opening.notices.append(f"{DiskFull(settings.home)} Nothing can be added until then.")

    async def check_redis() -> None:
        await check_schema(redis)

    await opening.reach("redis", check_redis, remote=settings.redis_url is not None)
    remote = is_server(settings.milvus_uri or "")
    try:
        async with asyncio.TaskGroup() as group:
            if index is not None:
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
    if carry_over is not None:  # after that: a Redis that lost its data has no schema either, and is no older one
        await opening.reach("upgrade", carry_over, remote=remote)


async def _open_models(
    encoder: SentenceTransformerEncoder | EndpointEncoder, answer_reader: "LowRankAnswerReader | None"
) -> None:
    """Open the encoder, then the optional reader of answers."""
    with collector_paused():
        await encoder.open()
        if answer_reader is not None:
            with suppress(ModelUnavailable):
                await answer_reader.open()


async def _await(task: "asyncio.Task[None]") -> None:
    await task


def encoder_of(settings: Settings) -> SentenceTransformerEncoder | EndpointEncoder:
    """Return the encoder: a model on this machine, or an endpoint. Loads and connects nothing yet."""
    if not settings.embedding_base_url:
        return SentenceTransformerEncoder(settings.embedding_model or "")
    key = settings.embedding_api_key.get_secret_value() if settings.embedding_api_key else ""
    kept = settings.home / "embedding-endpoint.json"
    return EndpointEncoder(settings.embedding_base_url, key, settings.embedding_model or "", kept)


def _index(settings: Settings, encoder: Encoder, *, on_demand: bool) -> MilvusIndex:
    token = settings.milvus_token.get_secret_value() if settings.milvus_token else ""
    uri = settings.milvus_uri or str(settings.home / "milvus.db")
    return MilvusIndex(uri, model=encoder.name, dimension=encoder.dimension, token=token, on_demand=on_demand)
