"""Messages that are not answers: thread posts, ephemeral messages and direct messages.

``answer_surface`` handles answers, which must be found again and edited. Agent session states are best effort and never
delay an answer.
"""

import time
from dataclasses import dataclass
from typing import Any

import structlog
from cachetools import TTLCache

from adapters.slack.api.errors import RequestRefused
from adapters.slack.api.ids import PLATFORM
from adapters.slack.api.web_client import WebClient
from adapters.slack.outbound import blocks
from adapters.slack.outbound.text import escape, shorten
from core.model.conversation import ThreadKey
from core.model.errors import PlatformUnavailable

ASK_AGAIN_SECONDS = 600.0  # an app may become an agent while we run
NO_AGENT = {"not_agent_app", "unknown_method", "missing_scope", "not_allowed_token_type"}
NOT_HERE = "not_authorized"  # about one channel: a shared one, or one whose admins restrict apps
MOST_CHANNELS = 1_000  # whose refusal is remembered
TITLE = 150  # characters of a session's title

log = structlog.get_logger(__name__)


class AgentSessions:
    """Statuses and titles of agent sessions, if the app is an agent."""

    def __init__(self, web: WebClient) -> None:
        """Use this Web API client."""
        self._web = web
        self._refused_until = 0.0
        self._refused_in: TTLCache[str, None] = TTLCache(MOST_CHANNELS, ASK_AGAIN_SECONDS)

    @property
    def available(self) -> bool:
        """Whether the app is an agent, as far as we know."""
        return time.monotonic() >= self._refused_until

    def available_in(self, channel: str) -> bool:
        """Return whether the app may act as an agent in this channel, as far as we know."""
        return self.available and channel not in self._refused_in

    async def show(self, thread: ThreadKey, status: str, title: str = "") -> None:
        """Set the status of a thread's session. The first call also sets its title."""
        if not self.available_in(thread.channel):
            return
        named = shorten(escape(" ".join(title.split())), TITLE) or None
        try:
            await self._web.call_once(
                "agents.sessions.setStatus",
                channel_id=thread.channel,
                thread_ts=thread.thread,
                status=status,
                title=named,
            )
        except RequestRefused as refusal:
            if refusal.error in NO_AGENT:
                self._refused_until = time.monotonic() + ASK_AGAIN_SECONDS
            elif refusal.error == NOT_HERE:
                self._refused_in[thread.channel] = None
            log.debug("session_status_refused", reason=refusal.error)
        except PlatformUnavailable as error:
            log.debug("session_status_lost", reason=str(error))


@dataclass(frozen=True, slots=True)
class Messages:
    """Posts by this workspace's bot. ``text`` goes into notifications; without a ``layout`` it is also the message."""

    web: WebClient

    async def post(
        self, thread: ThreadKey, text: str, layout: list[blocks.Block] | None = None, *, part: str = "aside"
    ) -> dict[str, Any]:
        """Post in a thread for everyone, and return Slack's answer. ``part`` identifies the message for a later search.

        Raises RequestRefused and PlatformUnavailable.
        """
        payload = {"question": "", "trace": "", "part": part}
        return await self.web.call(
            "chat.postMessage",
            channel=thread.channel,
            thread_ts=thread.thread or None,
            text=blocks.fallback(text),
            blocks=layout or [blocks.section(escape(text))],
            metadata={"event_type": "footnote", "event_payload": payload},
            unfurl_links=False,
            unfurl_media=False,
        )

    async def post_privately(
        self, thread: ThreadKey, user: str, text: str, layout: list[blocks.Block] | None = None
    ) -> bool:
        """Post an ephemeral message; in a direct message, a normal one. Return whether Slack accepted it."""
        words = {"text": blocks.fallback(text), "blocks": layout or [blocks.section(escape(text))]}
        try:
            if thread.channel.startswith("D"):
                await self.post(thread, text, layout)
            else:
                place = await ephemeral_place(self.web, thread, user)
                await self.web.call("chat.postEphemeral", **place, **words)
        except (RequestRefused, PlatformUnavailable) as error:
            log.info("not_posted", reason=str(error))
            return False
        return True

    async def post_directly(self, user: str, text: str, layout: list[blocks.Block] | None = None) -> None:
        """Post in the direct message with a person. Log it if Slack refuses."""
        try:
            await self.post(ThreadKey(PLATFORM, "", await self.direct_channel(user), ""), text, layout)
        except (RequestRefused, PlatformUnavailable) as error:
            log.warning("not_posted", reason=str(error))

    async def direct_channel(self, user: str) -> str:
        """Return the channel of the direct message with this person. Raises RequestRefused and PlatformUnavailable."""
        answer = await self.web.call("conversations.open", users=user)
        return str(answer["channel"]["id"])


async def ephemeral_place(web: WebClient, thread: ThreadKey, user: str) -> dict[str, str]:
    """Return where to post an ephemeral message: the thread if it has a reply, otherwise the channel.

    In a thread without a reply, Slack does not show the message but still returns ok.
    https://docs.slack.dev/reference/methods/chat.postEphemeral
    """
    place = {"channel": thread.channel, "user": user}
    return place | {"thread_ts": thread.thread} if thread.thread and await _has_begun(web, thread) else place


async def _has_begun(web: WebClient, thread: ThreadKey) -> bool:
    try:
        answer = await web.call_once("conversations.replies", channel=thread.channel, ts=thread.thread, limit=2)
    except (RequestRefused, PlatformUnavailable) as error:
        log.info("thread_unreadable", reason=str(error))
        return False
    return len(answer.get("messages") or []) > 1
