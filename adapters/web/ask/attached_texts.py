"""Files attached to a question on the page: read when they arrive; what is kept is their text, with the question."""

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
    """Reads files of a form and keeps their text for as long as the question."""

    message_states: MessageStateStore
    parse: Parse

    async def read(self, upload: Upload) -> tuple[ContextMessage, ...]:
        """Return the text of each file of a form whose fields were read, or the reason why it is not read."""
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
        """Keep them with their question, before it is put in line."""
        for n, text in enumerate(texts):
            kept = AttachedText(
                thread=message.thread, message=message.id, number=str(n), person=message.asker.id, text=text
            )
            await self.message_states.save(kept)


async def attached_texts(message_states: MessageStateStore, message: IncomingMessage) -> tuple[ContextMessage, ...]:
    """Return the texts that were kept with a question, in order."""
    kept = await message_states.read_entries(AttachedText(thread=message.thread, message=message.id, number=""))
    return tuple(one.text for one in sorted(kept, key=lambda one: int(one.number)) if one.text is not None)
