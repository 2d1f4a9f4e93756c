"""Pipelines: several commands in one round trip to Redis, including scripts with their text.

An answer takes about thirty commands. Each separate command costs the event loop a pooled connection, a write, a read
and timers, so a store sends the commands of one operation together.
"""

from collections.abc import Sequence
from typing import Any

from redis.asyncio import Redis, RedisCluster

Command = tuple[Any, ...]


def lua(script: str, keys: Sequence[str], *args: Any) -> Command:
    """Return an EVAL command with the script's text, which works at any position because no server caches it."""
    return ("EVAL", script, len(keys), *keys, *args)


async def in_order(client: Redis | RedisCluster, *commands: Command) -> list[Any]:
    """Run commands in order, in one round trip if one server has all keys; return their replies.

    Raises the first error after all replies, without the command's text. A failed command does not stop the next ones,
    and any command may run again after a broken connection. In a Cluster the keys may be on several servers, which have
    no common order, so each command waits for the previous one.
    """
    if isinstance(client, RedisCluster) or len(commands) == 1:
        return [await client.execute_command(*command) for command in commands]
    async with client.pipeline(transaction=False) as pipe:
        for command in commands:
            pipe.execute_command(*command)
        # redis-py would put the whole command with its data into the error message.
        replies: list[Any] = await pipe.execute(raise_on_error=False)
    for reply in replies:
        if isinstance(reply, Exception):
            raise reply
    return replies
