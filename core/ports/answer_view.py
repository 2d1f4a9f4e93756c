"""One visible answer in the making: what every platform, the page and the terminal implement."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from core.model.answer import Answer
from core.model.inquiry import Checkpoint


class StepState(StrEnum):
    """How far a step of the work is."""

    RUNNING = "running"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class Step:
    """One line of the timeline: the same id again replaces it."""

    id: str
    title: str
    state: StepState
    detail: str = ""


class AnswerView(Protocol):
    """One visible answer in the making, on one platform, for one question.

    Calls come one at a time, in order; ``open`` first, one of ``conclude``, ``offer`` and ``fail`` as the outcome, and
    ``close`` last, also where there was no outcome: the question was edited, or another worker has taken over.
    A view shows each piece of text at most once and swallows none, whatever its platform does to a stream.

    The last call keeps what it showed and the outcome in one write (``MessageState.settle``). Whatever the platform
    refuses, the outcome arrives once: in its place, else posted anew, else in plain text, else as a direct message to
    the one who asked; where nothing at all reaches them it is logged. So no call raises anything but Unavailable, when
    the platform or a store is away and the question must be tried again later, and LeaseLost.
    """

    async def open(self) -> None:
        """Show the first sign that the question was heard, or take up the one an earlier worker showed.

        Something is kept in the message state before anything is shown. A place without signs is no reason to stop.
        """

    async def step(self, step: Step) -> None:
        """Show or replace a line of the timeline."""

    async def write(self, text: str) -> None:
        """Show more of the answer."""

    async def rewrite(self, reason: str) -> None:
        """Forget the text shown so far; it starts again."""

    async def notice(self, text: str) -> None:
        """Say something beside the answer."""

    async def conclude(self, answer: Answer, trace_id: str) -> None:
        """Show the final text with its sources, in place of everything streamed."""

    async def offer(self, checkpoint: Checkpoint, answer: Answer, trace_id: str) -> None:
        """Show a checkpoint with its choices."""

    async def fail(self, message: str, trace_id: str) -> None:
        """Say that it did not work, and under which trace."""

    async def close(self) -> None:
        """Show nothing more, whatever still waits to be shown. Raises nothing."""
