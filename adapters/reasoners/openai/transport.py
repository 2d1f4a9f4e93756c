"""The openai client's requests over aiohttp.

The client's own transport is fair to connections that wait, which costs it a walk over all of them for each request;
with fifty questions at once that walk, its timers and its parser were a third of an answer's time on the processor.
Over aiohttp, whose parser is compiled, a reply costs 0.5 ms of it instead of 1.3, a streamed one 0.6 instead of 3.
"""

import asyncio
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress

import aiohttp
import httpx2
from aiohttp.http_exceptions import HttpProcessingError
from yarl import URL

MOST_CONNECTIONS = 1_000  # as the openai client has it; what bounds calls is how many questions are worked on
IDLE_SECONDS = 4.0  # many servers close an idle connection after five: ours is given up before
# Models send a word at a time, fifty a second and more, and every surface shows text a few times a second. What comes
# within this time goes on together: each piece costs every layer above a step, and a timer in most of them.
TOGETHER_SECONDS = 0.05


def http_client(timeout: httpx2.Timeout) -> httpx2.AsyncClient | None:
    """The client to give to openai's; None for its own, which knows every kind of proxy that the environment names."""
    if urllib.request.getproxies().keys() - {"no"}:
        return None
    return httpx2.AsyncClient(transport=AiohttpTransport(), timeout=timeout, follow_redirects=True)


class AiohttpTransport(httpx2.AsyncBaseTransport):
    """Sends by aiohttp; every failure is one of httpx2's. Belongs to one event loop, from its first request on.

    The openai package brings a transport like it, which calls a refused or lost connection a timeout: such a call would
    not be made again.
    """

    def __init__(self) -> None:
        self._ssl = httpx2.create_ssl_context()
        self._session: aiohttp.ClientSession | None = None

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """The response, its body still to be read. Raises httpx2.TransportError."""
        url = URL(str(request.url), encoded=True)
        limits = request.extensions.get("timeout", {})
        with _as_httpx2():
            answer = await self._opened().request(
                request.method,
                url.with_user(None) if url.user else url,  # httpx2 has made a header of it
                headers=request.headers.multi_items(),
                data=await request.aread() or None,
                allow_redirects=False,  # followed by httpx2, which knows what not to send elsewhere
                timeout=aiohttp.ClientTimeout(total=None, connect=limits.get("connect"), sock_read=limits.get("read")),
            )
        return httpx2.Response(
            answer.status,
            headers=answer.raw_headers,
            stream=_Body(answer),
            extensions={"http_version": b"HTTP/1.1", "reason_phrase": (answer.reason or "").encode()},
        )

    async def aclose(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()

    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:
            connector = aiohttp.TCPConnector(limit=MOST_CONNECTIONS, keepalive_timeout=IDLE_SECONDS, ssl=self._ssl)
            self._session = aiohttp.ClientSession(
                connector=connector, cookie_jar=aiohttp.DummyCookieJar(), auto_decompress=False
            )  # decompressed by httpx2
        return self._session


class _Body(httpx2.AsyncByteStream):
    """The body as it comes; of a stream of events what comes within a moment together."""

    def __init__(self, answer: aiohttp.ClientResponse) -> None:
        self._answer = answer
        self._paced = answer.content_type == "text/event-stream"

    async def __aiter__(self) -> AsyncIterator[bytes]:
        content = self._answer.content
        with _as_httpx2():
            while data := await content.readany():
                yield data
                if self._paced and not content.is_eof():
                    with suppress(TimeoutError):
                        async with asyncio.timeout(TOGETHER_SECONDS):
                            await content.wait_eof()

    async def aclose(self) -> None:
        """Give the connection back, or close it when there is more to come."""
        self._answer.release()


@contextmanager
def _as_httpx2() -> Iterator[None]:
    try:
        yield
    except aiohttp.ServerTimeoutError as error:
        late = httpx2.ReadTimeout if isinstance(error, aiohttp.SocketTimeoutError) else httpx2.ConnectTimeout
        raise late(str(error)) from error
    except aiohttp.ClientConnectorError as error:
        raise httpx2.ConnectError(str(error)) from error
    except (aiohttp.ClientConnectionError, aiohttp.ClientPayloadError) as error:
        raise httpx2.ReadError(str(error)) from error
    except aiohttp.InvalidURL as error:
        raise httpx2.UnsupportedProtocol(str(error)) from error
    except (aiohttp.ClientError, HttpProcessingError) as error:
        raise httpx2.RemoteProtocolError(str(error)) from error
