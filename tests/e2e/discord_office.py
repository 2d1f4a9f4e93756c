"""Footnote on a fake Discord, in this process: the real client and message handling, over in-memory stores.

Only the model is scripted. Tests that check only what a person sees can also run against the
real process as well.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

from adapters.discord.outbound.answer_view import MANNERS
from adapters.discord.platform import DiscordPlatform
from core.model.channel_settings import ChannelSettings
from core.model.document_content import Block, ParsedDocument
from core.service.actions.user_actions import MemoryControls, UserActions
from core.service.delivery.pacing import PacingLimits
from core.service.disputes.decisions import DisputeReports
from core.service.kb.service import KnowledgeService
from core.service.leases import LeaderLease
from core.service.message_handler import MessageHandler
from core.service.workers import Worker
from tests.core.harness import Harness
from tests.core.service.kb.knowledge_room import Room
from tests.e2e.discord_library import Library
from tests.e2e.work_count import WorkCount
from tests.fakes.discord import FakeDiscord
from tests.fakes.memory.inbox import InProcessInbox
from tests.fakes.memory.message_state import InProcessMessageStateStore
from tests.fakes.memory.proposal_store import InProcessProposalStore
from tests.fakes.memory.stores import InProcessAudit, InProcessChannelSettingsStore, InProcessFeedbackStore

NO_LATE_EDITS = PacingLimits(late=())  # the fake applies an edit before it answers, unless a test holds it
# Tests do not wait as people do.
SOON = replace(MANNERS, opening=(0.02,), editing=(0.02, 0.02), posting=(0.02, 0.05, 0.1))


async def parse(name: str, data: bytes) -> ParsedDocument:
    """A text file as it is."""
    return ParsedDocument(name, (Block(data.decode()),), "text/plain")


class Office:
    """Everything that outlives a process of Footnote: the stores, and Discord itself.

    ``timed_by_harness``: a lease runs out only when the test lets its time pass.
    """

    def __init__(
        self,
        discord: FakeDiscord,
        *,
        pace_seconds: float = 0.05,
        dev_guild: bool = False,
        kb: KnowledgeService | None = None,
        library: bool = False,
        allowed_bots: Sequence[str] = (),
        lanes: int = 4,
        timed_by_harness: bool = False,
    ) -> None:
        self.discord = discord
        self.harness = Harness()
        self.script = self.harness.script
        self.message_states = InProcessMessageStateStore(self.harness.state)
        self.inbox = InProcessInbox(self.harness.state, clock=self.harness.clock if timed_by_harness else None)
        self.work = WorkCount()
        self.lanes = lanes
        self.settings_store = InProcessChannelSettingsStore()
        self.feedback = InProcessFeedbackStore(self.harness.state)
        self.audit = InProcessAudit()
        self.pace_seconds = pace_seconds
        self.library = Library(self.harness, self.audit) if library else None
        own = InProcessProposalStore(self.harness.state)
        self.proposal_store = self.library.proposal_store if self.library is not None else own
        self.kb = self.library.kb_service if self.library is not None else kb or Room().kb_service
        self.allowed_bots = allowed_bots
        self.dev_guild = str(discord.guild_id) if dev_guild else None
        self.platform: DiscordPlatform = self._platform()

    def _platform(self) -> DiscordPlatform:
        user_actions = UserActions.build(
            memory=self.harness.memory,
            trace_store=self.harness.trace_store,
            catalog=self.harness.catalog,
            feedback=self.feedback,
            settings_store=self.settings_store,
            audit=self.audit,
            inbox=self.inbox,
            message_states=self.message_states,
            checkpoints=self.harness.checkpoints,
            defaults=ChannelSettings(),
            person_answers=self.library.person_answers if self.library is not None else None,
            disputes=DisputeReports(self.proposal_store, self.harness.clock),
        )
        return DiscordPlatform(
            token=self.discord.token,
            inbox=self.inbox,
            message_states=self.message_states,
            user_actions=user_actions,
            parse=parse,
            dev_guild=self.dev_guild,
            kb=self.kb,
            gateway_lease=LeaderLease(),
            allowed_bots=self.allowed_bots,
            api_url=self.discord.api_url,
            gateway_url=self.discord.gateway_url,
            manners=replace(SOON, edit_seconds=self.pace_seconds),
            pacing_limits=NO_LATE_EDITS,
            now=lambda: self.harness.clock.now().timestamp(),
        )

    @asynccontextmanager
    async def open(self, *, working: bool = True) -> AsyncIterator[DiscordPlatform]:
        """One process of Footnote, from start to end. Without ``working``, it only receives."""
        self.platform = platform = self._platform()
        if self.library is not None:
            self.library.lent["discord"] = platform.capabilities()
        message_handler = MessageHandler(
            question_service=self.harness.question_service,
            memory_controls=MemoryControls(self.harness.memory, self.audit),
            checkpoints=self.harness.checkpoints,
            message_states=self.message_states,
            inbox=self.inbox,
            platforms={"discord": platform},
            metrics=self.work,
            person_answers=self.library.person_answers if self.library is not None else None,
        )
        worker = Worker(
            name="w", inbox=self.inbox, message_handler=message_handler, clock=self.harness.clock, lanes=self.lanes
        )
        stop = asyncio.Event()
        async with platform, asyncio.TaskGroup() as group:
            group.create_task(platform.run(stop))
            answering = group.create_task(worker.run(stop)) if working else None
            jobs = group.create_task(self._jobs(platform)) if working else None
            try:
                await self.discord.until(lambda: not platform.readiness_problem(), 60, what="a connection")
                await self.discord.until(lambda: self.discord.commands.syncs, 60, what="commands")
                yield platform
            finally:
                stop.set()
                if answering is not None and not await self.inbox.count_waiting():
                    answering.cancel()  # it would look for more for another second
                if jobs is not None:
                    jobs.cancel()

    async def _jobs(self, platform: DiscordPlatform) -> None:
        """Process the library's jobs until cancelled."""
        if self.library is not None:
            await self.library.worker(platform.capabilities()).run(asyncio.Event())

    async def settled(self) -> None:
        """Wait until everything received has been processed."""
        await self.discord.quiet(0.1)
        async with asyncio.timeout(60):
            while await self.inbox.count_waiting():
                await asyncio.sleep(0.01)
