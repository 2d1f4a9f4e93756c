"""Connections to Redis: error translation, and checks of durability and memory.

Every store in this package talks to Redis inside ``bounded_call()``, so that no redis exception leaves the package.
Other modules choose the server (a URL, or the embedded one of ``adapters.redis.embedded_server``).
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

SOCKET_TIMEOUT = 5.0  # seconds without a reply; also the deadline of a whole operation including retries
MAX_CONNECTIONS = 64
_PROBES = 32  # keys; the chance that one of three primaries gets none of them is two in a million
FORMS = (
    "It looks like redis://host:6379/0, rediss://… (TLS), unix:///path, "
    "redis+sentinel://host:26379,host:26379/service or redis+cluster://host:6379,host:6379."
)


def connect(url: str, *, max_connections: int = MAX_CONNECTIONS) -> Redis:
    """Return a client with a bounded pool, for every address form that ``adapters.redis.topology`` knows.

    A broken connection is retried three times with backoff, so the client finds a restarted server, a new primary and a
    moved slot by itself. Raises ConfigurationError if the URL is not such an address.
    """
    try:
        return client_for(url, max_connections=max_connections, seconds=SOCKET_TIMEOUT)
    except (ValueError, TypeError, RedisError, RedisClusterException) as error:
        raise ConfigurationError("REDIS_URL is not a Redis address.", remedy=FORMS) from error


def texts(replies: Iterable[Any]) -> list[str]:
    """Return decoded replies as strings; redis-py's types do not say that they are."""
    return [str(reply) for reply in replies]


@asynccontextmanager
async def bounded_call(deadline: float = SOCKET_TIMEOUT) -> AsyncIterator[None]:
    """Limit the block to ``deadline`` seconds and translate every redis exception to StoreUnavailable.

    A cancellation of the task is never lost: redis-py sends through ``asyncio.wait_for``, which before Python
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


# The first match counts. Other ResponseErrors are handled below.
_REFUSALS = (AuthenticationError, NoPermissionError)
_CLUSTER = "Write it as redis+cluster://host:port."
_TOLD: tuple[tuple[type[Exception] | tuple[type[Exception], ...], StoreUnavailable], ...] = (
    (_REFUSALS, StoreRefused("Redis rejected the credentials.", remedy="Check REDIS_URL.")),
    (BusyLoadingError, StoreUnavailable("Redis is still loading its data.", remedy="Try again in a moment.")),
    (MovedError, StoreRefused("This Redis is a Cluster, but REDIS_URL names a single server.", remedy=_CLUSTER)),
    (
        ClusterDownError,
        StoreUnavailable("The Redis Cluster is down.", remedy="It works again as soon as every slot has a primary."),
    ),
    (
        OutOfMemoryError,
        StoreUnavailable(
            "Redis is full and accepts no writes.", remedy="Raise maxmemory, or delete data with footnote forget."
        ),
    ),
    (
        ReadOnlyError,
        StoreUnavailable(
            "This Redis is a replica and accepts no writes.",
            remedy="Set REDIS_URL to its primary, or to Sentinels: redis+sentinel://….",
        ),
    ),
)
_DISK_REFUSES = "MISCONF"  # redis-py has no class for it


def _unavailable(error: Exception) -> StoreUnavailable:
    """Return the error in one line, without the text of connection errors, which may contain a host."""
    for kind, told in _TOLD:
        if isinstance(error, kind):
            return type(told)(told.args[0], remedy=told.remedy)
    if isinstance(error, ResponseError) and _DISK_REFUSES in str(error):
        return StoreUnavailable(
            "Redis cannot write to its disk, so it accepts no writes.",
            remedy="Free space on its disk. Its log shows other problems.",
        )
    if isinstance(error, ResponseError):
        return StoreUnavailable(f"Redis refused a command: {error}")
    if certificate := _certificate_problem(error):
        return StoreRefused(
            f"Redis's certificate is not trusted: {certificate}.",
            remedy="Set the certificate authority: REDIS_URL=rediss://…?ssl_ca_certs=/path/ca.pem.",
        )
    # A server without TLS never answers a TLS handshake, so it looks as if it hangs.
    return StoreUnavailable(
        "Redis does not respond.",
        remedy="Check that Redis runs and that REDIS_URL is right. Use rediss:// only if Redis uses TLS.",
    )


def _certificate_problem(error: BaseException | None) -> str:
    """Return why TLS rejects the server's certificate, from the error's causes; empty if that is not the problem."""
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
    """Durability settings of the server. ``fsync`` is empty if the server does not disclose it."""

    append_only: bool
    fsync: str = ""
    writing: bool = True  # False: its last write to disk failed

    @property
    def is_durable(self) -> bool:
        """Whether acknowledged writes survive a killed server (except about a second's, under ``everysec``)."""
        return self.append_only and self.fsync != "no" and self.writing


async def durability(client: Redis) -> Durability:
    """Return the weakest durability settings of all servers. Raises StoreUnavailable.

    Hosted servers often forbid CONFIG; then only INFO is used.
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
    """Memory use of a server in bytes; ``limit`` 0 means none. ``policy`` is its eviction policy."""

    used: int
    limit: int = 0
    policy: str = ""  # empty if the server does not disclose it

    @property
    def evicts(self) -> bool:
        """Whether it evicts keys when full; keys with a TTL are conversations and leases."""
        return self.limit > 0 and self.policy not in ("", "noeviction")

    @property
    def share(self) -> float:
        """Used share of the limit; 0 without a limit."""
        return self.used / self.limit if self.limit else 0.0


async def memory_use(client: Redis) -> MemoryUse:
    """Return the memory use of the most critical server: one that evicts, or the fullest. Raises StoreUnavailable."""
    async with bounded_call():
        infos = _by_node(await client.info("memory", **_on_primaries(client)))
    servers = [
        MemoryUse(int(info["used_memory"]), int(info.get("maxmemory", 0)), str(info.get("maxmemory_policy", "")))
        for info in infos
    ]
    return max(servers, key=lambda one: (one.evicts, one.share))


async def primaries(client: Redis) -> int:
    """Return the number of servers with data: one, or a Cluster's primaries. Raises StoreUnavailable."""
    async with bounded_call():
        return len(_by_node(await client.info("server", **_on_primaries(client))))


async def probe(client: Redis) -> None:
    """Try a write, a script, a stream with a group and a pipeline on enough keys to reach every primary.

    Raises StoreUnavailable with the refused command, for example for an account without all permissions. Deletes its
    keys.
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
            raise StoreUnavailable("Redis did not return the data that was written to it.")


async def write_probe(client: Redis) -> None:
    """Write one small key. Raises StoreUnavailable if the server is full, read-only or unreachable."""
    async with bounded_call():
        await client.set(tagged_key("probe:write"), "1", ex=60)


def _on_primaries(client: Redis) -> dict[str, Any]:
    return {"target_nodes": RedisCluster.PRIMARIES} if is_cluster(client) else {}


def is_cluster(client: Any) -> bool:
    """Return whether the client talks to a Cluster, although it is typed as ``Redis`` everywhere else."""
    return isinstance(client, RedisCluster)


def _by_node(told: Any) -> list[dict[str, Any]]:
    """Return each server's reply as a list; a single server's reply is not keyed by node."""
    nodes = [value for value in told.values() if isinstance(value, dict)]
    return nodes if nodes and len(nodes) == len(told) else [told]
