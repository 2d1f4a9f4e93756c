"""A platform on paper that keeps only times: when each case was put in, first shown and answered.

Nothing of an answer is kept, so that what grows under load is the program's own. Whose time it was is judged elsewhere.
"""

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from core.model.answer import Answer, Outcome
from core.model.incoming_events import Incoming, IncomingMessage
from core.model.inquiry import Checkpoint
from core.ports.answer_view import Step
from core.ports.platform import MessageState
from research.benchmark.endpoint import case_of
from tests.fakes.memory.platform import RecordedPlatform, RecordedQuestionState

if TYPE_CHECKING:
    import asyncio


class Times:
    """The times of a fixed number of cases, in seconds of the machine's monotonic clock; not a number until then."""

    def __init__(self, cases: int) -> None:
        """Room for cases 1 to ``cases``, taken at once: what is measured later may not grow by it."""
        import numpy as np

        self.put = np.full(cases + 1, np.nan)
        self.shown = np.full(cases + 1, np.nan)
        self.ended = np.full(cases + 1, np.nan)
        self.wrong: dict[int, str] = {}  # what became of a case instead of an answer


class StopwatchPlatform(RecordedPlatform):
    """Tells whoever waits for a case that it has ended, and how."""

    def __init__(self, times: Times, written_by: str) -> None:
        """Count an answer only if this model has written it."""
        super().__init__()
        self.times = times
        self.written_by = written_by
        self.waiting: dict[int, asyncio.Future[None]] = {}

    def answer_view(  # type: ignore[override]
        self, incoming: Incoming, message_state: MessageState[RecordedQuestionState], trace_id: str
    ) -> "StopwatchAnswerView":
        """Return a stopwatch for this."""
        assert isinstance(incoming, IncomingMessage)
        return StopwatchAnswerView(self, message_state, case_of(incoming.text))

    async def tell(self, incoming: Incoming, text: str) -> None:
        """Record a refusal, which is no answer."""
        if isinstance(incoming, IncomingMessage):
            self.end(case_of(incoming.text), text)

    def end(self, case: int, wrong: str = "") -> None:
        """End the case with its outcome: an answer, or what went wrong."""
        self.times.ended[case] = time.monotonic()
        if wrong:
            self.times.wrong[case] = wrong
        waiting = self.waiting.pop(case, None)
        if waiting is not None and not waiting.done():
            waiting.set_result(None)


class StopwatchAnswerView:
    """Keeps its message state as a real answer view does, and shows nothing."""

    def __init__(
        self, platform: StopwatchPlatform, message_state: MessageState[RecordedQuestionState], case: int
    ) -> None:
        self._platform = platform
        self._message_state = message_state
        self._case = case

    async def open(self) -> None:
        """Show the first sign, and store what was posted, as a platform does."""
        if not self._message_state.kept.page:
            await self._message_state.keep(replace(self._message_state.kept, page=f"page-{self._case}"))
        self._platform.times.shown[self._case] = time.monotonic()

    async def step(self, step: Step) -> None:
        """Not shown."""

    async def write(self, text: str) -> None:
        """Not shown."""

    async def rewrite(self, reason: str) -> None:
        """Not shown."""

    async def notice(self, text: str) -> None:
        """Not shown."""

    async def conclude(self, answer: Answer, trace_id: str) -> None:
        """Count an answer if the model wrote it from sources; a fallback's is none."""
        wrong = ""
        if answer.written_by != self._platform.written_by:
            wrong = f"written by {answer.written_by}"
        elif answer.outcome is not Outcome.ANSWERED:
            wrong = str(answer.outcome)
        await self._message_state.settle(self._message_state.kept, answer.outcome)
        self._platform.end(self._case, wrong)

    async def offer(self, checkpoint: Checkpoint, answer: Answer, trace_id: str) -> None:
        """No answer."""
        await self._message_state.settle(self._message_state.kept, answer.outcome)
        self._platform.end(self._case, f"parked: {checkpoint.kind}")

    async def fail(self, message: str, trace_id: str) -> None:
        """No answer."""
        await self._message_state.settle(self._message_state.kept)
        self._platform.end(self._case, message)

    async def close(self) -> None:
        """Nothing waits to be shown."""
