"""Slack's Web API client with deadlines, retries, rate limits and sanitizing.

``call`` waits out rate limits and retries idempotent methods; use it for what must arrive. ``call_once`` makes one
attempt; use it for optional updates, such as one more piece of a stream. Neither repeats a call that could take effect
twice. The rate limiter keeps optional calls from using up the limit that required calls need.
"""

import asyncio
import time
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.http_retry.builtin_async_handlers import AsyncRateLimitErrorRetryHandler
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from adapters.slack.api.errors import (
    OutcomeUnknown,
    RequestRefused,
    is_token_refused,
    translate_api_error,
    translate_connection_error,
)
from adapters.slack.api.sanitizer import CallSanitizer
from core.model.errors import DocumentRejected, FetchRefused, PlatformUnavailable

# Calls per minute that all streams of this process share, below Slack's tiers so that the final calls still fit.
# https://docs.slack.dev/apis/web-api/rate-limits: Tier 2 is 20, Tier 3 is 50, Tier 4 is 100 a minute.
CALLS_A_MINUTE = {"chat.startStream": 18, "chat.appendStream": 85, "chat.update": 30}
UNLIMITED = 1_000_000  # calls in a window


class RateLimiter:
    """A sliding window of calls per method. Methods without a limit are never delayed."""

    def __init__(self, limits: dict[str, int] | None = None, window: float = 60.0) -> None:
        """Allow ``limits`` calls of each method per ``window`` seconds. The default is CALLS_A_MINUTE."""
        self._limits = CALLS_A_MINUTE if limits is None else limits
        self._window = window
        self._calls: dict[str, deque[float]] = defaultdict(deque)
        self._blocked_until: dict[str, float] = {}

    def try_acquire(self, method: str) -> bool:
        """Return whether one more call fits now, and count it if so."""
        now = time.monotonic()
        if now < self._blocked_until.get(method, 0.0):
            return False
        calls = self._calls[method]
        while calls and calls[0] <= now - self._window:
            calls.popleft()
        if len(calls) >= self._limits.get(method, UNLIMITED):
            return False
        calls.append(now)
        return True

    def block(self, method: str, seconds: float) -> None:
        """Refuse calls of this method for these seconds, from Slack's ``Retry-After``."""
        self._blocked_until[method] = time.monotonic() + seconds


CALL_SECONDS = 120.0  # for ``call``, including rate limits and retries
ONE_ATTEMPT_SECONDS = 8.0  # for ``call_once``
MOST_QUOTED = 200  # characters of the error that a response_url returns
PAGE = 200  # messages per request: Slack recommends no more
API_URL = "https://slack.com/api/"
SIGN_IN = "I cannot download the file. The app lacks the scope files:read, or the file is not shared with me."
_REDIRECTS = {301, 302, 303, 307, 308}
_ATTEMPTS = 6  # of an idempotent call
_FIRST_PAUSE = 0.5  # seconds before the second attempt; doubles with each further one
# Methods that have no further effect when they are called twice.
_IDEMPOTENT = {
    "auth.test", "chat.update", "chat.delete", "users.info", "users.conversations", "usergroups.list",
    "conversations.info", "views.publish", "conversations.replies", "conversations.history", "conversations.open",
    "conversations.members", "files.info", "chat.getPermalink",
    "assistant.threads.setSuggestedPrompts", "agents.sessions.setStatus",
}  # fmt: skip
# Methods that read. Only methods that write take JSON: https://docs.slack.dev/apis/web-api/#methods_supporting_json
_FORM_ENCODED = {
    "users.info", "users.conversations", "usergroups.list", "conversations.info", "conversations.replies",
    "conversations.history", "conversations.members", "files.info", "chat.getPermalink",
}  # fmt: skip


