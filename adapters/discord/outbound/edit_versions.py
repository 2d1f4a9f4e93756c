"""Which wording of a question is the latest: of several edits in quick succession only the last is answered.

An edit waits in the inbox behind the question it changes. By the time its turn comes there may be a later one; what is
kept here lets it step aside, and lets an edit that Discord tells of again, or out of order, change nothing.
"""

from dataclasses import dataclass, field, replace
from datetime import datetime

from core.model.conversation import ThreadKey
from core.model.incoming_events import IncomingMessage
from core.model.records import PERSON, THREAD, Record
from core.ports.chat import Superseded
from core.ports.message_state import MessageStateStore


def stamp_of(edited_at: datetime | None) -> str:
    """When a message was edited, as its address carries it; empty when it was not."""
    return f"{edited_at.timestamp():.6f}" if edited_at is not None else ""


@dataclass(frozen=True, kw_only=True)
class EditVersion(Record, place="{thread}", subject="edit:{message}"):
    """When a message was edited last, in seconds since the epoch: as announced, and as taken in."""

    thread: ThreadKey = field(metadata=THREAD)
    message: str
    asker: str = field(default="", metadata=PERSON)
    newest: float = 0.0
    heard: float = 0.0


class EditVersions:
    """Remembers the latest wording of each question, for as long as everything about messages is kept."""

    def __init__(self, message_states: MessageStateStore) -> None:
        self._message_states = message_states

    async def is_news(self, message: IncomingMessage) -> bool:
        """Whether this edit is later than every one that was taken in."""
        return _edited_at(message) > (await self._read(message)).heard

    async def announce(self, message: IncomingMessage) -> None:
        """This edit is on its way in: what is earlier need not be begun any more."""
        await self._message_states.save(replace(_version(message), newest=_edited_at(message)))

    async def note_kept(self, message: IncomingMessage) -> None:
        """This edit is in the inbox."""
        await self._message_states.save(replace(_version(message), heard=_edited_at(message)))

    async def check(self, message: IncomingMessage) -> None:
        """Raise Superseded when a later wording of this message has come."""
        if (await self._read(message)).newest > _edited_at(message):
            raise Superseded("This question has been edited again.")

    async def _read(self, message: IncomingMessage) -> EditVersion:
        return await self._message_states.read(_version(message)) or _version(message)


def _version(message: IncomingMessage) -> EditVersion:
    return EditVersion(thread=message.thread, message=message.id, asker=message.asker.id)


def _edited_at(message: IncomingMessage) -> float:
    return float(message.reply_target.edited or 0.0)
