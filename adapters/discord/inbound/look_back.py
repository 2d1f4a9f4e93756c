"""What was said while no session stood: a restart, or a session that could not be resumed. The gateway tells nobody.

Read once after each new session: in the channels, threads and direct messages where we were spoken to of late, and in
the channels we see where something was said since; in a server that is there later, once it is. A place that Discord
does not let us read now is read later. What was taken in before is known by its id.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime

import discord
import structlog

from adapters.discord.api.errors import TokenRefused, api_call
from core.model.errors import FootnoteError, PlatformUnavailable
from core.service.backfill import MOST_PLACES, BackfillPlaces

LISTEN_SECONDS = 5.0  # between two notes that we hear
READ_SECONDS = 30.0  # for one place
MOST_MESSAGES = 1_000  # of one place, the newest
MOST_FAILURES = 3  # of one pass over the places, after which Discord is left alone for a moment
SpokenIn = discord.TextChannel | discord.VoiceChannel | discord.StageChannel | discord.Thread

log = structlog.get_logger(__name__)


class LookBack:
    """Reads what was missed after each new session of the gateway.

    ``session`` counts the sessions, the one that stands included; 0 while there is none. ``on_message`` takes a message
    in, ``enqueue`` puts work behind everything that came before.
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
        self._unread: dict[int, int] = {}  # channels that are still to be read, and after which message
        self._unseen: dict[int, int] = {}  # servers that are not there yet, the same

    def on_session(self) -> None:
        """A new session of the gateway stands: it need not be waited for."""
        self._session_begun.set()

    async def run(self) -> None:
        """Look back after each new session, and note that we hear, until cancelled."""
        caught_up_with = 0
        while True:
            current = self._session()
            try:
                if current and current != caught_up_with:
                    await self._begin()
                    caught_up_with = current
                if current:
                    await self._look_back()
                    if not (self._unread or self._unseen):
                        self._enqueue(self._places.advance_cursor)
            except FootnoteError as error:
                log.warning("not_caught_up", reason=str(error))
            except Exception:
                log.exception("not_caught_up")
            self._session_begun.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(LISTEN_SECONDS):
                    await self._session_begun.wait()

    async def _begin(self) -> None:
        """See where something may have been missed."""
        silence = await self._places.missed_period()
        if silence is None:
            return
        after = discord.utils.time_snowflake(datetime.fromtimestamp(silence.since, UTC))
        guilds = self._client().guilds
        self._unseen = {guild.id: after for guild in guilds if guild.unavailable}
        self._read_later(_channels_to_read(guilds, silence.places, after), after)
        log.info("looking_back", since=round(silence.since))

    def _read_later(self, channels: Sequence[int], after: int) -> None:
        self._unread = dict.fromkeys(channels, after) | self._unread  # of what is unread still, the more was missed

    async def _look_back(self) -> None:
        """Read what can be read now, and take it in. Raises TokenRefused."""
        for guild in self._client().guilds:
            if guild.id in self._unseen and not guild.unavailable:
                after = self._unseen.pop(guild.id)
                self._read_later(_channels_to_read([guild], (), after), after)
        failed = 0
        for channel_id, after in list(self._unread.items()):
            if failed == MOST_FAILURES:
                return
            del self._unread[channel_id]
            try:
                self._take_in(await self._messages_since(channel_id, after))
            except PlatformUnavailable as error:
                self._unread[channel_id] = after  # behind the others
                if isinstance(error, TokenRefused):
                    raise
                log.warning("place_not_read_yet", channel=channel_id, reason=str(error))
                failed += 1

    def _take_in(self, missed: Sequence[discord.Message]) -> None:
        for message in missed:
            self._on_message(message)
        if missed:
            log.info("looked_back", channel=missed[0].channel.id, read=len(missed))

    async def _messages_since(self, channel_id: int, after: int) -> list[discord.Message]:
        """What was said there, oldest first; nothing where we may not read. Raises PlatformUnavailable."""
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


def _channels_to_read(guilds: Sequence[discord.Guild], noted: Sequence[str], after: int) -> list[int]:
    """Where we were spoken to of late, then the channels that have something new, the newest first."""
    new: dict[int, int] = {}
    for guild in guilds:
        spoken_in: tuple[SpokenIn, ...] = (
            *guild.text_channels,
            *guild.voice_channels,
            *guild.stage_channels,
            *guild.threads,
        )
        new |= {channel.id: channel.last_message_id or 0 for channel in spoken_in}
    newest = sorted((one for one in new if new[one] > after), key=lambda one: new[one], reverse=True)
    places = [int(place) for place in noted if place.isdigit()]
    known = [one for one in places if new.get(one, after + 1) > after]  # of some we are not told what came last
    return list(dict.fromkeys([*known, *newest]))[:MOST_PLACES]
