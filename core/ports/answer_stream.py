"""An answer in the making, for whoever looks at it: in this process or another, from its beginning or late."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from core.ports.answer_view import Step


@dataclass(frozen=True, slots=True)
class Begun:
    """Somebody works on it, perhaps anew: what was shown before is void."""

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
    """What was streamed does not hold: the text begins anew."""

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
        """What came after this place, at most some hundreds; at once, also when that is nothing."""
