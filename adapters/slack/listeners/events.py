"""Middleware before all listeners: sets the workspace of each request, and stores events before acknowledging them.

Bolt acknowledges an event before any ``@app.event`` listener runs. This middleware instead answers 503 if an event
could not be stored, and Slack redelivers it. https://docs.slack.dev/apis/events-api/#retries
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import structlog
from slack_bolt.app.async_app import AsyncApp
from slack_bolt.response import BoltResponse

from adapters.slack.api.errors import RequestRefused
from adapters.slack.inbound.event_listener import EventListener
from adapters.slack.listeners.home_tab import HomeTab
from adapters.slack.listeners.support import ACKNOWLEDGE_SECONDS, BackgroundTasks
from adapters.slack.outbound.workspace import SlackWorkspace
from core.model.errors import FootnoteError
from core.model.incoming_events import IncomingMessage


class ThreadOrder:
    """Processes the events of a thread in order. Different threads do not wait for each other."""

    def __init__(self) -> None:
        self._last: dict[str, asyncio.Event] = {}  # set when a thread's latest event is stored or given up

    @asynccontextmanager
    async def turn(self, thread: str) -> AsyncIterator[None]:
        """Wait until all earlier events of this thread are done."""
        before, done = self._last.get(thread), asyncio.Event()
        self._last[thread] = done
        try:
            if before is not None:
                await before.wait()
            yield
        finally:
            done.set()
            if self._last.get(thread) is done:
                del self._last[thread]


def thread_of(event: Mapping[str, Any]) -> str:
    """Return the channel and thread of an event. For edits and deletions, the message is nested."""
    message = event.get("message") or event.get("previous_message") or event
    return f"{event.get('channel', '')}/{message.get('thread_ts') or message.get('ts') or ''}"


log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class EventMiddleware:
    """Processes every event of the Events API in its thread's order. Other requests go on to their listeners."""

    workspace: SlackWorkspace
    event_listener: EventListener
    home_tab: HomeTab
    background: BackgroundTasks
    _order: ThreadOrder = field(default_factory=ThreadOrder)

    def register(self, app: AsyncApp) -> None:
        """Register as middleware before all listeners of this app."""
        app.middleware(self._take)

    async def _take(self, body: dict[str, Any], next: Callable[[], Awaitable[None]]) -> BoltResponse | None:  # noqa: A002 - Bolt's name
        team = (await self.workspace.directory.identity()).team
        if body.get("type") != "event_callback":
            # In a shared channel, these name the partner's workspace. We store everything under our own.
            body |= {"team": {"id": team}, "team_id": team}
            await next()
            return None
        event = body["event"]
        if event.get("type") == "app_home_opened":
            self.background.start(self._open_home(event, team))
            return BoltResponse(status=200, body="")
        try:
            async with asyncio.timeout(ACKNOWLEDGE_SECONDS), self._order.turn(thread_of(event)):
                result = await self.event_listener.take(event, team)
        except (FootnoteError, RequestRefused, TimeoutError) as error:
            log.warning("event_not_kept", event_id=body.get("event_id"), reason=str(error) or "timeout")
            return BoltResponse(status=503, body="")
        if result.reply and result.message is not None:
            self.background.start(self._reply(result.message, result.reply))
        return BoltResponse(status=200, body="")

    async def _open_home(self, event: dict[str, Any], team: str) -> None:
        if event.get("tab") == "messages":
            await self.home_tab.suggest_prompts(team, str(event["channel"]), str(event["user"]))
        else:
            await self.home_tab.publish(team, str(event["user"]))

    async def _reply(self, message: IncomingMessage, text: str) -> None:
        await self.workspace.messages.post_privately(message.thread, message.reply_target.asker, text)
