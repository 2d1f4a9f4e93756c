"""Typed records about messages. Each type states where its records are stored and who owns them.

A record type is a frozen, keyword-only dataclass below ``Record``. A record's own fields determine its address, and
fields marked ``PERSON`` or ``THREAD`` are its owners. A store indexes every record under its owners as it writes it. So
records of a new type are forgotten with their person or thread; a type without an owner is rejected. ``record_codec``
defines the stored form.

Not slotted: slots would create every class twice, and ``record_types`` would find the unused one.
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
UNSTORED = {"unstored": True}  # for an owner that is indexed but not stored in the record
NUMBERED = {"numbered": "part-"}  # a tuple with each value in its own stored field: part-1, part-2, …

_NUMBERS = (int, float, bool, tuple[int, ...], tuple[float, ...])
_PLACEHOLDER = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a record. ``place`` is a thread's key or another name.

    ``entry`` is empty if only one record of its type has that address; otherwise it names one of several.
    """

    place: str
    subject: str
    entry: str = ""


@dataclass(frozen=True, slots=True)
class Owners:
    """The people and threads that a record is forgotten with."""

    people: frozenset[str] = frozenset()
    threads: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True)
class Record:
    """Base class of all records about messages."""

    kept_at: ClassVar[Address] = Address("", "")  # templates over the type's fields
    of_installation: ClassVar[bool] = False

    def __init_subclass__(
        cls, *, place: str = "", subject: str = "", entry: str = "", installation: bool = False
    ) -> None:
        """Set the address of this type's records, as templates over their fields; none for an abstract base.

        With ``entry`` several records share an address, each as one field of that name with a single value. An
        ``installation`` record belongs to nobody and so may hold only numbers. Raises TypeError for a type without an
        owner.
        """
        above = cls.kept_at
        cls.kept_at = Address(place or above.place, subject or above.subject, entry or above.entry)
        cls.of_installation = installation or cls.of_installation
        if cls.kept_at.subject:
            _check_owner(cls)

    @property
    def address(self) -> Address:
        """The place, subject and entry under which it is stored."""
        kept_at = self.kept_at
        return Address(_fill(kept_at.place, self), _fill(kept_at.subject, self), _fill(kept_at.entry, self))

    @property
    def owners(self) -> Owners:
        """The people and threads that it is forgotten with."""
        layout = layout_of(type(self))
        return Owners(_names_of(self, layout.people), _names_of(self, layout.threads))


R = TypeVar("R", bound=Record)


def record_types() -> tuple[type[Record], ...]:
    """Return every defined record type, by name. All of them may belong to a person or a thread."""
    found: dict[str, type[Record]] = {}
    waiting: list[type[Record]] = [Record]
    while waiting:
        kind = waiting.pop()
        waiting += kind.__subclasses__()
        if kind.kept_at.subject:  # not an abstract base
            found[f"{kind.__module__}.{kind.__qualname__}"] = kind
    return tuple(found[name] for name in sorted(found))


@dataclass(frozen=True, slots=True)
class Layout:
    """The layout of a type, for reading, writing and forgetting its records; fields by name."""

    types: Mapping[str, Any]
    stored: tuple[Field[Any], ...]
    people: tuple[str, ...]
    threads: tuple[str, ...]
    entry: str  # the field that names one of several records at an address; empty if there is only one
    patterns: tuple[re.Pattern[str], re.Pattern[str]]  # of its places and its subjects


def layout_of(kind: type[Record]) -> Layout:
    """Return the layout of a type."""
    return _layout(kind)  # type: ignore[arg-type]  # classes are hashable; mypy checks their instances


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
    """Raise TypeError for a type without an owner.

    Runs before the dataclass decorator, when a field is only an annotation with its ``field()`` as the value.
    """
    own, above = inspect.get_annotations(kind), getattr(kind, "__dataclass_fields__", {})
    made = {name: kind.__dict__.get(name) if name in own else above[name] for name in own.keys() | above.keys()}
    if kind.of_installation:
        if any(own[name] not in _NUMBERS for name in own.keys() - _names_in(kind.kept_at)):
            raise TypeError(f"{kind.__name__} has no owner, so it may only contain numbers.")
    elif not any(isinstance(one, Field) and one.metadata.get("owner") for one in made.values()):
        raise TypeError(f"{kind.__name__} has no owner. Mark a field PERSON or THREAD.")


