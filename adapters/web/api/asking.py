"""Questions of API clients in progress: the limit at once, and what the reply needs from events."""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field

from adapters.web.api.replies import WENT_WRONG, answer_reply, problem
from adapters.web.api.schemas import AnswerReply, Problem
from core.model.conversation import ThreadKey
from core.model.errors import Busy, FootnoteError, Unavailable
from core.model.events import (
    AgentCompleted,
    AgentEvent,
    AgentFailed,
    AgentStarted,
    AnswerDelta,
    AnswerReset,
    CheckpointReached,
    HallucinationChecked,
    Noticed,
)
from core.ports.usage import Metrics, NoMetrics
from core.service.api_clients import API_PLATFORM, ApiClient
from core.service.question_service import QuestionService

MOST_ASKING = 16  # API questions at once in a process; chat has priority
ENDS = AgentCompleted | AgentFailed | CheckpointReached
SHOWS_DRAFT = AnswerDelta | AnswerReset | HallucinationChecked  # has draft text, which clients never get

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ProgramRun:
    """A question or a choice in progress."""

    client: ApiClient
    thread: ThreadKey
    events: AsyncGenerator[AgentEvent, None]


@dataclass(slots=True)
class RunRecorder:
    """Recorder of a run's data for the reply."""

    conversation: str
    metrics: Metrics
    trace_id: str = ""
    notices: list[str] = field(default_factory=list)
    final: AnswerReply | Problem | None = None

    def take_in(self, event: AgentEvent) -> None:
        """Record what the reply needs from an event."""
        match event:
            case AgentStarted():
                self.trace_id = event.trace_id
            case Noticed():
                self.notices.append(event.text)
            case AgentCompleted():
                self.final = answer_reply(event.answer, self.trace_id, self.conversation, self.notices)
            case CheckpointReached():
                self.final = answer_reply(
                    event.answer, self.trace_id, self.conversation, self.notices, event.checkpoint
                )
            case AgentFailed():
                self.final = problem(503, event.message, trace_id=event.trace_id)
            case _:
                pass

    async def watch(self, run: ProgramRun) -> AsyncIterator[AgentEvent]:
        """Yield the run's events after recording each."""
        async with aclosing(run.events) as events:
            async for event in events:
                self.take_in(event)
                if isinstance(event, ENDS):
                    self.metrics.count_outcome(API_PLATFORM, event)
                yield event

    async def finish(self, run: ProgramRun) -> AnswerReply | Problem:
        """Return the reply, once the run has ended."""
        async for _ in self.watch(run):
            pass
        return self.end

    @property
    def end(self) -> AnswerReply | Problem:
        """The reply at the end of a run."""
        return self.final or problem(500, WENT_WRONG, trace_id=self.trace_id)


@dataclass(frozen=True, slots=True)
class Asking:
    """Limits the API questions at once, and updates the thread after an answer."""

    questions: QuestionService
    metrics: Metrics = NoMetrics()  # noqa: RUF009 - it has no state
    warming: Callable[[], bool] = lambda: False
    slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(MOST_ASKING))

    def check_ready(self) -> None:
        """Raise Unavailable while the process starts up."""
        if self.warming():
            raise Unavailable("Footnote is still starting.", remedy="Try again in a moment.")

    @asynccontextmanager
    async def work(self, run: ProgramRun) -> AsyncIterator[RunRecorder]:
        """Hold a slot while a run is in progress. Raises Busy, and Unavailable during startup."""
        self.check_ready()
        if self.slots.locked():
            raise Busy(f"{MOST_ASKING} questions are already being answered.", remedy="Wait a moment, then try again.")
        async with self.slots:
            recorder = RunRecorder(run.thread.thread, self.metrics)
            try:
                yield recorder
            finally:
                self.questions.release(recorder.trace_id)
        await self._reflect(run)

    async def _reflect(self, run: ProgramRun) -> None:
        """Update the thread's summary for later questions, after the client has its answer."""
        try:
            await self.questions.reflect(run.thread, run.client.audience)
        except FootnoteError as error:
            log.warning("not_summarised", extra={"reason": str(error)})
