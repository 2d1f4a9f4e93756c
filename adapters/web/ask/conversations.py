"""A person's conversations on the page and their questions, stored as message state.

They belong to the person and the thread, and are forgotten with either.
"""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import sha256

from adapters.web.routing import Visitor
from adapters.web.uploads import Upload
from core.model.clock import Clock
from core.model.conversation import ContextMessage, ThreadKey
from core.model.document_content import FileContent
from core.model.incoming_events import FileReference, IncomingMessage
from core.model.records import PERSON, THREAD, UNSTORED, Record
from core.ports.message_state import MessageStateStore
from core.service.attached_files import BEYOND, MOST_READ, Parse, read_files, unread

MOST_CONVERSATIONS = 200
LONGEST_TITLE = 120


@dataclass(frozen=True, kw_only=True)
class ConversationQuestion(Record, place="{thread}", subject="questions", entry="{message}"):
    """One question of a conversation."""

    thread: ThreadKey = field(metadata=THREAD)
    message: str
    person: str = field(default="", metadata=PERSON | UNSTORED)
    question: IncomingMessage | None = None


@dataclass(frozen=True, kw_only=True)
class SentQuestion(Record, place="{thread}", subject="sent:{key}"):
    """The question that a form became. The same form sent again after a lost connection is the same question."""

    thread: ThreadKey = field(metadata=THREAD)
    key: str
    person: str = field(default="", metadata=PERSON)
    message: str = ""


@dataclass(frozen=True, slots=True)
class ListEntry:
    """A list entry: the conversation's first question, and the time of its last question, since the epoch."""

    title: str = ""
    at: float = 0.0


@dataclass(frozen=True, kw_only=True)
class ListedConversation(Record, place="{listing}", subject="conversations", entry="{name}"):
    """One conversation in a person's list. It is removed with its thread, and with the person."""

    listing: ThreadKey
    name: str
    thread: ThreadKey | None = field(default=None, metadata=THREAD | UNSTORED)
    person: str = field(default="", metadata=PERSON | UNSTORED)
    entry: ListEntry = ListEntry()


@dataclass(frozen=True, slots=True)
class ConversationSummary:
    """One conversation in the list: its first question, and the time of its last one."""

    name: str
    title: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Conversations:
    """The list of a visitor's conversations: titles, order, deletion."""

    message_states: MessageStateStore
    clock: Clock

    async def add(
        self,
        visitor: Visitor,
        name: str,
        text: str,
        bases: tuple[str, ...] = (),
        *,
        form: str = "",
        files: tuple[FileReference, ...] = (),
    ) -> IncomingMessage:
        """Save a new question in its conversation, and return the message to queue.

        ``form`` identifies the form it was sent with. The same text from the same form is one question.
        """
        now, thread = self.clock.now(), visitor.thread(name)
        message = IncomingMessage(
            id=await self._message_id(thread, visitor.person.id, form and f"{form}\x1f{text}"),
            thread=thread,
            text=text,
            asker=visitor.person,
            mentions_us=True,
            direct=True,
            bases=bases,
            files=files,
        )
        asked = ConversationQuestion(
            thread=message.thread, message=message.id, person=visitor.person.id, question=message
        )
        await self.message_states.save(asked)
        known = await self.message_states.read(_listing_of(visitor, name))
        title = known.entry.title if known is not None else " ".join(text.split())[:LONGEST_TITLE]
        entry = ListEntry(title, now.timestamp())
        await self.message_states.save(replace(_listing_of(visitor, name), entry=entry))
        for old in (await self.of(visitor))[MOST_CONVERSATIONS:]:
            await self.remove(visitor, old.name)
        return message

    async def _message_id(self, thread: ThreadKey, person: str, sent: str) -> str:
        fresh = f"{int(self.clock.now().timestamp() * 1000):013d}{secrets.token_hex(3)}"
        if not sent:
            return fresh
        blank = SentQuestion(thread=thread, key=sha256(sent.encode()).hexdigest()[:16])
        if await self.message_states.exchange(blank, replace(blank, person=person, message=fresh)):
            return fresh
        kept = await self.message_states.read(blank)
        return kept.message if kept is not None and kept.message else fresh

    async def withdraw(self, message: IncomingMessage) -> None:
        """Remove a question that could not be queued, because it would never be answered."""
        await self.message_states.remove(ConversationQuestion(thread=message.thread, message=message.id))

    async def of(self, visitor: Visitor) -> Sequence[ConversationSummary]:
        """Return this visitor's conversations, the latest first."""
        found = [
            ConversationSummary(one.name, one.entry.title, datetime.fromtimestamp(one.entry.at, UTC))
            for one in await self.message_states.read_entries(_listing_of(visitor, ""))
        ]
        return sorted(found, key=lambda one: one.at, reverse=True)

    async def find(self, visitor: Visitor, words: str) -> Sequence[ConversationSummary]:
        """Return the visitor's conversations whose questions contain all these words, the latest first."""
        wanted = words.casefold().split()
        listed = await self.of(visitor)
        if not wanted:
            return listed
        found = []
        for one in listed:
            asked = [one.title, *(question.text for question in await self.questions(visitor, one.name))]
            text = " ".join(asked).casefold()
            if all(word in text for word in wanted):
                found.append(one)
        return found

    async def questions(self, visitor: Visitor, name: str) -> Sequence[IncomingMessage]:
        """Return the questions of one conversation, in the order they were asked."""
        kept = await self.message_states.read_entries(ConversationQuestion(thread=visitor.thread(name), message=""))
        asked = sorted(kept, key=lambda one: one.message)
        return [one.question for one in asked if one.question is not None]

    async def question(self, visitor: Visitor, name: str, message_id: str) -> IncomingMessage | None:
        """Return one question; None if this visitor's conversation has no such question."""
        kept = await self.message_states.read(ConversationQuestion(thread=visitor.thread(name), message=message_id))
        return kept.question if kept is not None else None

    async def remove(self, visitor: Visitor, name: str) -> None:
        """Remove a conversation from the list."""
        await self.message_states.remove(_listing_of(visitor, name))


