"""Anonymization of stored work by a person who is forgotten: jobs, decisions, schedules, removals, tokens.

Each is found by scanning all entries (a few thousand) and exchanged only if unchanged since it was read, so that
concurrent writes of a worker are not lost. The person's web sessions end. Raises redis exceptions, like ``erasure``.
"""

from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import Any

from redis.asyncio import Redis

from adapters.redis.job_store import job_head
from adapters.redis.keys import (
    API_TOKENS,
    CONNECTIONS,
    EVERY_DECISION,
    EVERY_JOB,
    EVERY_SESSION,
    REMOVED,
    SCHEDULES,
    UNDONE,
)
from core.model.connections import Connection
from core.model.conversation import FORGOTTEN
from core.model.jobs import Job, JobItem
from core.model.json_codec import from_json, to_json
from core.ports.access import KeptToken, WebSession
from core.ports.catalog import RemovedDocument
from core.ports.job_store import Decision, Schedule

_PAGE = 500
_TRIES = 5  # retries for concurrent writes to the same entry

# KEYS hash; ARGV field before after
_EXCHANGE_FIELD = """
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return 1
"""

# KEYS job; ARGV head anonymous-head. From then on ``job_store`` writes no name to this job. A head that a worker has
# written since the read is anonymized by its next write, or by a retry.
_FORGET_IN_JOB = """
if redis.call('EXISTS', KEYS[1]) == 0 then return 1 end
redis.call('HSET', KEYS[1], 'forgotten', 1)
if redis.call('HGET', KEYS[1], 'head') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'head', ARGV[2])
return 1
"""


async def anonymize_work(client: Redis, person_id: str) -> None:
    """Remove this person's name from stored work on knowledge bases and from API tokens."""
    await _jobs(client, person_id)
    await _exchange(
        client, SCHEDULES, Schedule, lambda one: replace(one, by=FORGOTTEN) if one.by.id == person_id else one
    )
    await _exchange(
        client, CONNECTIONS, Connection, lambda one: replace(one, by=FORGOTTEN) if one.by.id == person_id else one
    )
    await _exchange(client, UNDONE, Decision, lambda one: _decision(one, person_id))
    async for key in _keys(client, EVERY_DECISION):
        stored = await client.get(key)
        if stored and (decision := from_json(Decision, stored)).by.id == person_id:
            await client.set(key, to_json(_decision(decision, person_id)), xx=True, keepttl=True)
    await _exchange(
        client, REMOVED, RemovedDocument, lambda one: replace(one, by=FORGOTTEN.name) if one.by == person_id else one
    )
    await _exchange(client, API_TOKENS, KeptToken, lambda one: _token(one, person_id))


async def end_sessions(client: Redis, person_id: str) -> None:
    """Delete this person's web sessions and unused sign-in links."""
    for pattern in EVERY_SESSION:
        async for key in _keys(client, pattern):
            stored = await client.get(key)
            if stored and from_json(WebSession, stored).person.id == person_id:
                await client.delete(key)


async def _jobs(client: Redis, person_id: str) -> None:
    forget, exchange = client.register_script(_FORGET_IN_JOB), client.register_script(_EXCHANGE_FIELD)
    async for key in _keys(client, EVERY_JOB):
        await exchange(keys=[key], args=["cancelled", person_id, FORGOTTEN.id])
        for name, stored in (await client.hgetall(key)).items():
            if str(name).startswith("item:") and (item := from_json(JobItem, stored)).origin == person_id:
                await exchange(keys=[key], args=[name, stored, to_json(replace(item, origin=FORGOTTEN.id))])
        for _ in range(_TRIES):
            head = await client.hget(key, "head")
            job: Job | None = from_json(Job, head) if head else None
            if not head or job is None or job.by.id != person_id:
                break
            if await forget(keys=[key], args=[head, job_head(job.without_asker())]):
                break


async def _exchange(client: Redis, key: str, kind: type[Any], change: Callable[[Any], Any]) -> None:
    """Replace each entry of a hash with ``change(entry)`` unless it was written concurrently; retry those."""
    exchange = client.register_script(_EXCHANGE_FIELD)
    for _ in range(_TRIES):
        changed = {}
        for field, stored in (await client.hgetall(key)).items():
            before = from_json(kind, stored)
            if (after := change(before)) != before:
                changed[field] = stored, to_json(after)
        if not changed:
            return
        for field, (before, after) in changed.items():
            await exchange(keys=[key], args=[field, before, after])


def _decision(decision: Decision, person_id: str) -> Decision:
    """Return an admin's decision and its job without this person's name."""
    job = decision.job.without_asker() if decision.job and decision.job.by.id == person_id else decision.job
    if job is not None:
        items = [replace(one, origin=FORGOTTEN.id) if one.origin == person_id else one for one in job.items]
        job = replace(job, items=tuple(items))
    by = FORGOTTEN if decision.by.id == person_id else decision.by
    return replace(decision, by=by, job=job)


def _token(kept: KeptToken, person_id: str) -> KeptToken:
    token = kept.token
    return replace(kept, token=replace(token, created_by=FORGOTTEN.id)) if token.created_by == person_id else kept


async def _keys(client: Redis, pattern: str) -> AsyncIterator[str]:
    async for key in client.scan_iter(match=pattern, count=_PAGE):
        yield str(key)
