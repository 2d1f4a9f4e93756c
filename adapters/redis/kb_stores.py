"""Data of knowledge bases other than the catalog: jobs, schedules, sites, connections, removals and proposals."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from redis.asyncio import Redis

from adapters.redis.client import bounded_call, texts
from adapters.redis.keys import (
    CONNECTED_ITEMS,
    CONNECTION_STATES,
    CONNECTIONS,
    DECIDED,
    JOBS,
    PROPOSALS,
    REMOVED,
    SCHEDULES,
    SITES,
    UNDONE,
    job_key,
)
from core.model.connections import Connection, SyncedItem, SyncState
from core.model.errors import Busy
from core.model.jobs import Job, JobItem, Site
from core.model.json_codec import from_json, to_json
from core.ports.catalog import RemovedDocument, TrashStore
from core.ports.connector import ConnectionStore
from core.ports.job_store import Decision, Every, JobStore, Proposal, ProposalStore, Schedule, ScheduleStore, SiteStore


class RedisScheduleStore(ScheduleStore):
    """Schedule store without a TTL."""

    def __init__(self, client: Redis) -> None:
        self._client = client

    async def save_schedule(self, schedule: Schedule) -> None:
        """Store a schedule in place of an earlier one of the same link and base; NEVER deletes it."""
        field = json.dumps([schedule.base, schedule.link])
        async with bounded_call():
            if schedule.every is Every.NEVER:
                await self._client.hdel(SCHEDULES, field)
            else:
                await self._client.hset(SCHEDULES, field, to_json(schedule))

    async def schedules(self) -> Sequence[Schedule]:
        """Return all schedules, the next due first."""
        async with bounded_call():
            stored = await self._client.hvals(SCHEDULES)
        return sorted((from_json(Schedule, text) for text in stored), key=lambda schedule: schedule.next_at)


class RedisSiteStore(SiteStore):
    """Site store without a TTL."""

    def __init__(self, client: Redis) -> None:
        self._client = client

    async def save_site(self, site: Site) -> None:
        """Store a site in place of an earlier one of the same link and base; delete it if it has no pages."""
        field = json.dumps([site.base, site.link])
        async with bounded_call():
            if site.pages:
                await self._client.hset(SITES, field, to_json(site))
            else:
                await self._client.hdel(SITES, field)

    async def sites(self, base: str) -> Sequence[Site]:
        """Return the sites of a base, by link."""
        async with bounded_call():
            stored = await self._client.hgetall(SITES)
        found: list[Site] = [from_json(Site, text) for field, text in stored.items() if json.loads(field)[0] == base]
        return sorted(found, key=lambda site: site.link)


_AT_ONCE = 1_000  # items per call
_LONGEST = 60.0  # seconds to read all items


class RedisConnectionStore(ConnectionStore):
    """Connection store without a TTL."""

    def __init__(self, client: Redis) -> None:
        self._client = client

    async def save_connection(self, connection: Connection) -> None:
        """Store a connection in place of an earlier one of the same name."""
        async with bounded_call():
            await self._client.hset(CONNECTIONS, connection.name, to_json(connection))

    async def connections(self) -> Sequence[Connection]:
        """Return all connections, by name."""
        async with bounded_call():
            stored = await self._client.hvals(CONNECTIONS)
        return sorted((from_json(Connection, text) for text in stored), key=lambda connection: connection.name)

    async def remove_connection(self, name: str) -> None:
        """Delete a connection, its state and its items."""
        async with bounded_call(), self._client.pipeline(transaction=True) as pipe:
            pipe.hdel(CONNECTIONS, name)
            pipe.hdel(CONNECTION_STATES, name)
            pipe.delete(CONNECTED_ITEMS + name)
            await pipe.execute()

    async def save_state(self, name: str, state: SyncState, items: Collection[SyncedItem] = ()) -> None:
        """Store the state and these items in one step."""
        async with bounded_call(), self._client.pipeline(transaction=True) as pipe:
            if items:
                pipe.hset(CONNECTED_ITEMS + name, items=[part for item in items for part in (item.id, to_json(item))])
            pipe.hset(CONNECTION_STATES, name, to_json(state))
            await pipe.execute()

    async def state(self, name: str) -> SyncState:
        """Return the sync state, or a new one if none is stored."""
        async with bounded_call():
            stored = await self._client.hget(CONNECTION_STATES, name)
        return SyncState() if stored is None else from_json(SyncState, stored)

    async def save_items(self, name: str, items: Collection[SyncedItem]) -> None:
        """Store these items."""
        some = list(items)
        for start in range(0, len(some), _AT_ONCE):
            pairs = [part for item in some[start : start + _AT_ONCE] for part in (item.id, to_json(item))]
            async with bounded_call():
                await self._client.hset(CONNECTED_ITEMS + name, items=pairs)

    async def remove_items(self, name: str, ids: Collection[str]) -> None:
        """Delete these items."""
        some = list(ids)
        for start in range(0, len(some), _AT_ONCE):
            async with bounded_call():
                await self._client.hdel(CONNECTED_ITEMS + name, *some[start : start + _AT_ONCE])

    async def items(self, name: str) -> Mapping[str, SyncedItem]:
        """Return all items of a connection, by id; read in pages, because there may be many."""
        found: dict[str, SyncedItem] = {}
        async with bounded_call(deadline=_LONGEST):
            async for field, text in self._client.hscan_iter(CONNECTED_ITEMS + name, count=_AT_ONCE):
                found[str(field)] = from_json(SyncedItem, str(text))
        return found


class RedisTrashStore(TrashStore):
    """Trash store without a TTL; ``Trash.sweep`` deletes expired entries."""

    def __init__(self, client: Redis) -> None:
        self._client = client

    async def keep_removal(self, removed: RemovedDocument) -> None:
        """Store a removal in place of an earlier one with the same key."""
        async with bounded_call():
            await self._client.hset(REMOVED, removed.key, to_json(removed))

    async def removals(self) -> Sequence[RemovedDocument]:
        """Return all stored removals, latest first."""
        async with bounded_call():
            stored = await self._client.hvals(REMOVED)
        return sorted(
            (from_json(RemovedDocument, text) for text in stored), key=lambda removed: removed.at, reverse=True
        )

    async def removal(self, document_id: str) -> RemovedDocument | None:
        """Return the removal of this document; a replaced version is not a removal."""
        async with bounded_call():
            stored = await self._client.hget(REMOVED, document_id)
        return None if stored is None else from_json(RemovedDocument, stored)

    async def forget_removal(self, key: str) -> None:
        """Delete a removal that was restored or has expired."""
        async with bounded_call():
            await self._client.hdel(REMOVED, key)


MOST_PROPOSALS = 500
MOST_PROPOSALS_EACH = 10

# KEYS proposals undone decided; ARGV id decision ttl, and a non-empty text if no job follows
_DECIDE = """
local earlier = redis.call('GET', KEYS[3]) or redis.call('HGET', KEYS[2], ARGV[1])
if earlier then return earlier end
if redis.call('HDEL', KEYS[1], ARGV[1]) == 0 then return '' end
if ARGV[4] ~= '' then redis.call('SET', KEYS[3], ARGV[2], 'EX', ARGV[3])
else redis.call('HSET', KEYS[2], ARGV[1], ARGV[2]) end
return ARGV[2]
"""

# KEYS undone decided; ARGV id decision ttl
_SETTLE = """
if redis.call('HDEL', KEYS[1], ARGV[1]) == 1 then redis.call('SET', KEYS[2], ARGV[2], 'EX', ARGV[3]) end
"""


class RedisProposalStore(ProposalStore):
    """Proposal store: one hash each for proposals and unsettled approvals; decisions are kept for ``decided``."""

    def __init__(self, client: Redis, *, decided: timedelta = timedelta(days=30)) -> None:
        self._client = client
        self._ttl = int(decided.total_seconds())
        self._decide = client.register_script(_DECIDE)
        self._settle = client.register_script(_SETTLE)

    async def keep_proposal(self, proposal: Proposal) -> None:
        """Store a proposal. Raises Busy if too many wait, of this person or in total."""
        waiting = await self.proposals()
        mine = sum(other.by.id == proposal.by.id for other in waiting)
        if mine >= MOST_PROPOSALS_EACH or len(waiting) >= MOST_PROPOSALS:
            raise Busy(
                "Many proposals are already waiting for an admin.",
                remedy="Please try again when an admin has decided some of them.",
            )
        async with bounded_call():
            await self._client.hset(PROPOSALS, proposal.id, to_json(proposal))

    async def proposals(self) -> Sequence[Proposal]:
        """Return the waiting proposals, oldest first."""
        async with bounded_call():
            stored = await self._client.hvals(PROPOSALS)
        return sorted((from_json(Proposal, text) for text in stored), key=lambda proposal: proposal.at)

    async def proposal(self, proposal_id: str) -> Proposal | None:
        """Return a proposal by its id; None if it is unknown or decided."""
        async with bounded_call():
            stored = await self._client.hget(PROPOSALS, proposal_id)
        return None if stored is None else from_json(Proposal, stored)

    async def decide(self, decision: Decision) -> Decision | None:
        """Decide a waiting proposal once; return the decision in effect, or None if there is neither."""
        name = decision.proposal
        async with bounded_call():
            held = await self._decide(
                keys=[PROPOSALS, UNDONE, f"{DECIDED}{name}"],
                args=[name, to_json(decision), self._ttl, "" if decision.job else "over"],
            )
        return _decision(held)

    async def decision(self, proposal_id: str) -> Decision | None:
        """Return the decision on a proposal while it is kept."""
        async with bounded_call():
            undone = await self._client.hget(UNDONE, proposal_id)  # first, because settling moves it from here to there
            return _decision(undone or await self._client.get(f"{DECIDED}{proposal_id}"))

    async def open_decisions(self) -> Sequence[Decision]:
        """Return approvals whose job may not be queued yet, oldest first."""
        async with bounded_call():
            stored = await self._client.hvals(UNDONE)
        return sorted((from_json(Decision, text) for text in stored), key=lambda decision: decision.at)

    async def reopen(self, proposal_id: str) -> None:
        """Delete a decision whose job is queued or no longer exists."""
        async with bounded_call():
            await self._client.hdel(UNDONE, proposal_id)
            await self._client.delete(f"{DECIDED}{proposal_id}")

    async def settle(self, proposal_id: str) -> None:
        """Settle an approval whose job is queued: keep the decision, delete the proposal."""
        async with bounded_call():
            decision = _decision(await self._client.hget(UNDONE, proposal_id))
            if decision is not None:
                keys = [UNDONE, f"{DECIDED}{proposal_id}"]
                await self._settle(keys=keys, args=[proposal_id, to_json(replace(decision, job=None)), self._ttl])


def _decision(stored: str | bytes | None) -> Decision | None:
    return from_json(Decision, str(stored)) if stored else None


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
    job = from_json(Job, stored["head"])
    numbered = sorted((int(name[5:]), text) for name, text in stored.items() if name.startswith("item:"))
    items = tuple(from_json(JobItem, text) for _, text in numbered)
    return replace(job, items=items, cancelled_by=str(stored.get("cancelled", "")))
