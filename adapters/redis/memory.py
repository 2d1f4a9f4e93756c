"""Threads in Redis: turns, summary, cited evidence and parked inquiries. ``erasure`` erases the related data.

One thread has four keys with one hash tag: the turns by trace id, their order, the evidence library, and a hash of
small fields. Every change is one Lua call, so a dying worker leaves a consistent thread. Turns and library are bounded
in number, and everything has a TTL that each write renews.

The thread's current fence is written by ``inbox`` under the same tag, so that one call can check it and refuse a stale
worker's turn.
"""

import json
import uuid
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from redis.asyncio import Redis

from adapters.redis.client import bounded_call, texts
from adapters.redis.erasure import CLOSE_CHECKPOINT, Erasure
from adapters.redis.keys import DUE, checkpoint_key, lease_key, of_person, of_thread, person_key, thread_keys
from adapters.redis.pipelines import in_order, lua
from core.model.conversation import ThreadKey, Turn
from core.model.errors import LeaseLost
from core.model.evidence import Evidence, EvidenceLibrary
from core.model.json_codec import from_json, to_json
from core.ports.memory import AskedQuestion, Checkpoints, Memory, ParkedInquiry, ThreadRecord

# Deletes evidence until at most ``limit`` remain: first what no kept turn cites, then cited evidence, each by lowest
# id.
_TRIM_LIBRARY = """
local function trim_library(turns, library, limit)
  local over = redis.call('HLEN', library) - limit
  if over <= 0 then return end
  local cited = {}
  for _, turn in ipairs(redis.call('HVALS', turns)) do
    for _, citation in ipairs(cjson.decode(turn).citations) do cited[citation.evidence] = true end
  end
  local ids = {}
  for _, id in ipairs(redis.call('HKEYS', library)) do table.insert(ids, tonumber(id)) end
  table.sort(ids)
  for _, wanted in ipairs({false, true}) do
    for _, id in ipairs(ids) do
      if over > 0 and (cited[id] or false) == wanted then
        redis.call('HDEL', library, string.format('%d', id))
        over = over - 1
      end
    end
  end
end
"""

# KEYS turns order library about
_RECALL = """
return {redis.call('HGETALL', KEYS[1]), redis.call('LRANGE', KEYS[2], 0, -1), redis.call('HVALS', KEYS[3]),
  redis.call('HGETALL', KEYS[4])}
"""

# KEYS turns order library about lease; ARGV fence trace turn max_turns max_library ttl (id evidence)...
_REMEMBER = (
    _TRIM_LIBRARY
    + """
if ARGV[1] ~= '' and redis.call('HGET', KEYS[5], 'fence') ~= ARGV[1] then return -1 end
if redis.call('HSET', KEYS[1], ARGV[2], ARGV[3]) == 1 then
  redis.call('RPUSH', KEYS[2], ARGV[2])
  redis.call('HINCRBY', KEYS[4], 'total', 1)
end
while redis.call('LLEN', KEYS[2]) > tonumber(ARGV[4]) do
  redis.call('HDEL', KEYS[1], redis.call('LPOP', KEYS[2]))
end
for i = 7, #ARGV, 2 do redis.call('HSET', KEYS[3], ARGV[i], ARGV[i + 1]) end
trim_library(KEYS[1], KEYS[3], tonumber(ARGV[5]))
for i = 1, 4 do redis.call('EXPIRE', KEYS[i], ARGV[6]) end
return 1
"""
)

# KEYS about; ARGV summary bases upto ttl. Ignores a summary of turns that were erased in between.
_SUMMARISE = """
local total = tonumber(redis.call('HGET', KEYS[1], 'total') or '0')
local covered = tonumber(redis.call('HGET', KEYS[1], 'summarised') or '0')
if tonumber(ARGV[3]) > total or tonumber(ARGV[3]) < covered then return 0 end
redis.call('HSET', KEYS[1], 'summary', ARGV[1], 'summary_bases', ARGV[2], 'summarised', ARGV[3])
redis.call('EXPIRE', KEYS[1], ARGV[4])
return 1
"""

# KEYS turns order library about; ARGV person. Returns the trace ids of the removed turns. The summary and the queries
# of evidence may contain the person's words, so these are deleted too, except evidence that other turns cite.
_FORGET_PERSON = """
local removed, cited = {}, {}
for _, trace in ipairs(redis.call('LRANGE', KEYS[2], 0, -1)) do
  local turn = cjson.decode(redis.call('HGET', KEYS[1], trace))
  if turn.asker.id == ARGV[1] then
    redis.call('HDEL', KEYS[1], trace)
    redis.call('LREM', KEYS[2], 0, trace)
    table.insert(removed, trace)
  else
    for _, citation in ipairs(turn.citations) do cited[string.format('%d', citation.evidence)] = true end
  end
end
for _, id in ipairs(redis.call('HKEYS', KEYS[3])) do
  if not cited[id] then redis.call('HDEL', KEYS[3], id) end
end
if redis.call('EXISTS', KEYS[4]) == 1 then
  local left = redis.call('LLEN', KEYS[2])
  local total = tonumber(redis.call('HGET', KEYS[4], 'total') or '0') - #removed
  redis.call('HDEL', KEYS[4], 'summary', 'summary_bases')
  redis.call('HSET', KEYS[4], 'total', total, 'summarised', math.max(0, total - left))
end
return removed
"""

