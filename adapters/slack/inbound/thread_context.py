"""What stands around a question: what was said before it in its thread, and the text of the files on it.

What Slack does not let us read is left out, or said in its place: a question is answered all the same.
"""

from dataclasses import dataclass
from typing import Any

import structlog

from adapters.slack.api.directory import Directory
from adapters.slack.api.errors import RequestRefused
from adapters.slack.api.files import Files
from adapters.slack.api.web_client import WebClient
from adapters.slack.inbound.event_listener import FILES_UNKNOWN, question_ts
from adapters.slack.inbound.message_text import plain_message
from core.model.conversation import ContextMessage, Role
from core.model.errors import PlatformUnavailable
from core.model.incoming_events import FileReference, IncomingMessage
from core.service.attached_files import Parse, read_files

__all__ = ["Parse", "ThreadContext"]

MOST_CONTEXT = 50  # messages of the thread before the question
MOST_READ = 1_000  # messages of one thread
MOST_BEFORE = 6  # messages of a direct message before a new one
CONTEXT_CHARACTERS = 2_000  # of one message

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class ThreadContext:
    """Reads threads and files. ``parse`` turns a file's name and bytes into text, or raises DocumentRejected."""

    web: WebClient
    directory: Directory
    parse: Parse

    async def earlier(self, message: IncomingMessage) -> tuple[ContextMessage, ...]:
        """What was said in the thread before the question, oldest first; before a new direct message, the last few."""
        ts = question_ts(message)
        if message.thread.thread != ts:
            found = await self._thread(message)
        elif message.direct:
            found = await self._last_direct_messages(message)
        else:
            found = []
        earlier = [one for one in found if float(one.get("ts", 0)) < float(ts)]
        return tuple([await self._context_message(one) for one in earlier[-MOST_CONTEXT:] if one.get("text")])

    async def attachments(self, message: IncomingMessage) -> tuple[ContextMessage, ...]:
        """The text of the files on the message; for one that cannot be read, the reason in its place."""
        files = message.files
        if FILES_UNKNOWN in files:
            files = await self._files_of(message)
        return await read_files(files, self._fetch, self.parse)

    async def _thread(self, message: IncomingMessage) -> list[dict[str, Any]]:
        """The thread up to this message, oldest first; of a very long one, its beginning."""
        place = {"channel": message.thread.channel, "ts": message.thread.thread}
        window = {"latest": question_ts(message), "inclusive": True}
        found: list[dict[str, Any]] = []
        try:
            async for said in self.web.messages("conversations.replies", MOST_READ, **place, **window):
                found.append(said)  # noqa: PERF401 - what was read before a refusal counts
        except (RequestRefused, PlatformUnavailable) as error:
            log.info("thread_unreadable", reason=str(error))
        return found

    async def _last_direct_messages(self, message: IncomingMessage) -> list[dict[str, Any]]:
        arguments = {"channel": message.thread.channel, "latest": question_ts(message), "limit": MOST_BEFORE}
        try:
            answer = await self.web.call("conversations.history", **arguments)
        except (RequestRefused, PlatformUnavailable) as error:
            log.info("history_unreadable", reason=str(error))
            return []
        return list(reversed(answer.get("messages") or []))

    async def _context_message(self, said: dict[str, Any]) -> ContextMessage:
        us = await self.directory.identity()
        ours = said.get("user") == us.user
        author = "Footnote" if ours else await self.directory.name(str(said.get("user") or "someone"))
        text = plain_message(str(said["text"]), us.user)[:CONTEXT_CHARACTERS]
        return ContextMessage(author, text, Role.ASSISTANT if ours else Role.PERSON)

    async def _files_of(self, message: IncomingMessage) -> tuple[FileReference, ...]:
        """An ``app_mention`` comes without files: the message is fetched again."""
        for said in await self._thread(message):
            if said.get("ts") == question_ts(message):
                found = said.get("files") or []
                return tuple(FileReference(str(one["id"]), str(one.get("name") or "")) for one in found)
        return ()

    async def _fetch(self, file: FileReference, limit: int) -> tuple[str, bytes]:
        return await Files(self.web).fetch(file.id, limit)
