"""What platforms put into the inbox, in words that every platform shares."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Any

from pydantic import BeforeValidator

from core.model.conversation import Person, ThreadKey
from core.model.json_codec import name_at_rest


class ReplyMode(StrEnum):
    """How an answer comes to be where it is."""

    START = "start"  # in a thread that is started on the question
    POST = "post"  # in the place itself: a thread, a forum post, a direct message
    REPLY = "reply"  # in the channel, referring to the question
    RESPONSE = "response"  # as the answer to an interaction, for all to see
    PRIVATE = "private"  # the same, for one person's eyes
    DIRECT = "direct"  # in a direct message, although it was asked elsewhere


@dataclass(frozen=True, slots=True)
class ReplyTarget:
    """``channel`` is where the question is; ``response`` and ``token`` are an interaction's."""

    mode: Annotated[ReplyMode, name_at_rest("manner")] = ReplyMode.POST
    channel: str = ""
    message: str = ""  # of an interaction its id
    guild: str = ""  # the server or workspace, where the channel does not say it
    asker: str = ""
    token: str = ""
    response: str = ""
    about: str = ""  # the message that the question refers to
    edited: str = ""  # when the question was edited to read as it does, in seconds since the epoch
    file: str = ""  # the address of a file that came with a command, and so hangs on no message


IN_THREAD = ReplyTarget()

_FIRST_NAMES = {"ts": "message", "user": "asker"}  # as the first version kept some


def _as_kept_first(value: Any) -> Any:
    return {_FIRST_NAMES.get(name, name): one for name, one in value.items()} if isinstance(value, Mapping) else value


KeptReplyTarget = Annotated[  # reads what every version kept, under the name that it has there
    ReplyTarget, BeforeValidator(_as_kept_first), name_at_rest("address")
]


@dataclass(frozen=True, slots=True)
class FileReference:
    """A file that hangs on a message; the platform fetches it by ``id``."""

    id: str
    name: str
    size: int = 0


OUR_MENTION = "\N{OBJECT REPLACEMENT CHARACTER}"  # is in ``wording`` where a message mentions us


@dataclass(frozen=True, slots=True)
class IncomingMessage:
    """Something was said where we may answer. ``id`` is the message's own id: the same again is an edit of it."""

    id: str
    thread: ThreadKey
    text: str  # without the mention of us
    asker: Person
    reply_target: KeptReplyTarget = IN_THREAD
    mentions_us: bool = False
    direct: bool = False
    mentions_others: bool = False
    private: bool = False  # answer for this person's eyes only
    edited: bool = False
    files: tuple[FileReference, ...] = ()
    bases: tuple[str, ...] = ()  # only these knowledge bases, where the one who asks names some
    in_channel: bool = False  # it is in a channel, in no thread, and does not name us
    opens_post: bool = False  # a forum's post begins with it
    wording: str = ""  # the text with OUR_MENTION where it mentions us; empty where it does not
    suggested: bool = False  # pressed below an answer: it is in no message that others see


@dataclass(frozen=True, slots=True)
class IncomingChoice:
    """A checkpoint's button was pressed, or its text field sent. ``subject`` is the question's message id."""

    checkpoint: str
    choice: str
    person: Person
    thread: ThreadKey
    reply_target: KeptReplyTarget = IN_THREAD
    text: str = ""
    subject: str = ""


@dataclass(frozen=True, slots=True)
class Expiry:
    """Nobody chose in time. ``question`` is the message that led to the checkpoint: it says where to answer."""

    checkpoint: str
    question: IncomingMessage

    @property
    def thread(self) -> ThreadKey:
        """The question's conversation."""
        return self.question.thread

    @property
    def reply_target(self) -> ReplyTarget:
        """Where the question is answered."""
        return self.question.reply_target


@dataclass(frozen=True, slots=True)
class Deletion:
    """A question was deleted, possibly after its answer: what was posted for it goes with it."""

    question: IncomingMessage


Incoming = IncomingMessage | IncomingChoice | Expiry


def question_of(incoming: Incoming) -> IncomingMessage:
    """Return the message that is answered. Raises TypeError for a choice, which is shown where its question is."""
    if isinstance(incoming, IncomingChoice):
        raise TypeError("A choice is shown in the answer view of its question.")
    return incoming.question if isinstance(incoming, Expiry) else incoming


def person_in(incoming: Incoming) -> Person:
    """Return who asked or chose."""
    return incoming.person if isinstance(incoming, IncomingChoice) else question_of(incoming).asker


@dataclass(frozen=True, slots=True)
class Permissions:
    """What a person may do where they are, looked up on the server side."""

    is_admin: bool = False
    principals: frozenset[str] = field(default_factory=frozenset)
    is_moderator: bool = False  # of the channel: may remove what others write there


class MessageRoute(StrEnum):
    """What to do with a message."""

    ANSWER = "answer"
    ANSWER_IF_CERTAIN = "answer if certain"
    KEEP_QUIET = "keep quiet"
    THANKED = "thanked"  # put to us, and asks nothing
    MUTE = "mute"
    UNMUTE = "unmute"
    HELP = "help"
    FORGET_THREAD = "forget thread"
    FORGET_ME = "forget me"
    SETTINGS = "settings"
