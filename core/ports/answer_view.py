"""The view that shows an answer as it is written, and its stream for everyone who watches."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, Protocol

from core.model.answer import Answer
from core.model.inquiry import Checkpoint


class StepState(StrEnum):
    """States of a step."""

    RUNNING = "running"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class Step:
    """One line of the timeline. A step with the same id replaces it."""

    id: str
    title: str
    state: StepState
    detail: str = ""


class AnswerView(Protocol):
    """One visible answer as it is written, on one platform, for one question.

    Calls come one at a time, in order. ``open`` is first. One of ``conclude``, ``offer`` and ``fail`` is the outcome.
    ``close`` is last, even without an outcome, because the question was edited or another worker has taken over.

    A view shows each piece of text exactly once, whatever its platform does to a stream.

    The last call saves what it showed and the outcome in one write (``MessageState.settle``). Whatever the platform
    refuses, the outcome arrives once: in its place, otherwise as a new post, in plain text, or as a direct message to
    the asker. If nothing reaches them, it is logged. So calls raise only two errors: Unavailable, if the platform or a
    store is down and the question must be retried later, and LeaseLost.
    """

    async def open(self) -> None:
        """Show the first sign that the question was received, or continue with the one that an earlier worker showed.

        Save to the message state before showing anything. A place where no sign can be shown is no reason to stop.
        """

    async def step(self, step: Step) -> None:
        """Show or replace a line of the timeline."""

    async def write(self, text: str) -> None:
        """Show more of the answer."""

    async def rewrite(self, reason: str) -> None:
        """Discard the text shown so far; it starts again."""

    async def notice(self, text: str) -> None:
        """Show a notice next to the answer."""

    async def conclude(self, answer: Answer, trace_id: str) -> None:
        """Show the final text with its sources, replacing everything streamed."""

    async def offer(self, checkpoint: Checkpoint, answer: Answer, trace_id: str) -> None:
        """Show a checkpoint with its choices."""

    async def fail(self, message: str, trace_id: str) -> None:
        """Show that it failed, with the trace id."""

    async def close(self) -> None:
        """Show nothing more, not even pending updates. Raises nothing."""


@dataclass(frozen=True, slots=True)
class Begun:
    """Work on the answer begins, perhaps again. Everything shown before is void."""

    kind: Literal["begun"] = "begun"


@dataclass(frozen=True, slots=True)
class StepShown:
    """A line of the timeline. It replaces the one with the same id."""

    step: Step
    kind: Literal["step"] = "step"


@dataclass(frozen=True, slots=True)
class TextAdded:
    """A piece was appended to the streamed text."""

    text: str
    kind: Literal["text"] = "text"


@dataclass(frozen=True, slots=True)
class TextVoided:
    """The streamed text is void; the text starts again."""

    kind: Literal["void"] = "void"


@dataclass(frozen=True, slots=True)
class NoticeShown:
    """A notice next to the answer."""

    text: str
    kind: Literal["notice"] = "notice"


@dataclass(frozen=True, slots=True)
class Ended:
    """The outcome is saved; read it from the store."""

    kind: Literal["ended"] = "ended"


AnswerUpdate = Begun | StepShown | TextAdded | TextVoided | NoticeShown | Ended


@dataclass(frozen=True, slots=True)
class Updates:
    """The updates after a position in the stream, and the next position."""

    updates: tuple[AnswerUpdate, ...]
    place: str


class AnswerStream(Protocol):
    """The updates of one question's answer, in order, kept a little longer than it takes to write.

    ``thread`` and ``subject`` identify the question, as in ``MessageStateStore``. The stream is forgotten with the
    question.
    """

    async def publish(self, thread: str, subject: str, updates: Sequence[AnswerUpdate]) -> None:
        """Add to the stream. Raises StoreUnavailable."""

    async def read(self, thread: str, subject: str, after: str = "") -> Updates:
        """Return at most some hundred updates after this position. Returns at once, even if there are none."""
