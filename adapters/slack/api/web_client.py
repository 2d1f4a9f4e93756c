"""Calls of the Web API, with deadlines, and Slack's refusals as our own words.

There are two ways to call. ``patiently`` waits out rate limits: for what has to arrive. ``eagerly`` never waits: for
what is only nice to have sooner, such as one more piece of a stream. Neither repeats by itself what could happen twice.
"""

import asyncio
import time
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.http_retry.builtin_async_handlers import AsyncRateLimitErrorRetryHandler
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.outbound.sanitizer import CallSanitizer
from core.model.errors import ConfigurationError, DocumentRejected, FetchRefused, PlatformUnavailable

PATIENCE = 120.0  # seconds that a call which has to arrive may take, rate limits waited out
EAGERNESS = 8.0
API_URL = "https://slack.com/api/"
SIGN_IN = (
    "Slack asks me to sign in instead of giving me the file: the scope files:read is missing, "
    "or the file is not shared with me."
)
_REDIRECTS = {301, 302, 303, 307, 308}
_TRIES = 6
_PAUSE = 0.5
# Calls a minute that all streams of this process may make together, below Slack's tiers so that the ends still fit.
# https://docs.slack.dev/apis/web-api/rate-limits: Tier 2 is 20, Tier 3 is 50, Tier 4 is 100 a minute.
_SHARES = {"chat.startStream": 18, "chat.appendStream": 85, "chat.update": 30}
_REFUSES_US = {  # whatever we ask for
    "invalid_auth", "not_allowed_token_type", "not_authed", "account_inactive", "token_revoked", "token_expired",
    "app_uninstalled", "team_access_not_granted", "org_login_required", "invalid_token", "bad_token",
}  # fmt: skip
_LIMITED = {"ratelimited", "rate_limited"}
# Slack's own trouble: "some aspect of the operation may have succeeded before the error was raised".
_UNSURE = {
    "internal_error", "fatal_error", "request_timeout", "service_unavailable", "team_added_to_org",
    "external_channel_migrating",
}  # fmt: skip
_NEVER_RIGHT = {"invalid_auth", "not_authed", "not_allowed_token_type", "missing_scope", "no_permission"}
_HARMLESS_TWICE = {
    "auth.test", "chat.update", "chat.delete", "users.info", "usergroups.list", "conversations.info", "views.publish",
    "conversations.replies", "conversations.history", "conversations.open", "files.info", "users.conversations",
    "assistant.threads.setSuggestedPrompts", "agents.sessions.setStatus", "bots.info", "chat.getPermalink",
}  # fmt: skip
_FORMS = {
    "users.info", "usergroups.list", "conversations.info", "conversations.replies", "conversations.history",
    "files.info", "users.conversations", "bots.info", "chat.getPermalink", "conversations.members",
}  # fmt: skip


class Refusal(Exception):
    """Slack answered ``ok: false``, with ``error`` for why; ``retry_after`` is in seconds, 0 when not limited."""

    def __init__(self, method: str, error: str, retry_after: float = 0.0) -> None:
        super().__init__(f"{method}: {error}")
        self.error = error
        self.retry_after = retry_after


class Uncertain(PlatformUnavailable):
    """No answer came: what was asked may or may not have happened."""


class SlackServerError(Uncertain):
    """Slack answered, but with an error of its own: what was asked may or may not have happened."""


class Pace:
    """What this process may still do within Slack's limits: a sliding minute for each method."""

    def __init__(self, shares: dict[str, int] | None = None, window: float = 60.0) -> None:
        self._shares = _SHARES if shares is None else shares
        self._window = window
        self._done: dict[str, deque[float]] = defaultdict(deque)
        self._closed_until: dict[str, float] = {}

    def allows(self, method: str) -> bool:
        """Whether one more call fits now; if so, it is counted."""
        now = time.monotonic()
        if now < self._closed_until.get(method, 0.0):
            return False
        done = self._done[method]
        while done and done[0] <= now - self._window:
            done.popleft()
        if len(done) >= self._shares.get(method, 1_000_000):
            return False
        done.append(now)
        return True

    def close(self, method: str, seconds: float) -> None:
        """Slack has said to wait so long."""
        self._closed_until[method] = time.monotonic() + seconds


