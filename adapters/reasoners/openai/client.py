"""The configured ``openai`` client: over aiohttp, without its own retries, with bounded bodies.

A stream is read in batches. A model sends fifty words a second, and chat surfaces update a few times a second. Waking
for each word costs as much as reading it (docs/measurements.md).

``endpoint`` makes the retries, because it knows how much time an answer has left. The client's own would wait a minute.

Each piece also costs every layer above a step and often a timer. So a background task reads the chunks, and the writer
takes all text since its last read as one piece.
"""

import asyncio
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

import httpx2

if TYPE_CHECKING:
    from openai import AsyncOpenAI
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Self

from adapters.reasoners.openai import responses as replies

MOST_REDIRECTS = 3  # one to https, one to another host; more are a loop
MOST_CONNECTIONS = 1_000  # the client's default; the number of questions in progress bounds the calls
IDLE_SECONDS = 4.0  # many servers close an idle connection after five, so close it before
DONE = b"[DONE]"  # the data of the last event
FIRST_PAUSE = 0.005  # seconds between two reads of a stream, doubled up to the longest; the first words come at once
LONGEST_PAUSE = 0.05
LONGEST_BODY = 16_000_000  # bytes: a stream of 32,000 tokens, each in an event of its own, is 10 million


class BodyTooLong(httpx2.ReadError):
    """Error for a reply that is longer than ``LONGEST_BODY``."""


def open_client(base_url: str, api_key: str, connect_seconds: float) -> "AsyncOpenAI":
    """Return a client for one endpoint without connecting. It uses the environment's proxy settings."""
    from openai import AsyncOpenAI, DefaultAioHttpClient

    # Callers set deadlines. A read timeout in the transport would restart with each piece.
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
    """Bound the body of a response, and pace a stream of events."""
    if isinstance(response.stream, httpx2.AsyncByteStream):
        streamed = "event-stream" in response.headers.get("content-type", "")
        response.stream = BoundedBody(response.stream, response.request, FIRST_PAUSE if streamed else 0.0)


class BoundedBody(httpx2.AsyncByteStream):
    """Body with a size limit. It also notes whether an event stream sent its end event, which the client hides."""

    def __init__(self, body: httpx2.AsyncByteStream, request: httpx2.Request, pause: float = 0.0) -> None:
        """Read data that arrives within ``pause`` seconds together. The pause doubles up to the longest."""
        self.end = b""  # the last bytes received
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
        """Whether the stream sent its end event."""
        return DONE in self.end

    async def aclose(self) -> None:
        """Return the connection to the pool, or close it if the body is unfinished."""
        await self._body.aclose()


class ReportedError(Exception):
    """Error that the endpoint reports within a stream, or in a reply with status 200."""

    def __init__(self, error: object) -> None:
        """Accept an error of any shape."""
        super().__init__(str(error))
        self.error = error


class StreamReader:
    """Reader of one reply's chunks in a background task, for use in ``async with``. Belongs to one event loop."""

    def __init__(self, chunks: AsyncGenerator[object, None], most: int) -> None:
        """Read at most ``most`` characters, because some endpoints ignore the requested length."""
        self.finish = ""  # the last finish reason
        self.written = 0  # characters
        self.usage = (0, 0, 0, 0)
        self.refusal = ""
        self.thought = False  # whether the model sent or counted reasoning
        self._chunks = chunks
        self._most = most
        self._pieces: list[str] = []  # received and not taken yet; reasoning is an empty piece
        self._changed = asyncio.Event()
        self._reading: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._reading = asyncio.create_task(self._read())
        self._reading.add_done_callback(lambda _: self._changed.set())
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)

    async def take(self) -> str | None:
        """Wait for content and return its text so far, or None at the end.

        Return an empty string if the model only reasoned. Keep-alives are not content. After the text before it, raises
        the reading error: ReportedError, TypeError for a malformed chunk, or an error of the client.
        """
        assert self._reading is not None, "outside of its block"
        await self._changed.wait()
        if self._pieces:
            text = "".join(self._pieces)
            self._pieces.clear()
            if not self._reading.done():
                self._changed.clear()
            return text
        self._reading.result()
        return None

    async def _read(self) -> None:
        async with aclosing(self._chunks) as chunks:
            async for chunk in chunks:
                if (reported := replies.error_in(chunk)) is not None:
                    raise ReportedError(reported)
                self._keep(chunk)
                if self.written > self._most:
                    self.finish = "length"
                    return

    def _keep(self, chunk: object) -> None:
        if isinstance(chunk, str | int | float | list):
            raise TypeError("not a chunk")
        usage = replies.usage_of(chunk)
        self.usage = usage if any(usage) else self.usage
        choice = replies.first_choice(chunk)
        self.finish = replies.finish_of(choice) or self.finish
        delta = replies.field_of(choice, "delta") or replies.field_of(choice, "message")
        text, thought = replies.text_of(replies.field_of(delta, "content")), replies.reasoning_of(delta)
        self.refusal += replies.refusal_of(delta)
        self.thought = self.thought or bool(thought or self.usage[3])
        if text or thought:
            self.written += len(text)
            self._pieces.append(text)
            self._changed.set()
