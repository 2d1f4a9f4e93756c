"""The context of a question: earlier messages, what it refers to, and the files on it and above it.

What Slack does not let us read is left out or noted in its place. The question is answered anyway.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import structlog

from adapters.slack.api.directory import Directory
from adapters.slack.api.errors import RequestRefused
from adapters.slack.api.files import Files
from adapters.slack.api.ids import question_ts
from adapters.slack.api.web_client import WebClient
from adapters.slack.inbound.event_listener import FILES_UNKNOWN
from adapters.slack.inbound.message_words import (
    file_references,
    ids_in,
    own_text,
    plain_message,
    previews,
    shared_messages,
    with_names,
    without_marks,
)
from core.model.conversation import ContextMessage, Role, ThreadKey
from core.model.errors import PlatformUnavailable
from core.model.incoming_events import FileReference, IncomingMessage
from core.model.message_text import GREETING, LINK_PREVIEW, could_point, is_question, only_points, plain_question
from core.model.text import words
from core.service.attached_files import Parse, read_files

__all__ = ["Parse", "ThreadContext"]

MOST_CONTEXT = 50  # messages of the thread before the question
WHOLE_THREAD = 200  # messages read in one call; for a longer thread, search for the newest
MOST_READ = 10_000  # messages of one stretch of a long thread; enough for all of it unless they came in a burst
WIDER = 4  # factor by which a stretch grows if it had too few messages
ABOVE_SECONDS = 3_600.0  # how long a question may refer to the message above it
MOST_BEFORE = 6  # messages of a direct message read before a new one
CONTEXT_CHARACTERS = 2_000  # of one message

Said = dict[str, Any]

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _Line:
    """One message after parsing."""

    ts: str
    author: str
    text: str  # its own words
    shared: tuple[ContextMessage, ...]
    preview: str
    files: tuple[FileReference, ...]
    ours: bool

    @property
    def asked(self) -> str:
        """The message as a question: its own words, or those of what it shares."""
        return plain_question(self.text or "\n".join(one.text for one in self.shared))

    def context(self) -> list[ContextMessage]:
        """Return it as context: its words and files, what it shares, and link previews."""
        files = ", ".join(file.name for file in self.files if file.name)
        text = "\n".join(filter(None, (self.text, files and f"[attached: {files}]")))
        said = [ContextMessage(self.author, text, Role.ASSISTANT if self.ours else Role.PERSON)] if text else []
        shown = [ContextMessage(LINK_PREVIEW, self.preview)] if self.preview else []
        return [*said, *self.shared, *shown]


@dataclass(frozen=True, slots=True)
class ThreadContext:
    """Reader of threads and files. ``parse`` turns a file's name and bytes into text, or raises DocumentRejected."""

    web: WebClient
    directory: Directory
    parse: Parse

    async def complete(self, message: IncomingMessage) -> IncomingMessage:
        """Return the message with names for ids. If it only refers to another message, use that message's words."""
        names = await self.directory.names(ids_in(message.text))
        message = replace(message, text=with_names(message.text, names))
        if message.suggested or not (message.mentions_us or message.direct) or not could_point(message.text):
            return message
        own = await self._message(message, question_ts(message))
        line = await self._line(own) if own is not None else None
        files = line.files if line is not None else tuple(one for one in message.files if one != FILES_UNKNOWN)
        if (files or (line is not None and line.shared)) and only_points(message.text, names.values()):
            shared = line.shared if line is not None else ()
            return replace(message, text=plain_question("\n".join(one.text for one in shared)), files=files)
        pointed_at = await self._pointed_at(message, tuple(names.values()))
        if pointed_at is not None:
            target = replace(message.reply_target, about=pointed_at.ts)
            return replace(message, text=pointed_at.asked, reply_target=target, files=())
        return message if message.text else replace(message, text=GREETING)

    async def earlier(self, message: IncomingMessage) -> tuple[ContextMessage, ...]:
        """Return the messages before the question, oldest first, and what its own message shares.

        For a thread: its first message and the newest. For a new direct message: the last few before it.
        """
        ts, about = question_ts(message), message.reply_target.about
        found = await self._before(message)
        if about and about not in {one.get("ts") for one in found} and (one := await self._message(message, about)):
            found = sorted([*found, one], key=_time)
        context: list[ContextMessage] = []
        for one in found:
            line = await self._line(one)
            context += line.context() if line.ts != ts else replace(line, text="", files=()).context()
        return tuple(one for one in context if one.text != message.text)

    async def files(self, message: IncomingMessage, *, above: bool) -> tuple[FileReference, ...]:
        """Return the files of the message. With ``above`` and none on it, return those of the messages it refers to."""
        files = message.files
        if FILES_UNKNOWN in files:  # an ``app_mention`` omits them
            own = await self._message(message, question_ts(message))
            files = file_references(own) if own is not None else ()
        if files or not above:
            return files
        places = {message.reply_target.about, message.thread.thread} - {"", question_ts(message)}
        found = [one for ts in sorted(places, reverse=True) if (one := await self._message(message, ts)) is not None]
        return tuple(file for one in found for file in file_references(one))

    async def attachments(self, message: IncomingMessage) -> tuple[ContextMessage, ...]:
        """Return the text of the message's files. For an unreadable file, return the reason."""
        return await read_files(message.files, self._fetch, self.parse)

    # --- references to other messages

    async def _pointed_at(self, message: IncomingMessage, names: Sequence[str]) -> _Line | None:
        """Return the message to answer in place of a question that only points at it, or None.

        That is the newest question of a named person, or the newest since our last message, or the newest message. In a
        channel it is the message directly above, if it is recent and asks something. A bare mention there refers to
        nothing.
        """
        in_thread = message.thread.thread != question_ts(message)
        if not (in_thread or message.direct or message.text):
            return None
        found = await self._before(message) if in_thread else await self._history(message, 1)
        lines = [await self._line(one) for one in found]
        if not in_thread:
            lines = [line for line in lines if _may_be_meant(line, message)]
        authors = {line.author for line in lines if not line.ours}
        if not only_points(message.text, [*authors, *names]):
            return None
        said = message.text.casefold()
        named = [line for line in lines if line.author in authors and line.author.casefold() in said]
        after = max((number for number, line in enumerate(lines, 1) if line.ours), default=0)
        asked = [line for line in named or lines[after:] if line.files or not only_points(line.asked, authors)]
        questions = [line for line in asked if is_question(line.asked)]
        candidates = questions or asked
        return candidates[-1] if candidates else None

    # --- reading

    async def _before(self, message: IncomingMessage) -> list[Said]:
        """Return the messages before the question and the question's own, oldest first."""
        ts = question_ts(message)
        if message.thread.thread != ts:
            return await self._newest_of_thread(message)
        found = await self._history(message, MOST_BEFORE) if message.direct else []
        own = await self._message(message, ts) if message.reply_target.about == ts else None
        return [*found, *([own] if own is not None else [])]

    async def _newest_of_thread(self, message: IncomingMessage) -> list[Said]:
        """Return the thread's first message and the newest ones up to this one."""
        ts, about = question_ts(message), message.reply_target.about
        try:
            found = await self._read_thread(message.thread, ts)
        except (RequestRefused, PlatformUnavailable) as error:
            log.info("thread_unreadable", reason=str(error))
            return []
        shown = [one for one in found if _time(one) < float(ts) or one.get("ts") == about]
        return [*shown[:1], *shown[1:][-(MOST_CONTEXT - 1) :]]

    async def _read_thread(self, thread: ThreadKey, ts: str) -> list[Said]:
        """Return a thread's first message, then all up to this one. For a long thread, return only the newest.

        Slack pages from the oldest message on. So for a long thread we read growing stretches before the question.
        Raises RequestRefused and PlatformUnavailable.
        """
        place = {"channel": thread.channel, "ts": thread.thread, "latest": ts, "inclusive": True}
        answer = await self.web.call("conversations.replies", limit=WHOLE_THREAD, **place)
        found: list[Said] = list(answer.get("messages") or [])
        if not (answer.get("response_metadata") or {}).get("next_cursor"):
            return found
        root, end = float(thread.thread), float(ts)
        seconds = (end - root) * 2 * MOST_CONTEXT / int(found[0].get("reply_count") or MOST_READ)
        while True:
            oldest = f"{max(end - seconds, root):.6f}"
            stretch = self.web.items("conversations.replies", "messages", MOST_READ, oldest=oldest, **place)
            newest = deque([one async for one in stretch if one.get("ts") != thread.thread], MOST_CONTEXT)
            if len(newest) == MOST_CONTEXT or end - seconds <= root:
                return [found[0], *newest]
            seconds *= WIDER

    async def _history(self, message: IncomingMessage, most: int) -> list[Said]:
        """Return the last channel messages before this one, oldest first."""
        arguments = {"channel": message.thread.channel, "latest": question_ts(message), "limit": most}
        try:
            answer = await self.web.call("conversations.history", **arguments)
        except (RequestRefused, PlatformUnavailable) as error:
            log.info("history_unreadable", reason=str(error))
            return []
        return list(reversed(answer.get("messages") or []))

    async def _message(self, message: IncomingMessage, ts: str) -> Said | None:
        """Return one message of the question's channel, from its thread or outside any thread."""
        in_thread = float(ts) > float(message.thread.thread)
        place = {"channel": message.thread.channel, "ts": message.thread.thread if in_thread else ts}
        try:
            answer = await self.web.call(
                "conversations.replies", oldest=ts, latest=ts, inclusive=True, limit=2, **place
            )
        except (RequestRefused, PlatformUnavailable) as error:
            log.info("message_unreadable", reason=str(error))
            return None
        return next((one for one in answer.get("messages") or [] if one.get("ts") == ts), None)

    async def _line(self, said: Said) -> _Line:
        us = await self.directory.identity()
        ours = said.get("user") == us.user
        shared = () if ours else shared_messages(said)
        texts = [str(said.get("text") or "") if ours else own_text(said), *(one.text for one in shared)]
        called = {*chain(*map(ids_in, texts)), *(one.author_id for one in shared if not one.author)}
        names = await self.directory.names(called)
        own, *forwarded = (without_marks(plain_message(text, us.user, names))[:CONTEXT_CHARACTERS] for text in texts)
        author = "Footnote" if ours else await self._author(said)
        return _Line(
            ts=str(said.get("ts") or ""),
            author=author,
            text=own,
            shared=tuple(
                ContextMessage(f"{author}, forwarding {one.author or names.get(one.author_id, 'someone')}", text)
                for one, text in zip(shared, forwarded, strict=True)
                if text
            ),
            preview="" if ours else with_names(plain_message(previews(said), us.user), names)[:CONTEXT_CHARACTERS],
            files=file_references(said),
            ours=ours,
        )

    async def _author(self, said: Said) -> str:
        """Return the author: a person's display name, or an app's own name."""
        profile = said.get("bot_profile") or {}
        if app := profile.get("name") or said.get("username"):
            return str(app)
        user = str(said.get("user") or "")
        return (await self.directory.names([user])).get(user, "someone")

    async def _fetch(self, file: FileReference, limit: int) -> tuple[str, bytes]:
        return await Files(self.web).fetch(file.id, limit)


def _may_be_meant(line: _Line, message: IncomingMessage) -> bool:
    """Return whether a message outside threads may refer to the message above it."""
    if line.shared or line.files:
        return True
    if message.direct:  # each direct message is a question and was already answered
        return False
    recent = float(question_ts(message)) - float(line.ts) < ABOVE_SECONDS
    return recent and (not words(message.text) or is_question(line.asked))


def _time(said: Said) -> float:
    return float(said.get("ts") or 0)
