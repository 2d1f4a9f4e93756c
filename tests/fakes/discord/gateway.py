"""The WebSocket side: hello, identify, heartbeats, sessions that can be resumed, and dispatching events.

Events are numbered and kept for each session, so that a resumed one is sent what it missed, and on demand what it
has already seen. What the events say is left to those who dispatch them.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import zlib
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from aiohttp import WSMsgType, web

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.fakes.discord.world import Changes, World

Json = dict[str, Any]

DISPATCH, HEARTBEAT, IDENTIFY, RESUME, RECONNECT, REQUEST_MEMBERS, INVALID_SESSION, HELLO, HEARTBEAT_ACK = (
    0, 1, 2, 6, 7, 8, 9, 10, 11,
)  # fmt: skip
NOT_AUTHENTICATED, BAD_TOKEN, ALREADY_IDENTIFIED, BAD_SEQUENCE, DISALLOWED_INTENTS = 4003, 4004, 4005, 4007, 4014
REMEMBERED_EVENTS = 5_000

GUILDS, GUILD_MEMBERS, PRESENCES, MESSAGE_CONTENT = 1 << 0, 1 << 1, 1 << 8, 1 << 15
PRIVILEGED = {"members": GUILD_MEMBERS, "presences": PRESENCES, "message_content": MESSAGE_CONTENT}
# Event name prefix -> the intent that lets it through in the server, and in a direct message.
INTENTS = {
    "MESSAGE_REACTION": (1 << 10, 1 << 13),
    "MESSAGE": (1 << 9, 1 << 12),
    "TYPING": (1 << 11, 1 << 14),
    "GUILD_MEMBER_": (GUILD_MEMBERS, GUILD_MEMBERS),
    "GUILD": (GUILDS, GUILDS),
    "CHANNEL": (GUILDS, 0),
    "THREAD": (GUILDS, GUILDS),
}


class Connection:
    """One open socket. ``zlib-stream`` is one deflate stream for the socket's life, flushed after each payload."""

    def __init__(self, socket: web.WebSocketResponse, request: web.Request) -> None:
        self.socket = socket
        self.transport = request.transport
        self.path = request.path
        self.lock = asyncio.Lock()
        self.session: Session | None = None
        self._deflate = zlib.compressobj() if request.query.get("compress") == "zlib-stream" else None

    @property
    def open(self) -> bool:
        return not self.socket.closed

    async def write(self, payload: Json) -> None:
        """Sends without taking the lock. A socket that is gone loses nothing: the session remembers."""
        text = json.dumps({"op": DISPATCH, "d": None, "s": None, "t": None} | payload)
        with suppress(ConnectionError):
            if self._deflate is None:
                await self.socket.send_str(text)
            else:
                packed = self._deflate.compress(text.encode()) + self._deflate.flush(zlib.Z_SYNC_FLUSH)
                await self.socket.send_bytes(packed)

    async def send(self, payload: Json) -> None:
        async with self.lock:
            if self.open:
                await self.write(payload)


@dataclass(eq=False)
class Session:
    """What a client may come back to after its socket was lost."""

    id: str
    intents: int
    sequence: int = 0
    log: deque[Json] = field(default_factory=lambda: deque(maxlen=REMEMBERED_EVENTS))
    connection: Connection | None = None

    def numbered(self, event: str, data: Any) -> Json:
        self.sequence += 1
        frame = {"s": self.sequence, "t": event, "d": data}
        self.log.append(frame)
        return frame

    def wants(self, event: str, *, direct: bool) -> bool:
        for prefix, intents in INTENTS.items():
            if event.startswith(prefix):
                return not intents[direct] or bool(self.intents & intents[direct])
        return True

    @property
    def live(self) -> bool:
        return self.connection is not None and self.connection.open


