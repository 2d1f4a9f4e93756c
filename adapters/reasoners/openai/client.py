"""The ``openai`` client as it is configured here: over aiohttp, without retries of its own, no body without an end.

A stream is read a few times a second: a model sends fifty words in one, every surface shows text a few times, and to
wake for each word costs as much as to read it (docs/measurements.md).

Retries are left to ``endpoint``, which knows how long an answer may still take; the client's own would wait a minute.
"""

import asyncio
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

import httpx2

if TYPE_CHECKING:
    from openai import AsyncOpenAI

MOST_REDIRECTS = 3  # one to https, one to another host; more are a circle
MOST_CONNECTIONS = 1_000  # as the client has it; what bounds calls is how many questions are worked on
IDLE_SECONDS = 4.0  # many servers close an idle connection after five: ours is given up before
DONE = b"[DONE]"  # the data of the last event
FIRST_PAUSE = 0.005  # seconds between two looks at a stream, doubled up to the longest: its first words come at once
LONGEST_PAUSE = 0.05
LONGEST_BODY = 16_000_000  # bytes: a stream of 32,000 tokens, each in an event of its own, is 10 million


class BodyTooLong(httpx2.ReadError):
    """A reply that goes on past any that is meant."""


def open_client(base_url: str, api_key: str, connect_seconds: float) -> "AsyncOpenAI":
    """A client for one endpoint. Nothing is connected yet; proxies that the environment names are used."""
    from openai import AsyncOpenAI, DefaultAioHttpClient

    # Whatever is awaited has a deadline at its caller; one in the transport would be set anew with each piece it reads.
    patience = httpx2.Timeout(None, connect=connect_seconds)
    limits = httpx2.Limits(max_connections=MOST_CONNECTIONS, keepalive_expiry=IDLE_SECONDS)
    return AsyncOpenAI(
        base_url=base_url,
        api_key=api_key or "none",
        timeout=patience,
        max_retries=0,
        http_client=DefaultAioHttpClient(
            timeout=patience,
            limits=limits,
            max_redirects=MOST_REDIRECTS,
            event_hooks={"response": [_replace_body]},
        ),
    )


async def _replace_body(response: httpx2.Response) -> None:
    """A response hook: let the body be read up to its bound only, and a stream of events at our pace."""
    if isinstance(response.stream, httpx2.AsyncByteStream):
        streamed = "event-stream" in response.headers.get("content-type", "")
        response.stream = BoundedBody(response.stream, response.request, FIRST_PAUSE if streamed else 0.0)


class BoundedBody(httpx2.AsyncByteStream):
    """A body up to its bound. It knows whether a stream of events said that it was done: the client does not tell."""

    def __init__(self, body: httpx2.AsyncByteStream, request: httpx2.Request, pause: float = 0.0) -> None:
        """With a ``pause`` in seconds, what comes within it is read together; it doubles up to the longest."""
        self.end = b""  # the last bytes of what has come
        self._body = body
        self._request = request
        self._pause = pause

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = LONGEST_BODY
        async for data in self._body:
            left -= len(data)
            self.end = (self.end + data)[-len(DONE) - 16 :]
            if left < 0:
                raise BodyTooLong(f"more than {LONGEST_BODY:,} bytes", request=self._request)
            yield data
            if self._pause and not self.has_ended:
                await asyncio.sleep(self._pause)
                self._pause = min(2 * self._pause, LONGEST_PAUSE)

    @property
    def has_ended(self) -> bool:
        """Whether the last event said that there is no more."""
        return DONE in self.end

    async def aclose(self) -> None:
        """Give the connection back, or close it when there is more to come."""
        await self._body.aclose()
