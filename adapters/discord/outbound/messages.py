"""Posting, editing and deleting our own messages by id, so that any worker can continue another's work.

The question and the part determine a message's nonce. If a post is repeated within minutes, Discord returns the first
message. Interactions are answered with their token while it is valid, and later with plain messages.
"""

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

import discord
import structlog
from discord import ui

from adapters.discord.api.errors import (
    ARCHIVED,
    INVALID_TOKEN,
    NO_HISTORY,
    THREAD_EXISTS,
    RequestRefused,
    TokenRefused,
    api_call,
)
from adapters.discord.api.http import LimitedForLong
from adapters.discord.api.servers import Servers
from adapters.discord.outbound.layouts import layout_text, message_text, shown_in
from adapters.discord.outbound.sanitizer import SanitizedView, buttons_below, label, markdown
from adapters.discord.outbound.text import thread_name
from core.model.errors import Denied, FootnoteError, NotFound, PlatformUnavailable
from core.model.incoming_events import ReplyMode, ReplyTarget

NOBODY = discord.AllowedMentions.none()
THREAD_MINUTES: Literal[1440] = 1440  # of inactivity until a thread is archived; a message reopens it
TYPING_SECONDS = 5.0
TOKEN_SECONDS = 14 * 60.0  # of the 15 minutes for which an interaction's token is valid
MOST_LOOKED_THROUGH = 200  # messages
THREAD_SECONDS = 15.0

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Spot:
    """Where an answer's messages go: a channel, optionally as a reply or with an interaction's token."""

    channel: int
    guild: int | None = None
    reply_to: int | None = None
    token: str = ""
    token_from: float = 0.0  # when the token was issued, in seconds since the epoch
    private: bool = False
    silent: bool = False  # without a notification

    @property
    def token_is_good(self) -> bool:
        """Return whether the interaction's token is still valid."""
        return bool(self.token) and time.time() - self.token_from < TOKEN_SECONDS


def nonce(thread: str, subject: str, part: str) -> str:
    """Return a nonce that is the same for each post of a part of an answer. Discord allows 25 characters."""
    return hashlib.sha256(f"{thread}\n{subject}\n{part}".encode(errors="replace")).hexdigest()[:24]


def interaction_time(interaction_id: str) -> float:
    """Return when an interaction was created, in seconds since the epoch, or 0 for an invalid id."""
    return discord.utils.snowflake_time(int(interaction_id)).timestamp() if interaction_id.isdigit() else 0.0


