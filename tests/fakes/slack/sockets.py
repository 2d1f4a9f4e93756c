"""Socket Mode: the WebSocket side of the workspace, with the ways in which it misbehaves.

Each envelope goes to one of the open connections in turn. A connection may be dropped, told to go, or be deaf.
"""

from __future__ import annotations

import asyncio
import json
import random
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from aiohttp import WSMsgType, web

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.fakes.slack.delivery import Attempt, Delivery
    from tests.fakes.slack.world import World

_MOST_CONNECTIONS = 10  # of one app, from the Socket Mode guide


@dataclass(eq=False)
class Socket:
    """One open connection. `deaf` lets nothing through; `mute_pongs` leaves the client's pings unanswered."""

    id: str
    ws: web.WebSocketResponse
    request: web.Request
    deaf: bool = False
    mute_pongs: bool = False
    opened_at: float = field(default_factory=time.monotonic)
    envelopes: list[str] = field(default_factory=list)
    pings: int = 0

    async def send(self, message: dict[str, Any]) -> None:
        """Send one message; ConnectionError where the other side is gone."""
        await self.ws.send_str(json.dumps(message))

    def abort(self) -> None:
        """Cut the connection without a word."""
        if self.request.transport is not None:
            self.request.transport.abort()


class Sockets:
    """All connections of the app."""

    def __init__(self, world: World, violate: Callable[[str], None], *, ping_every: float = 5.0) -> None:
        self._world = world
        self._violate = violate
        self._ping_every = ping_every
        self._tickets: set[str] = set()
        self._open: list[Socket] = []
        self._round: list[Socket] = []
        self._dice = random.Random(0)
        self._waiting: dict[str, Attempt] = {}
        self._new_are_deaf = False
        self._new_mute_pongs = False
        self.opened = 0

    @property
    def connections(self) -> list[Socket]:
        """The open connections."""
        return list(self._open)

    def issue_url(self) -> str:
        """A wss address that works once."""
        ticket = self._world.new_id("W")
        self._tickets.add(ticket)
        return f"{self._world.origin.replace('http', 'ws', 1)}/link/?ticket={ticket}&app_id={self._world.app_id}"

    # --- misbehaviour

    def drop(self, socket: Socket | None = None) -> None:
        """Cut one connection, or all, without a close frame."""
        for one in [socket] if socket else self.connections:
            one.abort()

    async def disconnect(self, reason: str = "refresh_requested", socket: Socket | None = None) -> None:
        """Tell one connection, or all, to go: `warning`, `refresh_requested` or `link_disabled`."""
        for one in [socket] if socket else self.connections:
            await one.send({"type": "disconnect", "reason": reason, "debug_info": {"host": "fake-slack"}})

    def go_deaf(self, *, answer_pings: bool = False, new_too: bool = False) -> None:
        """Keep the sockets open, but deliver nothing. `new_too`: whoever reconnects meets the same silence."""
        for one in self._open:
            one.deaf, one.mute_pongs = True, not answer_pings
        self._new_are_deaf = new_too
        self._new_mute_pongs = new_too and not answer_pings

    async def wait_for(self, count: int = 1, timeout: float = 60.0) -> list[Socket]:
        """The open connections, as soon as there are this many; AssertionError when there never are."""
        end = time.monotonic() + timeout
        while len(self._open) < count:
            assert time.monotonic() < end, f"{len(self._open)} of {count} sockets are open after {timeout:g} s"
            await self._world.next_change(end - time.monotonic())
        return self.connections

    # --- the road to the app

    async def attempt(self, delivery: Delivery, attempt: Attempt) -> None:
        """Send the envelope to the next connection; without any, wait for one to open."""
        attempt.envelope_id = self._world.new_id("env")
        interactive = delivery.kind != "events_api"
        envelope = {
            "envelope_id": attempt.envelope_id, "type": delivery.kind, "payload": delivery.payload,
            "accepts_response_payload": interactive,
        }  # fmt: skip
        if not interactive:
            envelope |= {"retry_attempt": attempt.number, "retry_reason": attempt.reason or ""}
        self._waiting[attempt.envelope_id] = attempt
        while not await self._send_to_one(envelope, attempt):
            await self._world.next_change(1.0)

    async def _send_to_one(self, envelope: dict[str, Any], attempt: Attempt) -> bool:
        if not self._open:
            return False
        socket = self._next()
        attempt.via = socket.id
        socket.envelopes.append(attempt.envelope_id)
        if socket.deaf:
            return True
        try:
            await socket.send(envelope)
        except ConnectionError:
            self._forget(socket)
            return False
        return True

    def _next(self) -> Socket:
        """Every connection once a round, in another order each round.

        A fixed order would bring the mentions to one process and the plain messages to the other, for ever.
        """
        self._round = [one for one in self._round if one in self._open]
        if not self._round:
            self._round = self._dice.sample(self._open, len(self._open))
        return self._round.pop()

    async def serve(self, request: web.Request) -> web.WebSocketResponse:
        """Hold one connection until it ends."""
        ticket = request.query.get("ticket", "")
        if ticket not in self._tickets:
            raise web.HTTPForbidden(text="this wss address was used or never issued")
        self._tickets.discard(ticket)
        ws = web.WebSocketResponse(autoping=False)
        await ws.prepare(request)
        self.opened += 1
        socket = Socket(f"socket-{self.opened}", ws, request, self._new_are_deaf, self._new_mute_pongs)
        self._open.append(socket)
        pinger = asyncio.create_task(self._ping(socket))
        try:
            await self._greet(socket)
            await self._listen(socket)
        except ConnectionError:
            pass
        finally:
            pinger.cancel()
            await asyncio.gather(pinger, return_exceptions=True)
            self._forget(socket)
        return ws

    async def close(self) -> None:
        """Close every connection."""
        for socket in self.connections:
            socket.abort()
        self._open.clear()

    async def _greet(self, socket: Socket) -> None:
        info = {"host": "fake-slack", "build_number": 1, "approximate_connection_time": 18060}
        if len(self._open) > _MOST_CONNECTIONS:
            await socket.send({"type": "disconnect", "reason": "too_many_websockets", "debug_info": info})
            return
        hello = {"type": "hello", "num_connections": len(self._open), "debug_info": info}
        await socket.send(hello | {"connection_info": {"app_id": self._world.app_id}})
        self._world.note_change()

    async def _listen(self, socket: Socket) -> None:
        async for frame in socket.ws:
            if frame.type is WSMsgType.PING:
                socket.pings += 1
                if not socket.mute_pongs:
                    await socket.ws.pong(frame.data)
            elif frame.type is WSMsgType.TEXT and not socket.deaf:
                self._take(json.loads(frame.data))

    def _take(self, answer: dict[str, Any]) -> None:
        envelope_id = str(answer.get("envelope_id", ""))
        attempt = self._waiting.get(envelope_id)
        if attempt is None:
            self._violate(f"Socket Mode: an acknowledgement of an unknown envelope {envelope_id!r}")
            return
        # Slack ignores a payload it did not offer to take; Bolt sends one with an event it could not authorize.
        attempt.acknowledge(answer.get("payload"))

    async def _ping(self, socket: Socket) -> None:
        while True:
            await asyncio.sleep(self._ping_every)
            if not socket.mute_pongs:
                await socket.ws.ping(b"fake-slack")

    def _forget(self, socket: Socket) -> None:
        if socket in self._open:
            self._open.remove(socket)
            self._world.note_change()
