"""Connections to Redis: address forms, error translation, and checks of durability and memory.

Every store in this package talks to Redis inside ``bounded_call()``, so that no redis exception leaves the package. An
address names one server, a primary through its Sentinels, or a Cluster; each with or without TLS:

    redis://[user:password@]host:6379/0             rediss:// with TLS, unix:///path
    redis+sentinel://[user:password@]host:26379,host:26379/SERVICE   rediss+sentinel://
    redis+cluster://[user:password@]host:6379,host:6379              rediss+cluster://

Query parameters go to redis-py unchanged: ``ssl_ca_certs=/path/ca.pem`` and, for Sentinels with their own password,
``sentinel_username`` and ``sentinel_password``.
"""

import asyncio
import ssl
import uuid
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

from redis.asyncio import BlockingConnectionPool, Redis, RedisCluster, Sentinel
from redis.asyncio.cluster import ClusterNode
from redis.asyncio.connection import parse_url
from redis.asyncio.retry import Retry
from redis.asyncio.sentinel import SentinelConnectionPool
from redis.backoff import ExponentialBackoff
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
from redis.exceptions import ConnectionError as RedisConnectionError

from adapters.redis.keys import tagged_key
from core.model.errors import ConfigurationError, StoreRefused, StoreUnavailable

SOCKET_TIMEOUT = 5.0  # seconds without a reply; also the deadline of a whole operation including retries
MAX_CONNECTIONS = 64
_PROBES = 32  # keys; the chance that one of three primaries gets none of them is two in a million
FORMS = (
    "It looks like redis://host:6379/0, rediss://… (TLS), unix:///path, "
    "redis+sentinel://host:26379,host:26379/service or redis+cluster://host:6379,host:6379."
)


def connect(url: str, *, max_connections: int = MAX_CONNECTIONS) -> Redis:
    """Return a client with a bounded pool, for every address form above.

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


def text_fields(stored: Mapping[Any, Any]) -> dict[str, str]:
    """Return a hash with its decoded fields typed as strings."""
    return {str(name): str(value) for name, value in stored.items()}


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


def _on_primaries(client: Any) -> dict[str, Any]:  # a Cluster is typed as ``Redis`` everywhere else
    return {"target_nodes": RedisCluster.PRIMARIES} if isinstance(client, RedisCluster) else {}


def _by_node(told: Any) -> list[dict[str, Any]]:
    """Return each server's reply as a list; a single server's reply is not keyed by node."""
    nodes = [value for value in told.values() if isinstance(value, dict)]
    return nodes if nodes and len(nodes) == len(told) else [told]


CONNECT_TIMEOUT = 3.0  # seconds
NODE_CONNECTIONS = 512  # per node; beyond it, these two pools raise an error instead of waiting
_RETRIES = 3  # for refused or broken connections; a server that hangs is not retried
_CLUSTER_RETRIES = 5  # for commands whose slot has moved, or whose primary has just died
_SENTINEL = "sentinel_"


@dataclass(frozen=True, slots=True)
class RedisAddress:
    """The parts of an address. ``options`` are redis-py's, from the URL."""

    kind: str  # "server", "sentinel" or "cluster"
    tls: bool
    hosts: tuple[tuple[str, int], ...]
    service: str
    options: dict[str, Any]

    @classmethod
    def of(cls, url: str) -> "RedisAddress":
        """Parse a URL. Raises ValueError if it has none of the forms above."""
        parts = urlsplit(url)
        scheme, _, kind = parts.scheme.partition("+")
        if scheme not in ("redis", "rediss", "unix") or kind not in ("", "sentinel", "cluster"):
            raise ValueError(f"The scheme {parts.scheme}:// is not known.")
        if not kind:
            return cls("server", scheme == "rediss", (), "", {})
        user, _, hosts = parts.netloc.rpartition("@")
        port = 26379 if kind == "sentinel" else 6379
        found = tuple(_host(one, port) for one in hosts.split(",") if one)
        service = unquote(parts.path.strip("/")).partition("/")
        if not found or (kind == "sentinel" and not service[0]):
            raise ValueError("The hosts are missing, or for Sentinel the name of the service.")
        database = service[2] if kind == "sentinel" else parts.path.strip("/")
        query = f"?{parts.query}" if parts.query else ""
        options = dict(parse_url(f"{scheme}://{f'{user}@' if user else ''}x:1/{database or 0}{query}"))
        for name in ("host", "port", "connection_class"):
            options.pop(name, None)
        return cls(kind, scheme == "rediss", found, service[0], options)