class WebClient:
    """The Web API of one workspace."""

    def __init__(self, token: str, api_url: str | None = None) -> None:
        """Use this bot token. Nothing connects before the first call."""
        self._token = token
        self._api_url = (api_url or API_URL).rstrip("/") + "/"
        self._session: aiohttp.ClientSession | None = None
        self._without_retries: AsyncWebClient | None = None
        self._with_retries: AsyncWebClient | None = None
        self._closed = False
        self.granted: frozenset[str] = frozenset()  # the token's scopes, as ``auth.test`` last reported them
        self._sanitizer = CallSanitizer()
        self.rate_limiter = RateLimiter()
        self.token_refusal = ""  # Slack's latest reason for refusing our token, or empty

    @property
    def client(self) -> AsyncWebClient:
        """The SDK client that waits out rate limits."""
        self._open()
        assert self._with_retries is not None
        return self._with_retries

    async def close(self) -> None:
        """Close all connections permanently."""
        self._closed = True
        if self._session is not None:
            await self._session.close()
        self._session = self._without_retries = self._with_retries = None

    async def call(self, method: str, **arguments: Any) -> dict[str, Any]:
        """Return Slack's answer. Wait out rate limits, and retry an idempotent call that got no answer.

        Raises RequestRefused, OutcomeUnknown, and PlatformUnavailable when the deadline passes.
        """
        client = self.client
        tries = _ATTEMPTS if _may_repeat(method, arguments) else 1
        async with _deadline(method, CALL_SECONDS):
            for left in reversed(range(tries)):
                try:
                    return await self._send(client, method, arguments)
                except OutcomeUnknown:
                    if not left:
                        raise
                await asyncio.sleep(_FIRST_PAUSE * 2 ** (tries - 1 - left))
        raise AssertionError("the last try returns or raises")

    async def call_once(self, method: str, **arguments: Any) -> dict[str, Any]:
        """Return Slack's answer to one attempt. A rate limit blocks the method. Raises as ``call`` does."""
        self._open()
        assert self._without_retries is not None
        try:
            async with _deadline(method, ONE_ATTEMPT_SECONDS):
                return await self._send(self._without_retries, method, arguments)
        except RequestRefused as refusal:
            if refusal.retry_after:
                self.rate_limiter.block(method, refusal.retry_after)
            raise

    async def items(self, method: str, name: str, most: int, **where: Any) -> AsyncIterator[dict[str, Any]]:
        """Yield what ``method`` lists under ``name``, page by page, at most ``most`` items. Raises as ``call`` does."""
        cursor: str | None = None
        seen = 0
        while seen < most:
            answer = await self.call(method, cursor=cursor, limit=PAGE, **where)
            for item in answer.get(name) or []:
                seen += 1
                yield item
            cursor = (answer.get("response_metadata") or {}).get("next_cursor") or None
            if cursor is None:
                return

    async def permalink(self, channel: str, ts: str) -> str | None:
        """Return Slack's link to a message, or None if it was deleted. Raises PlatformUnavailable."""
        try:
            answer = await self.call("chat.getPermalink", channel=channel, message_ts=ts)
        except RequestRefused:
            return None
        return str(answer.get("permalink") or "") or None

    async def _send(self, client: AsyncWebClient, method: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Sanitize and send a call. ``call`` and ``call_once`` send nothing in any other way."""
        try:
            response = await _call(client, method, self._sanitizer.sanitize(method, arguments))
        except RequestRefused as refusal:
            self.token_refusal = refusal.error if is_token_refused(refusal) else ""
            raise
        self.token_refusal = ""
        answer = dict(response.data) if isinstance(response.data, dict) else {}
        if method == "auth.test":
            self.granted = _scopes_in(response.headers)
            self._sanitizer.workspace = str(answer.get("url") or "")
        elif method == "chat.startStream":
            self._sanitizer.remember_stream(str(arguments.get("channel")), str(answer.get("ts")))
        return answer

    async def respond(self, respond: Callable[..., Awaitable[Any]], **message: Any) -> None:
        """Answer a command or a press through its ``response_url``. Bolt's ``respond`` raises nothing for a refusal.

        Raises RequestRefused and OutcomeUnknown.
        """
        try:
            async with _deadline("response_url", ONE_ATTEMPT_SECONDS):
                answer = await respond(**self._sanitizer.message(message))
        except (aiohttp.ClientError, SlackClientError, TimeoutError, OSError) as error:
            raise translate_connection_error("response_url", self._api_url, error) from None
        except ValueError as error:  # from Bolt: the payload has no response_url
            raise RequestRefused("response_url", str(error)) from None
        if answer.status_code != 200:
            raise RequestRefused("response_url", str(answer.body)[:MOST_QUOTED])

    async def download(self, url: str, limit: int, seconds: float = 30.0) -> tuple[str, bytes]:
        """Return the media type and bytes of a private file.

        The token goes to Slack's own hosts only. No redirect is followed, because it leads to a login page. A file over
        ``limit`` bytes is refused, not cut, whatever size was announced. Raises FetchRefused, DocumentRejected and
        PlatformUnavailable.
        """
        if not self._is_slack(url):
            raise FetchRefused(
                "The file is stored outside Slack.", remedy="Attach it here, or send the link to the file itself."
            )
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
            raise OutcomeUnknown("The connection to Slack is closed.")
        if self._session is None or self._session.closed:
            self._session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=CALL_SECONDS, sock_connect=10))
            options: dict[str, Any] = {"token": self._token, "base_url": self._api_url, "session": self._session}
            self._without_retries = AsyncWebClient(**options, retry_handlers=[])
            on_rate_limit = AsyncRateLimitErrorRetryHandler(max_retry_count=30)
            self._with_retries = AsyncWebClient(**options, retry_handlers=[on_rate_limit])


def _may_repeat(method: str, arguments: Mapping[str, Any]) -> bool:
    """Return whether a second call has no further effect. The end of a stream may repeat if it shows nothing new."""
    return method in _IDEMPOTENT or (method == "chat.stopStream" and not arguments.keys() & {"chunks", "blocks"})


@asynccontextmanager
async def _deadline(method: str, seconds: float) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        raise OutcomeUnknown(f"Slack did not respond to {method} in time.") from None


def _scopes_in(headers: Mapping[str, str]) -> frozenset[str]:
    header = next((value for name, value in headers.items() if name.lower() == "x-oauth-scopes"), "")
    return frozenset(scope.strip() for scope in str(header).split(",") if scope.strip())


async def _call(client: AsyncWebClient, method: str, arguments: dict[str, Any]) -> AsyncSlackResponse:
    given = {name: value for name, value in arguments.items() if value is not None}
    try:
        if method in _FORM_ENCODED:
            return await client.api_call(method, params=given)
        return await client.api_call(method, json=given)
    except SlackApiError as error:
        raise translate_api_error(method, error) from None
    except (aiohttp.ClientError, SlackClientError, TimeoutError, OSError) as error:
        raise translate_connection_error(method, client.base_url, error) from None
