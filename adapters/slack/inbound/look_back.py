"""Messages of the time in which no connection stood: Slack sends an event three times within minutes, then never again.

Read in the channels and threads where we were mentioned, and in direct messages, once after each new connection.
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
MOST_MESSAGES = 200  # of one place

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
        caught_up_with = 0
        while not stop.is_set():
            current = connections()
            try:
                if current and current != caught_up_with:
                    await self._look_back(team)
                    caught_up_with = current
                if current:
                    await self._places.advance_cursor()
            except FootnoteError as error:
                log.warning("not_caught_up", reason=str(error))
            except Exception:
                log.exception("not_caught_up")
            await pause(stop, MARK_SECONDS if current else CONNECTION_SECONDS)

    async def _look_back(self, team: str) -> None:
        silence = await self._places.missed_period()
        if silence is None:
            return
        found = 0
        for place in silence.places:
            for said in await self._messages_in(place, silence):
                found += (await self._event_listener.take(said, team)).new
        log.info("looked_back", places=len(silence.places), taken_in=found)

    async def _messages_in(self, place: str, silence: MissedPeriod) -> list[dict[str, Any]]:
        """The messages of people there since, oldest first, as events would tell them."""
        channel, _, root = place.partition("/")
        where = {"channel": channel, "oldest": f"{silence.since:.6f}", "limit": MOST_MESSAGES}
        try:
            if root:
                answer = await self._web.call("conversations.replies", ts=root, **where)
            else:
                answer = await self._web.call("conversations.history", **where)
        except (RequestRefused, PlatformUnavailable) as error:
            log.info("place_unreadable", place=place, reason=str(error))
            return []
        recent = [one for one in answer.get("messages") or [] if float(one.get("ts") or 0) > silence.since]
        return [{**one, "channel": channel} for one in sorted(recent, key=lambda one: float(one["ts"]))]
