"""A whole assistant in this process, with a scripted reasoner, for tests of the agent."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC
from typing import TypeVar

from core.agent.agent import Agent
from core.agent.run import AgentDeps
from core.ingestion.passage_vectors import vectors_of
from core.model.answer import Answer, Outcome
from core.model.budget import Prices
from core.model.channel_settings import ChannelSettings
from core.model.clock import Days
from core.model.conversation import Audience, Person, ThreadKey
from core.model.events import (
    AgentCompleted,
    AgentEvent,
    AgentFailed,
    AgentStarted,
    AnswerDelta,
    AnswerReset,
    CheckpointReached,
    Noticed,
)
from core.model.inquiry import PROFILE_LIMITS, AnswerPolicy, Checkpoint, Choice, Limits
from core.model.knowledge import Document, KnowledgeBase, Locator, Passage
from core.model.profile import Profile
from core.ports.reasoner import Reasoner
from core.retrieval.hybrid import Retriever
from core.service.actions.user_actions import UserActions
from core.service.disputes.decisions import DisputeReports
from core.service.question_recorder import QuestionRecorder, UsageRecorder
from core.service.question_service import Question, QuestionService
from tests.fakes.memory.clock import ManualClock
from tests.fakes.memory.encoder import HashingEncoder
from tests.fakes.memory.inbox import InProcessInbox
from tests.fakes.memory.index import InProcessIndex
from tests.fakes.memory.message_state import InProcessMessageStateStore
from tests.fakes.memory.proposal_store import InProcessProposalStore
from tests.fakes.memory.scripted_reasoner import ScriptedReasoner
from tests.fakes.memory.stores import (
    InProcessAudit,
    InProcessCatalog,
    InProcessChannelSettingsStore,
    InProcessCheckpoints,
    InProcessFeedbackStore,
    InProcessMemory,
    InProcessQuestionLog,
    InProcessState,
    InProcessTraceStore,
    InProcessUsageBook,
)

E = TypeVar("E")
ALICE = Person("test:alice", "Alice")
BOB = Person("test:bob", "Bob")


@dataclass(frozen=True)
class Told:
    """The outcome of one message, with all its events."""

    events: tuple[AgentEvent, ...]

    @property
    def answer(self) -> Answer:
        last = self.events[-1]
        assert isinstance(last, AgentCompleted | CheckpointReached), last
        return last.answer

    @property
    def outcome(self) -> Outcome:
        return Outcome.FAILED if isinstance(self.events[-1], AgentFailed) else self.answer.outcome

    @property
    def text(self) -> str:
        return self.answer.text

    @property
    def checkpoint(self) -> Checkpoint:
        last = self.events[-1]
        assert isinstance(last, CheckpointReached), last
        return last.checkpoint

    def all(self, kind: type[E]) -> list[E]:
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def noticed(self) -> str:
        """Return the first notices."""
        first = self.events[0]
        assert isinstance(first, Noticed), first
        return first.text

    @property
    def trace_id(self) -> str:
        return next(event.trace_id for event in self.events if isinstance(event, AgentStarted))

    @property
    def streamed(self) -> str:
        """Return the streamed text before the final one replaced it."""
        shown = ""
        for event in self.events:
            if isinstance(event, AnswerReset):
                shown = ""
            elif isinstance(event, AnswerDelta):
                shown += event.text
        return shown


class Harness:
    """One installation: documents, a reasoner, people and their threads."""

    def __init__(
        self,
        reasoner: Reasoner | None = None,
        *,
        script: ScriptedReasoner | None = None,
        limits: dict[Profile, Limits] | None = None,
        confident: float = 2.0,
        prices: Prices | None = None,
        remedy: str = "An admin can add some.",
        floor: Reasoner | None = None,
    ) -> None:
        """``script`` is the reasoner's script; ``reasoner`` plays it."""
        self.script = script or ScriptedReasoner()
        self.reasoner: Reasoner = reasoner or self.script
        self.clock = ManualClock()
        self.state = InProcessState()
        self.index = InProcessIndex()
        self.encoder = HashingEncoder()
        self.catalog = InProcessCatalog()
        self.memory = InProcessMemory(self.state)
        self.checkpoints = InProcessCheckpoints(self.state)
        self.trace_store = InProcessTraceStore(self.state)
        self.questions = InProcessQuestionLog(self.state)
        self.usage_book, days = InProcessUsageBook(), Days(self.clock, UTC)
        deps = AgentDeps(
            reasoner=self.reasoner,
            retriever=Retriever(self.index, self.encoder, None, self.catalog),
            index=self.index,
            catalog=self.catalog,
            clock=self.clock,
            confident=confident,
            prices=prices or Prices(),
            remedy=remedy,
            quote_fallback=floor,
        )
        self.question_service = QuestionService(
            agent=Agent(deps, limits or PROFILE_LIMITS),
            reasoner=self.reasoner,
            memory=self.memory,
            checkpoints=self.checkpoints,
            trace_store=self.trace_store,
            catalog=self.catalog,
            clock=self.clock,
            recorder=QuestionRecorder(self.questions, self.encoder, UsageRecorder(self.usage_book, days)),
        )
        self._documents = 0

    async def knows(
        self,
        *texts: str,
        title: str = "",
        base: str = "default",
        grants: frozenset[str] = frozenset(),
        dated: str = "2026-01-01",
        headings: Sequence[str] = (),
    ) -> None:
        """Index a document with these texts as sections, below these or numbered headings."""
        self._documents += 1
        name = title or f"Document {self._documents}"
        await self.catalog.save_base(KnowledgeBase(base, f"about {base}", grants))
        document = Document(f"d{self._documents}", base, f"{name}.md", name, "v1", "text/markdown", len(texts))
        passages = [
            Passage(
                f"d{self._documents}p{n}",
                base,
                document.id,
                "v1",
                f"d{self._documents}s{n}",
                0,
                name,
                text,
                (headings[n - 1] if headings else f"Section {n}",),
                Locator(page=n),
                document.source,
                dated=dated,
            )
            for n, text in enumerate(texts, 1)
        ]
        await self.index.add(passages, await vectors_of(passages, self.encoder))
        await self.catalog.publish(document)

    def key(self, thread: str = "t") -> ThreadKey:
        """Return a thread of this installation."""
        return ThreadKey("test", "T", "C", thread)

    async def asks(
        self,
        text: str,
        *,
        thread: str = "t",
        by: Person = ALICE,
        policy: AnswerPolicy | None = None,
        audience: Audience | None = None,
    ) -> Told:
        """Ask in a thread."""
        question = Question(text, self.key(thread), by, audience or Audience(), policy or AnswerPolicy())
        return await told(self.question_service.ask(question))

    async def presses(self, checkpoint: Checkpoint, choice: str, *, text: str = "", by: Person = ALICE) -> Told:
        """Press a button."""
        found = checkpoint.choice(choice) or Choice(choice, choice)
        return await told(self.question_service.choose(checkpoint.id, found, by, text=text))


async def told(events: AsyncIterator[AgentEvent]) -> Told:
    """Return all events."""
    return Told(tuple([event async for event in events]))


def within(**limits: float) -> dict[Profile, Limits]:
    """Return the usual limits of every profile, with these changes."""
    return {profile: replace(limit, **limits) for profile, limit in PROFILE_LIMITS.items()}  # type: ignore[arg-type]


def user_actions(harness: Harness, proposals: InProcessProposalStore | None = None) -> UserActions:
    """Return the actions on the answers of a test."""
    return UserActions.build(
        memory=harness.memory,
        trace_store=harness.trace_store,
        catalog=harness.catalog,
        feedback=InProcessFeedbackStore(harness.state),
        settings_store=InProcessChannelSettingsStore(),
        audit=InProcessAudit(),
        inbox=InProcessInbox(harness.state),
        message_states=InProcessMessageStateStore(harness.state),
        checkpoints=harness.checkpoints,
        defaults=ChannelSettings(),
        disputes=DisputeReports(proposals or InProcessProposalStore(harness.state), harness.clock),
    )