def client_for(url: str, *, max_connections: int, seconds: float) -> Redis:
    """Return a client for this address, which connects at the first use. Raises ValueError.

    A ``RedisCluster`` is typed the same: the contract suites run on all three. ``seconds`` is how long a command waits
    for a connection if the pool is exhausted.
    """
    address = RedisAddress.of(url)
    shared: dict[str, Any] = {
        "socket_timeout": None,  # ``bounded_call`` has the deadline; a timeout here would make every send a task
        "socket_connect_timeout": CONNECT_TIMEOUT,
        "decode_responses": True,
        "retry": Retry(ExponentialBackoff(cap=0.4, base=0.05), _RETRIES, supported_errors=(RedisConnectionError,)),
    }
    if address.kind == "cluster":
        return _cluster(address, shared)
    if address.kind == "sentinel":
        return _primary_by_sentinel(address, {**shared, "max_connections": NODE_CONNECTIONS})
    pool = BlockingConnectionPool.from_url(url, max_connections=max_connections, timeout=seconds, **shared)
    return Redis.from_pool(pool)


def _cluster(address: RedisAddress, shared: dict[str, Any]) -> Redis:
    retry = Retry(ExponentialBackoff(cap=0.4, base=0.05), _CLUSTER_RETRIES)
    cluster: Any = RedisCluster(
        startup_nodes=[ClusterNode(host, port) for host, port in address.hosts],
        max_connections=NODE_CONNECTIONS,
        dynamic_startup_nodes=False,  # the configured names outlive the addresses behind them
        ssl=address.tls,
        **{**shared, **address.options, "retry": retry},
    )
    redis: Redis = cluster
    return redis


def _primary_by_sentinel(address: RedisAddress, shared: dict[str, Any]) -> Redis:
    tls = {"ssl": True} if address.tls else {}
    own = {name: value for name, value in address.options.items() if not name.startswith(_SENTINEL)}
    theirs = {
        name.removeprefix(_SENTINEL): value for name, value in address.options.items() if name.startswith(_SENTINEL)
    }
    certificates = {name: value for name, value in own.items() if name.startswith("ssl_")}
    sentinels = Sentinel(  # type: ignore[no-untyped-call]
        list(address.hosts),
        sentinel_kwargs={"socket_connect_timeout": CONNECT_TIMEOUT, "socket_timeout": CONNECT_TIMEOUT}
        | certificates | tls | theirs,
    )  # fmt: skip
    pool: Any = _PrimaryPool(address.service, sentinels, **{**shared, **own, **tls})  # type: ignore[no-untyped-call]
    return Redis.from_pool(pool)


class _PrimaryPool(SentinelConnectionPool):
    """Pool of connections to the primary; it also closes those to the Sentinels, which redis-py does not."""

    async def disconnect(self, inuse_connections: bool = True) -> None:
        """Close all connections; a Sentinel that is needed again is reconnected."""
        await super().disconnect(inuse_connections)
        for sentinel in self.sentinel_manager.sentinels:
            await sentinel.aclose()


def _host(text: str, port: int) -> tuple[str, int]:
    host, colon, number = text.rpartition(":")
    if not colon or text.endswith("]"):
        return text.strip("[]"), port
    return host.strip("[]"), int(number)
