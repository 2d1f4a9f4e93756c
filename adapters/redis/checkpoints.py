"""Parked inquiries in Redis: plain JSON that any process can resume, once, days later."""

import uuid
from collections.abc import Sequence
from datetime import datetime, timedelta

from redis.asyncio import Redis

from adapters.redis.client import bounded_call, texts
from adapters.redis.erasure import CLOSE_CHECKPOINT
from adapters.redis.keys import DUE, checkpoint_key, of_person, of_thread, thread_keys
from adapters.redis.pipelines import in_order
from core.model.json_codec import from_json, to_json
from core.ports.memory import Checkpoints, ParkedInquiry

_DUE_AT_ONCE = 100
_TAKEN_TTL = 24 * 3600  # seconds that a claimed inquiry remains available to the same claimant

# KEYS about; ARGV checkpoint ttl. Returns the previously open one.
_OPEN = """
local earlier = redis.call('HGET', KEYS[1], 'open_checkpoint') or ''
redis.call('HSET', KEYS[1], 'open_checkpoint', ARGV[1])
redis.call('EXPIRE', KEYS[1], ARGV[2])
return earlier
"""

# KEYS checkpoint; ARGV claimant ttl
_CLAIM = """
local taken = redis.call('HGET', KEYS[1], 'taken')
if taken and taken ~= ARGV[1] then return false end
local parked = redis.call('HGET', KEYS[1], 'parked')
if not parked then return false end
redis.call('HSET', KEYS[1], 'taken', ARGV[1])
redis.call('EXPIRE', KEYS[1], ARGV[2])
return parked
"""


class RedisCheckpoints(Checkpoints):
    """Store of parked inquiries, each kept for at most ``ttl``."""

    def __init__(self, client: Redis, *, ttl: timedelta = timedelta(days=30)) -> None:
        self._client = client
        self._ttl = int(ttl.total_seconds())
        self._open = client.register_script(_OPEN)
        self._claim = client.register_script(_CLAIM)
        self._close = client.register_script(CLOSE_CHECKPOINT)

    async def park(self, parked: ParkedInquiry) -> None:
        """Store an inquiry as the thread's open checkpoint; delete an earlier open one."""
        checkpoint = parked.checkpoint
        key = checkpoint_key(checkpoint.id)
        async with bounded_call():
            await in_order(
                self._client,
                *of_person(checkpoint.asker.id, "checkpoints", checkpoint.id, self._ttl),
                *of_thread(str(checkpoint.thread), "checkpoints", checkpoint.id, self._ttl),
            )
            async with self._client.pipeline(transaction=True) as pipe:
                pipe.hset(key, "parked", to_json(parked))
                pipe.hdel(key, "taken")
                pipe.expire(key, self._ttl)
                await pipe.execute()
            await self._client.zadd(DUE, {checkpoint.id: checkpoint.expires_at.timestamp()})
            earlier = await self._open(keys=[_about(parked)], args=[checkpoint.id, self._ttl])
            if earlier and earlier != checkpoint.id:
                await self._client.delete(checkpoint_key(earlier))
                await self._client.zrem(DUE, earlier)

    async def read(self, checkpoint_id: str, *, by: str = "") -> ParkedInquiry | None:
        """Return an inquiry without claiming it; None if it is unknown or claimed by anyone but ``by``."""
        async with bounded_call():
            stored, taken = await self._client.hmget(checkpoint_key(checkpoint_id), ["parked", "taken"])
        return None if stored is None or taken not in (None, by) else _parse_parked(str(stored))

    async def claim(self, checkpoint_id: str, *, by: str = "") -> ParkedInquiry | None:
        """Claim an inquiry once. Within a day the same ``by`` can claim it again, so that a new worker can continue."""
        async with bounded_call():
            stored = await self._claim(keys=[checkpoint_key(checkpoint_id)], args=[by or uuid.uuid4().hex, _TAKEN_TTL])
            if stored is None:
                return None
            parked = _parse_parked(stored)
            await self._client.zrem(DUE, checkpoint_id)
            await self._close(keys=[_about(parked)], args=[checkpoint_id])
        return parked

    async def due(self, now: datetime) -> Sequence[str]:
        """Return the ids of expired, unclaimed checkpoints, longest waiting first; at most 100."""
        async with bounded_call():
            late = texts(await self._client.zrangebyscore(DUE, "-inf", now.timestamp(), start=0, num=_DUE_AT_ONCE))
            there = [await self._client.hmget(checkpoint_key(found), ["parked", "taken"]) for found in late]
            waiting = [stored is not None and taken is None for stored, taken in there]
            gone = [found for found, still in zip(late, waiting, strict=True) if not still]
            if gone:
                await self._client.zrem(DUE, *gone)
        return [found for found, still in zip(late, waiting, strict=True) if still]


def _about(parked: ParkedInquiry) -> str:
    return thread_keys(str(parked.checkpoint.thread))[3]


def _parse_parked(stored: str) -> ParkedInquiry:
    parked: ParkedInquiry = from_json(ParkedInquiry, stored)
    return parked
