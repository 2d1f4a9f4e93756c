"""The context of a question: the messages before it, the one it replies to, and their attached files.

Deleted or unreadable messages are left out. The question is answered without them.
"""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TypeVar

import discord
import structlog

from adapters.discord.api.errors import api_call
from adapters.discord.api.http import download
from adapters.discord.api.servers import Servers
from adapters.discord.inbound.message_parser import POSTED_BY_PEOPLE
from adapters.discord.inbound.message_words import BotIdentity, attachments_of, previews_of, words_of
from adapters.discord.outbound.text import clip
from core.model.conversation import ContextMessage, Role
from core.model.errors import FetchRefused, FootnoteError
from core.model.incoming_events import FileReference, IncomingMessage, ReplyMode, ReplyTarget
from core.model.message_text import LINK_PREVIEW
from core.service.attached_files import Parse, read_files, unread

READ_SECONDS = 20.0
Found = TypeVar("Found")

log = structlog.get_logger(__name__)


class NearbyMessages:
    """Reads the messages around one question."""

    def __init__(self, client: discord.Client, servers: Servers, question: IncomingMessage) -> None:
        self._client = client
        self._servers = servers
        self._question = question
        self._target = question.reply_target

    @property
    def is_in_thread(self) -> bool:
        """Return whether the question is a message in a thread of a server."""
        target = self._target
        written = target.mode in (ReplyMode.POST, ReplyMode.REPLY) and bool(target.guild and target.message)
        return written and self._question.thread.thread == target.channel

    async def newest(self, limit: int) -> list[discord.Message]:
        """Return the newest messages of its thread before it, oldest first. Empty outside a thread."""
        if not self.is_in_thread:
            return []
        before = discord.Object(int(self._target.message))

        async def read() -> list[discord.Message]:
            return [one async for one in self._place(self._target.channel).history(limit=limit, before=before)]

        return (await _readable(read) or [])[::-1]

    async def opening(self) -> discord.Message | None:
        """Return the message that began its thread: a forum post, or the message that the thread was started on."""
        thread = self._question.thread
        if not self.is_in_thread or self._question.id == thread.thread:
            return None

        async def read() -> discord.Message:
            parent = await self._servers.channel(int(self._target.guild), int(thread.channel))
            place = thread.thread if isinstance(parent, discord.ForumChannel) else thread.channel
            return await self._place(place).fetch_message(int(thread.thread))

        return await _readable(read)

    async def replied_to(self) -> discord.Message | None:
        """Return the message that it replies to."""
        if not self._target.about:
            return None
        return await _readable(lambda: self._place(self._target.channel).fetch_message(int(self._target.about)))

    async def forwarded(self, message: discord.Message) -> discord.Message | None:
        """Return the original of a forwarded message, which alone names its author, or None if we cannot see it."""
        source = message.reference
        if not message.message_snapshots or source is None or source.message_id is None:
            return None
        channel, wanted = source.channel_id, source.message_id
        return await _readable(lambda: self._client.get_partial_messageable(channel).fetch_message(wanted))

    def _place(self, channel: str) -> discord.PartialMessageable:
        guild = int(self._target.guild) if self._target.guild else None
        return self._client.get_partial_messageable(int(channel), guild_id=guild)


async def _readable(read: Callable[[], Awaitable[Found]]) -> Found | None:
    try:
        async with api_call("read what was said before", READ_SECONDS):
            return await read()
    except FootnoteError as error:
        log.info("not_readable", reason=str(error))
        return None


MOST_MESSAGES = 50
LONGEST = 2_000  # characters of one message
LONGEST_TOGETHER = 20_000


async def read_thread_context(nearby: NearbyMessages, us: BotIdentity) -> tuple[ContextMessage, ...]:
    """Return the earlier messages, oldest first, with the authors' names in the server.

    In a thread these are the newest 50 messages. They always include the message that began the thread and the one that
    is replied to.
    """
    newest = await nearby.newest(MOST_MESSAGES)
    opening = await nearby.opening() if len(newest) == MOST_MESSAGES else None
    about = await nearby.replied_to()
    always = sorted({one.id: one for one in (opening, about) if one is not None}.values(), key=lambda one: one.id)
    kept = [line for one in always for line in await _lines(nearby, one, us)]
    left = LONGEST_TOGETHER - sum(len(line.text) for line in kept)
    ids = {one.id for one in always}
    since = [line for one in newest if one.id not in ids for line in await _lines(nearby, one, us)]
    return (*kept, *_newest_that_fit(since, left))


