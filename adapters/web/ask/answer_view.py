"""An answer in the making on the page: what is shown goes into a stream that every open page reads; the end is kept.

The end is shown again after a reload, after a restart and in another tab.
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
    """An answer, an answer with choices below it, or the line that says why there is none."""

    trace_id: str
    answer: Answer | None = None
    checkpoint: Checkpoint | None = None
    failure: str = ""
    notices: tuple[str, ...] = ()


class AnswerStage(StrEnum):
    """How far an answer is."""

    UNSEEN = ""
    WORKING = "working"
    CHOSEN = "chosen"  # its card was answered, which is not worked on yet
    ENDED = "ended"


@dataclass(frozen=True, kw_only=True)
class WebQuestionState(QuestionState):
    """The answer as the page shows it once it has ended; until then, the trace under which it can be stopped."""

    stage: AnswerStage = AnswerStage.UNSEEN
    trace: str = ""
    question: IncomingMessage | None = None
    shown: ShownAnswer | None = None
    chosen: str = ""  # on its card, in words
    told: str = ""  # a word beside it
    rating: str = ""


class WebAnswerView:
    """Shows one question's answer to whoever looks at its page."""

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
        """From here on it can be seen that it is worked on; and stopped, under the trace that is kept with it."""
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
        """Forget the text shown so far."""
        await self._publish(TextVoided())
        await self.notice(reason)

    async def notice(self, text: str) -> None:
        """Say something beside the answer."""
        if text.strip() and text not in self._notices:
            self._notices.append(text)
            await self._publish(NoticeShown(text))

    async def conclude(self, answer: Answer, trace_id: str) -> None:
        """Keep the answer; open pages show it in place of what was streamed."""
        await self._end(ShownAnswer(trace_id or self._trace_id, answer, notices=self._lines()), answer.outcome)

    async def offer(self, checkpoint: Checkpoint, answer: Answer, trace_id: str) -> None:
        """Keep the card with its choices."""
        shown = ShownAnswer(trace_id or self._trace_id, answer, checkpoint, notices=self._lines())
        await self._end(shown, answer.outcome)

    async def fail(self, message: str, trace_id: str) -> None:
        """Keep that it did not work."""
        await self._end(ShownAnswer(trace_id or self._trace_id, failure=message, notices=self._lines()))

    async def close(self) -> None:
        """Nothing waits to be shown."""

    def _lines(self) -> tuple[str, ...]:
        return tuple(self._notices)

    async def _end(self, shown: ShownAnswer, outcome: str = "") -> None:
        kept = self._message_state.kept
        now = replace(kept, stage=AnswerStage.ENDED, trace=shown.trace_id, shown=shown)
        await self._message_state.settle(now, outcome)
        await self._publish(Ended())

    async def _publish(self, update: AnswerUpdate) -> None:
        await self._stream.publish(str(self._message.thread), self._message.id, [update])
