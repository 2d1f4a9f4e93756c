"""Limits on the connections of an HTTP port: how many one address may hold, and how long a slow client may take.

A proxy in front may enforce stricter ones. These hold where there is none.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass

import structlog

_TOO_MANY = b"There are too many connections from your address. Close some and try again.\n"
_REFUSAL = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain\r\nRetry-After: 10\r\nConnection: close\r\n"
    b"Content-Length: %d\r\n\r\n%s" % (len(_TOO_MANY), _TOO_MANY)
)

_NO_PROXY = b"HTTP/1.1 405 Method Not Allowed\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class HttpBounds:
    """What a client may take of an HTTP port. Times are in seconds, sizes in bytes.

    ``head`` is the time for a request's line and headers, counted from the connection or from the previous response,
    so it also ends an idle connection. A body has ``body`` and one more second for each ``body_rate``. A client that
    reads nothing of a response for ``stall`` is cut off. The rest of a refused body is read for ``linger``, so that the
    answer arrives. Addresses in ``proxies`` may hold any number of connections.
    """

    connections: int = 256
    head: float = 30.0
    body: float = 30.0
    body_rate: int = 32 * 1024
    stall: float = 60.0
    linger: float = 5.0
    line_size: int = 8190
    headers: int = 128
    proxies: Collection[str] = ()

    def body_deadline(self, received: int) -> float:
        """How long the body may take in all, after this many bytes of it."""
        return self.body + received / self.body_rate


class BoundedConnections:
    """All connections of one port. ``wrap`` puts the bounds around the protocol of an HTTP server."""

    def __init__(self, bounds: HttpBounds) -> None:
        self._bounds = bounds
        self._counts: Counter[str] = Counter()
        self._reported: set[str] = set()

    def wrap(
        self, protocol: asyncio.Protocol, opened: "Callable[[BoundedConnection], None] | None" = None
    ) -> "BoundedConnection":
        """Return the protocol within the bounds; ``opened`` is called with each connection that is let in."""
        return BoundedConnection(protocol, self._bounds, self, opened)

    def admit(self, address: str) -> bool:
        """Count one more connection from this address; False where it has too many."""
        if self._counts[address] >= self._bounds.connections and address not in self._bounds.proxies:
            if address not in self._reported:
                self._reported.add(address)
                log.warning("too_many_connections", address=address, limit=self._bounds.connections)
            return False
        self._counts[address] += 1
        return True

    def release(self, address: str) -> None:
        """Forget one connection of this address."""
        self._counts[address] -= 1
        if self._counts[address] <= 0:
            del self._counts[address]
            self._reported.discard(address)


class BoundedConnection(asyncio.Protocol):
    """One connection: passes everything on to the server's own protocol, and ends it at a limit.

    ``received`` counts the bytes that came in, ``peer`` is the client's host and port.
    """

    def __init__(
        self,
        protocol: asyncio.Protocol,
        bounds: HttpBounds,
        connections: BoundedConnections,
        opened: "Callable[[BoundedConnection], None] | None" = None,
    ) -> None:
        self.received = 0
        self.peer: tuple[str, int] = ("", 0)  # its host and port
        self._protocol = protocol
        self._bounds = bounds
        self._connections = connections
        self._opened = opened
        self._address: str | None = None  # set once it is let in
        self._transport: asyncio.Transport | None = None
        self._stalled: asyncio.TimerHandle | None = None
        self._incomplete: asyncio.TimerHandle | None = None

    def expect_request(self) -> None:
        """End the connection unless a whole request comes within the time for a head."""
        self.request_came()
        if self._address is None:  # it is closed
            return
        self._incomplete = asyncio.get_running_loop().call_later(self._bounds.head, self._abort)

    def request_came(self) -> None:
        """Stop the clock: the request is complete, and the answer may take its time."""
        if self._incomplete is not None:
            self._incomplete.cancel()
            self._incomplete = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Let it in, or refuse it with 503."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self.peer = (transport.get_extra_info("peername") or self.peer)[:2]
        address = self.peer[0]
        if not self._connections.admit(address):
            transport.write(_REFUSAL)
            transport.close()
            return
        self._address = address
        self._protocol.connection_made(transport)
        if self._opened is not None:
            self._opened(self)

    def data_received(self, data: bytes) -> None:
        """Count and pass on."""
        if self._address is not None and self._transport is not None:
            if data.startswith(b"CONNECT "):  # only a proxy knows it; aiohttp looks for its route in vain
                self._transport.write(_NO_PROXY)
                self._transport.close()
                return
            self.received += len(data)
            self._protocol.data_received(data)

    def eof_received(self) -> bool | None:
        """Pass on that the client sends no more."""
        return self._protocol.eof_received() if self._address is not None else None

    def pause_writing(self) -> None:
        """Give the client a while to read."""
        self._stalled = asyncio.get_running_loop().call_later(self._bounds.stall, self._abort)
        self._protocol.pause_writing()

    def resume_writing(self) -> None:
        """Stop waiting for the client: it reads again."""
        self._stop_stall_timer()
        self._protocol.resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        """Make room for another connection from its address."""
        self._stop_stall_timer()
        self.request_came()
        if self._address is not None:
            self._connections.release(self._address)
            self._address = None
            self._protocol.connection_lost(exc)

    def _stop_stall_timer(self) -> None:
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None

    def _abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()