# KEYS turns order library about. Returns whether there was anything, the open checkpoint, then the trace ids. Keeps
# muting.
_FORGET_THREAD = """
local gone = redis.call('LRANGE', KEYS[2], 0, -1)
table.insert(gone, 1, redis.call('HGET', KEYS[4], 'open_checkpoint') or '')
local something = redis.call('DEL', KEYS[1], KEYS[2], KEYS[3])
for _, field in ipairs({'summary', 'summary_bases', 'summarised', 'total', 'open_checkpoint'}) do
  something = something + redis.call('HDEL', KEYS[4], field)
end
table.insert(gone, 1, something > 0 and '1' or '')
return gone
"""


class RedisMemory(Memory):
    """Memory of each thread's last ``turns`` turns and ``library`` pieces of evidence, for ``ttl`` after a write."""

    def __init__(
        self, client: Redis, *, turns: int = 60, library: int = 200, ttl: timedelta = timedelta(days=30)
    ) -> None:
        self._client = client
        self._turns = turns
        self._library = library
        self._ttl = int(ttl.total_seconds())
        self._summarise = client.register_script(_SUMMARISE)
        self._forget_person = client.register_script(_FORGET_PERSON)
        self._forget_thread = client.register_script(_FORGET_THREAD)
        self._forgetting = Erasure(client)

    async def recall(self, key: ThreadKey) -> ThreadRecord:
        """Return all data of this thread in one round trip; an empty record if it is new."""
        async with bounded_call():
            ((kept, order, library, small),) = await in_order(self._client, lua(_RECALL, thread_keys(str(key))))
        turns, about = (dict(zip(flat[::2], flat[1::2], strict=True)) for flat in (kept, small))
        evidence = sorted((from_json(Evidence, item) for item in library), key=lambda item: item.id)
        return ThreadRecord(
            turns=tuple(from_json(Turn, turns[trace]) for trace in order),
            summary=about.get("summary", ""),
            summary_bases=frozenset(json.loads(about.get("summary_bases", "[]"))),
            summarised=int(about.get("summarised", 0)),
            total=int(about.get("total", 0)),
            library=EvidenceLibrary(tuple(evidence)),
            muted=about.get("muted") == "1",
            open_checkpoint=about.get("open_checkpoint", ""),
        )

    async def questions_of(self, person_id: str, threads: int) -> Sequence[AskedQuestion]:
        """Return this person's questions in their newest threads that led to a search, newest first."""
        async with bounded_call():
            newest = texts(await self._client.zrevrange(person_key(person_id, "threads"), 0, threads - 1))
        keys = [ThreadKey.parse(thread) for thread in newest]
        asked = [
            AskedQuestion(key, turn.question, turn.at)
            for key in keys
            for turn in (await self.recall(key)).turns
            if turn.asker.id == person_id and turn.rewritten
        ]
        return sorted(asked, key=lambda one: one.at, reverse=True)

    async def remember(
        self, key: ThreadKey, turn: Turn, evidence: Sequence[Evidence], *, fence: int | None = None
    ) -> None:
        """Append a turn and its cited evidence; the same trace id replaces that turn. Raises LeaseLost."""
        thread = str(key)
        cited: list[Any] = [part for item in evidence for part in (item.id, to_json(item))]
        limits = [self._turns, self._library, self._ttl]
        async with bounded_call():
            keys, fenced = [*thread_keys(thread), lease_key(thread)], "" if fence is None else fence
            *_, written = await in_order(
                self._client,
                *of_person(turn.asker.id, "threads", thread, self._ttl),
                lua(_REMEMBER, keys, fenced, turn.trace_id, to_json(turn), *limits, *cited),
            )
        if written == -1:
            raise LeaseLost("Another worker has taken over this thread, so this turn is not stored.")

    async def summarise(self, key: ThreadKey, summary: str, bases: frozenset[str], upto: int) -> None:
        """Replace the summary, which covers the first ``upto`` turns; ignore it if it covers less than before."""
        async with bounded_call():
            await self._summarise(
                keys=[thread_keys(str(key))[3]], args=[summary, json.dumps(sorted(bases)), upto, self._ttl]
            )

    async def mute(self, key: ThreadKey, muted: bool) -> None:
        """Mute or unmute a thread."""
        about = thread_keys(str(key))[3]
        async with bounded_call(), self._client.pipeline(transaction=True) as pipe:
            pipe.hset(about, "muted", "1" if muted else "0")
            pipe.expire(about, self._ttl)
            await pipe.execute()

    async def forget_thread(self, key: ThreadKey) -> bool:
        """Erase a thread and all related data; return whether there was any. A muted thread stays muted."""
        thread = str(key)
        async with bounded_call(deadline=60):
            something, checkpoint, *traces = await self._forget_thread(keys=thread_keys(thread))
            more = await self._forgetting.thread(thread, checkpoint, traces)
        return bool(something) or more

    async def forget_person(self, person_id: str) -> int:
        """Erase every turn of this person and all other data with their words; return the number of turns.

        Also erases the summaries of their threads, which may contain their words.
        """
        gone: list[str] = []
        async with bounded_call(deadline=60):
            for thread in await self._forgetting.threads_of(person_id):
                gone += await self._forget_person(keys=thread_keys(thread), args=[person_id])
            await self._forgetting.person(person_id, gone)
        return len(gone)


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
        return None if stored is None or taken not in (None, by) else from_json(ParkedInquiry, str(stored))

    async def claim(self, checkpoint_id: str, *, by: str = "") -> ParkedInquiry | None:
        """Claim an inquiry once. Within a day the same ``by`` can claim it again, so that a new worker can continue."""
        async with bounded_call():
            stored = await self._claim(keys=[checkpoint_key(checkpoint_id)], args=[by or uuid.uuid4().hex, _TAKEN_TTL])
            if stored is None:
                return None
            parked = from_json(ParkedInquiry, stored)
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
