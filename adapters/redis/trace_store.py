"""Traces and counters in Redis: the events of each answer, kept for a fortnight."""

from collections.abc import Sequence
from datetime import timedelta

from redis.asyncio import Redis

from adapters.redis.client import bounded_call
from adapters.redis.keys import COUNTERS, of_person, of_thread, trace_key
from adapters.redis.pipelines import in_order, lua
from core.model.answer import UsageCounts
from core.model.events import AnswerDelta, TracedEvent
from core.model.json_codec import from_json, to_json
from core.ports.usage import TraceStore

MOST_EVENTS = 2_000  # per trace; the newest are kept

# KEYS trace; ARGV most ttl event…
_RECORD = """
for i = 3, #ARGV do redis.call('RPUSH', KEYS[1], ARGV[i]) end
redis.call('LTRIM', KEYS[1], -ARGV[1], -1)
redis.call('EXPIRE', KEYS[1], ARGV[2])
return 1
"""

# KEYS counters; ARGV name amount …
_COUNT = """
for i = 1, #ARGV, 2 do redis.call('HINCRBY', KEYS[1], ARGV[i], ARGV[i + 1]) end
return 1
"""


class RedisTraceStore(TraceStore):
    """Trace store that keeps events for ``ttl`` after the last one, without the answer's streamed text."""

    def __init__(self, client: Redis, *, ttl: timedelta = timedelta(days=14)) -> None:
        self._client = client
        self._ttl = int(ttl.total_seconds())

    async def record(
        self, trace_id: str, events: Sequence[TracedEvent], *, person_id: str = "", thread: str = ""
    ) -> None:
        """Append events to a trace and index it by person and thread."""
        kept = [to_json(event) for event in events if not isinstance(event.event, AnswerDelta)]
        if not kept:
            return
        async with bounded_call():
            await in_order(
                self._client,
                *of_person(person_id, "traces", trace_id, self._ttl),
                *of_thread(thread, "traces", trace_id, self._ttl),
                lua(_RECORD, [trace_key(trace_id)], MOST_EVENTS, self._ttl, *kept),
            )

    async def trace(self, trace_id: str) -> Sequence[TracedEvent]:
        """Return all events of a trace in order, empty if it is unknown."""
        async with bounded_call():
            stored = await self._client.lrange(trace_key(trace_id), 0, -1)
        return [from_json(TracedEvent, event) for event in stored]

    async def count(self, added: UsageCounts) -> None:
        """Add these counts."""
        flat = [part for pair in added.to_mapping().items() for part in pair]
        if not flat:
            return
        async with bounded_call():
            await in_order(self._client, lua(_COUNT, [COUNTERS], *flat))

    async def counts(self) -> UsageCounts:
        """Return all counters."""
        async with bounded_call():
            found = await self._client.hgetall(COUNTERS)
        return UsageCounts.from_mapping({str(name): int(value) for name, value in found.items()})
