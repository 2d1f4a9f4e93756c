"""The page's answer view: updates go to a stream that open pages read; the final answer is stored.

The stored answer is shown after a reload, after a restart and in other tabs.
"""

from dataclasses import dataclass, replace
from enum import StrEnum

from core.model.answer import Answer
from core.model.incoming_events import IncomingMessage
from core.model.inquiry import Checkpoint
from core.model.records import QuestionState
from core.ports.answer_view import (
    AnswerStream,
    AnswerUpdate,
    Begun,
    Ended,
    NoticeShown,
    Step,
    StepShown,
    TextAdded,
    TextVoided,
)
from core.ports.platform import MessageState


@dataclass(frozen=True, slots=True)
class ShownAnswer:
    """An answer, an answer with choices, or the line that says why there is none."""

    trace_id: str
    answer: Answer | None = None
    checkpoint: Checkpoint | None = None
    failure: str = ""
    notices: tuple[str, ...] = ()


class AnswerStage(StrEnum):
    """Stages of an answer."""

    UNSEEN = ""
    WORKING = "working"
    CHOSEN = "chosen"  # its card was answered, but work has not continued yet
    ENDED = "ended"


@dataclass(frozen=True, kw_only=True)
class WebQuestionState(QuestionState):
    """The answer as shown once it has ended; until then, the trace id by which it can be stopped."""

    stage: AnswerStage = AnswerStage.UNSEEN
    trace: str = ""
    question: IncomingMessage | None = None
    shown: ShownAnswer | None = None
    chosen: str = ""  # the choice on its card, as text
    told: str = ""  # a note shown with it
    rating: str = ""


class WebAnswerView:
    """View of one question's answer for everyone with its page open."""

    def __init__(
        self,
        message: IncomingMessage,
        message_state: MessageState[WebQuestionState],
        stream: AnswerStream,
        trace_id: str,
    ) -> None:
        self._message = message
        self._message_state = message_state
        self._stream = stream
        self._trace_id = trace_id
        self._notices: list[str] = []

    async def open(self) -> None:
        """Mark the question as in progress. It can be stopped by the trace id saved with it."""
        kept = self._message_state.kept
        now = replace(kept, stage=AnswerStage.WORKING, trace=self._trace_id, question=self._message)
        await self._message_state.keep(now)
        await self._publish(Begun())

    async def step(self, step: Step) -> None:
        """Show or replace a line of the timeline."""
        await self._publish(StepShown(step))

    async def write(self, text: str) -> None:
        """Show more of the answer."""
        await self._publish(TextAdded(text))

    async def rewrite(self, reason: str) -> None:
        """Discard the text shown so far."""
        await self._publish(TextVoided())
        await self.notice(reason)

    async def notice(self, text: str) -> None:
        """Show a notice next to the answer."""
        if text.strip() and text not in self._notices:
            self._notices.append(text)
            await self._publish(NoticeShown(text))

    async def conclude(self, answer: Answer, trace_id: str) -> None:
        """Save the answer. Open pages show it in place of the streamed text."""
        await self._end(ShownAnswer(trace_id or self._trace_id, answer, notices=self._lines()), answer.outcome)

    async def offer(self, checkpoint: Checkpoint, answer: Answer, trace_id: str) -> None:
        """Save the card with its choices."""
        shown = ShownAnswer(trace_id or self._trace_id, answer, checkpoint, notices=self._lines())
        await self._end(shown, answer.outcome)

    async def fail(self, message: str, trace_id: str) -> None:
        """Save the failure."""
        await self._end(ShownAnswer(trace_id or self._trace_id, failure=message, notices=self._lines()))

    async def close(self) -> None:
        """Do nothing, because no update is pending."""

    def _lines(self) -> tuple[str, ...]:
        return tuple(self._notices)

    async def _end(self, shown: ShownAnswer, outcome: str = "") -> None:
        kept = self._message_state.kept
        now = replace(kept, stage=AnswerStage.ENDED, trace=shown.trace_id, shown=shown)
        await self._message_state.settle(now, outcome)
        await self._publish(Ended())

    async def _publish(self, update: AnswerUpdate) -> None:
        await self._stream.publish(str(self._message.thread), self._message.id, [update])
