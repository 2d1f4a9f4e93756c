"""Messages of the time in which no connection stood: Slack sends an event three times within minutes, then never again.

Read in the channels and threads where we were mentioned, and in direct messages, after each new connection: a place
that Slack does not let us read just then is read again, and until it is, we have not heard everything.
https://docs.slack.dev/apis/events-api/#retries
"""

import asyncio
from collections.abc import Callable
from typing import Any

import structlog

from adapters.slack.api.errors import RequestRefused
from adapters.slack.api.web_client import WebClient
from adapters.slack.inbound.event_listener import EventListener
from core.model.errors import FootnoteError, PlatformUnavailable
from core.service.backfill import BackfillPlaces, MissedPeriod
from core.service.leases import pause

MARK_SECONDS = 5.0  # between two records that we are connected
CONNECTION_SECONDS = 0.5  # between two looks for a connection
MOST_MESSAGES = 2_000  # of one place, of those in a channel the newest

log = structlog.get_logger(__name__)


class LookBack:
    """Keeps the event listener caught up with one workspace."""

    def __init__(self, web: WebClient, event_listener: EventListener, places: BackfillPlaces) -> None:
        """Read through this Web API, into this event listener."""
        self._web = web
        self._event_listener = event_listener
        self._places = places

    async def keep_up(self, connections: Callable[[], int], team: str, stop: asyncio.Event) -> None:
        """Look back after each new connection, until ``stop`` is set.

        ``connections`` counts them, the one that stands included; 0 while there is none.
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
        """Take in what was said in the places that are not ``read``. Raises PlatformUnavailable when one is left."""
        silence = await self._places.missed_period()
        if silence is None:
            return
        found, left = 0, None
        for place in silence.places:
            if place in read:
                continue
            try:
                for said in await self._messages_in(place, silence):
                    found += (await self._event_listener.take(said, team)).new
                read.add(place)
            except PlatformUnavailable as error:
                left = error
        log.info("looked_back", places=len(silence.places), taken_in=found)
        if left is not None:
            raise left

    async def _messages_in(self, place: str, silence: MissedPeriod) -> list[dict[str, Any]]:
        """The messages of people there since, oldest first, as events would tell them. Raises PlatformUnavailable.

        Where Slack never lets us read (we were removed, it is gone), there are none.
        """
        channel, _, root = place.partition("/")
        where = {"channel": channel, "oldest": f"{silence.since:.6f}"} | ({"ts": root} if root else {})
        method = "conversations.replies" if root else "conversations.history"
        try:
            found = [one async for one in self._web.messages(method, MOST_MESSAGES, **where)]
        except RequestRefused as refusal:
            if refusal.retry_after:
                raise PlatformUnavailable(f"Slack limits {method} for long.") from None
            log.info("place_unreadable", place=place, reason=str(refusal))
            return []
        recent = [one for one in found if float(one.get("ts") or 0) > silence.since]
        return [{**one, "channel": channel} for one in sorted(recent, key=lambda one: float(one["ts"]))]
