"""Discord's events on their way to the inbox: messages, edits and deletions, in order of arrival.

Gateway handlers only add jobs to ``OrderedQueue``, which then calls the store or Discord in order. The one immediate
action is the typing indicator, for people who mention us.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection
from contextlib import suppress
from dataclasses import replace
from functools import partial

import discord
import structlog
from cachetools import TTLCache

from adapters.discord.api.errors import api_call, find
from adapters.discord.api.ids import base_channel_id, guild_key, key_of, private_key
from adapters.discord.inbound.message_parser import (
    POSTED_BY_PEOPLE,
    BotLoopGuard,
    is_by_person,
    mentions_us,
    parse_message,
    reply_reference,
)
from adapters.discord.inbound.message_words import BotIdentity, bot_identity
from adapters.discord.inbound.ordered_queue import OrderedQueue
from adapters.discord.outbound.answer_records import DiscordQuestionState, MessageKind
from adapters.discord.outbound.application import DiscordApplication
from core.model.channel_settings import ReplyStyle
from core.model.conversation import Person, ThreadKey
from core.model.errors import FootnoteError, PlatformUnavailable
from core.model.incoming_events import IncomingMessage, ReplyMode, ReplyTarget
from core.ports.inbox import Inbox
from core.ports.message_state import KEPT_FOR, CancelReason
from core.service.channel_settings import AnswerVisibility, visibility_of
from core.service.incoming import BackfillPlaces, take_in_deletion
from core.service.kb.chat_changes import note_change
from core.service.message_routing import ANYWHERE, could_be_answered

LOOK_SECONDS = 10.0
CHANNELS_REMEMBERED = 100  # with recent deletions, because messages are often deleted in bulk
REMEMBERED_SECONDS = 30.0
BUSY_SECONDS = 600.0  # how long a writer in a thread counts as taking part in it
MOST_SPEAKERS = 10_000

log = structlog.get_logger(__name__)


class EventListener:
    """Handles the gateway's events."""

    def __init__(
        self,
        app: DiscordApplication,
        ordered_queue: OrderedQueue,
        inbox: Inbox,
        places: BackfillPlaces,
        *,
        tell: Callable[[IncomingMessage, str], Awaitable[None]],
        look_again: Callable[[discord.Message], None],
        allowed_bots: Collection[str] = (),
    ) -> None:
        """Set up the listener. ``tell`` tells a writer that they have too many questions waiting.

        ``look_again`` is called with a message that does not fit in the queue, to read it again later.
        """
        self._app = app
        self._ordered_queue = ordered_queue
        self._inbox = inbox
        self._places = places
        self._bots = BotLoopGuard()
        self._tell = tell
        self._look_again = look_again
        self._allowed_bots = frozenset(name.casefold() for name in allowed_bots)
        self._looked_up: TTLCache[int, object] = TTLCache(CHANNELS_REMEMBERED, REMEMBERED_SECONDS)
        self._speakers: TTLCache[int, frozenset[int]] = TTLCache(MOST_SPEAKERS, BUSY_SECONDS)  # by thread
        self._tasks: set[asyncio.Task[None]] = set()

    def on_message(self, message: discord.Message) -> None:
        """Process a message if it could be for us."""
        self._receive(message, edited=False)

    def on_edit(self, message: discord.Message) -> None:
        """Process an edited message. Work on its earlier text stops."""
        self._receive(message, edited=True)
        guild = message.guild.id if message.guild else None
        if not message.author.bot:  # documents never contain messages of bots
            self._ordered_queue.add(partial(self._note_change, guild, message.channel.id, message.id))

    async def _note_change(self, guild_id: int | None, channel_id: int, message_id: int) -> None:
        """Mark the documents that quote this message for another read."""
        if guild_id is not None:
            key = key_of(await self._channel_of(guild_id, channel_id), guild_id, message_id)
            written = discord.utils.snowflake_time(message_id)
            await note_change(self._app.message_states, key, written, str(message_id))

    def _receive(self, message: discord.Message, *, edited: bool) -> None:
        client = self._app.client()
        if client.user is None or message.author.id == client.user.id:
            return
        if not edited and is_by_person(message) and message.type in POSTED_BY_PEOPLE:
            self._bots.person_spoke(base_channel_id(message.channel))
            self._speakers[message.channel.id] = self._speakers.get(message.channel.id, frozenset()) | {
                message.author.id
            }
        us = bot_identity(client, message.guild)
        if not self._could_be_for_us(message, us):
            return
        if not edited and not message.author.bot and (message.guild is None or mentions_us(message, us)):
            self._start(self._app.messages.show_typing(message.channel.id))
        if not self._ordered_queue.add(partial(self._keep, message, us, edited=edited)) and not edited:
            self._look_again(message)

    def _could_be_for_us(self, message: discord.Message, us: BotIdentity) -> bool:
        """Return whether the message needs a closer look, without any request."""
        if reply_reference(message) is not None:
            return True
        if isinstance(message.channel, discord.PartialMessageable) and message.guild is not None:
            return True
        parsed = parse_message(message, us, allowed_bots=self._allowed_bots)
        return parsed is not None and (not parsed.in_channel or could_be_answered(parsed, ANYWHERE))

    async def _keep(self, message: discord.Message, us: BotIdentity, *, edited: bool) -> None:
        """Put the message into the inbox if it is for us."""
        await self._resolve_thread(message)
        await self._resolve_original(message)
        continues = await self._continued_thread(message)
        incoming = parse_message(message, us, continues=continues, edited=edited, allowed_bots=self._allowed_bots)
        if incoming is None or not self._passes_bot_guard(message) or not await self._is_wanted(incoming):
            return
        incoming = await self._with_reply_mode(incoming)
        expected = key_of(message.channel, message.guild.id if message.guild else None, message.id)
        replied = incoming.reply_target.mode is ReplyMode.REPLY
        if replied or str(incoming.thread) != str(expected):
            await self._app.answer_index.keep_message(incoming.id, MessageKind.QUESTION, incoming)
        if edited and message.edited_at is not None:
            await self._enqueue_edit(incoming)
        else:
            await self._enqueue(f"discord:{message.id}", incoming)
        if incoming.mentions_us or incoming.direct:
            await self._places.record_question(incoming, str(message.channel.id), incoming.thread.thread)

    async def _resolve_thread(self, message: discord.Message) -> None:
        """Fetch a thread that was archived before we connected, because the gateway does not list it."""
        if isinstance(message.channel, discord.PartialMessageable) and message.guild is not None:
            with suppress(FootnoteError):
                async with api_call("look at that thread", LOOK_SECONDS):
                    found = await message.guild.fetch_channel(message.channel.id)
                if isinstance(found, discord.Thread):
                    message.channel = found

    async def _resolve_original(self, message: discord.Message) -> None:
        """Fetch the message that is replied to if it is too old to be included."""
        wanted, source = reply_reference(message), message.reference
        if wanted is None or source is None or source.resolved is not None:
            return
        with suppress(FootnoteError):
            async with api_call("look at what is replied to", LOOK_SECONDS):
                source.resolved = await message.channel.fetch_message(wanted)

    async def _is_wanted(self, incoming: IncomingMessage) -> bool:
        """Return whether a message without a mention may be for us under the channel's settings."""
        if not incoming.in_channel:
            return True
        could_be = could_be_answered(incoming, ANYWHERE)
        return could_be and could_be_answered(incoming, await self._app.channel_access.settings(incoming.thread))

    def _passes_bot_guard(self, message: discord.Message) -> bool:
        """Return whether a person wrote the message, or a bot that has not asked too often in a row."""
        if is_by_person(message) or self._bots.may_ask(base_channel_id(message.channel), message.id):
            return True
        log.info("bot_not_answered", bot=message.author.id, channel=message.channel.id)
        return False

    async def _is_forgotten(self, incoming: IncomingMessage) -> bool:
        """Return whether the message is so old that records of an answer to it have expired, if there were any."""
        if discord.utils.utcnow() - discord.utils.snowflake_time(int(incoming.id)) <= KEPT_FOR:
            return False
        state = DiscordQuestionState(thread=incoming.thread, message=incoming.id)
        return await self._app.message_states.read(state) is None

    async def _enqueue_edit(self, incoming: IncomingMessage) -> None:
        """Enqueue an edit once. Discord also reports an edited message for other reasons, and repeats itself.

        Announce the edit before cancelling the earlier text, so that no worker starts on that. Cancel before the edit
        enters the inbox, so that it never cancels itself.
        """
        if not await self._app.edit_versions.is_news(incoming) or await self._is_forgotten(incoming):
            return
        await self._app.edit_versions.announce(incoming)
        await self._app.message_states.request_cancel(str(incoming.thread), incoming.id, CancelReason.EDITED)
        await self._enqueue(f"discord:{incoming.id}:{incoming.reply_target.edited}", incoming)
        await self._app.edit_versions.note_kept(incoming)

    async def _enqueue(self, delivery_id: str, incoming: IncomingMessage) -> None:
        async def say_busy(text: str) -> None:
            if incoming.mentions_us or incoming.direct or await self._has_answered_in(incoming.thread):
                await self._tell(incoming, text)

        await self._ordered_queue.put(delivery_id, incoming, busy=say_busy)

    async def _has_answered_in(self, thread: ThreadKey) -> bool:
        """Return whether a thread was started on a question to us, so that messages there may continue it."""
        opening = DiscordQuestionState(thread=thread, message=thread.thread)
        return await self._app.message_states.read(opening) is not None

    async def _continued_thread(self, message: discord.Message) -> ThreadKey | None:
        """Return the conversation that a reply continues, if it differs from that of its place."""
        original, client = reply_reference(message), self._app.client()
        if original is None:
            return None
        index = self._app.answer_index
        found = await index.thread_of(original, MessageKind.ANSWER)
        if found is None and mentions_us(message, bot_identity(client, message.guild)):
            return await index.thread_of(original, MessageKind.QUESTION)  # a question that was answered in the channel
        return found

    async def _with_reply_mode(self, incoming: IncomingMessage) -> IncomingMessage:
        """Set whether the answer goes to a thread, a reply or a direct message, by the channel's settings.

        In a thread where others also write, the answer is a reply to its question.
        """
        target = incoming.reply_target
        others = self._speakers.get(int(target.channel), frozenset()) - {int(target.asker)}
        if target.mode is ReplyMode.POST and target.guild and others and not incoming.opens_post:
            return replace(incoming, reply_target=replace(target, mode=ReplyMode.REPLY))
        if target.mode is not ReplyMode.START:
            return incoming
        settings = await self._app.channel_access.settings(incoming.thread)
        if visibility_of(incoming, settings) is AnswerVisibility.PLACE:
            mode = ReplyMode.REPLY if settings.reply_style is ReplyStyle.CHANNEL else ReplyMode.START
            return replace(incoming, reply_target=replace(target, mode=mode))
        directly = replace(target, mode=ReplyMode.DIRECT)
        key = private_key(incoming.thread.space, incoming.thread.channel, target.asker)
        return replace(incoming, thread=key, reply_target=directly, private=True)

    def on_delete(self, guild_id: int | None, channel_id: int, message_id: int) -> None:
        """Stop the work on a deleted question and delete what was posted for it, even after the answer."""

        async def take_in() -> None:
            await self._note_change(guild_id, channel_id, message_id)
            thread = await self._app.answer_index.thread_of(message_id, MessageKind.QUESTION)
            if thread is None:
                thread = key_of(await self._channel_of(guild_id, channel_id), guild_id, message_id)
            kept = await self._app.message_states.read(DiscordQuestionState(thread=thread, message=str(message_id)))
            question = kept.question if kept is not None else None
            if question is None:
                where = ReplyTarget(ReplyMode.POST, str(channel_id), str(message_id), str(guild_id or ""))
                question = IncomingMessage(str(message_id), thread, "", Person("", ""), where)
            await take_in_deletion(self._app.message_states, self._inbox, question)

        self._ordered_queue.add(take_in)

    def on_thread_delete(self, guild_id: int, parent_id: int, thread_id: int) -> None:
        """Stop the work on the thread's question, and post nothing elsewhere."""

        async def take_in() -> None:
            thread = guild_key(guild_id, parent_id, thread_id)
            await note_change(self._app.message_states, thread, discord.utils.snowflake_time(thread_id))
            kept = await self._app.message_states.read(DiscordQuestionState(thread=thread, message=str(thread_id)))
            if kept is not None and kept.question is not None and kept.channel == str(thread_id):
                await take_in_deletion(self._app.message_states, self._inbox, kept.question)

        self._ordered_queue.add(take_in)

    async def _channel_of(self, guild_id: int | None, channel_id: int) -> object:
        """Find the channel of a deletion. An unknown one may be an archived thread."""
        client = self._app.client()
        known = client.get_channel(channel_id) or self._looked_up.get(channel_id)
        if known is None and guild_id is not None:
            with suppress(PlatformUnavailable):
                known = await find("look at that thread", LOOK_SECONDS, client.fetch_channel(channel_id))
                known = self._looked_up[channel_id] = known or discord.Object(channel_id)
        return known or discord.Object(channel_id)

    def _start(self, work: Awaitable[None]) -> None:
        async def do() -> None:
            await work

        task = asyncio.create_task(do())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Cancel all tasks."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
