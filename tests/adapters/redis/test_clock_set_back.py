"""A Redis whose clock is set back: earlier leases still expire."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
from redis.asyncio import Redis

from adapters.redis.embedded_server import EmbeddedValkey
from adapters.redis.inbox import RedisInbox
from adapters.redis.keys import lease_key, named_lease_key
from adapters.redis.processes import RedisNamedLeases
from core.model.errors import LeaseLost
from core.ports.inbox import Delivery

pytestmark = pytest.mark.live
THREAD = "slack/T1/C1/1"
WAIT = timedelta(seconds=20)


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Redis]:
    async with EmbeddedValkey(tmp_path) as server:
        client = Redis.from_url(server.url, decode_responses=True)
        yield client
        await client.aclose()


@pytest.mark.parametrize("hours", [1, 24])
async def test_a_thread_is_taken_over_from_a_dead_worker_and_a_stale_one_is_refused(client: Redis, hours: int) -> None:
    lease = timedelta(seconds=30)
    inbox = RedisInbox(client, lease=lease, look_again=timedelta(milliseconds=50))
    await inbox.put(Delivery("d1", "slack", THREAD, "U1", "{}"))
    stale = await inbox.take("one", WAIT)
    assert stale is not None
    until = int(await client.hget(lease_key(THREAD), "until") or 0)
    await client.hset(lease_key(THREAD), "until", until + hours * 3_600_000)  # as the clock set back makes it look
    taken = await inbox.take("another", WAIT)
    assert taken is not None
    assert taken.fence > stale.fence
    with pytest.raises(LeaseLost):
        await inbox.renew(stale)


async def test_a_lease_by_name_is_taken_over_from_a_dead_process(client: Redis) -> None:
    leases, lasting = RedisNamedLeases(client), timedelta(seconds=15)
    assert await leases.acquire("gateway", "dead", lasting)
    assert not await leases.acquire("gateway", "another", lasting)
    await client.pexpire(named_lease_key("gateway"), 3_600_000)  # as the clock set back makes it look
    assert await leases.acquire("gateway", "another", lasting)
