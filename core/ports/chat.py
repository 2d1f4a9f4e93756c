"""The interface between a chat platform and the delivery of answers: where messages go, and how they look.

The delivery engine (``core.service.delivery``) knows when to show what, where to go next, and what to do after a crash.
A platform translates these calls to its API, its errors to ``CallRefused`` and ``NoAnswer``, and answers to blocks.
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

Payload = TypeVar("Payload")  # one message in its platform's form
Posted_contra = TypeVar("Posted_contra", contravariant=True)  # the same, for parameters only


class Refusal(StrEnum):
    """Reasons why a platform refuses a call."""

    GONE = "gone"  # the message or the place does not exist (any more)
    DENIED = "denied"  # the bot may not post there
    REJECTED = "rejected"  # the content is invalid, wherever it is sent
    LIMITED = "limited"  # rate limited: nothing was accepted, retry later
    OTHER = "other"  # unknown: it may be the content or the place


class CallRefused(FootnoteError):
    """A platform refuses a call. ``after``: seconds until a retry is allowed, if rate limited."""

    def __init__(self, refusal: Refusal, message: str, *, after: float = 0.0) -> None:
        super().__init__(message)
        self.refusal = refusal
        self.after = after


class NoAnswer(PlatformUnavailable):
    """A platform did not answer. The call may or may not have taken effect."""


class Superseded(FootnoteError):
    """The question was edited again. The newer delivery answers it."""


@dataclass(frozen=True, slots=True)
class AnswerPlace:
    """Where an answer's messages go. ``because`` says why that is not where the question was asked."""

    mode: ReplyMode
    channel: str
    because: str = ""


@dataclass(frozen=True, slots=True)
class PartKey:
    """The key to find a message of an answer again: its number from 0, and the message that it replaces."""

    number: int
    instead_of: str = ""
    plain: bool = False


@dataclass(slots=True)
class Work:
    """What to show while an answer is written."""

    steps: dict[str, Step] = field(default_factory=dict)
    written: str = ""
    notices: list[str] = field(default_factory=list)
    streaming: bool = False  # the first message is a stream that is still open


@dataclass(frozen=True, slots=True)
class Concluded:
    """The delivery ends with an answer."""

    answer: Answer
    trace_id: str


@dataclass(frozen=True, slots=True)
class Offered:
    """The delivery ends, for now, with a checkpoint's card."""

    checkpoint: Checkpoint
    answer: Answer
    trace_id: str


@dataclass(frozen=True, slots=True)
class Failed:
    """The delivery ends with an error message."""

    message: str
    trace_id: str


End = Concluded | Offered | Failed


@dataclass(frozen=True, slots=True)
class Manners:
    """The differences between platforms in how an answer is delivered.

    Delays are seconds between retries without a response. After the last delay of ``editing`` the message is posted
    again.
    """

    edit_seconds: float  # between two progress edits
    opening: tuple[float, ...]
    editing: tuple[float, ...]
    posting: tuple[float, ...]
    blind: frozenset[ReplyMode] = frozenset()  # no edits or searches there: show only the end
    optional_sign: bool = True  # if the first sign gets no response, work continues; if refused, it is shown elsewhere
    keeps_card: bool = False  # after a choice the card stays and the answer goes below it


class Surface(Protocol[Posted_contra]):
    """One platform's messages for one question.

    Every call raises CallRefused, NoAnswer, and PlatformUnavailable if the whole delivery has to wait.
    """

    @property
    def home(self) -> AnswerPlace | None:
        """The place where the question was asked; None if ``settle`` has to find or create it."""

    async def settle(self, first: str) -> tuple[AnswerPlace, str]:
        """Find or create the place of the answer. Return it with its first message's id, by default ``first``."""

    async def next_place(self, mode: ReplyMode) -> AnswerPlace | None:
        """Return the place for the answer in this mode; None if there is none."""

    async def is_deleted(self, place: AnswerPlace) -> bool:
        """Return whether the place was deleted, rather than only closed to the bot."""

    async def post(self, place: AnswerPlace, payload: Posted_contra, key: PartKey) -> str:
        """Post a message. Return its id; empty if it can be neither edited nor found."""

    async def edit(
        self, place: AnswerPlace, message: str, payload: Posted_contra, *, number: int = 0, once: bool = False
    ) -> None:
        """Replace the content of message ``number``. ``once``: one attempt within the rate limit, for progress."""

    async def delete(self, place: AnswerPlace, message: str) -> None:
        """Delete a message of the bot. A message that no longer exists counts as deleted."""

    async def find(self, place: AnswerPlace, key: PartKey, known: Collection[str]) -> str:
        """Return the id of a message that was posted but not recorded; empty if all are known."""


class Streaming(Protocol[Payload]):
    """Streaming of text into one message, if a platform offers it. Raises like ``Surface``."""

    seconds: float  # between two pieces
    longest: int  # characters

    def text(self, written: str) -> str:
        """Return the text in its streamed form. The form of a longer text begins with that of a shorter one."""

    async def start(self, step: Step) -> str:
        """Begin a stream with this step. Return the message's id."""

    async def append(self, message: str, steps: Sequence[Step], text: str) -> None:
        """Append steps and text."""

    async def stop(
        self, message: str, steps: Sequence[Step] = (), text: str = "", below: Payload | None = None
    ) -> None:
        """End the stream with the rest of the text and what is shown below it."""

    def below(self, end: End, work: Work) -> Payload | None:
        """Return what to add below the stream if it shows this end's exact text; None if the message must be edited."""


class Renderer(Protocol[Payload]):
    """Rendering of messages, as pure functions that know the platform's limits."""

    def progress(self, work: Work, place: AnswerPlace) -> Payload:
        """Return the message that shows work in progress."""

    def end(self, end: End, work: Work, place: AnswerPlace) -> Sequence[Payload]:
        """Return the end, in as many messages as needed."""

    def closed_card(self, card: Checkpoint) -> Payload:
        """Return an expired card, without its choices."""

    def plain(self, payload: Payload, *, edited: bool) -> Payload | None:
        """Return it in plain text; None if that cannot be posted or, with ``edited``, put into a message."""


class DeliveryHooks(Generic[Payload]):
    """Hooks for what a platform adds to the steps of a delivery; by default nothing."""

    async def prepare(self) -> Sequence[str]:
        """Prepare before anything is shown. Return notices for the answer. Raises Superseded and Unavailable."""
        return ()

    def opening(self, state: ChatQuestionState) -> ChatQuestionState:
        """Return the state with the fields that the platform sets from the first sign on."""
        return state

    async def left_card(self) -> Payload | None:
        """Return the card that led to this answer, without its choices; None if it no longer shows any."""
        return None

    def beside(self, message: str) -> Sequence[Record]:
        """Return the records to save in the same step as the id of the first message."""
        return ()

    async def remember(self, place: AnswerPlace, messages: Sequence[str]) -> None:
        """Save the mapping from these messages to the question."""

    async def shown(self, end: End | None) -> None:
        """React when the first sign is shown, or when this end is shown and saved."""

    async def ending(self, end: End, work: Work) -> None:
        """Look up what this end needs for rendering."""

    async def left(self, place: AnswerPlace) -> None:
        """React when the answer is removed from this place."""

    def last_words(self, trace_id: str) -> tuple[AnswerPlace, Payload] | None:
        """Return where to post a last message and its content if no place accepts the end; None: nothing."""
        return None
