"""What is posted where in a thread, in Redis: a small hash for each question, fenced by the thread's lease.

Each is found again by its thread and by the person it belongs to, so that it can be forgotten with either.
"""

import json
from collections.abc import Mapping
from datetime import timedelta

from redis.asyncio import Redis

from adapters.redis.client import bounded_call
from adapters.redis.erasure import OWNER
from adapters.redis.keys import called_off_key, lease_key, of_person, of_thread, posting_key
from adapters.redis.pipelining import in_order, lua
from core.model.errors import LeaseLost
from core.ports.message_state import MessageStateStore

_CALLED_OFF_TTL = 3600  # seconds that a stop waits for the worker it is meant for

# KEYS posting lease; ARGV fence ttl owner name value …
_KEEP = (
    """
if ARGV[1] ~= '' and redis.call('HGET', KEYS[2], 'fence') ~= ARGV[1] then return -1 end
for i = 4, #ARGV, 2 do redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1]) end
if ARGV[3] ~= '' then redis.call('HSETNX', KEYS[1], '"""
    + OWNER
    + """', ARGV[3]) end
redis.call('EXPIRE', KEYS[1], ARGV[2])
return 1
"""
)

# KEYS posting; ARGV taken [name value …]. A hash that is empty for a moment loses its time to live, so that is kept.
_TAKE = """
local found = redis.call('HGET', KEYS[1], ARGV[1])
if not found then return '' end
local left = redis.call('PTTL', KEYS[1])
redis.call('HDEL', KEYS[1], ARGV[1])
for i = 2, #ARGV, 2 do redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1]) end
if left > 0 then redis.call('PEXPIRE', KEYS[1], left) end
return found
"""


class RedisMessageStateStore(MessageStateStore):
    """Keeps what is visible of each question for ``ttl`` after the last change."""

    def __init__(self, client: Redis, *, ttl: timedelta = timedelta(days=30)) -> None:
        self._client = client
        self._ttl = int(ttl.total_seconds())
        self._take = client.register_script(_TAKE)

    async def read(self, thread: str, subject: str) -> Mapping[str, str]:
        """Everything kept for a subject."""
        async with bounded_call():
            kept = await self._client.hgetall(posting_key(thread, subject))
        return {str(name): str(value) for name, value in kept.items() if name != OWNER}

    async def keep(
        self, thread: str, subject: str, values: Mapping[str, str], *, fence: int | None = None, person: str = ""
    ) -> None:
        """Add or replace values. Raises LeaseLost when ``fence`` is given and stale."""
        flat = [part for pair in values.items() for part in pair]
        async with bounded_call():
            if not person and fence is not None:
                person = str(await self._client.hget(lease_key(thread), "person") or "")
            keys, fenced = [posting_key(thread, subject), lease_key(thread)], "" if fence is None else fence
            *_, kept = await in_order(
                self._client,
                *of_thread(thread, "postings", subject, self._ttl),
                *of_person(person, "postings", json.dumps([thread, subject]), self._ttl),
                lua(_KEEP, keys, fenced, self._ttl, person, *flat),
            )
        if kept == -1:
            raise LeaseLost("Another worker has taken this thread over.")

    async def take(self, thread: str, subject: str, name: str, leaving: Mapping[str, str] | None = None) -> str:
        """One value, read and removed in one step. A caller whose connection broke over it may get nothing."""
        flat = [part for pair in (leaving or {}).items() for part in pair]
        async with bounded_call():
            return str(await self._take(keys=[posting_key(thread, subject)], args=[name, *flat]))

    async def request_cancel(self, thread: str, subject: str, reason: str) -> None:
        """Ask whoever works on this subject to stop."""
        async with bounded_call():
            await self._client.set(called_off_key(thread, subject), reason, ex=_CALLED_OFF_TTL)

    async def take_cancel(self, thread: str, subject: str) -> str:
        """The reason why this subject was called off, taken; empty when it was not."""
        async with bounded_call():
            reason = await self._client.getdel(called_off_key(thread, subject))
        return str(reason or "")
