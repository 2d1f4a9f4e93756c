"""Message records in Redis: a small hash per address, written under the thread's fence if it has one.

A record is added to the indexes of its person and thread before it is written.
"""

import time
from collections.abc import Sequence
from datetime import timedelta
from typing import TypeVar

from redis.asyncio import Redis

from adapters.redis.client import bounded_call, text_fields
from adapters.redis.keys import (
    cancel_request_key,
    index_member,
    lease_key,
    of_person,
    of_thread,
    record_key,
    thread_index_key,
)
from adapters.redis.pipelines import Command, in_order, lua
from core.model.errors import LeaseLost
from core.model.record_codec import OWNER, changed_fields, entries_from_fields, from_fields, to_fields
from core.model.records import Address, Record
from core.ports.message_state import KEPT_FOR, CancelReason, MessageStateStore

_CANCEL_TTL = 3600  # seconds that a cancel request waits for its worker

R = TypeVar("R", bound=Record)

# KEYS lease index record …; ARGV fence ttl now expired, the number of members for the thread's index and these members,
# then for each record the number of texts that follow and these: name value …
_SAVE = """
if ARGV[1] ~= '' and redis.call('HGET', KEYS[1], 'fence') ~= ARGV[1] then return -1 end
local at = 5 + tonumber(ARGV[5])
for i = 6, at do redis.call('ZADD', KEYS[2], ARGV[3], ARGV[i]) end
if at > 5 then
  redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', ARGV[4])
  redis.call('EXPIRE', KEYS[2], ARGV[2])
end
for record = 3, #KEYS do
  local first = at + 2
  at = at + 1 + tonumber(ARGV[at + 1])
  for i = first, at, 2 do redis.call('HSET', KEYS[record], ARGV[i], ARGV[i + 1]) end
  redis.call('EXPIRE', KEYS[record], ARGV[2])
end
return 1
"""

# KEYS record; ARGV ttl person name was now …
_EXCHANGE = (
    """
for i = 3, #ARGV, 3 do
  if (redis.call('HGET', KEYS[1], ARGV[i]) or '') ~= ARGV[i + 1] then return 0 end
end
for i = 3, #ARGV, 3 do redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 2]) end
if ARGV[2] ~= '' then redis.call('HSET', KEYS[1], '"""
    + OWNER
    + """', ARGV[2]) end
redis.call('EXPIRE', KEYS[1], ARGV[1])
return 1
"""
)


class RedisMessageStateStore(MessageStateStore):
    """Message state store that keeps each record for ``ttl`` after its last change."""

    def __init__(self, client: Redis, *, ttl: timedelta = KEPT_FOR) -> None:
        self._client = client
        self._ttl = int(ttl.total_seconds())

    async def read(self, blank: R) -> R | None:
        """Return the record at this one's address, or None."""
        async with bounded_call():
            kept = text_fields(await self._client.hgetall(_key(blank.address)))
        return from_fields(blank, kept)

    async def read_entries(self, blank: R) -> Sequence[R]:
        """Return all records that share this one's place and subject."""
        async with bounded_call():
            kept = text_fields(await self._client.hgetall(_key(blank.address)))
        return entries_from_fields(blank, kept)

    async def save(self, *records: Record, was: Record | None = None, fence: int | None = None) -> None:
        """Store records, with a command per owner and place. Raises LeaseLost if ``fence`` is stale."""
        by_place: dict[str, list[Record]] = {}
        for record in records:
            by_place.setdefault(record.address.place, []).append(record)
        saving = [self._save_command(place, together, was, fence) for place, together in by_place.items()]
        async with bounded_call():
            replies = await in_order(self._client, *self._index_command(records, frozenset(by_place)), *saving)
        if -1 in replies:
            raise LeaseLost("Another worker has taken over this thread.")

    def _save_command(self, place: str, records: Sequence[Record], was: Record | None, fence: int | None) -> Command:
        """Return a command that writes records of one place and, for their own thread, its index in the same step."""
        texts: list[str | int] = []
        for record in records:
            before = was if was is not None and was.address == record.address else None
            changed = [text for pair in changed_fields(record, before).items() for text in pair]
            texts += [len(changed), *changed]
        members = [_member(record.address, place) for record in records if place in record.owners.threads]
        keys = [lease_key(place), thread_index_key(place, "postings"), *(_key(record.address) for record in records)]
        now = time.time()
        fenced = "" if fence is None else fence
        return lua(_SAVE, keys, fenced, self._ttl, now, now - self._ttl, len(members), *members, *texts)

    def _index_command(self, records: Sequence[Record], apart: frozenset[str] = frozenset()) -> Sequence[Command]:
        """Return commands that add records to their owners' indexes, except the threads of ``apart``."""
        people: dict[str, list[str]] = {}
        threads: dict[str, list[str]] = {}
        for record in records:
            for person in record.owners.people:
                people.setdefault(person, []).append(index_member(record.address))
            for thread in record.owners.threads - (apart & {record.address.place}):
                threads.setdefault(thread, []).append(_member(record.address, thread))
        return [
            *(one for thread, members in threads.items() for one in of_thread(thread, "postings", members, self._ttl)),
            *(one for person, members in people.items() for one in of_person(person, "postings", members, self._ttl)),
        ]

    async def exchange(self, was: R, now: R) -> bool:
        """Replace ``was`` with ``now``, once. After a broken connection, a retry may return False despite success."""
        before, after = to_fields(was), to_fields(now)
        person = after.pop(OWNER, before.pop(OWNER, ""))
        before.pop(OWNER, None)
        names = sorted(name for name in before.keys() | after.keys() if before.get(name, "") != after.get(name, ""))
        if not names:
            return await self.read(was) is not None
        values = [text for name in names for text in (name, before.get(name, ""), after.get(name, ""))]
        async with bounded_call():
            *_, kept = await in_order(
                self._client,
                *self._index_command([now]),
                lua(_EXCHANGE, [_key(now.address)], self._ttl, person, *values),
            )
        return bool(kept)

    async def remove(self, record: Record) -> None:
        """Delete a record, if it exists."""
        address = record.address
        async with bounded_call():
            if address.entry:
                await self._client.hdel(_key(address), address.entry)
            else:
                await self._client.delete(_key(address))

    async def request_cancel(self, thread: str, subject: str, reason: CancelReason) -> None:
        """Request that the worker of this question stops."""
        async with bounded_call():
            await in_order(
                self._client,
                *of_thread(thread, "postings", subject, self._ttl),
                ("SET", cancel_request_key(thread, subject), str(reason), "EX", _CANCEL_TTL),
            )

    async def take_cancel(self, thread: str, subject: str) -> CancelReason | None:
        """Return and delete the cancel reason of this question, or None."""
        async with bounded_call():
            reason = await self._client.getdel(cancel_request_key(thread, subject))
        return CancelReason(str(reason)) if reason else None


def _member(address: Address, thread: str) -> str:
    """Return the member for a record in a thread's index."""
    return address.subject if thread == address.place and not address.entry else index_member(address)


def _key(address: Address) -> str:
    return record_key(address.place, address.subject)
