"""Socket Mode with a watchdog that replaces a stale connection within a minute.

The SDK's client usually reconnects by itself, but it cannot detect a reconnection that hangs. So we watch the time of
the last message or pong, and replace the whole client if there is none.
https://docs.slack.dev/apis/events-api/using-socket-mode
"""

import asyncio
import json
import logging
import re
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import structlog
from slack_sdk.errors import SlackApiError
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.async_client import AsyncBaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest

from adapters.slack.api.errors import RequestRefused, configuration_error, error_word
from adapters.slack.api.web_client import WebClient
from core.service.leases import pause

PING_SECONDS = 5.0  # between two pings of the SDK
STALE_SECONDS = 40.0  # without a pong or a message; the SDK itself reconnects after four missed pings
WATCH_SECONDS = 2.0  # between two checks for staleness
CONNECT_SECONDS = 30.0
CLOSE_SECONDS = 5.0
RETRY_SECONDS = (1.0, 2.0, 5.0, 10.0, 20.0, 30.0)  # before the second, third, … attempt; the last one repeats

Handle = Callable[[AsyncBaseSocketModeClient, SocketModeRequest], Awaitable[None]]
log = structlog.get_logger(__name__)


class _SecretFilter(logging.Filter):
    """Removes tickets and tokens from the SDK's log records. Tracebacks contain addresses, so it removes them too."""

    _SECRET = re.compile(r"(ticket=|xox[a-z]-|xapp-)[^\s&'\"]+")

    def filter(self, record: logging.LogRecord) -> bool:
        """Pass every record on without secrets, except Bolt's advice on alternative setups."""
        if str(record.msg).startswith(("As `installation_store` or `authorize`", "As you gave `client`")):
            return False
        record.msg, record.args = self._SECRET.sub(r"\1…", record.getMessage()), ()
        record.exc_info = record.exc_text = None
        return True


def sdk_logger() -> logging.Logger:
    """Return the logger for the SDK and Bolt: warnings and above, without secrets."""
    logger = logging.getLogger("adapters.slack.sdk")
    if not logger.filters:
        logger.addFilter(_SecretFilter())
        logger.setLevel(logging.WARNING)
    return logger


class SocketModeConnection:
    """One Socket Mode connection at a time, replaced when it fails."""

    def __init__(self, web: WebClient, app_token: str, handle: Handle) -> None:
        """Pass every request to ``handle``, which acknowledges it."""
        self._web = web
        self._app_token = app_token
        self._handle = handle
        self._last_message_at = 0.0
        self._hello = asyncio.Event()
        self.connected = False
        self._opened = 0

    @property
    def connections(self) -> int:
        """The number of connections so far, including the current one, or 0 while disconnected."""
        return self._opened if self.connected else 0

    async def run(self, stop: asyncio.Event) -> None:
        """Listen until ``stop`` is set. Raises ConfigurationError if Slack rejects the app token from the start."""
        failures = 0
        while not stop.is_set():
            client = self._client()
            try:
                if await self._connect(client):
                    failures = 0
                    await self._watch(client, stop)
                else:
                    failures += 1
            finally:
                self.connected = False
                await _close(client)
            if not stop.is_set():
                await pause(stop, RETRY_SECONDS[min(failures, len(RETRY_SECONDS) - 1)])

    def _client(self) -> SocketModeClient:
        client = SocketModeClient(
            app_token=self._app_token,
            web_client=self._web.client,
            logger=sdk_logger(),
            ping_interval=PING_SECONDS,
            on_message_listeners=[self._on_message],
        )
        client.socket_mode_request_listeners.append(self._handle)
        return client

    async def _on_message(self, message: Any) -> None:
        self._last_message_at = time.time()
        self._hello.set()
        if _is_hello(message):  # the SDK also reconnects by itself
            self._opened += 1

    async def _connect(self, client: SocketModeClient) -> bool:
        """Connect, and return whether that worked. Raises ConfigurationError if a retry cannot help."""
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                self._hello.clear()
                client.wss_uri = await client.issue_new_wss_url()
                await client.connect()  # type: ignore[no-untyped-call]
                await self._hello.wait()  # Slack says hello; a connection without it is stale from the start
        except SlackApiError as error:
            word = error_word(error)
            wrong = configuration_error(RequestRefused("apps.connections.open", word))
            if wrong is not None and not self._opened:
                raise wrong from None
            log.warning("socket_refused", reason=word or "no answer")
            return False
        except Exception as error:  # noqa: BLE001 - retry whatever the error was
            log.warning("socket_not_connected", reason=type(error).__name__)
            return False
        self._last_message_at = time.time()
        self.connected = True
        log.info("socket_connected")
        return True

    async def _watch(self, client: SocketModeClient, stop: asyncio.Event) -> None:
        """Return when ``stop`` is set or the connection is stale."""
        while not stop.is_set():
            await pause(stop, WATCH_SECONDS)
            last = max(self._last_message_at, client.last_ping_pong_time or 0.0)
            if time.time() - last > STALE_SECONDS:
                log.warning("socket_stale", seconds=round(time.time() - last))
                return


def _is_hello(message: Any) -> bool:
    """Return whether this is Slack's first message on a connection."""
    text = str(getattr(message, "data", message))
    try:
        payload = json.loads(text) if '"hello"' in text else None
    except ValueError:
        return False
    return isinstance(payload, dict) and payload.get("type") == "hello"


async def _close(client: SocketModeClient) -> None:
    """Close a client in any state."""
    try:
        async with asyncio.timeout(CLOSE_SECONDS):
            await client.close()  # type: ignore[no-untyped-call]
    except Exception as error:  # noqa: BLE001 - the client is discarded either way
        log.info("socket_not_closed", reason=type(error).__name__)
        with suppress(Exception):
            await client.aiohttp_client_session.close()
