"""What every response of Discord's REST API is looked at for, before the library reads it.

The library takes a 200 that is no JSON (of a proxy, of a captive portal) for what Discord said, sleeps through a rate
limit of minutes, and when that sleep is cut short during a global limit never sends anything again. Here such
responses become errors that ``api_call`` translates. The door is ``http_trace``, an option of the library's client.
"""

import asyncio
import time
from collections.abc import Callable

import aiohttp
from discord.http import Route

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
        """What the library's client takes as ``http_trace``."""
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
                response.request_info, response.history, status=response.status, message="This is no answer of Discord."
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
