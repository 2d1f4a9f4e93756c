"""What platforms put into the inbox, in words that every platform shares.

``address`` is the platform's own: whatever its surface needs to find the place again (a channel, a message, a token).
Nothing here is trusted state: rights and audience are looked up by the worker, through the platform, when it works.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from core.conversation import Person, ThreadKey
from core.ports import Delivery
from core.serial import from_json, to_json


@dataclass(frozen=True, slots=True)
class FileReference:
    """A file that hangs on a message; the platform fetches it by ``id``."""

    id: str
    name: str
    size: int = 0


@dataclass(frozen=True, slots=True)
class IncomingMessage:
    """Something was said where we may answer. ``id`` is the message's own id: the same again is an edit of it."""

    id: str
    thread: ThreadKey
    text: str  # without the mention of us
    asker: Person
    address: Mapping[str, str]
    mentions_us: bool = False
    direct: bool = False
    mentions_others: bool = False
    private: bool = False  # answer for this person's eyes only
    edited: bool = False
    files: tuple[FileReference, ...] = ()
    bases: tuple[str, ...] = ()  # only these knowledge bases, where the one who asks names some


@dataclass(frozen=True, slots=True)
class IncomingChoice:
    """A checkpoint's button was pressed, or its text field sent. ``subject`` is the question's message id."""

    checkpoint: str
    choice: str
    person: Person
    thread: ThreadKey
    address: Mapping[str, str]
    text: str = ""
    subject: str = ""


@dataclass(frozen=True, slots=True)
class Expiry:
    """Nobody chose in time. ``question`` is the message that led to the checkpoint: it says where to answer."""

    checkpoint: str
    question: IncomingMessage


@dataclass(frozen=True, slots=True)
class Deletion:
    """A question was deleted, possibly after its answer: what was posted for it goes with it."""

    question: IncomingMessage


Incoming = IncomingMessage | IncomingChoice | Expiry
_KINDS: dict[str, type] = {
    "message": IncomingMessage,
    "choice": IncomingChoice,
    "expiry": Expiry,
    "deletion": Deletion,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}


def delivery(delivery_id: str, incoming: Incoming | Deletion) -> Delivery:
    """The inbox's envelope for something incoming."""
    source = incoming.question if isinstance(incoming, Expiry | Deletion) else incoming
    person = source.person if isinstance(source, IncomingChoice) else source.asker
    return Delivery(
        id=delivery_id,
        platform=source.thread.platform,
        thread=str(source.thread),
        person=person.id,
        body=to_json(incoming),
        kind=_NAMES[type(incoming)],
    )


def opened(envelope: Delivery) -> Incoming | Deletion:
    """The inverse of ``delivery``. Raises ValueError on an envelope of another version."""
    kind = _KINDS.get(envelope.kind)
    if kind is None:
        raise ValueError(f"There is no delivery of kind {envelope.kind!r}.")
    incoming: Incoming | Deletion = from_json(kind, envelope.body)
    return incoming


@dataclass(frozen=True, slots=True)
class Permissions:
    """What a person may do where they are, looked up on the server side."""

    is_admin: bool = False
    principals: frozenset[str] = field(default_factory=frozenset)
