"""The files that a question is about.

These are the files on its message; without any, those above it; without any, those attached shortly before. Above it
are the message that it replies to and the first message of its thread. Only the place of the files is stored, never
their text. They are read again for each question, while the platform still serves them. The limits are the same on
every platform.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from core.model.conversation import ContextMessage
from core.model.document_content import ParsedDocument
from core.model.errors import FootnoteError
from core.model.incoming_events import FileReference, IncomingMessage
from core.model.message_text import only_points
from core.model.records import AttachedFiles
from core.ports.message_state import MessageStateStore
from core.ports.platform import Platform

ABOUT_FILES = "Summarise the attached file."  # the question of a file without words
MOST_READ = 3  # files of one message
LARGEST_READ = 10 * 2**20  # bytes of one file
LONGEST_READ = 40_000  # characters of one file's text
BEYOND = f"I read the first {MOST_READ} files of a message."
TURNS = 5  # of a thread; after that, questions are no longer about an earlier file


Fetch = Callable[[FileReference, int], Awaitable[tuple[str, bytes]]]
Parse = Callable[[str, bytes], Awaitable[ParsedDocument]]


def question_about_files(text: str, attachments: Sequence[ContextMessage]) -> str:
    """Return the text of a question. A message without words of its own ("", "^", a greeting) asks about the files."""
    return ABOUT_FILES if not text or (attachments and only_points(text)) else text


async def read_files(files: Sequence[FileReference], fetch: Fetch, parse: Parse) -> tuple[ContextMessage, ...]:
    """Return the text of each file of a message, or the reason why it was not read.

    ``fetch`` returns a file's name and its bytes, up to a limit. ``parse`` turns them into text. Both raise
    FootnoteError with the reason if they fail.
    """
    read = [await _text_of(file, fetch, parse) for file in files[:MOST_READ]]
    return (*read, *(unread(file, BEYOND) for file in files[MOST_READ:]))


async def _text_of(file: FileReference, fetch: Fetch, parse: Parse) -> ContextMessage:
    if file.size > LARGEST_READ:
        return unread(file, f"It is larger than {LARGEST_READ // 2**20} MB.")
    try:
        name, data = await fetch(file, LARGEST_READ)
        parsed = await parse(name, data)
    except FootnoteError as error:
        return unread(file, str(error))
    return ContextMessage(name, "\n\n".join(block.text for block in parsed.blocks)[:LONGEST_READ])


def unread(file: FileReference, why: str) -> ContextMessage:
    """Return the placeholder for a file that was not read."""
    return ContextMessage(file.name or "file", f"(not read: {why})", unread=why)


@dataclass(frozen=True, slots=True)
class FileReader:
    """Reads attached files on the platforms connected here."""

    message_states: MessageStateStore

    async def read(
        self, platform: Platform, message: IncomingMessage, *, turns: int, fence: int | None = None
    ) -> tuple[ContextMessage, ...]:
        """Return the text of the files that a message is about. ``turns`` counts the earlier turns of its thread.

        A file on the message or above it that cannot be read is replaced by the reason. Earlier files that cannot be
        read are left out, because the reason was already shown.
        """
        blank = AttachedFiles(thread=message.thread, asker=message.asker.id)
        above = not turns or bool(message.reply_target.about)
        message = replace(message, files=await platform.files(message, above=above))
        if message.files:
            await self.message_states.save(replace(blank, question=replace(message, text=""), turns=turns), fence=fence)
            return await platform.attachments(message)
        kept = await self.message_states.read(blank) if turns else None
        if kept is None or kept.question is None or turns - kept.turns > TURNS:
            return ()
        return tuple(one for one in await platform.attachments(kept.question) if not one.unread)

    async def forget(self, message: IncomingMessage) -> None:
        """Forget the files of a deleted message."""
        blank = AttachedFiles(thread=message.thread, asker=message.asker.id)
        kept = await self.message_states.read(blank) if message.files else None
        if kept is not None and kept.question is not None and kept.question.id == message.id:
            await self.message_states.remove(kept)
