"""Which conversations somebody has on the page, and which questions each of them is made of: kept as message state.

What is kept there belongs to the person and the thread, and is forgotten with either.
"""

import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from adapters.web.routing import Visitor
from core.model.clock import Clock
from core.model.incoming_events import IncomingMessage
from core.model.json_codec import from_json, to_json
from core.ports.message_state import MessageStateStore

MOST_CONVERSATIONS = 200
LONGEST_TITLE = 120
_QUESTIONS, _CONVERSATIONS = "questions", "conversations"


@dataclass(frozen=True, slots=True)
class Conversation:
    """One conversation in the list: its first question, and when something was last asked in it."""

    name: str
    title: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Conversations:
    """Keeps the lists."""

    message_states: MessageStateStore
    clock: Clock

    async def add(self, visitor: Visitor, name: str, text: str, bases: tuple[str, ...] = ()) -> IncomingMessage:
        """Keep a new question in its conversation, before it is put in line; what is to be put there."""
        now = self.clock.now()
        message = IncomingMessage(
            id=f"{int(now.timestamp() * 1000):013d}{secrets.token_hex(3)}",
            thread=visitor.thread(name),
            text=text,
            asker=visitor.person,
            address={},
            direct=True,
            private=True,
            bases=bases,
        )
        thread, person = str(message.thread), visitor.person.id
        await self.message_states.keep(thread, _QUESTIONS, {message.id: to_json(message)}, person=person)
        known = await self.message_states.read(_list(visitor), _CONVERSATIONS)
        title = json.loads(known[name])["title"] if name in known else " ".join(text.split())[:LONGEST_TITLE]
        entry = json.dumps({"title": title, "at": now.timestamp()})
        await self.message_states.keep(_list(visitor), _CONVERSATIONS, {name: entry}, person=person)
        for old in (await self.of(visitor))[MOST_CONVERSATIONS:]:
            await self.remove(visitor, old.name)
        return message

    async def of(self, visitor: Visitor) -> Sequence[Conversation]:
        """This visitor's conversations, the latest first."""
        kept = await self.message_states.read(_list(visitor), _CONVERSATIONS)
        found = [
            Conversation(name, entry["title"], datetime.fromtimestamp(entry["at"], UTC))
            for name, value in kept.items()
            for entry in (json.loads(value),)
        ]
        return sorted(found, key=lambda one: one.at, reverse=True)

    async def questions(self, visitor: Visitor, name: str) -> Sequence[IncomingMessage]:
        """The questions of one conversation, in the order they were asked."""
        kept = await self.message_states.read(str(visitor.thread(name)), _QUESTIONS)
        return [from_json(IncomingMessage, kept[message_id]) for message_id in sorted(kept)]

    async def question(self, visitor: Visitor, name: str, message_id: str) -> IncomingMessage | None:
        """One question; None where there is none such in this visitor's conversation."""
        kept = await self.message_states.read(str(visitor.thread(name)), _QUESTIONS)
        return from_json(IncomingMessage, kept[message_id]) if message_id in kept else None

    async def remove(self, visitor: Visitor, name: str) -> None:
        """Take it off the list."""
        await self.message_states.take(_list(visitor), _CONVERSATIONS, name)


def _list(visitor: Visitor) -> str:
    return str(visitor.thread("conversations"))
