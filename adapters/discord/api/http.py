"""Discord over HTTP: which server we talk to, what every response is checked for, and downloads of attached files.

discord.py takes a 200 that is no JSON (of a proxy, of a captive portal) for Discord's response, sleeps through a rate
limit of minutes, and when that sleep is cut short during a global limit never sends anything again. Here such
responses become errors that ``api_call`` translates, through ``http_trace``, an option of the library's client.
"""

import asyncio
import time
from collections.abc import Callable
from urllib.parse import unquote, urlsplit

import aiohttp
import yarl
from discord.gateway import DiscordWebSocket
from discord.http import Route

from core.model.errors import ConfigurationError, DocumentRejected, FetchRefused, PlatformUnavailable

__all__ = ["configure_endpoints", "host"]


def configure_endpoints(api_url: str | None, gateway_url: str | None) -> None:
    """Use these bases for the whole process: once, before the first client is made. None leaves Discord's own.

    ``api_url`` ends with the version (``…/api/v10``). Raises ConfigurationError for what is no such address.
    """
    if api_url:
        Route.BASE = _check_url("DISCORD_API_URL", api_url, ("http", "https")).rstrip("/")
    if gateway_url:
        DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(_check_url("DISCORD_GATEWAY_URL", gateway_url, ("ws", "wss")))


def host() -> str:
    """Return where the REST API is, for people to read."""
    return urlsplit(Route.BASE).netloc.rpartition("@")[2]


def _check_url(name: str, url: str, schemes: tuple[str, ...]) -> str:
    parts = urlsplit(url)
    if parts.scheme not in schemes or not parts.netloc:
        raise ConfigurationError(f"{name} is not an address of the form {schemes[-1]}://….", remedy="See .env.example.")
    return url


LONGEST_WAIT = 15.0  # seconds; what limits us for longer is not waited for inside of a call
WITHOUT_TOKEN = ("/webhooks/", "/interactions/")
JSON = "application/json"


class LimitedForLong(aiohttp.ClientError):
    """Discord asks to wait for longer than a call should last, or limits everything we do."""


class ApiResponses:
    """Watches the responses of one client. ``now`` gives seconds that only ever grow."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self.token_refused = False
        self._now = now
        self._paused_until = 0.0

    def trace(self) -> aiohttp.TraceConfig:
        """Return what the library's client takes as ``http_trace``."""
        config = aiohttp.TraceConfig()
        config.on_request_start.append(self._wait)
        config.on_request_end.append(self._check)
        return config

    async def _wait(self, _session: object, _context: object, start: aiohttp.TraceRequestStartParams) -> None:
        """While everything is limited, nothing is sent: each request counts against us."""
        if _is_api(str(start.url)):
            await asyncio.sleep(max(0.0, self._paused_until - self._now()))

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
            self._paused_until = self._now() + seconds
        if everything or seconds > LONGEST_WAIT:
            response.close()
            raise LimitedForLong(f"Discord limits us for {seconds:.0f} seconds.")


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
    """Return what the file at an address is called."""
    return unquote(urlsplit(address).path.rsplit("/", 1)[-1]) or "file"


async def download(address: str, limit: int, seconds: float) -> bytes:
    """Download an attached file by the address that Discord gave us, following no redirect.

    More than ``limit`` bytes are refused, not cut, whatever was announced. Raises FetchRefused when it was deleted,
    DocumentRejected, PlatformUnavailable.
    """
    name = file_name(address)
    if not _is_discord(address):
        raise FetchRefused(f"{name} is not kept by Discord.", remedy=ATTACH_AGAIN)
    try:
        async with (
            asyncio.timeout(seconds),
            aiohttp.ClientSession() as session,
            session.get(address, allow_redirects=False) as answer,
        ):
            if answer.status == 429 or answer.status >= 500:
                raise PlatformUnavailable(f"Discord does not answer (download {name}).")
            if answer.status != 200:  # addresses run out after a day
                raise FetchRefused(f"{name} was deleted.", remedy=ATTACH_AGAIN)
            data = bytearray()
            while len(data) <= limit and (more := await answer.content.read(limit + 1 - len(data))):
                data += more
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        raise PlatformUnavailable(f"Discord does not answer (download {name}).") from error
    if len(data) > limit:
        raise DocumentRejected(f"{name} is larger than {limit // 2**20} MB.")
    return bytes(data)


def _is_discord(address: str) -> bool:
    """Return whether it is one of Discord's file servers, or the compatible server that is configured."""
    there, ours = urlsplit(address), urlsplit(Route.BASE)
    return (there.scheme == "https" and there.netloc in HOSTS) or (
        (there.scheme, there.netloc) == (ours.scheme, ours.netloc)
    )
