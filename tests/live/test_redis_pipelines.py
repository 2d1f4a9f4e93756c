"""Commands that belong together share a round trip: in order, each with its own reply and its own trouble."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import BlockingConnectionPool, Redis, UnixDomainSocketConnection
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import DataError, ResponseError

from adapters.redis.embedded_server import EmbeddedValkey
from adapters.redis.pipelines import in_order, lua

pytestmark = pytest.mark.live


class Counting(UnixDomainSocketConnection):
    """Counts how often something is sent."""

    sent = 0

    async def send_packed_command(self, command: Any, check_health: bool = True) -> None:
        type(self).sent += 1
        await super().send_packed_command(command, check_health)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Any:
    valkey = EmbeddedValkey(Path(tmp_path_factory.mktemp("valkey")))
    asyncio.run(valkey.start())
    yield valkey
    asyncio.run(valkey.close())


@pytest.fixture
async def redis(server: EmbeddedValkey) -> AsyncIterator[Redis]:
    pool = BlockingConnectionPool(
        connection_class=Counting,
        path=server.url.removeprefix("unix://").split("?")[0],
        max_connections=2,
        socket_timeout=None,
        decode_responses=True,
        retry=Retry(NoBackoff(), 3, supported_errors=(RedisConnectionError,)),
    )
    client = Redis.from_pool(pool)
    await client.flushall()
    yield client
    await client.aclose()


async def test_commands_of_one_operation_share_a_round_trip(redis: Redis) -> None:
    before = Counting.sent
    *_, found = await in_order(
        redis, *(("SET", f"k{n}", n) for n in range(50)), ("MGET", *(f"k{n}" for n in range(50)))
    )
    assert found == [str(n) for n in range(50)]
    assert Counting.sent - before == 1


async def test_what_must_come_in_order_does(redis: Redis) -> None:
    numbers = [[("RPUSH", f"list{lane}", n) for n in range(50)] for lane in range(20)]
    await asyncio.gather(*(in_order(redis, *commands) for commands in numbers))
    for lane in range(20):
        assert await redis.lrange(f"list{lane}", 0, -1) == [str(n) for n in range(50)]


async def test_a_refused_command_blocks_no_other_and_its_error_hides_the_arguments(
    redis: Redis,
) -> None:
    await redis.set("word", "seven")
    with pytest.raises(ResponseError) as refused:
        await in_order(redis, ("SET", "a", 1), ("INCRBY", "word", "4242"), ("SET", "b", 2))
    assert "4242" not in str(refused.value)
    assert await redis.mget("a", "b") == ["1", "2"]


async def test_what_cannot_be_written_is_not_sent_in_part(redis: Redis) -> None:
    with pytest.raises(DataError):
        await in_order(redis, ("SET", "a", 1), ("SET", "b", object()))
    assert await redis.mget("a", "b") == [None, None]


async def test_a_connection_whose_caller_went_away_gives_nobody_its_replies(redis: Redis) -> None:
    await redis.set("mine", "mine")
    for _ in range(10):
        gone = asyncio.create_task(
            in_order(redis, ("CLIENT", "PAUSE", 30, "ALL"), ("ECHO", "theirs"), ("ECHO", "theirs"))
        )
        await asyncio.sleep(0.01)
        gone.cancel()
        await asyncio.gather(gone, return_exceptions=True)
        assert await in_order(redis, ("GET", "mine"), ("ECHO", "ours")) == ["mine", "ours"]


async def test_a_broken_connection_is_replaced_and_the_commands_are_sent_again(redis: Redis) -> None:
    await redis.set("word", "seven")
    for _ in range(5):
        await redis.client_kill_filter(_type="normal", skipme=True)
        assert await in_order(redis, ("GET", "word"), ("GET", "word")) == ["seven"] * 2


async def test_a_script_comes_with_its_text(redis: Redis) -> None:
    await redis.script_flush()
    script = "redis.call('SET', KEYS[1], ARGV[1]) return redis.call('GET', KEYS[1])"
    assert await in_order(redis, lua(script, ["a"], "x")) == ["x"]
    assert await in_order(redis, ("SET", "b", 1), lua(script, ["a"], "y")) == [True, "y"]
