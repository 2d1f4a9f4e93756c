"""HTTPS calls to one source under the address policy: pinned, bounded, retried, and within the source's rate limits.

The address is checked once, on opening, and every connection goes to an address that passed. Our headers go to that
origin only, so redirects are followed without them.
"""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any, TypeVar

import aiohttp
from yarl import URL

from adapters.documents.web.fetcher import Fetcher, Rules
from core.model.errors import (
    ConfigurationError,
    DocumentRejected,
    FetchRefused,
    NotFound,
    RightMissing,
    SettingsRefused,
    SourceRefused,
    SourceUnavailable,
    first_of_ours,
)
from core.ports.connector import Content, FetchFailure, Http, OpenHttp, Params

SECONDS = 60.0  # for one request, including its body
MOST_JSON = 32 * 2**20
TRIES = 4
LONGEST_WAIT = 60.0  # seconds that a call waits at the source's request; a longer wait ends the sync until then
LONGEST_PAUSE = 86_400.0  # the longest pause before the next call to a source, in seconds
_AGAIN = frozenset({500, 502, 503, 504})
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_RATE_LIMITS = (b"ateLimitExceeded", b"secondary rate limit")  # in Google's and GitHub's 403 answers, instead of 429
_CHUNK = 64 * 1024
MOST_PAGES = 1_000  # of one list; a list without an end is given up
AT_ONCE = 8  # concurrent calls
USER_AGENT = "Footnote/1.0 (connector)"

T = TypeVar("T")
Result = TypeVar("Result")
Sleep = Callable[[float], Awaitable[None]]


class _TooLargeError(SourceUnavailable):
    """An answer exceeds the size limit."""


@dataclass(slots=True)
class PolicyHttp(Http):
    """Calls to one origin. ``sleep`` waits between attempts."""

    origin: URL
    session: aiohttp.ClientSession
    fetcher: Fetcher
    most_bytes: int
    sleep: Sleep = asyncio.sleep

    async def get(self, path: str, params: Params | None = None) -> Any:
        """Return the JSON at a path of this origin."""
        return await self._json("GET", path, params=params)

    async def post(self, path: str, body: Mapping[str, Any]) -> Any:
        """Post JSON, and return the JSON answer."""
        return await self._json("POST", path, json=body)

    async def post_form(self, path: str, fields: Mapping[str, str]) -> Any:
        """Post a form, and return the JSON answer."""
        return await self._json("POST", path, data=fields)

    async def _json(self, method: str, path: str, **given: Any) -> Any:
        _, data = await self._request(method, path, MOST_JSON, **given)
        try:
            return json.loads(data)
        except (ValueError, RecursionError) as error:
            raise SourceUnavailable(f"{self.origin.host} sent a reply that is not JSON.") from error

    async def download(self, path: str, params: Params | None = None) -> bytes:
        """Return the bytes at a path. A redirect is followed without our headers."""
        try:
            location, data = await self._request("GET", path, self.most_bytes, params=params)
        except _TooLargeError as error:
            raise DocumentRejected(f"It is larger than {self.most_bytes // 2**20} MB.") from error
        if not location:
            return data
        try:
            there = self.origin.join(URL(location))
        except ValueError as error:
            raise SourceUnavailable(f"{self.origin.host} redirects to something that is not a link.") from error
        if self.origin.scheme == "https" and there.scheme == "http":
            raise SourceUnavailable(f"{self.origin.host} redirects from https to http, where anyone could change it.")
        try:
            return (await self.fetcher.fetch(str(there))).data
        except FetchRefused as error:
            raise DocumentRejected(f"{self.origin.host} redirects to a file that cannot be fetched. {error}") from error

    async def _request(self, method: str, path: str, most: int, **given: Any) -> tuple[str, bytes]:
        """Return the redirect target and the body, one of them empty. Retry if that may help."""
        failure = SourceUnavailable(f"{self.origin.host} does not answer.")
        for attempt in range(TRIES):
            wait = 0.5 * 2**attempt
            try:
                async with asyncio.timeout(SECONDS):
                    outcome = await self._once(method, path, most, **given)
                if not isinstance(outcome, SourceUnavailable):
                    return outcome
                failure, wait = outcome, outcome.after or wait
            except FetchRefused as error:
                raise SourceUnavailable(f"{self.origin.host} is not allowed: {error}") from error
            except TimeoutError:
                failure = SourceUnavailable(f"{self.origin.host} took longer than {SECONDS:g} seconds to answer.")
            except (aiohttp.ClientError, OSError) as error:
                failure = SourceUnavailable(f"{self.origin.host} does not answer ({type(error).__name__}).")
            except ValueError:  # its message may quote a header
                raise SourceUnavailable(
                    f"{self.origin.host} cannot be called: the address or the token has invalid characters.",
                    remedy="Copy the token again.",
                ) from None
            if wait > LONGEST_WAIT:
                break
            if attempt + 1 < TRIES:
                await self.sleep(wait)
        raise failure

    async def _once(self, method: str, path: str, most: int, **given: Any) -> "tuple[str, bytes] | SourceUnavailable":
        """Send one request. Return the redirect target and the body, or the error to retry after."""
        url = self.origin.join(URL(path))
        if url.origin() != self.origin.origin():
            raise SourceUnavailable(f"{self.origin.host} links to a page on another host.")
        async with self.session.request(method, url, allow_redirects=False, **given) as response:
            status = response.status
            if status in _REDIRECTS:
                return response.headers.get("Location", ""), b""
            if status < HTTPStatus.MULTIPLE_CHOICES:
                return "", await _bounded(response, most)
            refused = await _bounded(response, MOST_JSON) if status == HTTPStatus.FORBIDDEN else b""
            is_used_up = any(one in refused for one in _RATE_LIMITS)
            return self._refusal(HTTPStatus.TOO_MANY_REQUESTS if is_used_up else status, response.headers)

    def _refusal(self, status: int, headers: Mapping[str, str]) -> SourceUnavailable:
        """Return the error to retry after.

        Raises NotFound, SettingsRefused, SourceRefused and RightMissing if a retry cannot help.
        """
        host, after = self.origin.host, min(_seconds_to_wait(headers), LONGEST_PAUSE)
        is_used_up = headers.get("X-RateLimit-Remaining") == "0" or "Retry-After" in headers
        if status == HTTPStatus.TOO_MANY_REQUESTS or (status == HTTPStatus.FORBIDDEN and is_used_up):
            return SourceUnavailable(f"{host} has reached its rate limit.", after=after or 1.0)
        if status in _AGAIN:
            return SourceUnavailable(f"{host} replied with status {status}.", after=after)
        if status in {HTTPStatus.NOT_FOUND, HTTPStatus.GONE}:
            raise NotFound(f"{host} replied that this does not exist.")
        if status == HTTPStatus.BAD_REQUEST:
            raise SettingsRefused(f"{host} rejected the settings.", remedy="Check them and connect again.")
        if status == HTTPStatus.UNAUTHORIZED:
            raise SourceRefused(f"{host} rejected the token.", remedy="Create a new token and connect again.")
        if status == HTTPStatus.FORBIDDEN:
            raise RightMissing(
                f"{host} does not allow this token to do that.", remedy="docs/connectors.md lists the rights it needs."
            )
        raise SourceUnavailable(f"{host} replied with status {status}.")