def _names_in(kept_at: Address) -> frozenset[str]:
    """Return the names of the fields in an address."""
    return frozenset(_PLACEHOLDER.findall(f"{kept_at.place} {kept_at.subject} {kept_at.entry}"))


def key_text(value: object) -> str:
    """Return the text of a value (a text or a ThreadKey) in an address."""
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
    """The state of a message's question. Platforms add their own fields in subclasses.

    ``settled_by`` is the last delivery that got its outcome; ``checkpoint`` is the last card shown.
    """

    thread: ThreadKey = field(metadata=THREAD)
    message: str
    asker: str = field(default="", metadata=PERSON)
    outcome: str = ""  # how it ended: an ``Outcome`` or DELETED; empty until then
    settled_by: str = ""
    edited_late: bool = False  # edited after the answer; its author was offered a new answer
    late_edit: IncomingMessage | None = None  # the edited message
    checkpoint: str = ""

    @property
    def is_worked_on(self) -> bool:
        """Whether it is visibly in progress, so that it can be stopped."""
        return not self.outcome


class AnswerStage(StrEnum):
    """The visible stages of an answer."""

    UNSEEN = ""
    WORKING = "working"  # its first message is being posted, or is there
    PRIVATE = "private"  # only its asker sees that it is coming
    ENDING = "ending"  # its end is being shown
    OFFERED = "offered"  # a card waits for a choice
    DONE = "done"

    @classmethod
    def _missing_(cls, value: object) -> "AnswerStage | None":
        """Read the names that the first version stored for Slack's answers."""
        return {"open": cls.WORKING, "concluding": cls.ENDING}.get(str(value))


@dataclass(frozen=True, kw_only=True)
class ChatQuestionState(QuestionState):
    """The messages of one answer in a chat, by id, and their place."""

    stage: AnswerStage = AnswerStage.UNSEEN
    channel: str = ""  # where they are, if not the thread key's channel
    mode: str = ""  # ReplyMode, if it differs from the question's
    because: str = ""  # why the answer is not where it was asked
    first: str = ""
    parts: tuple[str, ...] = field(default=(), metadata=NUMBERED)  # messages after the first, for a long answer
    cards: tuple[str, ...] = ()  # earlier first messages: cards that led to the present one

    @property
    def is_worked_on(self) -> bool:
        """Whether it is in progress: from its first sign until a card or the answer appears, again after a choice."""
        return self.stage in {AnswerStage.WORKING, AnswerStage.PRIVATE, AnswerStage.ENDING}

    @property
    def messages(self) -> tuple[str, ...]:
        """The ids of all its messages, in order."""
        return tuple(filter(None, (self.first, *self.parts)))


@dataclass(frozen=True, kw_only=True)
class CheckpointState(Record, place="{thread}", subject="checkpoint:{checkpoint}"):
    """The state of a card, for its buttons and expiry: the question, its text, and the choice made."""

    thread: ThreadKey = field(metadata=THREAD)
    checkpoint: str
    asker: str = field(default="", metadata=PERSON)
    question: IncomingMessage | None = None
    card: str = ""  # its message, escaped for its platform
    chosen: str = ""  # label of the choice made


@dataclass(frozen=True, kw_only=True)
class LinesSinceAnswer(Record, place="{thread}", subject="lines since"):
    """Marks that people have written in a thread since the bot's last answer, which was turn number ``turns``."""

    thread: ThreadKey = field(metadata=THREAD)
    turns: int = 0
    first: int = 0  # checksum of the first such message's id
    in_company: bool = False  # someone other than the last asker wrote or was addressed


@dataclass(frozen=True, kw_only=True)
class AttachedFiles(Record, place="{thread}", subject="attached:{asker}"):
    """The message with the files that a person attached last in a thread, and the number of turns at that time."""

    thread: ThreadKey = field(metadata=THREAD)
    asker: str = field(metadata=PERSON)
    question: IncomingMessage | None = None  # without its text
    turns: int = 0
