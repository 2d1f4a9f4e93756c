"""Inbox on Redis Streams: durable deliveries, one worker at a time per thread, fair between people.

Each thread has a list of deliveries. The current one stays at its head until it is done, which preserves the order. The
stream of tokens (``ready_stream``, which documents how no token is lost) announces threads with work. A thread's lease
decides who may work on it: a hash with a fence (fencing token) that increases with every new holder, so that a stale
holder's commands are refused.

A worker may die at any point: its lease expires and another worker takes the head of the list again. An index of all
waiting deliveries serves the limits and the count. It is also swept regularly to renew the tokens of old deliveries,
which repairs a ``put`` that died between its two steps.
"""

import asyncio
import json
import time
import uuid
from collections.abc import Sequence
from datetime import timedelta

from redis.asyncio import Redis

from adapters.redis.client import bounded_call, texts
from adapters.redis.keys import (
    inbox_keys,
    lease_key,
    person_key,
    queue_key,
    seen_key,
    waiting_member,
)
from adapters.redis.pipelines import Command, in_order, lua
from adapters.redis.ready_stream import FairQueue, ReadyThread, ReadyTokens
from core.model.errors import Busy, LeaseLost
from core.model.json_codec import from_json, to_json
from core.ports.inbox import Delivery, Inbox, Lease

_SEEN_TTL = 24 * 3600  # seconds for which a delivery's id is remembered
_LEASE_TTL = 30 * 24 * 3600  # seconds for which an idle thread's fence is kept
_WAITING_TTL = 24 * 3600
_BLOCK_SECONDS = 1.0  # one wait for a token; well below the socket timeout
_SWEEP_SECONDS = 30.0
_SWEEP_BATCH = 100

# KEYS seen queue; ARGV nonce body ttl. The nonce distinguishes our own retried command from a repeated delivery.
_ENQUEUE = """
local seen = redis.call('GET', KEYS[1])
if seen == ARGV[1] then return 'new' end
if seen == 'done' then return 'done' end
if seen then return 'waiting' end
redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[3])
redis.call('RPUSH', KEYS[2], ARGV[2])
return 'new'
"""

# KEYS index; ARGV member limit now ttl
_RESERVE = """
if redis.call('ZSCORE', KEYS[1], ARGV[1]) then return 1 end
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[2]) then return 0 end
redis.call('ZADD', KEYS[1], ARGV[3], ARGV[1])
redis.call('EXPIRE', KEYS[1], ARGV[4])
return 1
"""

_NOW = """
local told = redis.call('TIME')
local now = told[1] * 1000 + math.floor(told[2] / 1000)
"""

# KEYS lease queue; ARGV holder lease_ms ttl. A lease with more time left than a lease lasts predates a clock that was
# set back; it counts as expired.
_ACQUIRE = (
    _NOW
    + """
local head = redis.call('LINDEX', KEYS[2], 0)
if not head then return {'empty'} end
local lease = redis.call('HMGET', KEYS[1], 'holder', 'until')
local left = (tonumber(lease[2]) or 0) - now
local held = left > 0 and left <= 2 * ARGV[2]
if held and lease[1] ~= ARGV[1] then return {'held'} end
if not held then redis.call('HINCRBY', KEYS[1], 'fence', 1) end
local person = cjson.decode(head).person
redis.call('HSET', KEYS[1], 'holder', ARGV[1], 'until', string.format('%.0f', now + ARGV[2]), 'person', person)
redis.call('EXPIRE', KEYS[1], ARGV[3])
local is = redis.call('HMGET', KEYS[1], 'fence', 'attempt')
return {'taken', head, is[1], is[2] or 0}
"""
)

# KEYS lease; ARGV fence. ``attempt`` counts runs; ``begun`` is the fence of the last run.
_BEGIN = """
local lease = redis.call('HMGET', KEYS[1], 'fence', 'holder', 'begun', 'attempt')
if lease[1] ~= ARGV[1] or lease[2] == '' then return 0 end
if lease[3] == ARGV[1] then return tonumber(lease[4]) end
redis.call('HSET', KEYS[1], 'begun', ARGV[1])
return redis.call('HINCRBY', KEYS[1], 'attempt', 1)
"""

# KEYS lease; ARGV fence lease_ms
_RENEW = (
    _NOW
    + """
local lease = redis.call('HMGET', KEYS[1], 'fence', 'holder')
if lease[1] ~= ARGV[1] or lease[2] == '' then return 0 end
redis.call('HSET', KEYS[1], 'until', string.format('%.0f', now + ARGV[2]))
return 1
"""
)

