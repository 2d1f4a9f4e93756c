"""What is kept about messages, as typed records: each type says where its records are kept and whose they are.

A record type is a frozen, keyword-only dataclass below ``Record``. Where a record is kept follows from its own fields,
and the fields that say whose it is are marked ``PERSON`` or ``THREAD``. A store indexes every record under its owners
as it writes it, so that every new type is added to what is forgotten with a person or a thread; a type without an
owner is refused. How a record reads at rest is ``record_codec``'s.

Without slots: those would make every class twice, and ``record_types`` would find the one that nobody uses.
"""

import inspect
import re
from collections.abc import Iterable, Mapping
from dataclasses import Field, dataclass, field, fields
from enum import StrEnum
from functools import cache
from typing import Any, ClassVar, TypeVar, get_type_hints

from core.model.conversation import ThreadKey
from core.model.incoming_events import IncomingMessage

PERSON = {"owner": "person"}  # a person's qualified id
THREAD = {"owner": "thread"}  # a ThreadKey
UNSTORED = {"unstored": True}  # of an owner that is indexed, and is nowhere in the record at rest
NUMBERED = {"numbered": "part-"}  # a tuple, each value in a field of its own: part-1, part-2, …

_NUMBERS = (int, float, bool, tuple[int, ...], tuple[float, ...])
_PLACEHOLDER = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Address:
    """Where a record is kept. ``place`` is a thread's key, or the name of what is no thread.

    ``entry`` is empty for a record that is all of its type at that address; of several that share it, the name of one.
    """

    place: str
    subject: str
    entry: str = ""


@dataclass(frozen=True, slots=True)
class Owners:
    """The people and the threads with which a record is forgotten."""

    people: frozenset[str] = frozenset()
    threads: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True)
class Record:
    """The base of all that is kept about messages."""

    kept_at: ClassVar[Address] = Address("", "")  # as templates over the type's fields
    of_installation: ClassVar[bool] = False

    def __init_subclass__(
        cls, *, place: str = "", subject: str = "", entry: str = "", installation: bool = False
    ) -> None:
        """Say where records of this type are kept, as templates over their fields; none for a mere base.

        With ``entry`` several of them share an address, each in a field of this name that holds its one value. An
        ``installation`` record belongs to nobody, and therefore holds numbers alone. Raises TypeError for a type that
        does not say whose its records are.
        """
        above = cls.kept_at
        cls.kept_at = Address(place or above.place, subject or above.subject, entry or above.entry)
        cls.of_installation = installation or cls.of_installation
        if cls.kept_at.subject:
            _check_owner(cls)

    @property
    def address(self) -> Address:
        """The place, subject and entry that it is kept under."""
        kept_at = self.kept_at
        return Address(_fill(kept_at.place, self), _fill(kept_at.subject, self), _fill(kept_at.entry, self))

    @property
    def owners(self) -> Owners:
        """The people and threads that it is erased with."""
        layout = layout_of(type(self))
        return Owners(_names_of(self, layout.people), _names_of(self, layout.threads))


R = TypeVar("R", bound=Record)


def record_types() -> tuple[type[Record], ...]:
    """Return every type of record that is defined, by name: all of them may belong to a person or a thread."""
    found: dict[str, type[Record]] = {}
    waiting: list[type[Record]] = [Record]
    while waiting:
        kind = waiting.pop()
        waiting += kind.__subclasses__()
        if kind.kept_at.subject:  # no mere base
            found[f"{kind.__module__}.{kind.__qualname__}"] = kind
    return tuple(found[name] for name in sorted(found))


@dataclass(frozen=True, slots=True)
class Layout:
    """What has to be known of a type to read, write and forget its records, each field by its name."""

    types: Mapping[str, Any]
    stored: tuple[Field[Any], ...]
    people: tuple[str, ...]
    threads: tuple[str, ...]
    entry: str  # the field that names one of several at an address; empty for a type that has the address alone
    patterns: tuple[re.Pattern[str], re.Pattern[str]]  # of its places and its subjects


def layout_of(kind: type[Record]) -> Layout:
    """Return the layout of a type."""
    return _layout(kind)  # type: ignore[arg-type]  # a class can be hashed; mypy asks its instances


@cache
def _layout(kind: Any) -> Layout:
    every, types, kept_at = fields(kind), get_type_hints(kind), kind.kept_at
    keys = _names_in(kept_at)
    stored = tuple(one for one in every if one.name not in keys and not one.metadata.get("unstored"))
    people = tuple(one.name for one in every if one.metadata.get("owner") == "person")
    threads = tuple(one.name for one in every if one.metadata.get("owner") == "thread")
    entries = _PLACEHOLDER.findall(kept_at.entry)
    patterns = (_pattern(kept_at.place), _pattern(kept_at.subject))
    return Layout(types, stored, people, threads, entries[0] if entries else "", patterns)


def _check_owner(kind: type[Record]) -> None:
    """Before the dataclass is made of it: a field is still an annotation, with its ``field()`` as the value."""
    own, above = inspect.get_annotations(kind), getattr(kind, "__dataclass_fields__", {})
    made = {name: kind.__dict__.get(name) if name in own else above[name] for name in own.keys() | above.keys()}
    if kind.of_installation:
        if any(own[name] not in _NUMBERS for name in own.keys() - _names_in(kind.kept_at)):
            raise TypeError(f"{kind.__name__} is nobody's, so it may hold numbers alone.")
    elif not any(isinstance(one, Field) and one.metadata.get("owner") for one in made.values()):
        raise TypeError(f"{kind.__name__} says nowhere whose it is: mark a field PERSON or THREAD.")


def _names_in(kept_at: Address) -> frozenset[str]:
    """Return the fields that make an address."""
    return frozenset(_PLACEHOLDER.findall(f"{kept_at.place} {kept_at.subject} {kept_at.entry}"))


def key_text(value: object) -> str:
    """Return a value as it is in an address: a text, or a ThreadKey."""
    return str(value or "")


def _names_of(record: Record, names: Iterable[str]) -> frozenset[str]:
    return frozenset(text for name in names if (text := key_text(getattr(record, name))))


def _fill(template: str, record: Record) -> str:
    return _PLACEHOLDER.sub(lambda found: key_text(getattr(record, found[1])), template)


def _pattern(template: str) -> re.Pattern[str]:
    parts = _PLACEHOLDER.split(template)
    return re.compile("".join(f"(?P<{p}>.+)" if n % 2 else re.escape(p) for n, p in enumerate(parts)), re.DOTALL)


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
