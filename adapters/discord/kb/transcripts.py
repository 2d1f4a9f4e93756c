"""Attached files and conversations as documents for the knowledge service.

A conversation is a thread, a single message, or one day of a channel, with the names that people have here. Our own
answers and messages of other bots are left out.
"""

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import groupby

import discord

from adapters.discord.api.errors import api_call
from adapters.discord.api.http import download, file_name
from adapters.discord.inbound.message_parser import may_be_for_us, mentions_us
from adapters.discord.inbound.message_words import bot_identity, words_of
from adapters.discord.outbound.application import DiscordApplication
from adapters.discord.outbound.text import clip
from core.model.conversation import ThreadKey
from core.model.document_content import Conversation, TranscriptMessage
from core.model.errors import NotFound
from core.ports.platform import ConversationGone
from core.service.kb.commands import LARGEST_FILE

MOST_MESSAGES = 2_000  # of one thread, and of a channel's own history
DOWNLOAD_SECONDS = 60.0
READ_SECONDS = 120.0  # reading a channel takes some twenty calls, which Discord may slow down
GONE = "That conversation no longer exists."
NOTHING_TO_KEEP = "That message has no text to add."


def reference_of(message: discord.Message) -> str:
    """Return the conversation that a message is in or starts: its server, channel and thread."""
    guild = message.guild.id if message.guild else 0
    if isinstance(message.channel, discord.Thread):
        return f"{guild}/{message.channel.parent_id}/{message.channel.id}"
    return f"{guild}/{message.channel.id}/{message.id}"


async def conversation_of(
    client: discord.Client, reference: str, *, fallback: discord.Message | None = None
) -> Conversation:
    """Return one thread as a document. Without a thread, ``fallback`` is the whole document. Raises NotFound."""
    thread_id = int(reference.rpartition("/")[2])
    async with api_call("read that conversation", READ_SECONDS):
        try:
            thread = await _place(client, thread_id)
        except discord.NotFound:
            thread = None
        if isinstance(thread, discord.Thread):
            return await _of_thread(client, reference, thread)
    if fallback is None:
        raise ConversationGone(GONE)
    title = clip(" ".join(words_of(fallback, bot_identity(client, fallback.guild)).split()), 80) or "A message"
    conversation = _conversation(client, reference, title, [fallback])
    if not conversation.messages:
        raise ConversationGone(NOTHING_TO_KEEP)
    return conversation


async def conversations_in(client: discord.Client, channel_id: int, limit: int) -> AsyncIterator[Conversation]:
    """Yield a channel's threads and its days without thread starters, newest first, at most ``limit``.

    Threads that we started are questions to us, not knowledge. Private threads are left out; they are added only on
    request from inside the thread. Raises NotFound for a place without a history.
    """
    async with api_call("look at that channel", READ_SECONDS):
        place = await _place(client, channel_id)
        if not isinstance(place, discord.TextChannel | discord.ForumChannel):
            raise NotFound("That channel has no conversations that I can read.")
        threads = await _threads(client, place, limit)
        days = await _days(client, place) if isinstance(place, discord.TextChannel) else []
    found: list[tuple[int, discord.Thread | list[discord.Message]]] = [
        *((one.last_message_id or one.id, one) for one in threads),
        *((day[-1].id, day) for day in days),
    ]
    for _, one in sorted(found, key=lambda pair: pair[0], reverse=True)[:limit]:
        conversation = await _read(client, place, one)
        if conversation is not None and conversation.messages:
            yield conversation


async def _place(client: discord.Client, place_id: int) -> object:
    """Return a channel or thread with its server's roles, which are fetched without the gateway."""
    place = await client.fetch_channel(place_id)
    if not isinstance(place, discord.abc.GuildChannel | discord.Thread) or not place.guild.unavailable:
        return place
    guild = await client.fetch_guild(place.guild.id, with_counts=False)
    return await guild.fetch_channel(place_id)


async def _threads(
    client: discord.Client, place: discord.TextChannel | discord.ForumChannel, limit: int
) -> list[discord.Thread]:
    """Return open threads, then archived ones, over REST, because the gateway sends them to one process only."""
    threads = [one for one in await place.guild.active_threads() if one.parent_id == place.id]
    threads.sort(key=lambda one: one.id, reverse=True)
    if len(threads) < limit:
        threads += [one async for one in place.archived_threads(limit=limit - len(threads))]
    us = client.user.id if client.user else 0
    return [one for one in threads if not one.is_private() and one.owner_id != us]


async def _days(client: discord.Client, place: discord.TextChannel) -> list[list[discord.Message]]:
    """Return the channel's own messages by day (UTC), without a day that was read only in part."""
    read = [one async for one in place.history(limit=MOST_MESSAGES)][::-1]
    days = [list(day) for _, day in groupby(read, key=lambda one: one.created_at.date())]
    if len(read) == MOST_MESSAGES and len(days) > 1:
        days = days[1:]
    kept = [_outside_threads(client, place, day) for day in days]
    return [day for day in kept if day]


def _outside_threads(
    client: discord.Client, place: discord.TextChannel, day: Iterable[discord.Message]
) -> list[discord.Message]:
    """Return the messages that neither start a thread nor ask us a question."""
    us = bot_identity(client, place.guild)
    return [one for one in day if not one.flags.has_thread and not mentions_us(one, us)]


