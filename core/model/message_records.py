"""The records that every platform keeps about a question: how far it is, the card that waits, the files on it."""

from dataclasses import dataclass, field

from core.model.conversation import ThreadKey
from core.model.incoming_events import IncomingMessage
from core.model.records import PERSON, THREAD, Record


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
