"""A backup restores Redis's data unchanged, without short-lived state."""

import json
from datetime import timedelta

import pytest
from redis.asyncio import Redis

from adapters.redis.export import KeptKey, exported_keys, import_key, is_empty
from adapters.redis.inbox import RedisInbox
from adapters.redis.memory import RedisMemory
from core.model.json_codec import from_json, to_json
from core.ports.inbox import Delivery
from tests.contracts.conversations import ANA, THREAD, evidence, turn

pytestmark = pytest.mark.live


async def test_keys_of_every_kind_come_back_as_they_were(redis: Redis) -> None:
    await redis.set("footnote:text", "ä\n日本", ex=1000)
    await redis.hset("footnote:hash", mapping={"a": "1", "b": '{"x": 2}'})
    await redis.rpush("footnote:list", "one", "two", "one")
    await redis.sadd("footnote:set", "one", "two")
    await redis.zadd("footnote:zset", {"late": 1.7e9 + 0.25, "early": 3})
    await redis.xadd("footnote:stream", {"entry": "first"}, id="5-1")
    await redis.xadd("footnote:stream", {"entry": "second"}, id="7-0")
    await redis.set("another's", "not ours")
    lines = [to_json(key) async for key in exported_keys(redis)]
    before = {name: await redis.dump(name) for name in await redis.keys("footnote:*") if name != "footnote:text"}
    assert len(lines) == 6
    await redis.flushall()
    for line in lines:
        await import_key(redis, from_json(KeptKey, line))
    assert {name: await redis.dump(name) for name in before} == before
    assert await redis.get("footnote:text") == "ä\n日本"
    assert 0 < await redis.ttl("footnote:text") <= 1000
    assert await redis.get("another's") is None


async def test_questions_that_wait_stay_behind_and_jobs_come_along(redis: Redis) -> None:
    questions, jobs = RedisInbox(redis), RedisInbox(redis, namespace="jobs")
    await RedisMemory(redis).remember(THREAD, turn("t1", cites=(1,)), [evidence(1)])
    await questions.put(Delivery("d1", "slack", str(THREAD), ANA.id, "{}"))
    assert await questions.take("dead", timedelta(seconds=1)) is not None
    await jobs.put(Delivery("j1.0", "console", "kb/handbook", ANA.id, "j1", "job"))
    assert await jobs.take("dead", timedelta(seconds=1)) is not None
    lines = [to_json(key) async for key in exported_keys(redis)]
    await redis.flushall()
    assert await is_empty(redis)
    for line in lines:
        await import_key(redis, from_json(KeptKey, line))
    assert not await is_empty(redis)
    assert (await RedisMemory(redis).recall(THREAD)).total == 1
    assert await RedisInbox(redis).take("worker", timedelta(seconds=0.1)) is None
    taken = await RedisInbox(redis, namespace="jobs").take("worker", timedelta(seconds=5))
    assert taken is not None
    assert taken.delivery.id == "j1.0"


async def test_what_has_expired_since_is_not_brought_back(redis: Redis) -> None:
    await import_key(redis, KeptKey("footnote:old", "string", json.dumps("x"), expires_at=1.0))
    assert await is_empty(redis)
