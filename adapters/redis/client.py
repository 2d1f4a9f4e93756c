"""The one road to Redis: how it is connected to, what a failure becomes, and whether what is written there lasts.

Every store in this package talks to Redis inside ``reaching()``, so that no redis exception leaves the package. Which
server it is (a URL, or the embedded one of ``adapters.redis.embedded_server``) is decided elsewhere.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import ExponentialBackoff
from redis.exceptions import AuthenticationError, BusyLoadingError, NoPermissionError, RedisError, ResponseError
from redis.exceptions import ConnectionError as RedisConnectionError

from adapters.redis.pipelining import PipeliningRedis
from core.model.errors import ConfigurationError, StoreUnavailable

CONNECT_TIMEOUT = 3.0  # seconds
SOCKET_TIMEOUT = 5.0  # seconds without a reply; also the deadline of one whole operation, its retries included
MAX_CONNECTIONS = 64
_RETRIES = 3  # of refused or broken connections; a server that hangs is not asked again


def connect(url: str, *, max_connections: int = MAX_CONNECTIONS) -> Redis:
    """A client with a bounded pool, for ``redis://``, ``rediss://`` or ``unix://`` URLs. Connects on first use.

    A broken connection is retried three times with a growing pause, so a restarted server is found again without
    anybody's help. Raises ConfigurationError when the URL is none of these.
    """
    try:
        pool = BlockingConnectionPool.from_url(
            url,
            max_connections=max_connections,
            timeout=SOCKET_TIMEOUT,
            socket_timeout=None,  # each operation has its deadline in ``reaching``; with one here every send is a task
            socket_connect_timeout=CONNECT_TIMEOUT,
            decode_responses=True,
            retry=Retry(ExponentialBackoff(cap=0.4, base=0.05), _RETRIES, supported_errors=(RedisConnectionError,)),
        )
    except ValueError as error:
        raise ConfigurationError(
            "REDIS_URL is not a Redis address.", remedy="It looks like redis://host:6379/0, rediss://… or unix:///path."
        ) from error
    return PipeliningRedis.from_pool(pool)


def texts(replies: Iterable[Any]) -> list[str]:
    """Replies as what they are: text, since the pool decodes them. redis-py's types leave it open."""
    return [str(reply) for reply in replies]


@asynccontextmanager
async def reaching(deadline: float = SOCKET_TIMEOUT) -> AsyncIterator[None]:
    """Bounds everything inside by ``deadline`` seconds, and turns every redis exception into StoreUnavailable.

    A cancellation of the task is never lost in here: redis-py sends through ``asyncio.wait_for``, which before Python
    3.12 swallows one that arrives as the sending ends (https://github.com/python/cpython/issues/86296).
    """
    task = asyncio.current_task()
    cancelled_before = task.cancelling() if task else 0
    try:
        async with asyncio.timeout(deadline):
            yield
    except (RedisError, OSError) as error:  # the built-in TimeoutError of asyncio.timeout is an OSError
        raise _unavailable(error) from error
    if task and task.cancelling() > cancelled_before:
        raise asyncio.CancelledError


def _unavailable(error: Exception) -> StoreUnavailable:
    """The error in one line. The text of connection errors is left out: it says no more, and may name a host."""
    if isinstance(error, AuthenticationError | NoPermissionError):
        return StoreUnavailable("Redis refuses our credentials.", remedy="Check REDIS_URL.")
    if isinstance(error, BusyLoadingError):
        return StoreUnavailable("Redis is still loading its data.", remedy="Try again in a moment.")
    if isinstance(error, ResponseError):
        return StoreUnavailable(f"Redis refused a command: {error}")
    return StoreUnavailable("Redis does not answer.", remedy="Check that it runs and that REDIS_URL names it.")


@dataclass(frozen=True, slots=True)
class Durability:
    """What the server does with what it is told. ``fsync`` is empty where the server will not say."""

    append_only: bool
    fsync: str = ""
    writing: bool = True  # False: its last write to disk failed

    @property
    def lasting(self) -> bool:
        """Whether acknowledged writes survive a killed server (all but about a second's, under ``everysec``)."""
        return self.append_only and self.fsync != "no" and self.writing


async def durability(client: Redis) -> Durability:
    """Whether the append-only file is on, as the server says. Raises StoreUnavailable.

    Hosted servers often forbid CONFIG; then only what INFO tells is known.
    """
    async with reaching():
        info = await client.info("persistence")
        try:
            fsync = str((await client.config_get("appendfsync")).get("appendfsync", ""))
        except ResponseError:
            fsync = ""
    return Durability(
        append_only=bool(int(info.get("aof_enabled", 0))),
        fsync=fsync,
        writing=info.get("aof_last_write_status", "ok") == "ok",
    )
