"""What a chat platform gives to the delivery of an answer: where messages are shown, and how they look.

The delivery engine (``core.service.delivery``) knows when to show what, where next, and what to do after a crash. A
platform translates: its calls into these, its errors into ``CallRefused`` and ``NoAnswer``, an answer into blocks.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Generic, Protocol, TypeVar

from core.model.answer import Answer
from core.model.errors import FootnoteError, PlatformUnavailable
from core.model.incoming_events import ReplyMode
from core.model.inquiry import Checkpoint
from core.model.records import ChatQuestionState, Record
from core.ports.answer_view import Step

Payload = TypeVar("Payload")  # one message, as its platform shows it
Posted_contra = TypeVar("Posted_contra", contravariant=True)  # the same, where it is only taken


class Refusal(StrEnum):
    """Why a platform refuses a call."""

    GONE = "gone"  # the message or the place does not exist (any more)
    DENIED = "denied"  # not there, or not by us
    REJECTED = "rejected"  # what we send, wherever we send it
    LIMITED = "limited"  # too often: nothing was taken, try again later
    OTHER = "other"  # a reason that we do not know: it may be the content or the place


class CallRefused(FootnoteError):
    """A platform refuses a call; ``after``: seconds until it may be made again, where it is rate limited."""

    def __init__(self, refusal: Refusal, message: str, *, after: float = 0.0) -> None:
        super().__init__(message)
        self.refusal = refusal
        self.after = after


class NoAnswer(PlatformUnavailable):
    """A platform did not answer: the call may or may not have been carried out."""


class Superseded(FootnoteError):
    """The question was edited again; the newer delivery answers it."""


@dataclass(frozen=True, slots=True)
class AnswerPlace:
    """Where the messages of an answer go; ``because`` is why that is not where it was asked."""

    mode: ReplyMode
    channel: str
    because: str = ""


@dataclass(frozen=True, slots=True)
class PartKey:
    """By what a message of an answer is found again: its number from 0, and what it replaces."""

    number: int
    instead_of: str = ""
    plain: bool = False


@dataclass(slots=True)
class Work:
    """What there is to show while an answer is in the making."""

    steps: dict[str, Step] = field(default_factory=dict)
    written: str = ""
    notices: list[str] = field(default_factory=list)
    streaming: bool = False  # the first message is a stream that has not ended


@dataclass(frozen=True, slots=True)
class Concluded:
    """It ends with an answer."""

    answer: Answer
    trace_id: str


@dataclass(frozen=True, slots=True)
class Offered:
    """It ends, for now, with a checkpoint's card."""

    checkpoint: Checkpoint
    answer: Answer
    trace_id: str


@dataclass(frozen=True, slots=True)
class Failed:
    """It ends with why it did not work."""

    message: str
    trace_id: str


End = Concluded | Offered | Failed


@dataclass(frozen=True, slots=True)
class Manners:
    """What differs between platforms in how an answer is delivered.

    Pauses are seconds between tries without a response; after those of ``editing`` a message is posted again.
    """

    edit_seconds: float  # between two progress edits
    opening: tuple[float, ...]
    editing: tuple[float, ...]
    posting: tuple[float, ...]
    blind: frozenset[ReplyMode] = frozenset()  # where messages can be neither edited nor found: only the end is shown
    optional_sign: bool = True  # without a response to the first sign the work goes on; refused, it is shown elsewhere
    keeps_card: bool = False  # after a choice the card stays and the answer is posted below it


class Surface(Protocol[Posted_contra]):
    """One platform's messages, for one question.

    Every call raises CallRefused, NoAnswer, and PlatformUnavailable where the whole delivery has to wait.
    """

    @property
    def home(self) -> AnswerPlace | None:
        """The place where it was asked; None where ``settle`` has to find or make it."""

    async def settle(self, first: str) -> tuple[AnswerPlace, str]:
        """Find or make the place of the answer; with it the id of its first message, by default the one given."""

    async def next_place(self, mode: ReplyMode) -> AnswerPlace | None:
        """Return the place that answers the same question in this mode; None where there is none."""

    async def is_deleted(self, place: AnswerPlace) -> bool:
        """Return whether the place was deleted, and not only closed to us."""

    async def post(self, place: AnswerPlace, payload: Posted_contra, key: PartKey) -> str:
        """Post a message; its id, empty where it can be neither edited nor found."""

    async def edit(
        self, place: AnswerPlace, message: str, payload: Posted_contra, *, number: int = 0, once: bool = False
    ) -> None:
        """Replace what the message with this number shows. ``once``: one attempt in the rate limit, for progress."""

    async def delete(self, place: AnswerPlace, message: str) -> None:
        """Delete a message of ours; one that does not exist any more is deleted."""

    async def find(self, place: AnswerPlace, key: PartKey, known: Collection[str]) -> str:
        """Return the id of a message that was posted and not kept; empty if all are known."""


class Streaming(Protocol[Payload]):
    """Text that appears piece by piece in one message, where a platform offers that. Raises as ``Surface``."""

    seconds: float  # between two pieces
    longest: int  # characters

    def text(self, written: str) -> str:
        """Return the text as it is streamed; of a longer text it begins with that of a shorter one."""

    async def start(self, step: Step) -> str:
        """Begin a stream with this step; the message's id."""

    async def append(self, message: str, steps: Sequence[Step], text: str) -> None:
        """Show more."""

    async def stop(
        self, message: str, steps: Sequence[Step] = (), text: str = "", below: Payload | None = None
    ) -> None:
        """End it, with the rest of the text and what is shown below that."""

    def below(self, end: End, work: Work) -> Payload | None:
        """Return what the stream lacks if it shows this end's very text; None if the message has to be edited."""


class Renderer(Protocol[Payload]):
    """How messages look: pure functions that know the platform's limits."""

    def progress(self, work: Work, place: AnswerPlace) -> Payload:
        """Return the work as it goes."""

    def end(self, end: End, work: Work, place: AnswerPlace) -> Sequence[Payload]:
        """Return the end, in as many messages as it takes."""

    def closed_card(self, card: Checkpoint) -> Payload:
        """Return a card whose time is over, without its choices."""

    def plain(self, payload: Payload, *, edited: bool) -> Payload | None:
        """Return the same in plain text; None where that cannot be posted or, ``edited``, be put into a message."""


class DeliveryHooks(Generic[Payload]):
    """What a platform adds to the steps of a delivery; by default nothing."""

    async def prepare(self) -> Sequence[str]:
        """Get ready, before anything is shown; what to say beside the answer. Raises Superseded and Unavailable."""
        return ()

    def opening(self, state: ChatQuestionState) -> ChatQuestionState:
        """Return the state with what the platform keeps from the first sign on."""
        return state

    async def left_card(self) -> Payload | None:
        """Return the card that led here, without its choices; None where it shows none any more."""
        return None

    def beside(self, message: str) -> Sequence[Record]:
        """Return what is kept in the same step as the id of the first message."""
        return ()

    async def remember(self, place: AnswerPlace, messages: Sequence[str]) -> None:
        """Keep what leads from these messages back to the question."""

    async def shown(self, end: End | None) -> None:
        """React to the first sign being shown, or to this end being shown and kept."""

    async def ending(self, end: End, work: Work) -> None:
        """Look up what the rendering of this end needs."""

    async def left(self, place: AnswerPlace) -> None:
        """React to the answer's removal from this place."""

    def last_words(self, trace_id: str) -> tuple[AnswerPlace, Payload] | None:
        """Return what to say where, when no place takes the end; None: nothing."""
        return None
