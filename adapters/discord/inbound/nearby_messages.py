"""The messages that a question leans on: the newest of its thread, the one that began it, the one it replies to.

What was deleted or we may not read is left out: the question is answered without it.
"""

from collections.abc import Awaitable, Callable
from typing import TypeVar

import discord
import structlog

from adapters.discord.api.errors import api_call
from adapters.discord.api.servers import Servers
from core.model.errors import FootnoteError
from core.model.incoming_events import IncomingMessage, ReplyMode

READ_SECONDS = 20.0
Found = TypeVar("Found")

log = structlog.get_logger(__name__)


class NearbyMessages:
    """Reads around one question."""

    def __init__(self, client: discord.Client, servers: Servers, question: IncomingMessage) -> None:
        self._client = client
        self._servers = servers
        self._question = question
        self._target = question.reply_target

    @property
    def is_in_thread(self) -> bool:
        """Whether the question is a message in a thread of a server."""
        target = self._target
        written = target.mode in (ReplyMode.POST, ReplyMode.REPLY) and bool(target.guild and target.message)
        return written and self._question.thread.thread == target.channel

    async def newest(self, limit: int) -> list[discord.Message]:
        """The newest messages of its thread before it, oldest first; none outside of a thread."""
        if not self.is_in_thread:
            return []
        before = discord.Object(int(self._target.message))

        async def read() -> list[discord.Message]:
            return [one async for one in self._place(self._target.channel).history(limit=limit, before=before)]

        return (await _readable(read) or [])[::-1]

    async def opening(self) -> discord.Message | None:
        """The message that began its thread: a forum's post, or the message that the thread was started on."""
        thread = self._question.thread
        if not self.is_in_thread or self._question.id == thread.thread:
            return None

        async def read() -> discord.Message:
            parent = await self._servers.channel(int(self._target.guild), int(thread.channel))
            place = thread.thread if isinstance(parent, discord.ForumChannel) else thread.channel
            return await self._place(place).fetch_message(int(thread.thread))

        return await _readable(read)

    async def replied_to(self) -> discord.Message | None:
        """The message that it replies to."""
        if not self._target.about:
            return None
        return await _readable(lambda: self._place(self._target.channel).fetch_message(int(self._target.about)))

    async def forwarded(self, message: discord.Message) -> discord.Message | None:
        """The message that this one forwards, which alone says who wrote it; None where we cannot see it."""
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
