"""Limits of the HTTP port: greedy or slow clients are disconnected, all others are served."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from urllib.parse import urlsplit

import aiohttp
from aiohttp import web

from adapters.http_bounds import HttpBounds
from bot.health import application, listen
from bot.readiness import ReadinessReport

SHORT = HttpBounds(head=0.3, body=0.3, body_rate=1_000_000, linger=0.1)


async def _ready() -> ReadinessReport:
    return ReadinessReport()


async def _reads(request: web.Request) -> web.Response:
    return web.Response(text=str(len(await request.read())))


@asynccontextmanager
async def served(bounds: HttpBounds, *routes: web.RouteDef) -> AsyncIterator[str]:
    app = application(_ready, [web.post("/reads", _reads), *routes], bounds=bounds)
    port = await listen(app, "127.0.0.1", 0)
    try:
        yield port.address
    finally:
        await port.cleanup()


async def opened(address: str, stack: AsyncExitStack, sent: bytes) -> asyncio.StreamReader:
    """A connection over which this was sent, open until the stack ends."""
    place = urlsplit(address)
    reader, writer = await asyncio.open_connection(place.hostname, place.port)
    stack.callback(writer.close)
    writer.write(sent)
    await writer.drain()
    return reader


async def test_half_a_request_line_keeps_no_connection_open() -> None:
    async with served(SHORT) as address, AsyncExitStack() as stack:
        readers = [await opened(address, stack, b"GET /healthz HT") for _ in range(20)]
        assert [await reader.read() for reader in readers] == [b""] * 20


async def test_a_connection_that_goes_idle_after_its_answer_is_closed() -> None:
    async with served(SHORT) as address, AsyncExitStack() as stack:
        reader = await opened(address, stack, b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nGET /hea")
        assert (await reader.read()).startswith(b"HTTP/1.1 200")


async def test_a_body_that_does_not_come_is_answered_with_408() -> None:
    async with served(SHORT) as address, AsyncExitStack() as stack:
        reader = await opened(address, stack, b"POST /reads HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf")
        answer = await reader.read()
        assert answer.startswith(b"HTTP/1.1 408")
        assert b"took too long" in answer


async def test_a_body_that_keeps_coming_may_take_longer() -> None:
    slow = HttpBounds(head=5, body=0.2, body_rate=1)

    async def body() -> AsyncIterator[bytes]:
        for _ in range(5):
            await asyncio.sleep(0.1)
            yield b"x"

    async with (
        served(slow) as address,
        aiohttp.ClientSession() as session,
        session.post(f"{address}/reads", data=body()) as answer,
    ):
        assert (answer.status, await answer.text()) == (200, "5")


async def test_one_address_holds_so_many_connections_and_a_proxy_any_number() -> None:
    for proxies, wanted in (((), 503), (("127.0.0.1",), 200)):
        async with served(HttpBounds(connections=5, proxies=proxies)) as address, AsyncExitStack() as stack:
            for _ in range(5):
                await opened(address, stack, b"GET")
            reader = await opened(address, stack, b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            answer = await reader.read()
            assert answer.startswith(b"HTTP/1.1 %d" % wanted)
            assert (b"too many connections" in answer) is (wanted == 503)


async def test_a_connection_that_ends_makes_room_for_another() -> None:
    async with served(HttpBounds(connections=1)) as address:
        for _ in range(3):
            async with AsyncExitStack() as stack:
                reader = await opened(address, stack, b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                assert (await reader.read()).startswith(b"HTTP/1.1 200")


async def test_a_client_that_reads_nothing_of_its_answer_is_cut_off() -> None:
    ended = asyncio.Event()

    async def endless(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        try:
            while True:
                await response.write(bytes(64 * 1024))
        finally:
            ended.set()

    async with served(HttpBounds(stall=0.3), web.get("/endless", endless)) as address:
        place = urlsplit(address)
        with socket.create_connection((place.hostname or "", place.port or 0)) as client:
            client.sendall(b"GET /endless HTTP/1.1\r\nHost: x\r\n\r\n")
            await asyncio.wait_for(ended.wait(), 30)


async def test_long_lines_and_many_headers_are_refused_with_400() -> None:
    for head in (
        b"GET /%s HTTP/1.1\r\n" % (b"x" * 9_000),
        b"GET / HTTP/1.1\r\n" + b"".join(b"A%d: b\r\n" % n for n in range(200)),
    ):
        async with served(HttpBounds()) as address, AsyncExitStack() as stack:
            reader = await opened(address, stack, head + b"Host: x\r\n\r\n")
            assert (await reader.readline()).startswith((b"HTTP/1.0 400", b"HTTP/1.1 400"))
