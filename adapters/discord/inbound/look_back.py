"""Backfill of messages missed without a session: after a restart, or if a session could not be resumed.

After each new session we read every readable channel and thread with new messages, and threads archived since. We also
read the direct messages with recent questions, which Discord does not list. A server that becomes available later is
read then, and an unreadable place is retried. Known messages are recognized by their ids.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial

import discord
import structlog

from adapters.discord.api.errors import TokenRefused, api_call, find
from core.model.errors import FootnoteError, PlatformUnavailable
from core.service.incoming import MOST_NOTED, BackfillPlaces

LISTEN_SECONDS = 5.0  # between two records that we receive events
READ_SECONDS = 30.0  # for one place
MOST_MESSAGES = 1_000  # of one place, the newest
MOST_ARCHIVED = 200  # threads of one channel, those archived last
ARCHIVED_SECONDS = 3600.0  # the shortest inactivity after which Discord archives a thread
MOST_FAILURES = 3  # per pass over the places; then Discord gets a short break
HasThreads = discord.TextChannel | discord.ForumChannel
SpokenIn = discord.TextChannel | discord.VoiceChannel | discord.StageChannel | discord.Thread

log = structlog.get_logger(__name__)


class LookBack:
    """Backfill after each new session of the gateway.

    ``session`` returns the number of sessions so far, including this one, or 0 without a session. ``on_message``
    processes a message, ``enqueue`` adds work behind everything that came before.
    """

    def __init__(
        self,
        *,
        client: Callable[[], discord.Client],
        session: Callable[[], int],
        on_message: Callable[[discord.Message], None],
        enqueue: Callable[..., bool],
        places: BackfillPlaces,
    ) -> None:
        self._client = client
        self._session = session
        self._on_message = on_message
        self._enqueue = enqueue
        self._places = places
        self._session_begun = asyncio.Event()
        self._unread: dict[int, int] = {}  # channels still to be read, with the message id to start after
        self._archives: dict[int, int] = {}  # channels whose archived threads are still to be listed, likewise
        self._unseen: dict[int, int] = {}  # servers that are not available yet, likewise

    def on_session(self) -> None:
        """Catch up at once, because there is a new gateway session."""
        self._session_begun.set()

    def look_again(self, message: discord.Message) -> None:
        """Read a place again from this message on, because the queue was full when it arrived."""
        self._unread[message.channel.id] = min(self._unread.get(message.channel.id, message.id), message.id - 1)

    async def run(self) -> None:
        """Catch up after each new session, and record that we receive events, until cancelled."""
        caught_up_with = 0
        while True:
            current = self._session()
            try:
                if current and current != caught_up_with:
                    await self._begin()
                    caught_up_with = current
                if current:
                    await self._look_back()
                    if not (self._unread or self._archives or self._unseen):
                        self._enqueue(partial(self._places.advance_cursor, time.time()))
            except FootnoteError as error:
                log.warning("not_caught_up", reason=str(error))
            except Exception:
                log.exception("not_caught_up")
            self._session_begun.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(LISTEN_SECONDS):
                    await self._session_begun.wait()

    async def _begin(self) -> None:
        """Determine where we may have missed messages."""
        silence = await self._places.missed_period(MOST_NOTED)
        if silence is None:
            return
        after = discord.utils.time_snowflake(datetime.fromtimestamp(silence.since, UTC))
        guilds = self._client().guilds
        self._unseen = {guild.id: after for guild in guilds if guild.unavailable}
        self._read_later(guilds, after, silence.places)
        log.info("looking_back", since=round(silence.since))

    def _read_later(self, guilds: Sequence[discord.Guild], after: int, noted: Sequence[str] = ()) -> None:
        """Schedule these servers and the noted places. A place already scheduled keeps its earlier start."""
        self._unread = dict.fromkeys(_places_to_read(guilds, noted, after), after) | self._unread
        silence = discord.utils.utcnow() - discord.utils.snowflake_time(after)
        if silence.total_seconds() > ARCHIVED_SECONDS:
            with_threads = [one for guild in guilds for one in guild.channels if isinstance(one, HasThreads)]
            self._archives = {one.id: after for one in with_threads if _may_read(one)} | self._archives

    async def _look_back(self) -> None:
        """Read and process what is readable now. Raises TokenRefused."""
        for guild in self._client().guilds:
            if guild.id in self._unseen and not guild.unavailable:
                self._read_later([guild], self._unseen.pop(guild.id))
        failed = 0
        for places, read in ((self._archives, self._read_archive), (self._unread, self._read_place)):
            for channel_id, after in list(places.items()):
                if failed == MOST_FAILURES:
                    return
                del places[channel_id]
                try:
                    await read(channel_id, after)
                except PlatformUnavailable as error:
                    places[channel_id] = after  # retry after the others
                    if isinstance(error, TokenRefused):
                        raise
                    log.warning("place_not_read_yet", channel=channel_id, reason=str(error))
                    failed += 1

    async def _read_archive(self, channel_id: int, after: int) -> None:
        """Schedule the threads of a channel that were archived since. Raises PlatformUnavailable."""
        channel, since = self._client().get_channel(channel_id), discord.utils.snowflake_time(after)
        if not isinstance(channel, HasThreads):
            return

        async def list_archived() -> list[int]:
            found: list[int] = []
            async for thread in channel.archived_threads(limit=MOST_ARCHIVED):
                if thread.archive_timestamp < since:
                    break
                found.append(thread.id)
            return found

        archived = await find("look for archived threads", READ_SECONDS, list_archived()) or []
        self._unread = self._unread | {one: after for one in archived if one not in self._unread}

    async def _read_place(self, channel_id: int, after: int) -> None:
        missed = await self._messages_since(channel_id, after)
        for message in missed:
            self._on_message(message)
        if missed:
            log.info("looked_back", channel=channel_id, read=len(missed))

    async def _messages_since(self, channel_id: int, after: int) -> list[discord.Message]:
        """Return the messages since, oldest first; none if we may not read there. Raises PlatformUnavailable."""
        client, since = self._client(), discord.Object(after)
        try:
            async with api_call("read what was said meanwhile", READ_SECONDS):
                channel = client.get_channel(channel_id) or await client.fetch_channel(channel_id)
                if not isinstance(channel, SpokenIn | discord.DMChannel):
                    return []
                found = [one async for one in channel.history(limit=MOST_MESSAGES, after=since, oldest_first=False)]
        except PlatformUnavailable:
            raise
        except FootnoteError as error:
            log.info("place_unreadable", channel=channel_id, reason=str(error))
            return []
        if len(found) == MOST_MESSAGES:
            log.warning("looked_back_in_part", channel=channel_id, since=str(found[-1].created_at))
        return found[::-1]


def _places_to_read(guilds: Sequence[discord.Guild], noted: Sequence[str], after: int) -> list[int]:
    """Return places with recent questions, then other readable places with new messages, newest first."""
    new: dict[int, int] = {}
    for guild in guilds:
        spoken_in: tuple[SpokenIn, ...] = (
            *guild.text_channels,
            *guild.voice_channels,
            *guild.stage_channels,
            *guild.threads,
        )
        new |= {channel.id: channel.last_message_id or 0 for channel in spoken_in if _may_read(channel)}
    newest = sorted((one for one in new if new[one] > after), key=lambda one: new[one], reverse=True)
    places = [int(place) for place in noted if place.isdigit()]
    known = [one for one in places if new.get(one, after + 1) > after]  # some have no known last message
    return list(dict.fromkeys([*known, *newest]))


def _may_read(place: discord.abc.GuildChannel | discord.Thread) -> bool:
    """Return whether we may read the history there, according to the roles we know."""
    us: discord.Member | None = place.guild.me  # None without gateway data, despite the declared type
    if us is None or (isinstance(place, discord.Thread) and place.parent is None):
        return True
    allowed = place.permissions_for(us)
    return allowed.view_channel and allowed.read_message_history