async def _lines(nearby: NearbyMessages, message: discord.Message, us: BotIdentity) -> list[ContextMessage]:
    """Return a message as context: its words and file names, then its link previews."""
    shown = _opening_message(message)
    if shown is None:
        return []
    original = await nearby.forwarded(shown)
    words = clip(words_of(shown, us, original.mentions if original is not None else ()), LONGEST)
    files = ", ".join(file.filename for file in attachments_of(shown))
    text = "\n".join(filter(None, (words, files and f"[attached: {files}]")))
    author = shown.author.display_name
    author += f", forwarding {original.author.display_name}" if original is not None else ""
    role = Role.ASSISTANT if shown.author.id == us.user_id else Role.PERSON
    said = [ContextMessage(author, text, role)] if text else []
    preview = clip(previews_of(shown), LONGEST)
    return [*said, ContextMessage(LINK_PREVIEW, preview)] if preview else said


def _opening_message(message: discord.Message) -> discord.Message | None:
    """Return the message itself, or for a thread's starter note the message that the thread was started on."""
    if message.type is discord.MessageType.thread_starter_message and message.reference is not None:
        original = message.reference.resolved
        return original if isinstance(original, discord.Message) else None
    return message if message.type in POSTED_BY_PEOPLE else None


def _newest_that_fit(lines: list[ContextMessage], left: int) -> tuple[ContextMessage, ...]:
    kept: list[ContextMessage] = []
    for line in reversed(lines):
        left -= len(line.text)
        if left < 0:
            break
        kept.append(line)
    return tuple(reversed(kept))


DOWNLOAD_SECONDS = 20.0


async def read_attachments(
    client: discord.Client, message: IncomingMessage, parse: Parse
) -> tuple[ContextMessage, ...]:
    """Return each file's text, or one line with the reason why it was not read."""
    target = message.reply_target
    try:
        there = await _addresses(client, target, message.files)
    except FootnoteError as error:
        return tuple(unread(file, str(error)) for file in message.files)

    async def fetch(file: FileReference, limit: int) -> tuple[str, bytes]:
        if file.id not in there:
            raise FetchRefused("It was deleted.")
        return file.name, await download(there[file.id], limit, DOWNLOAD_SECONDS)

    return await read_files(message.files, fetch, parse)


async def files_above(nearby: NearbyMessages) -> tuple[FileReference, ...]:
    """Return the files of the message that a question replies to, then those of its thread's first message.

    Each id includes the channel and message, because the file is not attached to the question.
    """
    above = {one.id: one for one in (await nearby.replied_to(), await nearby.opening()) if one is not None}
    return tuple(
        FileReference(f"{message.channel.id}/{message.id}/{file.id}", file.filename, file.size)
        for message in above.values()
        for file in attachments_of(message)
    )


def files_on(question: IncomingMessage) -> tuple[FileReference, ...]:
    """Return the files of a message, for use by a question in another message."""
    target = question.reply_target
    return tuple(
        file if "/" in file.id else replace(file, id=f"{target.channel}/{target.message}/{file.id}")
        for file in question.files
    )


async def _addresses(client: discord.Client, target: ReplyTarget, files: Sequence[FileReference]) -> dict[str, str]:
    """Look up the current download address of each file, because Discord's addresses expire."""
    if target.file:
        return {file.id: target.file for file in files}
    if all("://" in file.id for file in files):  # these came with a command, not with a message
        return {file.id: file.id for file in files}
    wanted: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)  # by message: each file's id there and here
    for file in files:
        *where, attachment = file.id.split("/")
        channel, message = where or (target.channel, target.message)
        wanted[channel, message][attachment] = file.id
    found: dict[str, str] = {}
    guild = int(target.guild) if target.guild else None
    for (channel, message), ids in wanted.items():
        async with api_call("look at the attached files", DOWNLOAD_SECONDS):
            place = client.get_partial_messageable(int(channel), guild_id=guild)
            there = attachments_of(await place.fetch_message(int(message)))
        found |= {ids[str(one.id)]: one.url for one in there if str(one.id) in ids}
    return found