# KEYS lease queue seen; ARGV fence. Returns the new head. A repeat under the same fence changes nothing.
_DONE = """
local lease = redis.call('HMGET', KEYS[1], 'fence', 'holder', 'finished')
if lease[3] ~= ARGV[1] then
  if lease[1] ~= ARGV[1] or lease[2] == '' then return {'lost'} end
  redis.call('LPOP', KEYS[2])
  redis.call('SET', KEYS[3], 'done', 'XX', 'KEEPTTL')
  redis.call('HSET', KEYS[1], 'holder', '', 'until', 0, 'attempt', 0, 'person', '', 'finished', ARGV[1])
end
return {'done', redis.call('LINDEX', KEYS[2], 0) or ''}
"""

# KEYS lease; ARGV fence. A released delivery does not count as a run: a worker that drains is no evidence against it.
_RELEASE = """
local lease = redis.call('HMGET', KEYS[1], 'fence', 'finished', 'holder', 'attempt', 'begun')
if lease[1] ~= ARGV[1] or lease[2] == ARGV[1] then return 0 end
if lease[3] == '' then return 1 end
local runs = (tonumber(lease[4]) or 0) - (lease[5] == ARGV[1] and 1 or 0)
redis.call('HSET', KEYS[1], 'holder', '', 'until', 0, 'attempt', math.max(0, runs), 'begun', '')
return 1
"""


