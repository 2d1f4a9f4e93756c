"""What was said while no session stood: a restart, or a session that could not be resumed. The gateway tells nobody.

Read once after each new session: in the channels, threads and direct messages where we were spoken to of late, and in
the channels we see where something was said since. What was taken in before is known by its id.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime

import discord
import structlog

from adapters.discord.api.errors import api_call
from core.model.errors import FootnoteError, StoreUnavailable
from core.service.backfill import MOST_PLACES, BackfillPlaces, MissedPeriod

LISTEN_SECONDS = 5.0  # between two notes that we hear
READ_SECONDS = 30.0  # for one place
MOST_MESSAGES = 100  # of one place, the oldest first

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
                    await self._look_back()
                    caught_up_with = current
                if current:
                    self._enqueue(self._places.advance_cursor)
            except FootnoteError as error:
                log.warning("not_caught_up", reason=str(error))
            except Exception:
                log.exception("not_caught_up")
            self._session_begun.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(LISTEN_SECONDS):
                    await self._session_begun.wait()

    async def _look_back(self) -> None:
        silence = await self._places.missed_period()
        if silence is None:
            return
        after = discord.utils.time_snowflake(datetime.fromtimestamp(silence.since, UTC))
        found = 0
        for channel_id in self._channels_to_read(silence, after):
            for message in await self._messages_since(channel_id, after):
                self._on_message(message)
                found += 1
        log.info("looked_back", since=round(silence.since), read=found)

    def _channels_to_read(self, silence: MissedPeriod, after: int) -> list[int]:
        """Where we were spoken to of late, then the channels that have something new, the newest first."""
        new: dict[int, int] = {}
        for guild in self._client().guilds:
            new |= {channel.id: channel.last_message_id or 0 for channel in guild.text_channels}
            new |= {thread.id: thread.last_message_id or 0 for thread in guild.threads}
        newest = sorted((one for one in new if new[one] > after), key=lambda one: new[one], reverse=True)
        noted = [int(place) for place in silence.places if place.isdigit()]
        known = [one for one in noted if new.get(one, after + 1) > after]  # of some we are not told what came last
        return list(dict.fromkeys([*known, *newest]))[:MOST_PLACES]

    async def _messages_since(self, channel_id: int, after: int) -> list[discord.Message]:
        client = self._client()
        try:
            async with api_call("read what was said meanwhile", READ_SECONDS):
                channel = client.get_channel(channel_id) or await client.fetch_channel(channel_id)
                if not isinstance(channel, discord.TextChannel | discord.Thread | discord.DMChannel):
                    return []
                since = discord.Object(after)
                return [one async for one in channel.history(limit=MOST_MESSAGES, after=since, oldest_first=True)]
        except StoreUnavailable:
            raise
        except FootnoteError as error:
            log.info("place_unreadable", channel=channel_id, reason=str(error))
            return []
