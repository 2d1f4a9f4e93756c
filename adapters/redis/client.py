"""The one road to Redis: how it is connected to, what a failure becomes, and whether what is written there lasts.

Every store in this package talks to Redis inside ``bounded_call()``, so that no redis exception leaves the package.
Which server it is (a URL, or the embedded one of ``adapters.redis.embedded_server``) is decided elsewhere.
"""

import asyncio
import ssl
import uuid
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from redis.asyncio import Redis, RedisCluster
from redis.exceptions import (
    AuthenticationError,
    BusyLoadingError,
    ClusterDownError,
    MovedError,
    NoPermissionError,
    OutOfMemoryError,
    ReadOnlyError,
    RedisClusterException,
    RedisError,
    ResponseError,
)

from adapters.redis.keys import tagged_key
from adapters.redis.topology import client_for
from core.model.errors import ConfigurationError, StoreRefused, StoreUnavailable

SOCKET_TIMEOUT = 5.0  # seconds without a reply; also the deadline of one whole operation, its retries included
MAX_CONNECTIONS = 64
_PROBES = 32  # keys: of three primaries none has none of them, but for two times in a million
FORMS = (
    "It looks like redis://host:6379/0, rediss://… (TLS), unix:///path, "
    "redis+sentinel://host:26379,host:26379/service or redis+cluster://host:6379,host:6379."
)


def connect(url: str, *, max_connections: int = MAX_CONNECTIONS) -> Redis:
    """Return a client with a bounded pool, for every address that ``adapters.redis.topology`` knows.

    A broken connection is retried three times with a growing pause, so a restarted server is found again without
    anybody's help, as are a new primary and a slot that has moved. Raises ConfigurationError when the URL is no such
    address.
    """
    try:
        return client_for(url, max_connections=max_connections, seconds=SOCKET_TIMEOUT)
    except (ValueError, TypeError, RedisError, RedisClusterException) as error:
        raise ConfigurationError("REDIS_URL is not a Redis address.", remedy=FORMS) from error


def texts(replies: Iterable[Any]) -> list[str]:
    """Type replies as the text that they are, since the pool decodes them; redis-py leaves it open."""
    return [str(reply) for reply in replies]


@asynccontextmanager
async def bounded_call(deadline: float = SOCKET_TIMEOUT) -> AsyncIterator[None]:
    """Bounds everything inside by ``deadline`` seconds, and turns every redis exception into StoreUnavailable.

    A cancellation of the task is never lost in here: redis-py sends through ``asyncio.wait_for``, which before Python
    3.12 swallows one that arrives as the sending ends (https://github.com/python/cpython/issues/86296).
    """
    task = asyncio.current_task()
    cancelled_before = task.cancelling() if task else 0
    try:
        async with asyncio.timeout(deadline):
            yield
    except (
        RedisError,
        RedisClusterException,
        OSError,
    ) as error:  # the built-in TimeoutError of asyncio.timeout is an OSError
        raise _unavailable(error) from error
    if task and task.cancelling() > cancelled_before:
        raise asyncio.CancelledError


# In this order: what a later class is told of is a kind of what an earlier one is not.
_REFUSALS = (AuthenticationError, NoPermissionError)
_CLUSTER = "Write it as redis+cluster://host:port."
_TOLD: tuple[tuple[type[Exception] | tuple[type[Exception], ...], StoreUnavailable], ...] = (
    (_REFUSALS, StoreRefused("Redis refuses our credentials.", remedy="Check REDIS_URL.")),
    (BusyLoadingError, StoreUnavailable("Redis is still loading its data.", remedy="Try again in a moment.")),
    (MovedError, StoreRefused("This Redis is a Cluster, and REDIS_URL names one server.", remedy=_CLUSTER)),
    (
        ClusterDownError,
        StoreUnavailable("The Redis Cluster is down.", remedy="It answers when every slot has a primary again."),
    ),
    (
        OutOfMemoryError,
        StoreUnavailable(
            "Redis is full and takes no writes.", remedy="Raise its maxmemory, or make room with footnote forget."
        ),
    ),
    (
        ReadOnlyError,
        StoreUnavailable(
            "This Redis is a replica and takes no writes.",
            remedy="Name its primary in REDIS_URL, or Sentinels, which know it: redis+sentinel://….",
        ),
    ),
)
_DISK_REFUSES = "MISCONF"  # of which redis-py makes no class


def _unavailable(error: Exception) -> StoreUnavailable:
    """Return the error in one line. The text of connection errors is left out: it says no more, and may name a host."""
    for kind, told in _TOLD:
        if isinstance(error, kind):
            return type(told)(told.args[0], remedy=told.remedy)
    if isinstance(error, ResponseError) and _DISK_REFUSES in str(error):
        return StoreUnavailable(
            "Redis cannot write to its disk, and takes no writes.",
            remedy="Make room on the disk of its data; its log shows other problems.",
        )
    if isinstance(error, ResponseError):
        return StoreUnavailable(f"Redis refused a command: {error}")
    if certificate := _certificate_problem(error):
        return StoreRefused(
            f"Redis's certificate is not accepted: {certificate}.",
            remedy="Name the authority that signed it: REDIS_URL=rediss://…?ssl_ca_certs=/path/ca.pem.",
        )
    # One without TLS, asked with it, waits for the end of a line and says nothing: it looks like one that hangs.
    return StoreUnavailable(
        "Redis does not answer.",
        remedy="Check that it runs and that REDIS_URL names it, as rediss:// only where it speaks TLS.",
    )


