"""Traces and counters in Redis: what happened on the way to each answer, for a fortnight."""

from collections.abc import Mapping, Sequence
from datetime import timedelta

from redis.asyncio import Redis

from adapters.stores.redis_connection import reaching
from adapters.stores.redis_keys import COUNTERS, index_person, index_thread, trace_key
from core.events import AnswerDelta, TracedEvent
from core.ports import Journal
from core.serial import from_json, to_json

MOST_EVENTS = 2_000  # of one trace; the newest are kept


class RedisJournal(Journal):
    """Keeps the events of a trace for ``ttl`` after the last one. The answer's streamed text is not among them."""

    def __init__(self, client: Redis, *, ttl: timedelta = timedelta(days=14)) -> None:
        self._client = client
        self._ttl = int(ttl.total_seconds())

    async def record(
        self, trace_id: str, events: Sequence[TracedEvent], *, person_id: str = "", thread: str = ""
    ) -> None:
        """Append events to a trace, and remember whose it is and of which thread."""
        kept = [to_json(event) for event in events if not isinstance(event.event, AnswerDelta)]
        if not kept:
            return
        key = trace_key(trace_id)
        async with reaching():
            await index_person(self._client, person_id, "traces", trace_id, self._ttl)
            await index_thread(self._client, thread, "traces", trace_id, self._ttl)
            async with self._client.pipeline(transaction=True) as pipe:
                pipe.rpush(key, *kept)
                pipe.ltrim(key, -MOST_EVENTS, -1)
                pipe.expire(key, self._ttl)
                await pipe.execute()

    async def trace(self, trace_id: str) -> Sequence[TracedEvent]:
        """All events of a trace, in order; empty when unknown."""
        async with reaching():
            stored = await self._client.lrange(trace_key(trace_id), 0, -1)
        return [from_json(TracedEvent, event) for event in stored]

    async def count(self, counters: Mapping[str, int]) -> None:
        """Add to named counters."""
        if not counters:
            return
        async with reaching(), self._client.pipeline(transaction=True) as pipe:
            for name, amount in counters.items():
                pipe.hincrby(COUNTERS, name, amount)
            await pipe.execute()

    async def counters(self) -> Mapping[str, int]:
        """The counters' values."""
        async with reaching():
            found = await self._client.hgetall(COUNTERS)
        return {str(name): int(value) for name, value in found.items()}
