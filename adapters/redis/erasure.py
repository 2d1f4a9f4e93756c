"""Erasure in Redis beyond a thread's own turns: all other data of a thread or person, found by indexes.

A thread's index lists its checkpoints, traces and message records; a person's lists their threads, checkpoints, traces
and records. Each index entry is written before the data that it points to. For records the store writes it itself, for
every owner that their type names. All records of every type are also scanned in full, because the first version stored
some without an owner. Keys with several hash tags cannot be changed in one call, so every step is idempotent: if a
process dies halfway, the next attempt removes the rest.

Work that continues without the person stays, but anonymized: jobs, decisions, schedules, removals, tokens. Not erased:
the audit log; documents made from their words, which the base's admins remove; and, for a day, delivery ids.
"""

import json
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from redis.asyncio import Redis

from adapters.redis.client import text_fields, texts
from adapters.redis.kb_stores import job_head
from adapters.redis.keys import (
    API_TOKENS,
    CONNECTIONS,
    DUE,
    EVERY_DECISION,
    EVERY_JOB,
    EVERY_RECORD,
    EVERY_SESSION,
    FEEDBACK,
    FEEDBACK_ORDER,
    PROPOSALS,
    REMOVED,
    SCHEDULES,
    UNDONE,
    WAITING,
    cancel_request_key,
    checkpoint_key,
    index_member,
    lease_key,
    live_key,
    person_key,
    queue_key,
    record_address,
    record_key,
    seen_key,
    thread_index_key,
    thread_keys,
    trace_key,
    waiting_member,
)
from adapters.redis.question_log import forget_questions
from core.model.connections import Connection
from core.model.conversation import FORGOTTEN
from core.model.jobs import Job, JobItem
from core.model.json_codec import from_json, to_json
from core.model.record_codec import OWNER, fields_of, records_at
from core.ports.access import KeptToken, WebSession
from core.ports.catalog import RemovedDocument
from core.ports.inbox import Delivery
from core.ports.job_store import Decision, Proposal, Schedule
from core.ports.memory import Feedback, ParkedInquiry

_PAGE = 500
_SEEN_TTL = 24 * 3600  # seconds for which a dropped delivery's id is remembered

# KEYS about; ARGV checkpoint
CLOSE_CHECKPOINT = """
if redis.call('HGET', KEYS[1], 'open_checkpoint') == ARGV[1] then redis.call('HDEL', KEYS[1], 'open_checkpoint') end
"""

# KEYS lease queue; ARGV person, or nothing for everybody. Skips a delivery that a live worker holds.
_DROP_WAITING = """
local told = redis.call('TIME')
local now = told[1] * 1000 + math.floor(told[2] / 1000)
local lease = redis.call('HMGET', KEYS[1], 'holder', 'until')
local held = lease[1] and lease[1] ~= '' and (tonumber(lease[2]) or 0) > now
local gone = {}
for at, body in ipairs(redis.call('LRANGE', KEYS[2], 0, -1)) do
  local mine = ARGV[1] == '' or cjson.decode(body).person == ARGV[1]
  if mine and not (held and at == 1) then
    redis.call('LREM', KEYS[2], 1, body)
    table.insert(gone, body)
    if at == 1 then
      redis.call('HSET', KEYS[1], 'holder', '', 'until', 0, 'attempt', 0)
    end
  end
end
return gone
"""