class Gateway:
    """Every session of the one application, and the ways in which its connection can go wrong."""

    def __init__(self, world: World, *, token: str, heartbeat_seconds: float) -> None:
        self.world = world
        self.changes: Changes = world.changes
        self.token = token
        self.heartbeat_seconds = heartbeat_seconds
        self.resume_url = ""
        self.disallowed = 0
        self.sessions: dict[str, Session] = {}
        self.connections: list[Connection] = []
        self.identified: list[Json] = []
        self.heartbeats = 0
        self.resumes = 0
        self.acknowledges = True
        self.replay_seen = 0
        self.refuses = 0  # so many more connections are answered with 503
        self.refused = 0
        self.starts_left = 1_000
        self.introduces = True  # whether the server is there
        self._unannounced: list[tuple[str, Json]] = []

    async def serve(self, request: web.Request) -> web.WebSocketResponse:
        if self.refuses:
            self.refuses -= 1
            self.refused += 1
            self.changes.notify()
            raise web.HTTPServiceUnavailable
        socket = web.WebSocketResponse(timeout=0.5, max_msg_size=0)
        await socket.prepare(request)
        connection = Connection(socket, request)
        self.connections.append(connection)
        await connection.send({"op": HELLO, "d": {"heartbeat_interval": int(self.heartbeat_seconds * 1000)}})
        try:
            async for message in socket:
                if message.type is WSMsgType.TEXT:
                    await self._receive(connection, json.loads(message.data))
        finally:
            self._gone(connection)
        return socket

    def _gone(self, connection: Connection) -> None:
        self.connections.remove(connection)
        session = connection.session
        if session is not None and session.connection is connection:
            session.connection = None
            # A client that says goodbye with 1000 or 1001 cannot resume.
            if connection.socket.close_code in (1000, 1001):
                self.sessions.pop(session.id, None)
        self.changes.notify()

    async def _receive(self, connection: Connection, payload: Json) -> None:
        operation: int = payload["op"]
        data: Any = payload.get("d")
        if operation == HEARTBEAT:
            self.heartbeats += 1
            if self.acknowledges:
                await connection.send({"op": HEARTBEAT_ACK})
        elif operation == IDENTIFY:
            await self._identify(connection, data)
        elif operation == RESUME:
            await self._resume(connection, data)
        elif connection.session is None:
            await connection.socket.close(code=NOT_AUTHENTICATED, message=b"Not authenticated.")
        elif operation == REQUEST_MEMBERS:
            await self._members(connection.session, data)

    async def _identify(self, connection: Connection, data: Json) -> None:
        self.identified.append(data)
        self.starts_left -= 1
        self.changes.notify()
        if data["token"] != self.token:
            await connection.socket.close(code=BAD_TOKEN, message=b"Authentication failed.")
        elif connection.session is not None:
            await connection.socket.close(code=ALREADY_IDENTIFIED, message=b"Already authenticated.")
        elif data["intents"] & self.disallowed:
            await connection.socket.close(code=DISALLOWED_INTENTS, message=b"Disallowed intent(s).")
        else:
            session = Session(secrets.token_hex(16), data["intents"])
            self.sessions[session.id] = session
            frames = [session.numbered("READY", self._ready(session))]
            if self.introduces:
                frames.append(session.numbered("GUILD_CREATE", self.world.guild_create()))
            await self._attach(connection, session, frames)

    async def introduce(self) -> None:
        """The server is there again."""
        self.introduces = True
        await self.dispatch("GUILD_CREATE", self.world.guild_create())

    def _ready(self, session: Session) -> Json:
        return {
            "v": 10,
            "user": self.world.bot.user() | {"verified": True, "mfa_enabled": False, "email": None},
            "guilds": [{"id": str(self.world.guild_id), "unavailable": True}],
            "session_id": session.id,
            "resume_gateway_url": self.resume_url,
            "application": {"id": str(self.world.application_id), "flags": application_flags(self.disallowed)},
            "shard": [0, 1],
        }

    async def _resume(self, connection: Connection, data: Json) -> None:
        session = self.sessions.get(data["session_id"])
        if data["token"] != self.token:
            await connection.socket.close(code=BAD_TOKEN, message=b"Authentication failed.")
        elif session is None:
            await connection.send({"op": INVALID_SESSION, "d": False})
        elif data["seq"] > session.sequence:
            await connection.socket.close(code=BAD_SEQUENCE, message=b"Invalid seq.")
        else:
            since = data["seq"] - self.replay_seen
            self.replay_seen = 0
            self.resumes += 1
            missed = [frame for frame in session.log if frame["s"] > since and frame["t"] != "READY"]
            await self._attach(connection, session, [*missed, session.numbered("RESUMED", {})])

    async def _attach(self, connection: Connection, session: Session, frames: list[Json]) -> None:
        """Later events queue behind these, since the lock is taken before anything is awaited."""
        connection.session = session
        session.connection = connection
        async with connection.lock:
            for frame in frames:
                await connection.write(frame)
        self.changes.notify()

    async def _members(self, session: Session, data: Json) -> None:
        wanted = {int(user) for user in _listed(data.get("user_ids"))}
        query, limit = (data.get("query") or "").lower(), data.get("limit") or len(self.world.members)
        members = [
            member.payload()
            for member in self.world.members.values()
            if (member.id in wanted if wanted else member.name.lower().startswith(query))
        ]
        chunk: Json = {"guild_id": str(self.world.guild_id), "members": members[:limit]}
        chunk |= {"chunk_index": 0, "chunk_count": 1, "not_found": []}
        if data.get("nonce"):
            chunk["nonce"] = data["nonce"]
        await self._emit(session, "GUILD_MEMBERS_CHUNK", chunk)

    def announce(self, event: str, data: Json) -> None:
        """Queues an event that needs no promptness (a new role, a new member): it goes ahead of the next one."""
        if self.sessions:
            self._unannounced.append((event, data | {"guild_id": str(self.world.guild_id)}))

    async def dispatch(self, event: str, data: Json, *, redacted: Json | None = None, direct: bool = False) -> None:
        """Sends an event to every session whose intents let it through, or keeps it for its resumption.

        ``redacted`` is what a session without the message content intent is given instead.
        """
        while self._unannounced:
            earlier, about = self._unannounced.pop(0)
            await self.dispatch(earlier, about)
        for session in list(self.sessions.values()):
            if session.wants(event, direct=direct):
                hidden = redacted is not None and not session.intents & MESSAGE_CONTENT
                await self._emit(session, event, redacted if hidden else data)

    async def _emit(self, session: Session, event: str, data: Any) -> None:
        frame = session.numbered(event, data)
        if session.connection is not None:
            await session.connection.send(frame)

    async def _each(self, action: Callable[[Connection], Any]) -> None:
        for connection in list(self.connections):
            await action(connection)

    async def drop(self, code: int | None = None) -> None:
        """Loses every socket: without a goodbye, or with a close code."""
        if code is not None:
            await self._each(lambda connection: connection.socket.close(code=code))
            return
        for connection in list(self.connections):
            if connection.transport is not None:
                connection.transport.abort()

    async def reconnect(self) -> None:
        """Asks the client to come back and resume (op 7)."""
        await self._each(lambda connection: connection.send({"op": RECONNECT}))

    async def invalidate(self, *, resumable: bool) -> None:
        """Declares the session invalid (op 9). One that is not resumable is forgotten."""
        if not resumable:
            self.sessions.clear()
        await self._each(lambda connection: connection.send({"op": INVALID_SESSION, "d": resumable}))

    def forget_sessions(self) -> None:
        """The next resumption is answered with an invalid session, as after a long absence."""
        self.sessions.clear()

    async def close(self) -> None:
        await self._each(lambda connection: connection.socket.close(code=1001, message=b"Going away."))


def application_flags(disallowed: int) -> int:
    """Which privileged intents the developer portal shows as switched on (the limited variants)."""
    flags = {PRESENCES: 1 << 13, GUILD_MEMBERS: 1 << 15, MESSAGE_CONTENT: 1 << 19}
    return sum(flag for intent, flag in flags.items() if not intent & disallowed)


def _listed(value: Any) -> list[Any]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]
