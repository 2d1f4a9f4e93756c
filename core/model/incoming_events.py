"""Incoming events that platforms put into the inbox, in a common form."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Any

from pydantic import BeforeValidator

from core.model.conversation import Person, ThreadKey
from core.model.json_codec import name_at_rest


class ReplyMode(StrEnum):
    """Ways to post an answer."""

    START = "start"  # in a new thread on the question
    POST = "post"  # in the same place: a thread, a forum post, a direct message
    REPLY = "reply"  # in the channel, referring to the question
    RESPONSE = "response"  # as a public response to an interaction
    PRIVATE = "private"  # as a response that only one person sees
    DIRECT = "direct"  # in a direct message, although the question was asked elsewhere


@dataclass(frozen=True, slots=True)
class ReplyTarget:
    """Where to answer. ``channel`` is the question's channel; ``response`` and ``token`` belong to an interaction."""

    mode: Annotated[ReplyMode, name_at_rest("manner")] = ReplyMode.POST
    channel: str = ""
    message: str = ""  # for an interaction, its id
    guild: str = ""  # the server or workspace, if the channel does not identify it
    asker: str = ""
    token: str = ""
    response: str = ""
    about: str = ""  # the message that the question refers to
    edited: str = ""  # time of the question's last edit, in seconds since the epoch
    file: str = ""  # address of a file attached to a command, which has no message


IN_THREAD = ReplyTarget()

_FIRST_NAMES = {"ts": "message", "user": "asker"}  # old field names, from the first version


def _as_kept_first(value: Any) -> Any:
    return {_FIRST_NAMES.get(name, name): one for name, one in value.items()} if isinstance(value, Mapping) else value


KeptReplyTarget = Annotated[  # reads the stored form of every version
    ReplyTarget, BeforeValidator(_as_kept_first), name_at_rest("address")
]


@dataclass(frozen=True, slots=True)
class FileReference:
    """A file attached to a message; the platform fetches it by ``id``."""

    id: str
    name: str
    size: int = 0


OUR_MENTION = "\N{OBJECT REPLACEMENT CHARACTER}"  # marks a mention of the bot in ``wording``


@dataclass(frozen=True, slots=True)
class IncomingMessage:
    """A message that the bot may answer. ``id`` is the message's own id; the same id again is an edit."""

    id: str
    thread: ThreadKey
    text: str  # without the mention of the bot
    asker: Person
    reply_target: KeptReplyTarget = IN_THREAD
    mentions_us: bool = False
    direct: bool = False
    mentions_others: bool = False
    private: bool = False  # show the answer only to this person
    edited: bool = False
    files: tuple[FileReference, ...] = ()
    bases: tuple[str, ...] = ()  # search only these knowledge bases, if the asker names some
    in_channel: bool = False  # in a channel, not in a thread, and without a mention of the bot
    opens_post: bool = False  # the first message of a forum post
    wording: str = ""  # the text with OUR_MENTION for each mention of the bot; empty without one
    suggested: bool = False  # a suggestion button below an answer; no visible message contains it


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
    """A checkpoint expired without a choice. ``question`` led to the checkpoint and says where to answer."""

    checkpoint: str
    question: IncomingMessage

    @property
    def thread(self) -> ThreadKey:
        """The question's conversation."""
        return self.question.thread

    @property
    def reply_target(self) -> ReplyTarget:
        """Where to answer the question."""
        return self.question.reply_target


@dataclass(frozen=True, slots=True)
class Deletion:
    """A question was deleted, possibly after it was answered. Everything posted for it is deleted too."""

    question: IncomingMessage


Incoming = IncomingMessage | IncomingChoice | Expiry


def question_of(incoming: Incoming) -> IncomingMessage:
    """Return the message to answer. Raises TypeError for a choice, which is shown in its question's answer view."""
    if isinstance(incoming, IncomingChoice):
        raise TypeError("A choice is shown in the answer view of its question.")
    return incoming.question if isinstance(incoming, Expiry) else incoming


def person_in(incoming: Incoming) -> Person:
    """Return the person who asked or chose."""
    return incoming.person if isinstance(incoming, IncomingChoice) else question_of(incoming).asker


@dataclass(frozen=True, slots=True)
class Permissions:
    """A person's permissions in a place, looked up on the server side."""

    is_admin: bool = False
    principals: frozenset[str] = field(default_factory=frozenset)
    is_moderator: bool = False  # of the channel: may delete messages of others


class MessageRoute(StrEnum):
    """What to do with a message."""

    ANSWER = "answer"
    ANSWER_IF_CERTAIN = "answer if certain"
    KEEP_QUIET = "keep quiet"
    THANKED = "thanked"  # addressed to the bot, but not a question
    MUTE = "mute"
    UNMUTE = "unmute"
    HELP = "help"
    FORGET_THREAD = "forget thread"
    FORGET_ME = "forget me"
    SETTINGS = "settings"