class Web:
    """One workspace's Web API."""

    def __init__(self, token: str, api_url: str | None = None) -> None:
        """Call with this bot token. Nothing is connected before the first call."""
        self._token = token
        self._api_url = (api_url or API_URL).rstrip("/") + "/"
        self._session: aiohttp.ClientSession | None = None
        self._eager: AsyncWebClient | None = None
        self._patient: AsyncWebClient | None = None
        self._closed = False
        self._sanitizer = CallSanitizer()
        self.pace = Pace()
        self.refused_us = ""  # why Slack does not take our token, as of the latest call; empty when it does

    @property
    def client(self) -> AsyncWebClient:
        """The SDK's client that waits out rate limits."""
        self._open()
        assert self._patient is not None
        return self._patient

    async def close(self) -> None:
        """Close all connections, for good."""
        self._closed = True
        if self._session is not None:
            await self._session.close()
        self._session = self._eager = self._patient = None

    async def patiently(self, method: str, **arguments: Any) -> dict[str, Any]:
        """Call, waiting out rate limits; what is harmless twice is tried again when no answer came.

        Raises Refusal, Uncertain, and PlatformUnavailable when the deadline passes.
        """
        self._open()
        assert self._patient is not None
        tries = _TRIES if method in _HARMLESS_TWICE else 1
        async with _deadline(method, PATIENCE):
            for left in reversed(range(tries)):
                try:
                    return await self._call(self._patient, method, arguments)
                except Uncertain:
                    if not left:
                        raise
                await asyncio.sleep(_PAUSE * 2 ** (tries - 1 - left))
        raise AssertionError("the last try returns or raises")

    async def eagerly(self, method: str, **arguments: Any) -> dict[str, Any]:
        """Call once, without waiting. Raises Refusal (also for a rate limit, which closes the pace) and Uncertain."""
        self._open()
        assert self._eager is not None
        try:
            async with _deadline(method, EAGERNESS):
                return await self._call(self._eager, method, arguments)
        except Refusal as refusal:
            if refusal.retry_after:
                self.pace.close(method, refusal.retry_after)
            raise

    async def _call(self, client: AsyncWebClient, method: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """The one place from which anything leaves for Slack: nothing goes that was not sanitized."""
        try:
            answer = await _call(client, method, self._sanitizer.sanitize(method, arguments))
        except Refusal as refusal:
            self.refused_us = refusal.error if refuses_us(refusal) else ""
            raise
        self.refused_us = ""
        if method == "auth.test":
            self._sanitizer.workspace = str(answer.get("url") or "")
        elif method == "chat.startStream":
            self._sanitizer.remember_stream(str(arguments.get("channel")), str(answer.get("ts")))
        return answer

    async def answer(self, respond: Callable[..., Awaitable[Any]], **message: Any) -> None:
        """Answer a command or a press through the address that Slack gave for it; ``respond`` is Bolt's."""
        await respond(**self._sanitizer.message(message))

    async def granted_scopes(self) -> frozenset[str]:
        """The scopes that the token holds, from the header of ``auth.test``. Raises Refusal."""
        try:
            answer = await self.client.auth_test()
        except SlackApiError as error:
            raise _refusal("auth.test", error) from None
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise _no_answer_error("auth.test", self._api_url, error) from None
        header = next((value for name, value in answer.headers.items() if name.lower() == "x-oauth-scopes"), "")
        return frozenset(scope.strip() for scope in str(header).split(",") if scope.strip())

    async def download(self, url: str, limit: int, seconds: float = 30.0) -> tuple[str, bytes]:
        """A private file: its media type as it is served, and its bytes.

        The token goes to Slack's own hosts only, and follows no redirect: one leads to a login page. More than
        ``limit`` bytes are refused, not cut, whatever was announced. Raises FetchRefused, DocumentRejected,
        PlatformUnavailable.
        """
        if not self._is_slack(url):
            raise FetchRefused("The file is kept outside Slack.", remedy="Attach it here, or give its own link.")
        self._open()
        assert self._session is not None
        given = {"Authorization": f"Bearer {self._token}"}
        try:
            async with asyncio.timeout(seconds), self._session.get(url, headers=given, allow_redirects=False) as answer:
                if answer.status in _REDIRECTS:
                    raise FetchRefused(SIGN_IN)
                if answer.status != 200:
                    raise FetchRefused(f"Slack answered {answer.status} for the file.", remedy="Attach it again.")
                data = bytearray()
                while len(data) <= limit and (more := await answer.content.read(limit + 1 - len(data))):
                    data += more
                kind = answer.content_type
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise PlatformUnavailable(f"The file could not be fetched ({type(error).__name__}).") from None
        if len(data) > limit:
            raise DocumentRejected(f"The file is larger than {limit // 2**20} MB.")
        return kind, bytes(data)

    def _is_slack(self, url: str) -> bool:
        there, ours = urlsplit(url), urlsplit(self._api_url)
        if there.scheme == "https" and (there.hostname or "").endswith((".slack.com", ".slack-gov.com")):
            return True
        return (there.scheme, there.netloc) == (ours.scheme, ours.netloc)

    def _open(self) -> None:
        if self._closed:
            raise Uncertain("The connection to Slack is closed.")
        if self._session is None or self._session.closed:
            self._session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=PATIENCE, sock_connect=10))
            known: dict[str, Any] = {"token": self._token, "base_url": self._api_url, "session": self._session}
            self._eager = AsyncWebClient(**known, retry_handlers=[])
            patience = AsyncRateLimitErrorRetryHandler(max_retry_count=30)
            self._patient = AsyncWebClient(**known, retry_handlers=[patience])


