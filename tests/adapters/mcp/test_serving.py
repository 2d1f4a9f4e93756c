"""The MCP server over HTTP accepts connections as soon as its address is printed."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from urllib.parse import SplitResult, urlsplit

import pytest

pytest.importorskip("mcp", reason="the mcp package is not installed")

from adapters.http_bounds import HttpBounds
from adapters.mcp.server import serve_http
from core.model.errors import ConfigurationError
from tests.adapters.mcp.test_tools import Desk


class EndOfTestError(Exception):
    pass


@asynccontextmanager
async def served(bounds: HttpBounds) -> AsyncIterator[SplitResult]:
    """Where the tools are served, until the end."""
    told: asyncio.Queue[str] = asyncio.Queue()
    serving = asyncio.create_task(serve_http(Desk().server, "127.0.0.1", 0, told.put_nowait, bounds))
    try:
        yield urlsplit(await asyncio.wait_for(told.get(), 60))
    finally:
        serving.cancel()
        with suppress(asyncio.CancelledError):
            await serving


async def exchanged(place: SplitResult, sent: bytes) -> bytes:
    """All that comes back until the server hangs up."""
    reader, writer = await asyncio.open_connection(place.hostname, place.port)
    writer.write(sent)
    try:
        return await asyncio.wait_for(reader.read(), 60)
    finally:
        writer.close()


@pytest.mark.parametrize(
    "sent",
    [
        b"POST /mc",
        b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Le",
        b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{",
        b"GET /none HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nGET /no",
    ],
)
async def test_a_request_that_does_not_end_ends_its_connection(sent: bytes) -> None:
    async with served(HttpBounds(head=0.3)) as place:
        assert b" 500 " not in await exchanged(place, sent)


async def test_an_address_with_too_many_connections_is_refused() -> None:
    async with served(HttpBounds(connections=1)) as place:
        with socket.create_connection((place.hostname or "", place.port or 0), timeout=5) as held:
            held.sendall(b"GET ")
            assert b"503" in await exchanged(place, b"")


async def test_an_address_that_is_told_takes_connections_already() -> None:
    def come_at_once(address: str) -> None:
        place = urlsplit(address)
        socket.create_connection((place.hostname or "", place.port or 0), timeout=5).close()
        raise EndOfTestError

    with pytest.raises(EndOfTestError):
        await serve_http(Desk().server, "127.0.0.1", 0, come_at_once)


async def test_a_port_that_is_taken_is_said_before_any_address() -> None:
    told: list[str] = []
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ConfigurationError, match=f"Port {port} on 127.0.0.1 cannot be used"):
            await serve_http(Desk().server, "127.0.0.1", port, told.append)
    assert told == []
