"""Records of an answer on Discord, and lookups from a button, a message or an edit to its question.

A button names a trace, and a reply names a message of ours. Both lead to a conversation here. Of several quick edits
only the last is answered: an edit waits in the inbox, and these records identify later or repeated edits.
"""

from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

from adapters.discord.api.ids import PLATFORM
from core.model.conversation import ThreadKey
from core.model.incoming_events import IncomingMessage, ReplyMode
from core.model.records import PERSON, THREAD, UNSTORED, ChatQuestionState, Record
from core.ports.chat import Superseded
from core.ports.message_state import MessageStateStore


@dataclass(frozen=True, kw_only=True)
class DiscordQuestionState(ChatQuestionState):
    """The messages that show one answer, by id, and their place."""

    question: IncomingMessage | None = None
    trace: str = ""  # of the answer shown
    mode: str = field(default="", metadata={"stored": "manner"})
    first: str = field(default="", metadata={"stored": "message"})
    chosen: str = ""  # text saying who chose what on the previous card
    token: str = ""  # of the last press on a private card; it can edit that card
    token_of: str = ""  # the id of that press


NOWHERE = ThreadKey(PLATFORM, "", "", "")  # the thread of a record that is only looked up


@dataclass(frozen=True, kw_only=True)
class AnsweredTrace(Record, place="discord/trace/{trace}", subject="where"):
    """The question behind a trace. A button names only the trace."""

    trace: str
    thread: ThreadKey = field(default=NOWHERE, metadata=THREAD)
    subject: str = ""  # the question's message
    asker: str = field(default="", metadata=PERSON | {"stored": "asker"})
    private: bool = False
    asked_at: str = ""  # channel/message of the question, if it is answered elsewhere


class MessageKind(StrEnum):
    """The role of a message in its conversation."""

    ANSWER = "where"  # a message of ours
    QUESTION = "question"  # a person's message


@dataclass(frozen=True, kw_only=True)
class ConversationMessage(Record, place="discord/message/{message}", subject="{kind}"):
    """The conversation of a message, if its place does not determine that."""

    message: str
    kind: MessageKind
    thread: ThreadKey | None = field(default=None, metadata=THREAD)
    asker: str = field(default="", metadata=PERSON)


@dataclass(frozen=True, kw_only=True)
class LatestConversation(Record, place="discord/last/{place}", subject="where", entry="{reader}"):
    """The latest conversation of a channel. ``reader`` is the person who asked, or ``anybody`` for public ones."""

    place: str
    reader: str
    thread: ThreadKey | None = field(default=None, metadata=THREAD)
    asker: str = field(default="", metadata=PERSON | UNSTORED)


_ANYBODY = "anybody"


class AnswerIndex:
    """Lookup of conversations by trace and by message. Records last as long as all message state."""

    def __init__(self, message_states: MessageStateStore) -> None:
        self._message_states = message_states

    async def keep(self, trace_id: str, message: IncomingMessage) -> None:
        """Store which question a trace belongs to."""
        thread, asker, target = message.thread, message.asker.id, message.reply_target
        answered = AnsweredTrace(
            trace=trace_id,
            thread=thread,
            subject=message.id,
            asker=asker,
            private=message.private,
            asked_at=f"{target.channel}/{target.message}" if target.mode is ReplyMode.DIRECT else "",
        )
        readers = [asker] if message.private else [asker, _ANYBODY]
        latest = [LatestConversation(place=thread.place, reader=one, thread=thread, asker=asker) for one in readers]
        await self._message_states.save(answered, *latest)

    async def latest_in(self, place: str, person_id: str) -> ThreadKey | None:
        """Return the channel's latest conversation with this person, or else its latest public one."""
        every = await self._message_states.read_entries(LatestConversation(place=place, reader=""))
        found = {one.reader: one.thread for one in every}
        return found.get(person_id) or found.get(_ANYBODY)

    async def find(self, trace_id: str) -> AnsweredTrace | None:
        """Return the question behind a trace, or None if it expired."""
        return await self._message_states.read(AnsweredTrace(trace=trace_id))

    async def keep_message(self, message: str, kind: MessageKind, question: IncomingMessage) -> None:
        """Store which conversation a message belongs to, if its place does not determine that."""
        thread, asker = question.thread, question.asker.id
        await self._message_states.save(ConversationMessage(message=message, kind=kind, thread=thread, asker=asker))

    async def thread_of(self, message_id: int | str, kind: MessageKind) -> ThreadKey | None:
        """Return the stored conversation of a message, or None."""
        kept = await self._message_states.read(ConversationMessage(message=str(message_id), kind=kind))
        return kept.thread if kept is not None else None


def stamp_of(edited_at: datetime | None) -> str:
    """Return when a message was edited, in the form of ``ReplyTarget.edited``, or an empty string."""
    return f"{edited_at.timestamp():.6f}" if edited_at is not None else ""


@dataclass(frozen=True, kw_only=True)
class EditVersion(Record, place="{thread}", subject="edit:{message}"):
    """The times of a message's latest edit, in seconds since the epoch: as announced, and as enqueued."""

    thread: ThreadKey = field(metadata=THREAD)
    message: str
    asker: str = field(default="", metadata=PERSON)
    newest: float = 0.0
    heard: float = 0.0


class EditVersions:
    """Records of the latest edit of each question. They last as long as all message state."""

    def __init__(self, message_states: MessageStateStore) -> None:
        self._message_states = message_states

    async def is_news(self, message: IncomingMessage) -> bool:
        """Return whether this edit is later than every edit that was enqueued."""
        return _edited_at(message) > (await self._read(message)).heard

    async def announce(self, message: IncomingMessage) -> None:
        """Record that this edit is about to be enqueued, so that earlier text need not be answered."""
        await self._message_states.save(replace(_version(message), newest=_edited_at(message)))

    async def note_kept(self, message: IncomingMessage) -> None:
        """Record that this edit is in the inbox."""
        await self._message_states.save(replace(_version(message), heard=_edited_at(message)))

    async def check(self, message: IncomingMessage) -> None:
        """Raise Superseded if there is a later edit of this message."""
        if (await self._read(message)).newest > _edited_at(message):
            raise Superseded("This question has been edited again.")

    async def _read(self, message: IncomingMessage) -> EditVersion:
        return await self._message_states.read(_version(message)) or _version(message)


def _version(message: IncomingMessage) -> EditVersion:
    return EditVersion(thread=message.thread, message=message.id, asker=message.asker.id)


def _edited_at(message: IncomingMessage) -> float:
    return float(message.reply_target.edited or 0.0)
