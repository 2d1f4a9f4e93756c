"""One embedded Valkey for all contract suites; every test finds it empty."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from redis.asyncio import Redis

from adapters.redis.client import connect
from adapters.redis.embedded_server import EmbeddedValkey


@pytest.fixture(scope="session")
def valkey() -> Iterator[EmbeddedValkey]:
    with tempfile.TemporaryDirectory(prefix="valkey-") as folder:
        server = EmbeddedValkey(Path(folder))
        asyncio.run(server.start())
        yield server
        asyncio.run(server.close())


@pytest.fixture
async def redis(valkey: EmbeddedValkey) -> AsyncIterator[Redis]:
    client = connect(valkey.url)
    await client.flushall()
    yield client
    await client.aclose()