def _certificate_problem(error: BaseException | None) -> str:
    """Return why TLS refuses the server's certificate, found in the causes of the error; empty if it does not."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        if isinstance(error, ssl.SSLCertVerificationError):
            return error.verify_message or "it cannot be verified"
        if "CERTIFICATE_VERIFY_FAILED" in str(error):
            return str(error).partition("CERTIFICATE_VERIFY_FAILED]")[2].partition("(")[0].strip(" :.")
        error = error.__cause__ or error.__context__
    return ""


@dataclass(frozen=True, slots=True)
class Durability:
    """What the server does with what it is told. ``fsync`` is empty where the server will not say."""

    append_only: bool
    fsync: str = ""
    writing: bool = True  # False: its last write to disk failed

    @property
    def is_durable(self) -> bool:
        """Whether acknowledged writes survive a killed server (all but about a second's, under ``everysec``)."""
        return self.append_only and self.fsync != "no" and self.writing


async def durability(client: Redis) -> Durability:
    """Whether the append-only file is on, as the servers say: the weakest of them counts. Raises StoreUnavailable.

    Hosted servers often forbid CONFIG; then only what INFO tells is known.
    """
    async with bounded_call():
        infos = _by_node(await client.info("persistence", **_on_primaries(client)))
        try:
            told = _by_node(await client.config_get("appendfsync", **_on_primaries(client)))
        except ResponseError:
            told = []
    syncs = {str(one.get("appendfsync", "")) for one in told}
    return Durability(
        append_only=all(int(info.get("aof_enabled", 0)) for info in infos),
        fsync="no" if "no" in syncs else ", ".join(sorted(syncs - {""})),
        writing=all(info.get("aof_last_write_status", "ok") == "ok" for info in infos),
    )


@dataclass(frozen=True, slots=True)
class MemoryUse:
    """How full a server is, in bytes; ``limit`` 0 where it has none. ``policy`` is what it does when it is full."""

    used: int
    limit: int = 0
    policy: str = ""  # empty where the server will not say

    @property
    def evicts(self) -> bool:
        """Whether it forgets keys when it is full; those that run out by themselves are conversations and leases."""
        return self.limit > 0 and self.policy not in ("", "noeviction")

    @property
    def share(self) -> float:
        """How much of its limit is used; 0 where it has none."""
        return self.used / self.limit if self.limit else 0.0


async def memory_use(client: Redis) -> MemoryUse:
    """Of the server that needs to be looked at first: one that evicts, else the fullest. Raises StoreUnavailable."""
    async with bounded_call():
        infos = _by_node(await client.info("memory", **_on_primaries(client)))
    servers = [
        MemoryUse(int(info["used_memory"]), int(info.get("maxmemory", 0)), str(info.get("maxmemory_policy", "")))
        for info in infos
    ]
    return max(servers, key=lambda one: (one.evicts, one.share))


async def primaries(client: Redis) -> int:
    """How many servers hold the data: one, or a Cluster's primaries. Raises StoreUnavailable."""
    async with bounded_call():
        return len(_by_node(await client.info("server", **_on_primaries(client))))


async def probe(client: Redis) -> None:
    """Try a write, a script, a stream with a group and a pipeline on enough keys to reach every primary.

    Raises StoreUnavailable with what is refused, as for an account that may not do all of it. Leaves nothing.
    """
    for number in range(_PROBES):
        key = tagged_key(f"probe:{uuid.uuid4().hex}", str(number))
        stream = f"{key}:stream"
        async with bounded_call():
            try:
                await client.set(key, "1", ex=60)
                written = await client.eval("return redis.call('GET', KEYS[1])", 1, key)
                await client.xgroup_create(stream, "probe", id="0", mkstream=True)
                await client.xadd(stream, {"n": "1"})
                read = await client.xreadgroup("probe", "probe", {stream: ">"}, count=1)
                async with client.pipeline(transaction=True) as pipe:
                    pipe.get(key)
                    pipe.xlen(stream)
                    piped = await pipe.execute()
            finally:
                await client.delete(key, stream)
        if written != "1" or not read or piped != ["1", 1]:
            raise StoreUnavailable("Redis does not return what was written to it.")


async def write_probe(client: Redis) -> None:
    """Write one small key. Raises StoreUnavailable where the server is full, read-only or away."""
    async with bounded_call():
        await client.set(tagged_key("probe:write"), "1", ex=60)


def _on_primaries(client: Redis) -> dict[str, Any]:
    return {"target_nodes": RedisCluster.PRIMARIES} if is_cluster(client) else {}


def is_cluster(client: Any) -> bool:
    """Whether this client speaks to a Cluster; it goes by the type of the other one everywhere else."""
    return isinstance(client, RedisCluster)


def _by_node(told: Any) -> list[dict[str, Any]]:
    """Return what each server said; a single one's reply stands alone."""
    nodes = [value for value in told.values() if isinstance(value, dict)]
    return nodes if nodes and len(nodes) == len(told) else [told]
