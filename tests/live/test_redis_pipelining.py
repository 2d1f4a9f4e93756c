"""Commands that share a round trip: each gets its own reply, and what befalls one is nobody else's trouble."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

import pytest
from redis.asyncio import BlockingConnectionPool, UnixDomainSocketConnection
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import DataError, ResponseError

from adapters.redis.embedded_server import EmbeddedValkey
from adapters.redis.pipelining import PipeliningRedis, in_order, lua

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
async def redis(server: EmbeddedValkey) -> AsyncIterator[PipeliningRedis]:
    pool = BlockingConnectionPool(
        connection_class=Counting,
        path=server.url.removeprefix("unix://").split("?")[0],
        max_connections=4,
        socket_timeout=None,
        decode_responses=True,
        retry=Retry(NoBackoff(), 3, supported_errors=(RedisConnectionError,)),
    )
    client = cast("PipeliningRedis", PipeliningRedis.from_pool(pool))
    await client.flushall()
    yield client
    await client.aclose()


async def test_commands_of_the_same_moment_share_a_round_trip_and_each_gets_its_own_reply(
    redis: PipeliningRedis,
) -> None:
    before = Counting.sent
    replies = await asyncio.gather(*(redis.hset(f"h{n}", mapping={"n": str(n)}) for n in range(200)))
    assert replies == [1] * 200
    found = await asyncio.gather(*(redis.hgetall(f"h{n}") for n in range(200)))
    assert found == [{"n": str(n)} for n in range(200)]
    assert Counting.sent - before <= 4


async def test_what_must_come_in_order_does(redis: PipeliningRedis) -> None:
    numbers = [[("RPUSH", f"list{lane}", n) for n in range(50)] for lane in range(20)]
    await asyncio.gather(*(in_order(redis, *commands) for commands in numbers))
    for lane in range(20):
        assert await redis.lrange(f"list{lane}", 0, -1) == [str(n) for n in range(50)]


async def test_a_refused_command_is_the_trouble_of_whoever_sent_it(redis: PipeliningRedis) -> None:
    await redis.set("word", "seven")
    good, bad, last = await asyncio.gather(
        redis.get("word"), redis.incr("word"), redis.set("after", "1"), return_exceptions=True
    )
    assert good == "seven"
    assert isinstance(bad, ResponseError)
    assert last
    with pytest.raises(ResponseError):
        await in_order(redis, ("SET", "a", 1), ("INCR", "word"), ("SET", "b", 2))
    assert await redis.mget("a", "b") == ["1", "2"]


async def test_what_cannot_be_written_is_the_trouble_of_whoever_sent_it(redis: PipeliningRedis) -> None:
    odd: Any = object()
    bad, good = await asyncio.gather(redis.set("a", odd), redis.set("b", "1"), return_exceptions=True)
    assert isinstance(bad, DataError)
    assert good


async def test_what_a_cancelled_caller_had_not_sent_yet_is_not_sent_and_the_others_get_their_replies(
    redis: PipeliningRedis,
) -> None:
    tasks = [asyncio.ensure_future(redis.incr("count")) for _ in range(10)]
    await asyncio.sleep(0)
    for task in tasks[::2]:
        task.cancel()
    replies = await asyncio.gather(*tasks, return_exceptions=True)
    assert [isinstance(reply, asyncio.CancelledError) for reply in replies] == [True, False] * 5
    assert await redis.get("count") == "5"


async def test_a_broken_connection_is_replaced_and_what_has_no_reply_sent_again(redis: PipeliningRedis) -> None:
    await redis.set("word", "seven")
    for _ in range(5):
        await redis.client_kill_filter(_type="normal", skipme=True)
        found = await asyncio.gather(*(redis.get("word") for _ in range(20)))
        assert found == ["seven"] * 20
        killing = redis.execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "no")
        _, *rest = await asyncio.gather(killing, *(redis.get("word") for _ in range(20)))
        assert rest == ["seven"] * 20


async def test_whoever_waits_on_the_server_keeps_nobody_waiting(redis: PipeliningRedis) -> None:
    waiting = asyncio.ensure_future(redis.blpop(["nothing"], timeout=0))
    async with asyncio.timeout(60):
        for n in range(20):
            assert await redis.incr("count") == n + 1
    assert not waiting.done()
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)


async def test_a_slow_command_is_not_waited_for_by_all(redis: PipeliningRedis) -> None:
    slow = asyncio.create_task(in_order(redis, ("CLIENT", "PAUSE", 300, "WRITE"), ("SET", "a", 1)))
    await asyncio.sleep(0.1)
    assert await redis.get("a") is None
    assert not slow.done()
    async with asyncio.timeout(60):
        assert await asyncio.gather(*(redis.get("b") for _ in range(5))) == [None] * 5
        await slow
    assert await redis.get("a") == "1"


async def test_a_script_comes_with_its_text(redis: PipeliningRedis) -> None:
    await redis.script_flush()
    script = "redis.call('SET', KEYS[1], ARGV[1]) return redis.call('GET', KEYS[1])"
    assert await in_order(redis, lua(script, ["a"], "x")) == ["x"]


async def test_closing_gives_up_what_is_on_its_way(redis: PipeliningRedis) -> None:
    waiting = asyncio.create_task(in_order(redis, ("CLIENT", "PAUSE", 200, "ALL"), ("GET", "a")))
    await asyncio.sleep(0.05)
    await redis.aclose()
    with pytest.raises(asyncio.CancelledError):
        await waiting