class RedisInbox(Inbox):
    """Inbox with leases and at most ``most_waiting`` deliveries, ``most_waiting_each`` per person.

    A worker that is silent for ``lease`` loses its thread to another; renew it about three times as often.
    ``look_again`` is the interval at which unacknowledged tokens are checked again. Work of a dead worker is resumed at
    most ``lease + look_again`` and a second after its last renewal if a lane is free. If a delivery waits longer than
    ``overdue``, its thread's token is renewed.
    """

    def __init__(
        self,
        client: Redis,
        *,
        lease: timedelta = timedelta(seconds=30),
        look_again: timedelta = timedelta(seconds=2),
        overdue: timedelta = timedelta(minutes=2),
        most_waiting: int = 10_000,
        most_waiting_each: int = 20,
        namespace: str = "inbox",
    ) -> None:
        self._client = client
        stream, self._waiting = inbox_keys(namespace)
        self._of_person = "waiting" if namespace == "inbox" else f"waiting-{namespace}"
        self._lease_ms = int(lease.total_seconds() * 1000)
        self._look_again = look_again.total_seconds()
        self._overdue = overdue.total_seconds()
        self._most_waiting = most_waiting
        self._most_waiting_each = most_waiting_each
        self._tokens = ReadyTokens(client, stream=stream, idle_ms=int(self._look_again * 1000))
        self._in_hand = FairQueue()
        self._filling = asyncio.Lock()
        self._looked_again = self._swept = 0.0
        self._acquire = client.register_script(_ACQUIRE)
        self._renew = client.register_script(_RENEW)
        self._begin = client.register_script(_BEGIN)
        self._done = client.register_script(_DONE)
        self._release = client.register_script(_RELEASE)

    # --- putting ----------------------------------------------------------------------------------------------------

    async def put(self, delivery: Delivery) -> bool:
        """Store a delivery durably; return False if this id is known. Raises Busy if too many deliveries wait.

        A repeated, unfinished delivery renews its thread's token, which repairs an earlier put that died halfway.
        """
        async with bounded_call():
            await self._admit(delivery)
            keys = [_seen_key(delivery), queue_key(delivery.thread)]
            fate, _ = await in_order(
                self._client,
                lua(_ENQUEUE, keys, uuid.uuid4().hex, to_json(delivery), _SEEN_TTL),
                self._tokens.add_command(delivery.thread, delivery.person),  # an extra one is dropped when read
            )
            if fate == "done":
                await in_order(self._client, *self._struck(delivery))
        return bool(fate == "new")

    async def _admit(self, delivery: Delivery) -> None:
        """Reserve a place for a delivery among the waiting ones; a repeat already has one. Raises Busy."""
        member, now = _member(delivery), time.time()
        mine = person_key(delivery.person, self._of_person)
        known, place, own = await in_order(
            self._client,
            ("EXISTS", _seen_key(delivery)),
            lua(_RESERVE, [self._waiting], member, self._most_waiting, now, _WAITING_TTL),
            lua(_RESERVE, [mine], member, self._most_waiting_each, now, _WAITING_TTL),
        )
        if known or (place and own):
            return
        await in_order(self._client, *self._struck(delivery))
        if not place:
            raise Busy("Too many questions are waiting.", remedy="Please try again in a few minutes.")
        raise Busy(
            f"You have {self._most_waiting_each} questions waiting.",
            remedy="Please wait for an answer, then ask again.",
        )

    def _struck(self, delivery: Delivery) -> Sequence[Command]:
        member = _member(delivery)
        return [("ZREM", self._waiting, member), ("ZREM", person_key(delivery.person, self._of_person), member)]

    async def count_waiting(self) -> int:
        """Return the number of unfinished deliveries."""
        async with bounded_call():
            return int(await self._client.zcard(self._waiting))

    # --- taking -----------------------------------------------------------------------------------------------------

    async def take(self, worker: str, timeout: timedelta) -> Lease | None:
        """Return the next delivery of an idle thread, fairly between people; None after ``timeout``."""
        deadline = time.monotonic() + timeout.total_seconds()
        await self._fill(0)
        while True:
            while ready := self._in_hand.next():
                async with bounded_call():
                    if lease := await self._try(worker, ready):
                        return lease
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                return None
            await self._fill(remaining)

    async def _try(self, worker: str, ready: ReadyThread) -> Lease | None:
        thread = ready.thread
        outcome, *taken = await self._acquire(
            keys=[lease_key(thread), queue_key(thread)],
            args=[f"{worker} {uuid.uuid4().hex}", self._lease_ms, _LEASE_TTL],
        )
        if outcome == "empty":
            await self._tokens.acknowledge(ready.tokens)
        if outcome != "taken":
            return None
        head, fence, runs = taken
        return Lease(
            delivery=from_json(Delivery, head),
            fence=int(fence),
            runs=int(runs),
            token=" ".join(ready.tokens),
        )

    async def _fill(self, seconds: float) -> None:
        """Fetch tokens; one lane at a time waits for them, up to ``seconds``, and the others wait for that lane."""
        try:
            async with asyncio.timeout(seconds or None):
                if not seconds and self._filling.locked():
                    return
                await self._filling.acquire()
        except TimeoutError:
            return
        try:
            async with bounded_call():
                await self._look_after_the_left()
                wait = min(seconds, _BLOCK_SECONDS) if not len(self._in_hand) else 0
                await self._tokens.read(self._in_hand, block_ms=max(1, int(wait * 1000)) if wait else None)
        finally:
            self._filling.release()

    async def _look_after_the_left(self) -> None:
        now = time.monotonic()
        if now - self._looked_again >= self._look_again / 2:
            self._looked_again = now
            await self._tokens.reclaim(self._in_hand)
        if now - self._swept >= _SWEEP_SECONDS:
            self._swept = now
            await self._sweep()

    async def _sweep(self) -> None:
        """Renew the tokens of overdue deliveries, and delete index entries that no longer wait."""
        now = time.time()
        if await self._tokens.count() > 2 * await self._client.zcard(self._waiting) + _SWEEP_BATCH:
            return  # enough tokens to read first
        overdue = await self._client.zrangebyscore(
            self._waiting, "-inf", now - self._overdue, start=0, num=_SWEEP_BATCH
        )
        for member in texts(overdue):
            thread, _, person = json.loads(member)
            if await self._client.llen(queue_key(thread)):
                await self._tokens.add(thread, person)
                await self._client.zadd(self._waiting, {member: now}, xx=True)
            else:
                await self._client.zrem(self._waiting, member)
                await self._client.zrem(person_key(person, self._of_person), member)

    # --- holding ----------------------------------------------------------------------------------------------------

    async def renew(self, lease: Lease) -> None:
        """Extend the lease. Raises LeaseLost if another worker has taken the thread, or this one has released it."""
        async with bounded_call():
            renewed = await self._renew(keys=[lease_key(lease.delivery.thread)], args=[lease.fence, self._lease_ms])
        if not renewed:
            raise _lost()

    async def begin(self, lease: Lease) -> int:
        """Count a run, once per lease; return the number of runs. Raises LeaseLost."""
        async with bounded_call():
            runs = int(await self._begin(keys=[lease_key(lease.delivery.thread)], args=[lease.fence]))
        if not runs:
            raise _lost()
        return runs

    async def complete(self, lease: Lease) -> None:
        """Complete the delivery, so that the thread's next one can be taken. Raises LeaseLost."""
        delivery = lease.delivery
        thread = delivery.thread
        async with bounded_call():
            outcome, *rest = await self._done(
                keys=[lease_key(thread), queue_key(thread), _seen_key(delivery)],
                args=[lease.fence],
            )
            if outcome == "lost":
                raise _lost()
            if rest[0]:
                following = from_json(Delivery, rest[0])
                await self._tokens.add(thread, following.person)
            await in_order(
                self._client, *self._tokens.acknowledge_command(lease.token.split()), *self._struck(delivery)
            )

    async def hand_back(self, lease: Lease) -> None:
        """Release a delivery without counting a run; it can be taken at once. Do nothing if the lease is lost."""
        thread = lease.delivery.thread
        async with bounded_call():
            if await self._release(keys=[lease_key(thread)], args=[lease.fence]):
                await self._tokens.add(thread, lease.delivery.person)
                await self._tokens.acknowledge(lease.token.split())


def _lost() -> LeaseLost:
    return LeaseLost("Another worker has taken over this thread.")


def _seen_key(delivery: Delivery) -> str:
    return seen_key(delivery.thread, delivery.id)


def _member(delivery: Delivery) -> str:
    return waiting_member(delivery.thread, delivery.id, delivery.person)