async def _read(
    client: discord.Client,
    place: discord.TextChannel | discord.ForumChannel,
    one: "discord.Thread | list[discord.Message]",
) -> Conversation | None:
    """Return the conversation of a thread or day, or None if it was deleted after listing."""
    if isinstance(one, discord.Thread):
        try:
            async with api_call("read that conversation", READ_SECONDS):
                return await _of_thread(client, f"{place.guild.id}/{place.id}/{one.id}", one)
        except NotFound:
            return None
    day = f"{one[0].created_at:%Y-%m-%d}"
    return _conversation(client, f"{place.guild.id}/{place.id}/{day}", f"#{place.name}, {day}", one)


async def _of_thread(client: discord.Client, reference: str, thread: discord.Thread) -> Conversation:
    messages = [one async for one in thread.history(limit=MOST_MESSAGES, oldest_first=True)]
    if _is_root_deleted(thread, messages):
        raise ConversationGone("The first message of that thread was deleted.")
    return _conversation(client, reference, thread.name, messages, link=thread.jump_url)


def _is_root_deleted(thread: discord.Thread, messages: Sequence[discord.Message]) -> bool:
    """Return whether the message that started the thread or forum post was deleted."""
    if isinstance(thread.parent, discord.ForumChannel):
        return all(one.id != thread.id for one in messages)
    starters = [one.reference for one in messages if one.type is discord.MessageType.thread_starter_message]
    return any(one is not None and isinstance(one.resolved, discord.DeletedReferencedMessage) for one in starters)


async def read_again(client: discord.Client, source: str) -> Conversation:
    """Return the thread, message or day of a channel that this source names. Raises as ``Transcript`` does."""
    reference = source.partition("/")[2]
    _, channel_id, key = reference.split("/")
    async with api_call("read that conversation", READ_SECONDS):
        try:
            place = await _place(client, int(channel_id))
            message = None
            if isinstance(place, discord.TextChannel) and "-" not in key:
                with suppress(discord.NotFound):
                    message = await place.fetch_message(int(key))
        except discord.NotFound:
            raise ConversationGone(GONE) from None
        if isinstance(place, discord.TextChannel) and "-" in key:
            begins = datetime.fromisoformat(key).replace(tzinfo=UTC)
            period = {"after": begins - timedelta(milliseconds=1), "before": begins + timedelta(days=1)}
            read = [one async for one in place.history(limit=MOST_MESSAGES, oldest_first=True, **period)]
            day = _outside_threads(client, place, read)
            if not day:
                raise ConversationGone("All messages of that day were deleted.")
            conversation = _conversation(client, reference, f"#{place.name}, {key}", day)
            return _if_any(conversation)
    return _if_any(await conversation_of(client, reference, fallback=message))


def _if_any(conversation: Conversation) -> Conversation:
    """Return the conversation. Raises ConversationGone if people's messages are all deleted."""
    if not conversation.messages:
        raise ConversationGone(NOTHING_TO_KEEP)
    return conversation


def _conversation(
    client: discord.Client, reference: str, title: str, messages: Sequence[discord.Message], link: str = ""
) -> Conversation:
    transcript = tuple(_messages_of(client, messages))
    return Conversation(f"discord/{reference}", title, transcript, link or messages[0].jump_url)


def _messages_of(client: discord.Client, messages: Iterable[discord.Message]) -> Iterable[TranscriptMessage]:
    for message in messages:
        shown = message
        if message.type is discord.MessageType.thread_starter_message and message.reference is not None:
            original = message.reference.resolved
            shown = original if isinstance(original, discord.Message) else message
        text = words_of(shown, bot_identity(client, message.guild))
        if may_be_for_us(shown) and text:
            yield TranscriptMessage(shown.author.display_name, shown.created_at, text, str(shown.id))


async def download_file(reference: str) -> tuple[str, bytes]:
    """Return (name, bytes) of an attached file by its address, at most LARGEST_FILE bytes.

    Raises FetchRefused if it no longer exists, DocumentRejected, and PlatformUnavailable.
    """
    return file_name(reference), await download(reference, LARGEST_FILE, DOWNLOAD_SECONDS)


class DiscordTranscripts:
    """``core.ports.platform.Transcript``. A job that resumes after a restart waits for the connection."""

    def __init__(self, app: DiscordApplication) -> None:
        self._app = app

    async def conversation(self, reference: str) -> Conversation:
        """Read one thread. Raises NotFound if it does not exist, and PlatformUnavailable."""
        await self._app.connected()
        return await conversation_of(self._app.client(), reference)

    async def read_again(self, source: str) -> Conversation:
        """Read the conversation behind a document again. Raises as ``Transcript`` does."""
        await self._app.connected()
        return await read_again(self._app.client(), source)

    def reference_of(self, thread: ThreadKey) -> str:
        """Return the reference to a thread in which somebody asked us."""
        return f"{thread.space}/{thread.channel}/{thread.thread}"

    async def conversations(self, channel: str, limit: int) -> AsyncIterator[Conversation]:
        """Yield the latest conversations of a channel. Raises NotFound if it has none, and PlatformUnavailable."""
        await self._app.connected()
        async for conversation in conversations_in(self._app.client(), int(channel), limit):
            yield conversation
