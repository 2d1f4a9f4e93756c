"""The same Redis in each of its shapes: a Cluster of six, a primary that Sentinels name, one server behind TLS."""

import asyncio
import gc
import warnings
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, suppress

import pytest
from redis.asyncio import Redis
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from adapters.redis.client import connect
from tests.topologies.servers import Cluster, Secured, Watched, redis_cluster, sentinel_trio, server_binary, tls_server

Shape = Cluster | Watched | Secured
START: dict[str, Callable[[str], AbstractContextManager[Shape]]] = {
    "cluster": redis_cluster,
    "sentinel": sentinel_trio,
    "tls": tls_server,
}

PATIENCE = 60.0  # seconds


class Shapes:
    """Starts each at its first use, once for all tests of this process."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._started: dict[str, Shape] = {}

    def url(self, shape: str) -> str:
        """The address of this shape; skips the test where there is no server that has it."""
        if shape not in self._started:
            binary = server_binary(tls=shape == "tls")
            if binary is None:
                pytest.skip("There is no redis-server with TLS here: apt-get install redis-server.")
            self._started[shape] = self._stack.enter_context(START[shape](binary))
        return self._started[shape].url


@pytest.fixture(scope="session")
def shapes() -> Iterator[Shapes]:
    with ExitStack() as stack:
        yield Shapes(stack)


@pytest.fixture(scope="module", autouse=True)
def dropped_connections() -> Iterator[None]:
    """Collect the connections that redis-py drops open when the topology changes, before a later test is blamed.

    Its Cluster client forgets a node that leaves the topology without closing all of its connections:
    https://github.com/redis/redis-py/pull/4207. The suites on a single server still notice ours.
    """
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run each test on all shapes, or only on the Cluster if its module does not list it in ``ON_EVERY_SHAPE``."""
    if "redis_url" in metafunc.fixturenames:
        listed = getattr(metafunc.module, "ON_EVERY_SHAPE", None)
        everywhere = listed is None or (metafunc.cls or metafunc.function) in listed
        metafunc.parametrize("redis_url", list(START) if everywhere else ["cluster"], indirect=True)


@pytest.fixture
def redis_url(request: pytest.FixtureRequest, shapes: Shapes) -> str:
    return shapes.url(request.param)


@pytest.fixture
async def redis(redis_url: str) -> AsyncIterator[Redis]:
    client = connect(redis_url)
    await _flushed(client)
    yield client
    await client.aclose()


async def _flushed(client: Redis) -> None:
    """Empty it; a machine with other work may take longer to connect than the product waits."""
    async with asyncio.timeout(PATIENCE):
        while True:
            with suppress(RedisConnectionError, RedisTimeoutError):
                await client.flushall()
                return
