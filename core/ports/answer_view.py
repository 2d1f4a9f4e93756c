"""An answer in the making: the view that shows it, and its stream for everyone who looks at it."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, Protocol

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
    refuses, the outcome arrives once: in its place, else posted again, else in plain text, else as a direct message to
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


@dataclass(frozen=True, slots=True)
class Begun:
    """Somebody works on it, perhaps again: what was shown before is void."""

    kind: Literal["begun"] = "begun"


@dataclass(frozen=True, slots=True)
class StepShown:
    """A line of the timeline; one of the same id takes the other's place."""

    step: Step
    kind: Literal["step"] = "step"


@dataclass(frozen=True, slots=True)
class TextAdded:
    """A piece was appended to the streamed text."""

    text: str
    kind: Literal["text"] = "text"


@dataclass(frozen=True, slots=True)
class TextVoided:
    """What was streamed does not hold: the text begins again."""

    kind: Literal["void"] = "void"


@dataclass(frozen=True, slots=True)
class NoticeShown:
    """Something said beside the answer."""

    text: str
    kind: Literal["notice"] = "notice"


@dataclass(frozen=True, slots=True)
class Ended:
    """The outcome is kept: look there."""

    kind: Literal["ended"] = "ended"


AnswerUpdate = Begun | StepShown | TextAdded | TextVoided | NoticeShown | Ended


@dataclass(frozen=True, slots=True)
class Updates:
    """What came after a place in the stream, and the place after that."""

    updates: tuple[AnswerUpdate, ...]
    place: str


class AnswerStream(Protocol):
    """What is shown of one question's answer, in order, for a little while longer than it takes.

    ``thread`` and ``subject`` name the question, as they do for ``MessageStateStore``; it is forgotten with that.
    """

    async def publish(self, thread: str, subject: str, updates: Sequence[AnswerUpdate]) -> None:
        """Add to the stream. Raises StoreUnavailable."""

    async def read(self, thread: str, subject: str, after: str = "") -> Updates:
        """Return what came after this place, at most some hundreds; at once, also when that is nothing."""
