"""Address forms of Redis: one server, a primary named by Sentinels, or a Cluster; each with or without TLS.

    redis://[user:password@]host:6379/0             rediss:// with TLS, unix:///path
    redis+sentinel://[user:password@]host:26379,host:26379/SERVICE   rediss+sentinel://
    redis+cluster://[user:password@]host:6379,host:6379              rediss+cluster://

Query parameters go to redis-py unchanged: ``ssl_ca_certs=/path/ca.pem`` and, for Sentinels with their own password,
``sentinel_username`` and ``sentinel_password``.
"""

from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

from redis.asyncio import BlockingConnectionPool, Redis, RedisCluster, Sentinel
from redis.asyncio.cluster import ClusterNode
from redis.asyncio.connection import parse_url
from redis.asyncio.retry import Retry
from redis.asyncio.sentinel import SentinelConnectionPool
from redis.backoff import ExponentialBackoff
from redis.exceptions import ConnectionError as RedisConnectionError

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
