"""The server over HTTP: whoever is told its address may come at once."""

import socket
from urllib.parse import urlsplit

import pytest

pytest.importorskip("mcp", reason="the mcp package is not installed")

from adapters.mcp.server import serve_http
from core.model.errors import ConfigurationError
from tests.adapters.mcp.test_tools import Desk


class EndOfTestError(Exception):
    pass


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
        with pytest.raises(ConfigurationError, match=f"Port {port} on 127.0.0.1 cannot be listened on"):
            await serve_http(Desk().server, "127.0.0.1", port, told.append)
    assert told == []
