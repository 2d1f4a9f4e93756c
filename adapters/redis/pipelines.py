"""Commands that belong together in one round trip to Redis: redis-py's pipelines, and scripts with their text.

An answer costs some thirty commands. Sent one by one, each costs the event loop a connection from the pool, a write, a
read and the timers around them, so a store sends what belongs to one of its operations together.
"""

from collections.abc import Sequence
from typing import Any

from redis.asyncio import Redis, RedisCluster

Command = tuple[Any, ...]


def lua(script: str, keys: Sequence[str], *args: Any) -> Command:
    """Return a script with its text, which no server can have forgotten, so that it may stand anywhere in an order."""
    return ("EVAL", script, len(keys), *keys, *args)


async def in_order(client: Redis | RedisCluster, *commands: Command) -> list[Any]:
    """Have these carried out one after the other, in one round trip where one server has all keys; their replies.

    Raises the first failure when all are answered, without the text of the command. What one refused command says about
    itself does not keep the next from being carried out, and any may be carried out again when the connection breaks.
    In a Cluster the keys may belong to several servers, which keep no order among each other: there each waits for the
    one before.
    """
    if isinstance(client, RedisCluster) or len(commands) == 1:
        return [await client.execute_command(*command) for command in commands]
    async with client.pipeline(transaction=False) as pipe:
        for command in commands:
            pipe.execute_command(*command)
        # Not raised by redis-py, which would write the command with all that it holds into the error.
        replies: list[Any] = await pipe.execute(raise_on_error=False)
    for reply in replies:
        if isinstance(reply, Exception):
            raise reply
    return replies
