"""The records that every platform keeps about a question: how far it is, the card that waits, the files on it."""

from dataclasses import dataclass, field
from enum import StrEnum

from core.model.conversation import ThreadKey
from core.model.incoming_events import IncomingMessage
from core.model.records import NUMBERED, PERSON, THREAD, Record


@dataclass(frozen=True, kw_only=True)
class QuestionState(Record, place="{thread}", subject="{message}"):
    """How far the question of a message is. Each platform adds what shows it, in a type of its own below this one.

    ``settled_by`` is the delivery that had its outcome last; ``checkpoint`` the card that was shown last.
    """

    thread: ThreadKey = field(metadata=THREAD)
    message: str
    asker: str = field(default="", metadata=PERSON)
    outcome: str = ""  # how it ended, by ``Outcome``, or DELETED; empty while it has not
    settled_by: str = ""
    edited_late: bool = False  # its writer was offered to have it answered again, as it was edited after the answer
    late_edit: IncomingMessage | None = None  # as it reads since
    checkpoint: str = ""

    @property
    def is_worked_on(self) -> bool:
        """Whether somebody is at it, as far as it can be seen: then it can be stopped."""
        return not self.outcome


class AnswerStage(StrEnum):
    """How far an answer is, as far as it is visible."""

    UNSEEN = ""
    WORKING = "working"  # its first message is being posted, or is there
    PRIVATE = "private"  # only its asker knows that it comes
    ENDING = "ending"  # its end is being shown
    OFFERED = "offered"  # a card waits for a choice
    DONE = "done"

    @classmethod
    def _missing_(cls, value: object) -> "AnswerStage | None":
        """Read the names that Slack's answers had at rest in the first version."""
        return {"open": cls.WORKING, "concluding": cls.ENDING}.get(str(value))


@dataclass(frozen=True, kw_only=True)
class ChatQuestionState(QuestionState):
    """The messages that show one answer in a chat, by their ids, and the place they are in."""

    stage: AnswerStage = AnswerStage.UNSEEN
    channel: str = ""  # where they are, if the thread key does not say it
    mode: str = ""  # ReplyMode, where not the question's
    because: str = ""  # why the answer is not where it was asked
    first: str = ""
    parts: tuple[str, ...] = field(default=(), metadata=NUMBERED)  # those that follow the first, of a long one
    cards: tuple[str, ...] = ()  # earlier first messages: cards that led on to the present one

    @property
    def is_worked_on(self) -> bool:
        """From its first sign until a card or the answer is shown; again after a choice."""
        return self.stage in {AnswerStage.WORKING, AnswerStage.PRIVATE, AnswerStage.ENDING}

    @property
    def messages(self) -> tuple[str, ...]:
        """The ids of all its messages, in order."""
        return tuple(filter(None, (self.first, *self.parts)))


@dataclass(frozen=True, kw_only=True)
class CheckpointState(Record, place="{thread}", subject="checkpoint:{checkpoint}"):
    """What a card's buttons and its expiry need: the question behind it, what it says, and what was chosen."""

    thread: ThreadKey = field(metadata=THREAD)
    checkpoint: str
    asker: str = field(default="", metadata=PERSON)
    question: IncomingMessage | None = None
    card: str = ""  # its message, escaped for the platform that shows it
    chosen: str = ""  # the label of the choice that was made


@dataclass(frozen=True, kw_only=True)
class LinesSinceAnswer(Record, place="{thread}", subject="lines since"):
    """That people have written in a thread since our last answer there, which was its turn number ``turns``."""

    thread: ThreadKey = field(metadata=THREAD)
    turns: int = 0
    first: int = 0  # the checksum of the id of the first such message
    in_company: bool = False  # somebody else than the one we answered has written, or was written to


@dataclass(frozen=True, kw_only=True)
class AttachedFiles(Record, place="{thread}", subject="attached:{asker}"):
    """Where the files hang that somebody attached last in a thread, and how many turns it had by then."""

    thread: ThreadKey = field(metadata=THREAD)
    asker: str = field(metadata=PERSON)
    question: IncomingMessage | None = None  # without its text
    turns: int = 0