@asynccontextmanager
async def _deadline(method: str, seconds: float) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        raise Uncertain(f"Slack did not answer {method} in time.") from None


async def _call(client: AsyncWebClient, method: str, arguments: dict[str, Any]) -> dict[str, Any]:
    given = {name: value for name, value in arguments.items() if value is not None}
    try:
        if method in _FORMS:
            answer = await client.api_call(method, params=given)
        else:
            answer = await client.api_call(method, json=given)
    except SlackApiError as error:
        raise _refusal(method, error) from None
    except (aiohttp.ClientError, SlackClientError, TimeoutError, OSError) as error:
        raise _no_answer_error(method, client.base_url, error) from None
    return dict(answer.data) if isinstance(answer.data, dict) else {}


def _no_answer_error(method: str, url: str, error: Exception) -> Uncertain:
    """No answer came; where nothing could even be reached, with what to look at."""
    reached = not isinstance(error, aiohttp.ClientConnectorError)
    remedy = None if reached else "Check the network and its name service, and SLACK_API_URL if it is set."
    host = urlsplit(url).netloc.rpartition("@")[2]
    return Uncertain(f"Slack at {host} did not answer {method} ({type(error).__name__}).", remedy=remedy)


def _refusal(method: str, error: SlackApiError) -> Exception:
    """Slack's word for it; a server error without a word is an answer that did not come."""
    response = error.response
    status = int(getattr(response, "status_code", None) or getattr(response, "status", None) or 200)
    data = getattr(response, "data", None)
    word = str(data.get("error", "")) if isinstance(data, dict) else ""
    if status == 429 or word in _LIMITED:
        headers = {str(name).lower(): value for name, value in (getattr(response, "headers", None) or {}).items()}
        return Refusal(method, "ratelimited", float(headers.get("retry-after", 1) or 1))
    if status >= 500 or not word or word in _UNSURE:
        return SlackServerError(f"Slack answered {method} with {word or status}.")
    return Refusal(method, word)


def refuses_us(refusal: Refusal) -> bool:
    """Whether Slack does not take our token at all, whatever we ask for."""
    return refusal.error in _REFUSES_US


def fatal(refusal: Refusal) -> ConfigurationError | None:
    """What to tell when trying again is of no use: it is no token of ours, or not of this kind.

    One that was revoked or whose account is inactive may be taken again later.
    """
    if refusal.error not in _NEVER_RIGHT:
        return None
    remedy = "Check SLACK_BOT_TOKEN and SLACK_APP_TOKEN; footnote doctor says what is missing."
    return ConfigurationError(f"Slack refuses the token ({refusal.error}).", remedy=remedy)