def _listing_of(visitor: Visitor, name: str) -> ListedConversation:
    listing, thread = visitor.thread("conversations"), visitor.thread(name)
    return ListedConversation(listing=listing, name=name, thread=thread, person=visitor.person.id)


@dataclass(frozen=True, kw_only=True)
class AttachedText(Record, place="{thread}", subject="file texts:{message}", entry="{number}"):
    """The text of one file of a question, or why it was not read."""

    thread: ThreadKey = field(metadata=THREAD)
    message: str
    number: str
    person: str = field(default="", metadata=PERSON | UNSTORED)
    text: ContextMessage | None = None


@dataclass(frozen=True, slots=True)
class AttachedTexts:
    """Reader of a form's files, whose text is stored as long as the question."""

    message_states: MessageStateStore
    parse: Parse

    async def read(self, upload: Upload) -> tuple[ContextMessage, ...]:
        """Return the text of each file of a form, or the reason why it was not read. The fields must be read first."""
        texts: list[ContextMessage] = []
        async for file in upload.files():
            within = len(texts) < MOST_READ
            texts.append(await self._text_of(file) if within else unread(FileReference("", file.name), BEYOND))
        texts += [unread(FileReference("", "file"), reason) for reason in upload.refused]
        return tuple(texts)

    async def _text_of(self, file: FileContent) -> ContextMessage:
        async def fetch(_: FileReference, __: int) -> tuple[str, bytes]:
            return file.name, file.data

        (text,) = await read_files([FileReference("", file.name, len(file.data))], fetch, self.parse)
        return text

    async def keep(self, message: IncomingMessage, texts: Sequence[ContextMessage]) -> None:
        """Save the texts with their question, before it is queued."""
        for n, text in enumerate(texts):
            kept = AttachedText(
                thread=message.thread, message=message.id, number=str(n), person=message.asker.id, text=text
            )
            await self.message_states.save(kept)


async def attached_texts(message_states: MessageStateStore, message: IncomingMessage) -> tuple[ContextMessage, ...]:
    """Return the stored texts of a question, in order."""
    kept = await message_states.read_entries(AttachedText(thread=message.thread, message=message.id, number=""))
    return tuple(one.text for one in sorted(kept, key=lambda one: int(one.number)) if one.text is not None)
