"""Files attached to a question on the page. They are read on arrival; only their text is stored, with the question."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from adapters.web.knowledge.uploads import Upload
from core.model.conversation import ContextMessage, ThreadKey
from core.model.document_content import FileContent
from core.model.incoming_events import FileReference, IncomingMessage
from core.model.records import PERSON, THREAD, UNSTORED, Record
from core.ports.message_state import MessageStateStore
from core.service.attached_files import BEYOND, MOST_READ, Parse, read_files, unread


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