class Messages:
    """Our messages. ``client`` returns the connected client."""

    def __init__(self, client: Callable[[], discord.Client], servers: Servers) -> None:
        self._client = client
        self._servers = servers

    def _channel(self, spot: Spot) -> discord.PartialMessageable:
        return self._client().get_partial_messageable(spot.channel, guild_id=spot.guild)

    def _webhook(self, spot: Spot) -> discord.Webhook:
        client = self._client()
        webhook = discord.Webhook.partial(client.application_id or 0, spot.token, client=client)
        webhook.type = discord.WebhookType.application  # the type of a webhook that uses an interaction's token
        return webhook

    async def post(self, spot: Spot, shown: SanitizedView, key: str) -> int:
        """Post a new message with this nonce and return its id. Raises what ``api_call`` raises."""
        if spot.token_is_good and spot.private:
            async with api_call("answer privately"):
                sent = await self._webhook(spot).send(view=shown, ephemeral=True, wait=True, allowed_mentions=NOBODY)
            return sent.id
        if spot.private:
            raise NotFound("The time for a private answer has passed.", remedy="Ask again, or ask me directly.")
        async with api_call("write in that channel"):
            message = await self._send(spot, shown, key)
        if message_text(message).split() != layout_text(shown).split():  # the nonce returned an earlier message
            await self.edit(spot, message.id, shown)
        return message.id

    async def _send(self, spot: Spot, shown: SanitizedView, key: str) -> discord.Message:
        """Send a message, as a reply if requested and if we may read the original."""
        channel = self._channel(spot)
        if spot.reply_to is not None:
            reference = discord.MessageReference(
                message_id=spot.reply_to, channel_id=spot.channel, guild_id=spot.guild, fail_if_not_exists=False
            )
            try:
                return await channel.send(
                    view=shown, nonce=key, allowed_mentions=NOBODY, reference=reference, mention_author=False
                )
            except discord.HTTPException as error:
                if error.code != NO_HISTORY:
                    raise
        return await channel.send(view=shown, nonce=key, allowed_mentions=NOBODY, silent=spot.silent)

    async def own_texts(self, spot: Spot, since: datetime) -> list[str]:
        """Return the texts of our recent messages there, since this time. Raises what ``api_call`` raises."""
        us = self._client().user
        async with api_call("read that channel"):
            return [
                message_text(message)
                async for message in self._channel(spot).history(limit=MOST_LOOKED_THROUGH, after=since)
                if us is not None and message.author.id == us.id
            ]

    async def edit(self, spot: Spot, message_id: int, shown: SanitizedView) -> None:
        """Replace the content of a message of ours. Raises NotFound if it was deleted."""
        if spot.token_is_good:
            try:
                async with api_call("edit my answer"):
                    await self._webhook(spot).edit_message(message_id, view=shown, allowed_mentions=NOBODY)
            except (NotFound, Denied) as error:
                log.info("token_refused", reason=str(error))
            except RequestRefused as error:
                why = error.__cause__
                if not (isinstance(why, discord.HTTPException) and why.code == INVALID_TOKEN):
                    raise
            else:
                return
        if spot.private:
            raise NotFound("The time for a private answer has passed.", remedy="Ask again, or ask me directly.")
        async with api_call("edit my message"):
            message = self._channel(spot).get_partial_message(message_id)
            try:
                await message.edit(view=shown, allowed_mentions=NOBODY)
            except discord.HTTPException as error:
                if error.code != ARCHIVED:
                    raise
                await self._reopen(spot)
                await message.edit(view=shown, allowed_mentions=NOBODY)

    async def _reopen(self, spot: Spot) -> None:
        """Reopen an archived thread. Posting reopens it automatically, editing does not."""
        thread = await self._client().fetch_channel(spot.channel)
        if isinstance(thread, discord.Thread):
            await thread.edit(archived=False)

    async def add_row(self, spot: Spot, message_id: int, row: ui.ActionRow[Any]) -> None:
        """Add a row of buttons to a message of ours. Raises what ``api_call`` raises."""
        async with api_call("look at my answer"):
            message = await self._channel(spot).fetch_message(message_id)
        shown = shown_in(message)
        shown.add_item(row)
        await self.edit(spot, message_id, shown)

    async def remove(self, spot: Spot, message_id: int) -> None:
        """Delete a message of ours. An already deleted one is no error."""
        try:
            async with api_call("remove my message"):
                if spot.token_is_good:
                    await self._webhook(spot).delete_message(message_id)
                else:
                    await self._channel(spot).get_partial_message(message_id).delete()
        except NotFound:
            return

    async def start_thread(self, target: ReplyTarget, question: str) -> int | None:
        """Start a thread on a question, named after it. Return None if we may not, or cannot now.

        Raises TokenRefused.
        """
        channel = await self._servers.channel(int(target.guild), int(target.channel))
        if isinstance(channel, discord.VoiceChannel | discord.StageChannel):  # these have no threads
            return None
        if channel is not None and not await self._may_write_in_threads(channel):
            return None
        for again in (True, False):
            try:
                return await self._started_thread(target, channel, question)
            except TokenRefused:
                raise
            except (PlatformUnavailable, Denied, NotFound, RequestRefused) as error:
                lost = isinstance(error, PlatformUnavailable) and not isinstance(error.__cause__, LimitedForLong)
                if again and lost:  # the thread may exist and only the response be lost, so ask once more
                    continue
                log.warning("no_thread", channel=target.channel, reason=str(error))
                return None
        return None

    async def _may_write_in_threads(self, channel: discord.abc.GuildChannel) -> bool:
        """Return whether we could write in a thread that we start, as far as we know our permissions."""
        us = await self._servers.bot_member(channel.guild)
        if us is None:
            return True
        ours = channel.permissions_for(us)
        return ours.create_public_threads and ours.send_messages_in_threads

    async def _started_thread(self, target: ReplyTarget, place: object, question: str) -> int:
        by_id = self._client().get_partial_messageable(int(target.channel), guild_id=int(target.guild))
        channel = place if isinstance(place, discord.TextChannel) else by_id
        message = channel.get_partial_message(int(target.message))
        async with api_call("start a thread", THREAD_SECONDS):
            try:
                name = label(thread_name(question))
                thread = await message.create_thread(name=name, auto_archive_duration=THREAD_MINUTES)
            except discord.HTTPException as error:
                if error.code == THREAD_EXISTS:  # a thread started on a message has the message's id
                    return message.id
                raise
        return thread.id

    async def archive_empty(self, thread_id: int) -> None:
        """Archive a thread of ours if nobody has written in it."""
        async with api_call("put a thread away"):
            thread = await self._client().fetch_channel(thread_id)
            if not isinstance(thread, discord.Thread) or thread.archived:
                return
            beginning = discord.MessageType.thread_starter_message
            if not [one async for one in thread.history(limit=2) if one.type is not beginning]:
                await thread.edit(archived=True)

    async def is_gone(self, thread_id: int) -> bool:
        """Return whether a thread was deleted; False unless Discord says so."""
        try:
            async with api_call("look at that thread"):
                await self._client().fetch_channel(thread_id)
        except NotFound:
            return True
        except FootnoteError:
            return False
        return False

    async def direct_channel(self, user_id: int) -> int:
        """Return the direct message channel with a person. Raises Denied if they accept none."""
        async with api_call("write to you directly"):
            client = self._client()
            return (await client.create_dm(discord.Object(user_id))).id

    async def show_typing(self, channel_id: int) -> None:
        """Show the typing indicator. Failures are ignored."""
        try:
            async with api_call("type", TYPING_SECONDS):
                await self._client().get_partial_messageable(channel_id).typing()
        except FootnoteError:
            return

    async def call_role(
        self, spot: Spot, role_id: int, text: str, link: str, key: str, *buttons: ui.Button[Any]
    ) -> None:
        """Mention one role and nobody else. This is our only mention. ``link`` leads to the subject."""
        allowed = discord.AllowedMentions(
            everyone=False, users=False, roles=[discord.Object(role_id)], replied_user=False
        )
        words = f"<@&{role_id}> {markdown(f'{text} {link}', frozenset({link}))}"
        async with api_call("ask a person"):
            sending: dict[str, Any] = {"nonce": key, "allowed_mentions": allowed, "suppress_embeds": True}
            if buttons:
                sending["view"] = buttons_below(*buttons)
            await self._channel(spot).send(words, **sending)


def spot_of(target: ReplyTarget, channel: int | None = None) -> Spot:
    """Return where an answer goes. ``channel`` replaces the target's channel once it is known."""
    response = target.mode in (ReplyMode.RESPONSE, ReplyMode.PRIVATE)
    return Spot(
        channel=channel or int(target.channel),
        guild=int(target.guild) if target.guild and target.mode is not ReplyMode.DIRECT else None,
        reply_to=int(target.message) if target.mode is ReplyMode.REPLY and target.message else None,
        token=target.token if response else "",
        token_from=interaction_time(target.message) if response else 0.0,
        private=target.mode is ReplyMode.PRIVATE,
    )
