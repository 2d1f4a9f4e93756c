"""Jobs in Redis: one hash per job, so that an item's outcome is one small write, and an index of the newest."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from redis.asyncio import Redis

from adapters.redis.client import bounded_call, texts
from adapters.redis.keys import JOBS, job_key
from core.model.jobs import Job, JobItem
from core.model.json_codec import from_json, to_json
from core.ports.job_store import JobStore

MOST_LISTED = 1_000

# KEYS job; ARGV head ttl [field item …]
_KEEP = """
if redis.call('HSETNX', KEYS[1], 'head', ARGV[1]) == 0 then return 0 end
for i = 3, #ARGV, 2 do redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1]) end
redis.call('EXPIRE', KEYS[1], ARGV[2])
return 1
"""

# KEYS job; ARGV head anonymous-head ttl [field item …]. A forgotten job stays anonymous, whatever a worker writes.
_RECORD = """
local forgotten = redis.call('HEXISTS', KEYS[1], 'forgotten') == 1
redis.call('HSET', KEYS[1], 'head', forgotten and ARGV[2] or ARGV[1])
for i = 4, #ARGV, 2 do redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1]) end
redis.call('EXPIRE', KEYS[1], ARGV[3])
"""

# KEYS job; ARGV who
_CANCEL = """
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
return redis.call('HSETNX', KEYS[1], 'cancelled', ARGV[1])
"""


class RedisJobStore(JobStore):
    """Job store that keeps each job for ``ttl`` after its last write."""

    def __init__(self, client: Redis, *, ttl: timedelta = timedelta(days=30)) -> None:
        self._client = client
        self._ttl = int(ttl.total_seconds())
        self._keep = client.register_script(_KEEP)
        self._record = client.register_script(_RECORD)
        self._cancel = client.register_script(_CANCEL)

    async def keep(self, job: Job) -> bool:
        """Store a new job; return False if this id is known."""
        async with bounded_call():
            new = await self._keep(keys=[job_key(job.id)], args=[job_head(job), self._ttl, *_fields(job, job.items)])
            await self._client.zadd(JOBS, {job.id: job.created_at.timestamp()})
            await self._client.zremrangebyrank(JOBS, 0, -MOST_LISTED - 1)
        return bool(new)

    async def read(self, job_id: str) -> Job | None:
        """Return a job's current state, or None if it is unknown."""
        async with bounded_call():
            stored = await self._client.hgetall(job_key(job_id))
        return _job(stored)

    async def record(self, job: Job, items: Sequence[JobItem] = ()) -> None:
        """Replace a job's head and these of its items."""
        heads = [job_head(job), job_head(job.without_asker())]
        async with bounded_call():
            await self._record(keys=[job_key(job.id)], args=[*heads, self._ttl, *_fields(job, items)])

    async def cancel(self, job_id: str, by: str) -> bool:
        """Request that its worker stops it; return False if it is unknown or already cancelled."""
        async with bounded_call():
            return bool(await self._cancel(keys=[job_key(job_id)], args=[by]))

    async def find_canceller(self, job_id: str) -> str:
        """Return who cancelled it, or ""."""
        async with bounded_call():
            return str(await self._client.hget(job_key(job_id), "cancelled") or "")

    async def recent(self, limit: int = 50) -> Sequence[Job]:
        """Return the newest jobs, newest first."""
        async with bounded_call():
            names = texts(await self._client.zrevrange(JOBS, 0, limit - 1))
            async with self._client.pipeline(transaction=False) as pipe:
                for name in names:
                    pipe.hgetall(job_key(name))
                stored = await pipe.execute()
        return [job for fields in stored if (job := _job(fields)) is not None]


def job_head(job: Job) -> str:
    """Return a job as JSON without its items and canceller, which are separate fields."""
    return to_json(replace(job, items=(), cancelled_by=""))


def _fields(job: Job, items: Sequence[JobItem]) -> list[str]:
    """Return field and value of each item as a flat list, numbered because the fields of a hash have no order."""
    positions = {item.source: number for number, item in enumerate(job.items)}
    return [part for item in items for part in (f"item:{positions[item.source]}", to_json(item))]


def _job(stored: Mapping[Any, Any]) -> Job | None:
    if "head" not in stored:
        return None
    job: Job = from_json(Job, stored["head"])
    numbered = sorted((int(name[5:]), text) for name, text in stored.items() if name.startswith("item:"))
    items = tuple(from_json(JobItem, text) for _, text in numbered)
    return replace(job, items=items, cancelled_by=str(stored.get("cancelled", "")))
