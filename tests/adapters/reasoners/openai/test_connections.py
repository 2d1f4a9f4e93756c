"""The road to an endpoint: connections that are used again, lost or proxied, and streams as servers send them."""

import asyncio
import gzip
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from adapters.reasoners.openai.client import MOST_REDIRECTS
from adapters.reasoners.openai.reasoner import OpenAIReasoner
from core.model.errors import ModelUnavailable
from core.model.inquiry import Reply
from tests.adapters.reasoners.harness import inquiry, library, meter, opened, text_of, thread
from tests.fakes.model.endpoint import Raw, ScriptedEndpoint

HELLO = json.dumps({"choices": [{"message": {"content": '{"action": "reply", "reply": "Hello!"}'}}]}).encode()
WORDS = [{"choices": [{"delta": {"content": word}}]} for word in ("Thirty ", "days ", "[1].")]
END = {"choices": [{"delta": {}, "finish_reason": "stop"}]}
STREAM = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in (*WORDS, END)).encode() + b"data: [DONE]\n\n"

Answering = Callable[[asyncio.StreamWriter], Awaitable[bool]]  # whether the connection stays open


@asynccontextmanager
async def plain_server(*connections: list[Answering]) -> AsyncIterator[tuple[str, list[int]]]:
    """A server that answers the requests of each connection in turn like this; and how many came on each."""
    came: list[int] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        number = len(came)
        came.append(0)
        try:
            for answer in connections[number]:
                head = await reader.readuntil(b"\r\n\r\n")
                await reader.readexactly(int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0]))
                came[number] += 1
                if not await answer(writer):
                    return
            await reader.read()
        except asyncio.IncompleteReadError:
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", came
    finally:
        server.close()


def whole(body: bytes, *, encoding: str = "identity") -> Answering:
    async def answer(writer: asyncio.StreamWriter) -> bool:
        head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: {encoding}\r\n"
        writer.write(head.encode() + f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
        return True

    return answer


def streamed(*pieces: bytes, ends: bool = True) -> Answering:
    async def answer(writer: asyncio.StreamWriter) -> bool:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        for piece in pieces:
            writer.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
            await writer.drain()
        if ends:
            writer.write(b"0\r\n\r\n")
        return True

    return answer


async def hang_up(_: asyncio.StreamWriter) -> bool:
    return False


async def composed(reasoner: OpenAIReasoner) -> str:
    return await text_of(reasoner.compose(inquiry(), thread(), library(grade=8).items, meter()))


async def greeted(reasoner: OpenAIReasoner) -> object:
    return await reasoner.understand(inquiry("hi"), thread(), meter())


async def test_reconnects_and_retries_when_the_server_closed_the_connection() -> None:
    async with plain_server([whole(HELLO), hang_up], [whole(HELLO)]) as (url, came), opened(url) as reasoner:
        assert await greeted(reasoner) == Reply("Hello!")
        assert await greeted(reasoner) == Reply("Hello!")
        assert came == [2, 1]


async def test_a_connection_is_used_again_after_a_stream_was_read_to_its_end() -> None:
    async with plain_server([streamed(STREAM), streamed(STREAM)]) as (url, came), opened(url) as reasoner:
        assert await composed(reasoner) == "Thirty days [1]."
        assert await composed(reasoner) == "Thirty days [1]."
        assert came == [2]


async def test_a_stream_that_said_it_is_done_need_not_be_closed() -> None:
    async with plain_server([streamed(STREAM, ends=False)]) as (url, _), opened(url) as reasoner:
        async with asyncio.timeout(60):  # well below the reasoner's own
            assert await composed(reasoner) == "Thirty days [1]."


async def test_a_compressed_reply_is_read() -> None:
    packed = whole(gzip.compress(HELLO), encoding="gzip")
    async with plain_server([packed]) as (url, _), opened(url) as reasoner:
        assert await greeted(reasoner) == Reply("Hello!")


async def test_a_proxy_that_the_environment_names_is_used(
    endpoint: ScriptedEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", endpoint.base_url.removesuffix("/v1"))
    monkeypatch.setenv("no_proxy", "")
    endpoint.says({"action": "reply", "reply": "Hello!"})
    endpoint.streams("Thirty ", "days [1].")
    async with opened("http://model.invalid/v1") as reasoner:
        assert await greeted(reasoner) == Reply("Hello!")
        assert await composed(reasoner) == "Thirty days [1]."


async def test_the_cause_of_a_lost_connection_is_told_from_a_refused_one() -> None:
    async with plain_server([hang_up] * 9) as (url, _), opened(url) as reasoner:
        with pytest.raises(ModelUnavailable, match="broke the connection off"):
            await greeted(reasoner)
    async with opened("http://127.0.0.1:9/v1") as reasoner:
        with pytest.raises(ModelUnavailable, match="the connection is refused"):
            await greeted(reasoner)
    async with opened("http://no-such-host.invalid/v1") as reasoner:
        with pytest.raises(ModelUnavailable, match="DNS"):
            await greeted(reasoner)


async def test_http_where_https_is_meant_is_called_a_secure_connection(endpoint: ScriptedEndpoint) -> None:
    async with opened(endpoint.base_url.replace("http://", "https://")) as reasoner:
        with pytest.raises(ModelUnavailable, match="TLS"):
            await greeted(reasoner)


async def test_an_address_that_leads_in_circles_is_left_soon_and_said_as_that(endpoint: ScriptedEndpoint) -> None:
    itself = {"Location": f"{endpoint.base_url}/chat/completions"}
    endpoint.answers_with(lambda _: Raw((b"",), status=307, headers=itself))
    async with opened(endpoint) as reasoner:
        with pytest.raises(ModelUnavailable, match="in circles"):
            await greeted(reasoner)
    assert len(endpoint.requests) == 1 + MOST_REDIRECTS
