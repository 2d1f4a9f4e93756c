"""The files that a question is about: those on its message, else those that its asker attached shortly before.

What is kept is where the files hang, never what they say: they are read anew for each question, for as long as the
platform gives them out.
"""

from dataclasses import dataclass, replace

from core.model.conversation import ContextMessage
from core.model.incoming_events import IncomingMessage
from core.model.message_records import AttachedFiles
from core.ports.message_state import MessageStateStore
from core.ports.platform import Platform

TURNS = 5  # of a thread, after which a question is not about a file any more that nobody attaches again


@dataclass(frozen=True, slots=True)
class FileReader:
    """Reads them for the platforms that are connected here."""

    message_states: MessageStateStore

    async def read(
        self, platform: Platform, message: IncomingMessage, *, turns: int, fence: int | None = None
    ) -> tuple[ContextMessage, ...]:
        """The text of the files that a message is about; ``turns`` counts those of its thread before it.

        Of its own files one that cannot be read says so in its place; of earlier ones it was said already.
        """
        blank = AttachedFiles(thread=message.thread, asker=message.asker.id)
        if message.files:
            await self.message_states.save(replace(blank, question=replace(message, text=""), turns=turns), fence=fence)
            return await platform.attachments(message)
        kept = await self.message_states.read(blank) if turns else None
        if kept is None or kept.question is None or turns - kept.turns > TURNS:
            return ()
        return tuple(one for one in await platform.attachments(kept.question) if not one.unread)

    async def forget(self, message: IncomingMessage) -> None:
        """The message was deleted: what hung on it is asked about no more."""
        blank = AttachedFiles(thread=message.thread, asker=message.asker.id)
        kept = await self.message_states.read(blank) if message.files else None
        if kept is not None and kept.question is not None and kept.question.id == message.id:
            await self.message_states.remove(kept)