class Erasure:
    """Remover of all data of a thread or person. Raises redis exceptions, which its caller translates."""

    def __init__(self, client: Redis) -> None:
        self._client = client
        self._close_checkpoint = client.register_script(CLOSE_CHECKPOINT)
        self._drop_waiting = client.register_script(_DROP_WAITING)

    async def threads_of(self, person: str) -> list[str]:
        """Return the threads in which this person has turns."""
        return await self._members(person_key(person, "threads"))

    async def thread(self, thread: str, checkpoint: str, traces: Sequence[str]) -> bool:
        """Erase a thread's data other than its turns; return whether deliveries were waiting.

        ``checkpoint`` is its open checkpoint and ``traces`` are those of its turns.
        """
        waited = await self._waiting_in(thread)
        checkpoints = await self._members(thread_index_key(thread, "checkpoints"))
        for name in dict.fromkeys([*filter(None, [checkpoint]), *checkpoints]):
            await self._checkpoint(name)
        every = [*traces, *await self._members(thread_index_key(thread, "traces"))]
        await self._traces(every)
        for member in await self._members(thread_index_key(thread, "postings")):
            await self._record(*(json.loads(member) if member.startswith("[") else (thread, member)))
        await self._feedback(traces=frozenset(every), thread=thread)
        await forget_questions(self._client, thread=thread)
        for what in ("checkpoints", "traces", "postings"):
            await self._client.delete(thread_index_key(thread, what))
        return bool(waited)

    async def person(self, person: str, traces: Sequence[str]) -> None:
        """Erase a person's data other than their turns, whose traces are given."""
        for member in await self._members(person_key(person, "waiting")):
            await self._waiting_in(json.loads(member)[0], person)
        for checkpoint in await self._members(person_key(person, "checkpoints")):
            await self._checkpoint(checkpoint)
        every = [*traces, *await self._members(person_key(person, "traces"))]
        await self._traces(every)
        for member in await self._members(person_key(person, "postings")):
            await self._record(*json.loads(member), only_of=person)
        await self._named_in_records(person, frozenset(every))
        await self._feedback(traces=frozenset(every), person=person)
        await self._proposals(person)
        await _anonymize_work(self._client, person)
        await _end_sessions(self._client, person)
        await forget_questions(self._client, person=person)
        for what in ("threads", "checkpoints", "traces", "postings"):
            await self._client.delete(person_key(person, what))

    async def _members(self, key: str) -> list[str]:
        return texts(await self._client.zrange(key, 0, -1))

    async def _waiting_in(self, thread: str, person: str = "") -> int:
        """Drop waiting deliveries of a thread, of everybody or one person, and mark them done; return their number."""
        keys = [lease_key(thread), queue_key(thread)]
        dropped = [from_json(Delivery, body) for body in await self._drop_waiting(keys=keys, args=[person])]
        for one in dropped:
            member = waiting_member(one.thread, one.id, one.person)
            await self._client.set(seen_key(one.thread, one.id), "done", ex=_SEEN_TTL)
            await self._client.zrem(WAITING, member)
            await self._client.zrem(person_key(one.person, "waiting"), member)
        return len(dropped)

    async def _checkpoint(self, checkpoint_id: str) -> None:
        stored = await self._client.hget(checkpoint_key(checkpoint_id), "parked")
        if stored:
            parked = from_json(ParkedInquiry, stored)
            about = thread_keys(str(parked.checkpoint.thread))[3]
            await self._close_checkpoint(keys=[about], args=[checkpoint_id])
            await self._traces([parked.inquiry.id])
        await self._client.delete(checkpoint_key(checkpoint_id))
        await self._client.zrem(DUE, checkpoint_id)

    async def _traces(self, traces: Collection[str]) -> None:
        for trace in traces:
            await self._client.delete(trace_key(trace))

    async def _record(self, place: str, subject: str, entry: str = "", *, only_of: str = "") -> None:
        """Erase the records at an address and its cancel request, or only the entry of this name.

        With ``only_of``, skip it if it now belongs to another person.
        """
        values = text_fields(await self._client.hgetall(record_key(place, subject)))
        if not only_of or values.get(OWNER, only_of) == only_of:
            await self._erase(place, subject, values, {entry} if entry else set(values))
        if not entry:
            await self._client.delete(cancel_request_key(place, subject), live_key(place, subject))
            await self._client.zrem(thread_index_key(place, "postings"), subject)

    async def _erase(self, place: str, subject: str, values: Mapping[str, str], names: set[str]) -> None:
        """Erase these fields at an address and its entries in the threads' indexes."""
        for record in records_at(place, subject, values):
            entry = record.address.entry
            if names >= ({entry} if entry else set(values)):
                for thread in record.owners.threads:
                    await self._client.zrem(thread_index_key(thread, "postings"), subject, index_member(record.address))
        if names >= set(values):
            await self._client.delete(record_key(place, subject))
        elif names:
            await self._client.hdel(record_key(place, subject), *sorted(names))

    async def _named_in_records(self, person: str, traces: frozenset[str]) -> None:
        """Erase all other records that belong to this person or mention them or one of their traces.

        Scans every record, about 20,000 a second, because the first version's records are not in the index.
        """
        page: list[str] = []
        async for key in self._client.scan_iter(match=EVERY_RECORD, count=_PAGE):
            page.append(str(key))
            if len(page) >= _PAGE:
                await self._named_in(page, person, traces)
                page = []
        await self._named_in(page, person, traces)

    async def _named_in(self, keys: Sequence[str], person: str, traces: frozenset[str]) -> None:
        async with self._client.pipeline(transaction=False) as pipe:
            for key in keys:
                pipe.hgetall(key)
            kept = await pipe.execute()
        for key, values in zip(keys, kept, strict=True):
            place, subject = record_address(key)
            if names := fields_of(place, subject, values, person, traces):
                await self._erase(place, subject, values, names)

    async def _feedback(self, *, traces: frozenset[str], person: str = "", thread: str = "") -> None:
        """Erase feedback on these answers, by this person, on their questions or in this thread."""
        gone: list[str] = []
        async for field, stored in self._client.hscan_iter(FEEDBACK, count=_PAGE):
            word = from_json(Feedback, stored)
            theirs = bool(person) and person in (word.person.id, word.asker)
            if theirs or word.trace_id in traces or (thread and word.thread == thread):
                gone.append(str(field))
        if gone:
            await self._client.hdel(FEEDBACK, *gone)
            await self._client.zrem(FEEDBACK_ORDER, *gone)

    async def _proposals(self, person: str) -> None:
        """Delete this person's undecided proposals."""
        for name, stored in (await self._client.hgetall(PROPOSALS)).items():
            proposal = from_json(Proposal, stored)
            if proposal.by.id == person:
                await self._client.hdel(PROPOSALS, name)


_TRIES = 5  # retries for concurrent writes to the same entry

# KEYS hash; ARGV field before after
_EXCHANGE_FIELD = """
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return 1
"""

# KEYS job; ARGV head anonymous-head. From then on ``kb_stores`` writes no name to this job. A head that a worker has
# written since the read is anonymized by its next write, or by a retry.
_FORGET_IN_JOB = """
if redis.call('EXISTS', KEYS[1]) == 0 then return 1 end
redis.call('HSET', KEYS[1], 'forgotten', 1)
if redis.call('HGET', KEYS[1], 'head') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'head', ARGV[2])
return 1
"""


async def _anonymize_work(client: Redis, person_id: str) -> None:
    """Remove this person's name from stored work on knowledge bases and from API tokens.

    Each entry is exchanged only if it is unchanged since it was read, so that no concurrent write is lost.
    """
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


async def _end_sessions(client: Redis, person_id: str) -> None:
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
