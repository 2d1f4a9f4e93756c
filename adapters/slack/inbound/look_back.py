"""Backfill of messages missed while disconnected. Slack sends an event three times within minutes, then never again.

After each new connection we read every channel where the bot is a member, and its threads with new replies. A channel's
history names the latest reply of each message, so recent threads are found. Older threads are read if somebody asked us
there. If Slack does not let us read a place, we retry. Until that succeeds, we have not caught up.
https://docs.slack.dev/apis/events-api/#retries
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import structlog
from cachetools import LRUCache

from adapters.slack.api.errors import RequestRefused
from adapters.slack.api.web_client import WebClient
from adapters.slack.inbound.event_listener import EventListener
from core.model.errors import FootnoteError, PlatformUnavailable
from core.model.incoming_events import IncomingMessage
from core.service.incoming import BackfillPlaces, MissedPeriod
from core.service.leases import pause

MARK_SECONDS = 5.0  # between two records that we are connected
CONNECTION_SECONDS = 0.5  # between two checks for a connection
MOST_MESSAGES = 2_000  # per place; in a channel, the newest
MOST_CHANNELS = 5_000
THREADS_SECONDS = 7 * 86_400.0  # before the gap: threads that began in this time are found
THREADS_FACTOR = 100.0  # limits that time to this multiple of the gap
KINDS = "public_channel,private_channel,mpim,im"
MOST_TOLD = 1_000

Message = dict[str, Any]

log = structlog.get_logger(__name__)


class LookBack:
    """Backfill for one workspace's event listener."""

    def __init__(
        self,
        web: WebClient,
        event_listener: EventListener,
        places: BackfillPlaces,
        tell: Callable[[IncomingMessage, str], Awaitable[None]],
    ) -> None:
        """Read through this Web API client into this event listener. ``tell`` sends the writer a refusal."""
        self._web = web
        self._event_listener = event_listener
        self._places = places
        self._tell = tell
        self._told: LRUCache[str, None] = LRUCache(MOST_TOLD)  # messages whose writers were already told of the refusal

    async def keep_up(self, connections: Callable[[], int], team: str, stop: asyncio.Event) -> None:
        """Catch up after each new connection, until ``stop`` is set.

        ``connections`` returns the number of connections so far, including the current one, or 0 while disconnected.
        """
        caught_up_with = reading_for = 0
        read: set[str] = set()
        while not stop.is_set():
            current = connections()
            try:
                if current and current != caught_up_with:
                    if current != reading_for:
                        reading_for, read = current, set()
                    await self._look_back(team, read)
                    caught_up_with = current
                if current:
                    await self._places.advance_cursor()
            except FootnoteError as error:
                log.warning("not_caught_up", reason=str(error))
            except Exception:
                log.exception("not_caught_up")
            await pause(stop, MARK_SECONDS if current else CONNECTION_SECONDS)

    async def _look_back(self, team: str, read: set[str]) -> None:
        """Process the messages of all places not in ``read``. Raises PlatformUnavailable if one was not read."""
        silence = await self._places.missed_period()
        if silence is None:
            return
        channels = await self._channels(silence.places)
        found, left = 0, None
        for place in (*channels, *(one for one in silence.places if "/" in one)):
            if place in read:
                continue
            try:
                said, threads = await self._messages_in(place, silence)
                for one in said:
                    found += await self._take(one, team)
                read |= {place, *threads}
            except PlatformUnavailable as error:
                left = error
        log.info("looked_back", channels=len(channels), taken_in=found)
        if left is not None:
            raise left

    async def _channels(self, noted: Sequence[str]) -> list[str]:
        """Return the conversations where we are a member, those with recent questions first.

        If Slack does not list them, return only those with recent questions. Raises PlatformUnavailable.
        """
        asked = dict.fromkeys(place.partition("/")[0] for place in noted)
        try:
            listed = self._web.items(
                "users.conversations", "channels", MOST_CHANNELS, types=KINDS, exclude_archived=True
            )
            ours = {str(one["id"]): None async for one in listed}
        except RequestRefused as refusal:
            if refusal.retry_after:
                raise PlatformUnavailable("Slack's rate limit for users.conversations lasts too long.") from None
            log.warning("channels_not_listed", reason=str(refusal))
            return list(asked)
        return [*(one for one in asked if one in ours), *(one for one in ours if one not in asked)]

    async def _take(self, said: Message, team: str) -> bool:
        """Process a message and return whether it is new. Tell its writer once if the inbox has no room for it."""
        result = await self._event_listener.take(said, team)
        name = f"{said['channel']}/{said['ts']}"
        if result.reply and result.message is not None and name not in self._told:
            self._told[name] = None
            await self._tell(result.message, result.reply)
        return result.new

    async def _messages_in(self, place: str, silence: MissedPeriod) -> tuple[list[Message], set[str]]:
        """Return the missed messages of a place, oldest first, in the form of events, and the threads read with them.

        If Slack refuses (we were removed, the channel was deleted), there are none. Raises PlatformUnavailable.
        """
        channel, _, root = place.partition("/")
        try:
            found, threads = await (self._replies(channel, root, silence) if root else self._channel(channel, silence))
        except RequestRefused as refusal:
            if refusal.retry_after:
                raise PlatformUnavailable("Slack's rate limit for reading conversations lasts too long.") from None
            log.info("place_unreadable", place=place, reason=str(refusal))
            return [], set()
        recent = {str(one["ts"]): one for one in found if _time(one, "ts") > silence.since}
        return [
            {**one, "channel": channel} for one in sorted(recent.values(), key=lambda one: _time(one, "ts"))
        ], threads

    async def _channel(self, channel: str, silence: MissedPeriod) -> tuple[list[Message], set[str]]:
        """Return the messages of a channel and of its threads that have new replies."""
        oldest = silence.since - min(THREADS_SECONDS, THREADS_FACTOR * silence.seconds)
        pages = self._web.items(
            "conversations.history", "messages", MOST_MESSAGES, channel=channel, oldest=f"{oldest:.6f}"
        )
        found = [one async for one in pages]
        threads = {f"{channel}/{one['ts']}" for one in found if one.get("ts")}
        for one in list(found):
            if _time(one, "latest_reply") > silence.since:
                found += (await self._replies(channel, str(one["ts"]), silence))[0]
        return found, threads

    async def _replies(self, channel: str, root: str, silence: MissedPeriod) -> tuple[list[Message], set[str]]:
        where = {"channel": channel, "ts": root, "oldest": f"{silence.since:.6f}"}
        pages = self._web.items("conversations.replies", "messages", MOST_MESSAGES, **where)
        return [one async for one in pages], set()


def _time(message: Message, name: str) -> float:
    return float(message.get(name) or 0)
