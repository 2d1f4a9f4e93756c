"""Commands of the same moment in one round trip to Redis.

An answer costs some thirty commands. Sent one by one, each costs the event loop a connection from the pool, a write, a
read and the timers around them: 75 microseconds and more, and with fifty answers at once a wait for its turn. Commands
that are ready in the same turn of the loop, or while others are on their way, cost a third of that together.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Sequence
from typing import Any, cast

from redis.asyncio import Connection, Redis
from redis.client import NEVER_DECODE
from redis.exceptions import RedisError, ResponseError

Command = tuple[Any, ...]

MOST_AT_ONCE = 512  # commands in one round trip
ROUND_TRIP_SECONDS = 5.0
SLOW_SECONDS = 0.05  # what is on its way for longer is not waited for: what has come since goes beside it
MOST_BESIDE = 8
# Commands that wait on the server would make all others wait, so they go alone on a connection of their own.
_WAITING = frozenset({"XREADGROUP", "XREAD", "BLPOP", "BRPOP", "BLMOVE", "BLMPOP", "BZPOPMIN", "BZPOPMAX", "BZMPOP"})
_ALONE = _WAITING | {"WAIT", "WAITAOF", "SHUTDOWN"}


def lua(script: str, keys: Sequence[str], *args: Any) -> Command:
    """A script with its text, which no server can have forgotten, so that it may stand anywhere in an order."""
    return ("EVAL", script, len(keys), *keys, *args)


async def in_order(client: Redis, *commands: Command) -> list[Any]:
    """Have these carried out one after the other, in one round trip where the client can; the replies as they come.

    Raises the first failure when all are answered. What one refused command says about itself does not keep the next
    from being carried out, and any may be carried out again when the connection breaks.
    """
    if isinstance(client, PipeliningRedis):
        return await client.together(commands) if commands else []
    return [await client.execute_command(*command) for command in commands]  # type: ignore[no-untyped-call]


class _SentCommand:
    """A command on its way, in the place of a connection from which its reply is read."""

    def __init__(self, command: Command, reply: "asyncio.Future[Any]") -> None:
        self.command = command
        self.reply = reply

    async def read_response(self) -> Any:
        return await self.reply

    def answer(self, reply: object) -> None:
        if self.reply.done():
            return  # whoever asked has gone
        if isinstance(reply, Exception):
            self.reply.set_exception(reply)
        else:
            self.reply.set_result(reply)


class PipeliningRedis(Redis):
    """A client whose commands share round trips. Belongs to one event loop.

    As with one command alone, a broken connection is tried again by the pool's own rule, with what has no reply yet;
    and what a cancelled caller had sent may have been carried out, unless it had not left yet.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._queue: deque[Sequence[_SentCommand]] = deque()  # each item stays together
        self._trips: set[asyncio.Task[None]] = set()
        self._departed = 0.0
        self._looking: asyncio.TimerHandle | None = None

    async def execute_command(self, *args: Any, **options: Any) -> Any:
        """One command and its reply. Raises what redis raises."""
        if args[0] in _ALONE or NEVER_DECODE in options:
            return await super().execute_command(*args, **options)  # type: ignore[no-untyped-call]
        (sent,) = self._send([args])
        return await self.parse_response(cast("Connection", sent), args[0], **options)

    async def together(self, commands: Sequence[Command]) -> list[Any]:
        """See ``in_order``."""
        sent = self._send(commands)
        try:
            await asyncio.wait([one.reply for one in sent])
        except asyncio.CancelledError:
            for one in sent:
                one.reply.cancel()
            raise
        return [one.reply.result() for one in sent]

    async def aclose(self, *args: Any, **options: Any) -> None:
        """Close the connections; what is still on its way is given up."""
        if self._looking is not None:
            self._looking.cancel()
        trips = list(self._trips)
        for trip in trips:
            trip.cancel()
        await asyncio.gather(*trips, return_exceptions=True)
        while self._queue:
            for sent in self._queue.popleft():
                sent.reply.cancel()
        await super().aclose(*args, **options)

    def _send(self, commands: Sequence[Command]) -> Sequence[_SentCommand]:
        loop = asyncio.get_running_loop()
        sent = [_SentCommand(command, loop.create_future()) for command in commands]
        self._queue.append(sent)
        if not self._trips:
            self._depart()
        elif self._looking is None:
            self._looking = loop.call_later(SLOW_SECONDS, self._look)
        return sent

    def _depart(self) -> None:
        """Begin in the loop's next turn, when whoever else is ready in this one has sent too."""
        loop = asyncio.get_running_loop()
        self._departed = loop.time()
        self._trips.add(loop.create_task(self._travel()))

    def _look(self) -> None:
        """Whoever waits behind a slow trip gets one beside it."""
        self._looking, loop = None, asyncio.get_running_loop()
        if not self._queue:
            return
        if loop.time() - self._departed >= SLOW_SECONDS and len(self._trips) < MOST_BESIDE:
            self._depart()
        else:
            self._looking = loop.call_later(SLOW_SECONDS, self._look)

    async def _travel(self) -> None:
        """Round trips until nothing waits."""
        try:
            await self._carry_all()
        finally:
            # Here, not in a callback when it is done: what is sent between the two would wait for a trip that is over.
            self._trips.discard(cast("asyncio.Task[None]", asyncio.current_task()))

    async def _carry_all(self) -> None:
        while self._queue:
            self._departed = asyncio.get_running_loop().time()
            load: deque[_SentCommand] = deque()
            while self._queue and len(load) < MOST_AT_ONCE:
                load.extend(sent for sent in self._queue.popleft() if not sent.reply.cancelled())
            if not load:
                continue
            try:
                await self._carry_out(load)
            except Exception as error:  # noqa: BLE001 - whatever it is, those who wait for a reply hear of it
                for sent in load:
                    sent.answer(error)
            finally:
                for sent in load:
                    sent.reply.cancel()  # a cancelled trip; else all of them have their replies

    async def _carry_out(self, load: deque[_SentCommand]) -> None:
        connection: Any = await self.connection_pool.get_connection()  # type: ignore[no-untyped-call]
        try:
            await connection.retry.call_with_retry(
                lambda: _round_trip(connection, load), lambda _: connection.disconnect(nowait=True)
            )
        finally:
            await self.connection_pool.release(connection)


async def _round_trip(connection: Any, load: deque[_SentCommand]) -> None:
    """Send all, and take each away that has its reply."""
    try:
        async with asyncio.timeout(ROUND_TRIP_SECONDS):
            await connection.send_packed_command(_pack(connection, load), check_health=False)
            while load:
                load[0].answer(await _reply(connection.read_response()))
                load.popleft()
    finally:
        if load:  # the replies that are still to come would be taken for those of the next
            await connection.disconnect(nowait=True)


def _pack(connection: Any, load: deque[_SentCommand]) -> list[bytes]:
    packed: list[bytes] = []
    for sent in list(load):
        try:
            packed += connection.pack_command(*sent.command)
        except RedisError as error:  # an argument that redis does not know how to write
            sent.answer(error)
            load.remove(sent)
    return packed


async def _reply(reading: Awaitable[Any]) -> Any:
    try:
        return await reading
    except ResponseError as error:  # one command's own
        return error
