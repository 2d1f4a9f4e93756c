"""The bot in this process: scripted reasoner, stores in memory, the real service, workers and platform adapter."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import UTC
from typing import Any

from core.model.budget import Meter
from core.model.channel_settings import ChannelSettings
from core.model.clock import Days
from core.model.conversation import Thread
from core.model.document_content import Block, ParsedDocument
from core.model.errors import DocumentRejected
from core.model.evidence import Evidence
from core.model.inquiry import Inquiry
from core.ports.reasoner import DraftPart, Reasoner
from core.ports.usage import Metrics, NoMetrics
from core.service.actions.user_actions import UserActions
from core.service.disputes.decisions import DisputeReports
from core.service.message_handler import MessageHandler
from core.service.message_router import AnswerLimits
from core.service.workers import Worker
from tests.core.harness import Harness
from tests.e2e.driver import PlatformDriver, Running
from tests.fakes.memory.inbox import InProcessInbox
from tests.fakes.memory.message_state import InProcessMessageStateStore
from tests.fakes.memory.proposal_store import InProcessProposalStore
from tests.fakes.memory.scripted_reasoner import ScriptedReasoner
from tests.fakes.memory.stores import (
    InProcessAnswerCounts,
    InProcessAudit,
    InProcessChannelSettingsStore,
    InProcessFeedbackStore,
)

REFUNDS = "Refunds are paid within 14 days."


class PausingReasoner(ScriptedReasoner):
    """Reasoner that writes in pieces, and pauses where a test wants to look."""

    def __init__(self) -> None:
        super().__init__()
        self.pen = asyncio.Event()
        self.pen.set()
        self.writing = asyncio.Event()
        self.pause = 0.0

    def hold(self) -> None:
        self.pen.clear()
        self.writing.clear()

    def go_on(self) -> None:
        self.pen.set()

    async def compose(
        self, inquiry: Inquiry, thread: Thread, evidence: Sequence[Evidence], meter: Meter
    ) -> AsyncGenerator[DraftPart, None]:
        parts = super().compose(inquiry, thread, evidence, meter)
        async for part in parts:
            yield part
            self.writing.set()
            await asyncio.sleep(self.pause)
            await self.pen.wait()


class Bot:
    """One installation on one platform, whose stores outlive its processes."""

    def __init__(self, driver: PlatformDriver, model: Reasoner | None = None) -> None:
        """With a ``model``, the scripted reasoner is its fallback."""
        self.driver = driver
        self.reasoner = PausingReasoner()
        floor = self.reasoner if model is not None else None
        self.harness = Harness(model or self.reasoner, script=self.reasoner, floor=floor)
        self.answer_limits = AnswerLimits(InProcessAnswerCounts(), Days(self.harness.clock, UTC))
        self.message_states = InProcessMessageStateStore(self.harness.state)
        self.inbox = InProcessInbox(self.harness.state)
        self.feedback = InProcessFeedbackStore(self.harness.state)
        self.audit = InProcessAudit()
        self.proposal_store = InProcessProposalStore(self.harness.state)
        self.user_actions = UserActions.build(
            memory=self.harness.memory,
            trace_store=self.harness.trace_store,
            catalog=self.harness.catalog,
            feedback=self.feedback,
            settings_store=InProcessChannelSettingsStore(),
            audit=self.audit,
            inbox=self.inbox,
            message_states=self.message_states,
            checkpoints=self.harness.checkpoints,
            defaults=ChannelSettings(),
            disputes=DisputeReports(self.proposal_store, self.harness.clock),
        )
        self.more: dict[str, Any] = {}
        self.metrics: Metrics = NoMetrics()
        self.platform: Running | None = None  # of the process that runs, or ran last

    @asynccontextmanager
    async def running(self, lanes: int = 24) -> AsyncIterator[None]:
        """Run a process until the block ends, then drain it."""
        async with self._process(lanes=lanes) as (stop, connection, worker):
            yield
            stop.set()
            if not await self.inbox.count_waiting():
                worker.cancel()  # it would look for more for another second
            await asyncio.wait([connection, worker])
            connection.result()

    @asynccontextmanager
    async def crashing(self) -> AsyncIterator[None]:
        """A process of it that is killed when the block ends, whatever it is doing."""
        async with self._process(lanes=4):
            yield

    @asynccontextmanager
    async def _process(
        self, *, lanes: int
    ) -> AsyncIterator[tuple[asyncio.Event, asyncio.Task[None], asyncio.Task[None]]]:
        """Run a process; yield its stop event, connection and worker. Kill it if it still runs at the end."""
        stop = asyncio.Event()
        opening = self.driver.connecting(
            self.inbox, self.message_states, self.harness.checkpoints, self.user_actions, parse=parse, **self.more
        )
        async with opening as platform:
            self.platform = platform
            message_handler = MessageHandler(
                question_service=self.harness.question_service,
                memory_controls=self.user_actions.memory,
                checkpoints=self.harness.checkpoints,
                message_states=self.message_states,
                inbox=self.inbox,
                metrics=self.metrics,
                answer_limits=self.answer_limits,
                platforms={platform.name: platform},
                person_answers=self.user_actions.person_answers,
            )
            worker = Worker(
                name="w", inbox=self.inbox, message_handler=message_handler, clock=self.harness.clock, lanes=lanes
            )
            tasks = [asyncio.create_task(platform.run(stop)), asyncio.create_task(worker.run(stop))]
            try:
                async with asyncio.timeout(60):
                    while platform.readiness_problem():
                        await asyncio.sleep(0.01)
                        for task in tasks:
                            if task.done():
                                task.result()
                yield stop, tasks[0], tasks[1]
            finally:
                for task in tasks:
                    task.cancel()
                for task in tasks:
                    with suppress(asyncio.CancelledError, BaseExceptionGroup):
                        await task

    async def seen(self, question: str, within: float = 60.0) -> None:
        """Wait until the reasoner was asked this."""
        async with asyncio.timeout(within):
            while question not in [call.given[0].question for call in self.reasoner.calls_of("understand")]:
                await asyncio.sleep(0.01)

    async def rated(self, count: int, within: float = 60.0) -> None:
        """Wait for this many ratings, with their reasons."""
        async with asyncio.timeout(within):
            while True:
                words = [one async for one in self.feedback.all()]
                if len(words) == count and all(one.helpful or one.reason for one in words):
                    return
                await asyncio.sleep(0.01)

    async def close_knowledge(self) -> None:
        """Close its knowledge base to everyone."""
        for base in await self.harness.catalog.bases():
            await self.harness.catalog.save_base(replace(base, grants=frozenset({"nobody"})))

    async def waits(self, count: int, within: float = 60.0) -> None:
        """Wait until this many messages wait or are being processed."""
        async with asyncio.timeout(within):
            while await self.inbox.count_waiting() < count:
                await asyncio.sleep(0.01)

    async def settled(self, within: float = 60.0) -> None:
        """Wait until every message has its outcome."""
        async with asyncio.timeout(within):
            while await self.inbox.count_waiting():
                await asyncio.sleep(0.01)


async def parse(name: str, data: bytes) -> ParsedDocument:
    """Files in tests are plain text; others are refused, as a damaged one is."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise DocumentRejected("This file is damaged.") from None
    return ParsedDocument(name, (Block(text),), "text/plain")
