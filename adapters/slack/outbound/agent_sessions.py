"""The state of agent sessions: best effort, and never in an answer's way."""

import time

import structlog
from cachetools import TTLCache

from adapters.slack.api.errors import RequestRefused
from adapters.slack.api.web_client import WebClient
from adapters.slack.outbound.text import escape, shorten
from core.model.conversation import ThreadKey
from core.model.errors import PlatformUnavailable

ASK_AGAIN_SECONDS = 600.0  # an app may be declared an agent while we run
NO_AGENT = {"not_agent_app", "unknown_method", "missing_scope", "not_allowed_token_type"}
NOT_HERE = "not_authorized"  # of this one channel: a shared one, or one whose admins restrict apps
MOST_CHANNELS = 1_000  # of which a refusal is remembered
TITLE = 150  # characters of a session's title

log = structlog.get_logger(__name__)


class AgentSessions:
    """Sets statuses and titles where the app is an agent."""

    def __init__(self, web: WebClient) -> None:
        """Through this Web API."""
        self._web = web
        self._refused_until = 0.0
        self._refused_in: TTLCache[str, None] = TTLCache(MOST_CHANNELS, ASK_AGAIN_SECONDS)

    @property
    def available(self) -> bool:
        """Whether the app is an agent, as far as is known."""
        return time.monotonic() >= self._refused_until

    def available_in(self, channel: str) -> bool:
        """Whether it may act as one in this channel, as far as is known."""
        return self.available and channel not in self._refused_in

    async def show(self, thread: ThreadKey, status: str, title: str = "") -> None:
        """Set the status of a thread's session, and its title on the first call."""
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