def opener(rules: Rules, *, sleep: Sleep = asyncio.sleep) -> OpenHttp:
    """Return a function that opens calls under these rules. Plain http is only for private hosts that the rules name.

    A source chooses where its files redirect to, so the credential for links is not sent.
    """
    fetcher = Fetcher(replace(rules, credential=None))

    @asynccontextmanager
    async def open_http(origin: str, headers: Mapping[str, str]) -> AsyncIterator[Http]:
        url = _origin(origin, rules)
        try:
            connector = await fetcher.pinned_connector(str(url))
        except FetchRefused as error:
            raise SourceUnavailable(f"{url.host} is not allowed: {error}") from error
        async with aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={"User-Agent": USER_AGENT, "Accept": "application/json", **headers},
            timeout=aiohttp.ClientTimeout(total=None),
            trust_env=False,
        ) as session:
            yield PolicyHttp(url, session, fetcher, rules.max_bytes, sleep)

    return open_http


async def pages_of(
    ask: Callable[[str], Awaitable[T]], next_cursor: Callable[[T], str], cursor: str = ""
) -> AsyncIterator[T]:
    """Yield the pages of a list, starting at the cursor. Raises SourceUnavailable for an endless list."""
    for _ in range(MOST_PAGES):
        page = await ask(cursor)
        yield page
        before, cursor = cursor, next_cursor(page)
        if not cursor:
            return
        if cursor == before:
            break
    raise SourceUnavailable("The source's list of documents does not end.")


async def call_for_each(call: Callable[[T], Awaitable[Result]], things: Iterable[T]) -> list[Result]:
    """Return the result of the call for each item, with some calls concurrent. Raises the first error of ours."""
    turns = asyncio.Semaphore(AT_ONCE)

    async def in_turn(thing: T) -> Result:
        async with turns:
            return await call(thing)

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(in_turn(one)) for one in things]
    except BaseExceptionGroup as failures:
        raise first_of_ours(failures) from None
    return [one.result() for one in tasks]


async def fetched(item_id: str, name: str, data: Awaitable[bytes], refused: str = "") -> Content | FetchFailure | None:
    """Return an item's content, or the reason why it cannot be fetched, or None if it does not exist.

    ``refused`` replaces the reason if the token lacks the permission.
    """
    try:
        return Content(item_id, name, await data)
    except NotFound:
        return None
    except RightMissing as error:
        return FetchFailure(item_id, refused or str(error))
    except DocumentRejected as error:
        return FetchFailure(item_id, str(error))


def _origin(text: str, rules: Rules) -> URL:
    try:
        url = URL(text)
        private = f"{url.host}:{url.port}" in rules.allow_private
    except ValueError as error:
        raise ConfigurationError(
            "This is not the address of a site.", remedy="It looks like https://example.org."
        ) from error
    if not url.host or not (url.scheme == "https" or (url.scheme == "http" and private)):
        raise ConfigurationError(
            "A token is only sent over https.", remedy="Name an address that begins with https://."
        )
    return url.origin()


async def _bounded(response: aiohttp.ClientResponse, most: int) -> bytes:
    """Return the body. Raises SourceUnavailable if it exceeds ``most`` bytes."""
    body = bytearray()
    too_large = _TooLargeError(f"A reply from {response.url.host} is larger than {most // 2**20} MB.")
    if (response.content_length or 0) > most:
        raise too_large
    async for chunk in response.content.iter_chunked(_CHUNK):
        body += chunk
        if len(body) > most:
            raise too_large
    return bytes(body)


def _seconds_to_wait(headers: Mapping[str, str]) -> float:
    """Return the seconds to wait from Retry-After or X-RateLimit-Reset, or 0 without them."""
    said = headers.get("Retry-After", "").strip()
    if said.isdecimal():
        return float(said)
    if said:
        try:
            return max(0.0, parsedate_to_datetime(said).timestamp() - time.time())
        except ValueError:
            return 0.0
    reset = headers.get("X-RateLimit-Reset", "").strip()
    return max(0.0, float(reset) - time.time()) if reset.isdecimal() else 0.0
