"""The ``openai`` client as it is configured here: over aiohttp, without retries of its own, no body without an end.

A stream is read a few times a second: a model sends fifty words in one, every surface shows text a few times, and to
wake for each word costs as much as to read it (docs/measurements.md).

Retries are left to ``endpoint``, which knows how long an answer may still take; the client's own would wait a minute.

Models send a word at a time, and each piece costs every layer above a step and most of them a timer. So a task of its
own reads the chunks, and the writer takes the text that has come since it last looked as one piece.
"""

import asyncio
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

import httpx2

if TYPE_CHECKING:
    from openai import AsyncOpenAI
from collections.abc import AsyncGenerator
from contextlib import aclosing
from types import TracebackType
from typing import Self

from adapters.reasoners.openai import responses as replies

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
    """Return a client for one endpoint. Nothing is connected yet; proxies that the environment names are used."""
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
    """Bound the body of a response, and pace a stream of events."""
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


class ReportedError(Exception):
    """An error that the endpoint reports in the middle of a stream, or in a reply with status 200."""

    def __init__(self, error: object) -> None:
        """Of any shape."""
        super().__init__(str(error))
        self.error = error


class StreamReader:
    """The chunks of one reply, read while the block lasts. Belongs to one event loop."""

    def __init__(self, chunks: AsyncGenerator[object, None], most: int) -> None:
        """Read at most ``most`` characters: not every endpoint keeps to the length that was asked for."""
        self.finish = ""  # the model's last word on why it ended
        self.written = 0  # characters
        self.usage = (0, 0, 0, 0)
        self.refusal = ""
        self.thought = False  # unseen, before what was written
        self._chunks = chunks
        self._most = most
        self._pieces: list[str] = []  # come, and not taken yet; a thought is an empty one
        self._changed = asyncio.Event()
        self._reading: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._reading = asyncio.create_task(self._read())
        self._reading.add_done_callback(lambda _: self._changed.set())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)

    async def take(self) -> str | None:
        """Wait for content, and all of its text so far; None at the end.

        Empty where the model only thought. Keep-alives are no content. Raises what reading raises, after the text
        that came before: ReportedError, TypeError for what is no chunk, and what the client raises.
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
