"""Discord over HTTP: its endpoints, checks of every response, and downloads of attached files.

discord.py accepts a 200 that is not JSON (from a proxy or captive portal) as Discord's response. It sleeps through rate
limits of minutes. If such a sleep is cancelled during a global limit, it never sends anything again. Here these
responses become errors that ``api_call`` translates, through the library client's option ``http_trace``.
"""

import asyncio
import time
from urllib.parse import unquote, urlsplit

import aiohttp
import yarl
from discord.gateway import DiscordWebSocket
from discord.http import Route

from core.model.errors import ConfigurationError, DocumentRejected, FetchRefused, PlatformUnavailable

__all__ = ["configure_endpoints", "host"]


def configure_endpoints(api_url: str | None, gateway_url: str | None) -> None:
    """Use these base URLs for the whole process. Call once, before the first client is made. None means Discord's own.

    ``api_url`` ends with the version (``…/api/v10``). Raises ConfigurationError for an invalid address.
    """
    if api_url:
        Route.BASE = _check_url("DISCORD_API_URL", api_url, ("http", "https")).rstrip("/")
    if gateway_url:
        DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(_check_url("DISCORD_GATEWAY_URL", gateway_url, ("ws", "wss")))


def host() -> str:
    """Return the host of the REST API, for messages."""
    return urlsplit(Route.BASE).netloc.rpartition("@")[2]


def _check_url(name: str, url: str, schemes: tuple[str, ...]) -> str:
    parts = urlsplit(url)
    if parts.scheme not in schemes or not parts.netloc:
        raise ConfigurationError(f"{name} is not an address of the form {schemes[-1]}://….", remedy="See .env.example.")
    return url


LONGEST_WAIT = 15.0  # seconds; a call does not wait out longer rate limits
WITHOUT_TOKEN = ("/webhooks/", "/interactions/")
JSON = "application/json"


class LimitedForLong(aiohttp.ClientError):
    """Discord's rate limit outlasts a call, or applies to everything we do."""


class ApiResponses:
    """Checks the responses of one client."""

    def __init__(self) -> None:
        self.token_refused = False
        self._paused_until = 0.0

    def trace(self) -> aiohttp.TraceConfig:
        """Return the trace config for the library client's ``http_trace``."""
        config = aiohttp.TraceConfig()
        config.on_request_start.append(self._wait)
        config.on_request_end.append(self._check)
        return config

    async def _wait(self, _session: object, _context: object, start: aiohttp.TraceRequestStartParams) -> None:
        """Send nothing during a global rate limit, because every request counts against us."""
        if _is_api(str(start.url)):
            await asyncio.sleep(max(0.0, self._paused_until - time.monotonic()))

    async def _check(self, _session: object, _context: object, end: aiohttp.TraceRequestEndParams) -> None:
        response = end.response
        path = str(end.url).removeprefix(Route.BASE)
        if not _is_api(str(end.url)):
            return
        if not path.startswith(WITHOUT_TOKEN) and response.status in (200, 201, 204, 401):
            self.token_refused = response.status == 401
        if response.status == 429:
            self._check_limit(response)
        if response.status in (200, 201) and response.headers.get("Content-Type") != JSON:
            response.close()
            raise aiohttp.ContentTypeError(
                response.request_info,
                response.history,
                status=response.status,
                message="This is not an answer from Discord.",
            )

    def _check_limit(self, response: aiohttp.ClientResponse) -> None:
        seconds = _seconds(response.headers.get("Retry-After", ""))
        everything = response.headers.get("X-RateLimit-Global") == "true"
        if everything:
            self._paused_until = time.monotonic() + seconds
        if everything or seconds > LONGEST_WAIT:
            response.close()
            raise LimitedForLong(f"Discord's rate limit is reached for {seconds:.0f} seconds.")


def _is_api(url: str) -> bool:
    return url.startswith(f"{Route.BASE}/")


def _seconds(text: str) -> float:
    try:
        return max(0.0, float(text))
    except ValueError:
        return 0.0


HOSTS = frozenset({"cdn.discordapp.com", "media.discordapp.net"})
ATTACH_AGAIN = "Attach it again."


def file_name(address: str) -> str:
    """Return the name of the file at an address."""
    return unquote(urlsplit(address).path.rsplit("/", 1)[-1]) or "file"


async def download(address: str, limit: int, seconds: float) -> bytes:
    """Download an attached file from the address that Discord gave us, without following redirects.

    A file over ``limit`` bytes is refused, not cut, whatever size was announced. Raises FetchRefused if it was deleted,
    DocumentRejected, and PlatformUnavailable.
    """
    name = file_name(address)
    if not _is_discord(address):
        raise FetchRefused(f"{name} is not stored by Discord.", remedy=ATTACH_AGAIN)
    try:
        async with (
            asyncio.timeout(seconds),
            aiohttp.ClientSession() as session,
            session.get(address, allow_redirects=False) as answer,
        ):
            if answer.status == 429 or answer.status >= 500:
                raise PlatformUnavailable(f"Discord does not respond (download {name}).")
            if answer.status != 200:  # addresses expire after a day
                raise FetchRefused(f"{name} was deleted.", remedy=ATTACH_AGAIN)
            data = bytearray()
            while len(data) <= limit and (more := await answer.content.read(limit + 1 - len(data))):
                data += more
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        raise PlatformUnavailable(f"Discord does not respond (download {name}).") from error
    if len(data) > limit:
        raise DocumentRejected(f"{name} is larger than {limit // 2**20} MB.")
    return bytes(data)


def _is_discord(address: str) -> bool:
    """Return whether the address is on Discord's file servers or on the configured compatible server."""
    there, ours = urlsplit(address), urlsplit(Route.BASE)
    return (there.scheme == "https" and there.netloc in HOSTS) or (
        (there.scheme, there.netloc) == (ours.scheme, ours.netloc)
    )
