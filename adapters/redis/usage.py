"""Daily budgets, answer counts, usage sums, traces and counters in Redis.

A limit is checked and counted in one call, so that concurrent questions cannot exceed it.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import timedelta

from redis.asyncio import Redis

from adapters.redis.client import bounded_call
from adapters.redis.keys import COUNTERS, of_person, of_thread, tagged_key, trace_key
from adapters.redis.pipelines import in_order, lua
from core.model.answer import UsageCounts
from core.model.budget import NOBODY, Account
from core.model.clock import Days
from core.model.errors import ModelFailure, ModelUnavailable
from core.model.events import AnswerDelta, TracedEvent
from core.model.json_codec import from_json, to_json
from core.ports.usage import AnswerCounts, DailyBudget, TraceStore, UsageBook, UsageRow

_TTL = 3 * 24 * 3600  # seconds; yesterday's counts are not needed the day after tomorrow
_ALL = ""  # the field with the spending of all channels
USAGE_DAYS = 32  # retention of the sums; a month is shown
MOST_ROWS = 2_000  # channels with their bases per day; the rest is summed in one row
_SUMS = ("answers", "quotes", "not_found", "tokens", "cost")

# KEYS day; ARGV amount ttl field limit …; an empty limit means none
_TAKE = """
for i = 3, #ARGV, 2 do
  local most = tonumber(ARGV[i + 1])
  if most and tonumber(redis.call('HGET', KEYS[1], ARGV[i]) or '0') + tonumber(ARGV[1]) > most then return i end
end
for i = 3, #ARGV, 2 do redis.call('HINCRBYFLOAT', KEYS[1], ARGV[i], ARGV[1]) end
redis.call('EXPIRE', KEYS[1], ARGV[2])
return 0
"""

# KEYS day; ARGV ttl question name limit …; beside the counts, the names under which each question was counted
_COUNT = """
if redis.call('HEXISTS', KEYS[1], ARGV[2]) == 1 then return 0 end
local names = {}
for i = 3, #ARGV, 2 do
  if tonumber(redis.call('HGET', KEYS[1], ARGV[i]) or '0') >= tonumber(ARGV[i + 1]) then return i end
  names[#names + 1] = ARGV[i]
end
for _, name in ipairs(names) do redis.call('HINCRBY', KEYS[1], name, 1) end
redis.call('HSET', KEYS[1], ARGV[2], cjson.encode(names))
redis.call('EXPIRE', KEYS[1], ARGV[1])
return 0
"""

# KEYS day; ARGV question
_GIVE_BACK = """
local names = redis.call('HGET', KEYS[1], ARGV[1])
if not names then return end
for _, name in ipairs(cjson.decode(names)) do redis.call('HINCRBY', KEYS[1], name, -1) end
redis.call('HDEL', KEYS[1], ARGV[1])
"""

# KEYS day; ARGV most ttl row other name amount …
_BOOK = """
local row = ARGV[3]
if redis.call('HEXISTS', KEYS[1], 'cost ' .. row) == 0 and redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[1]) then
  row = ARGV[4]
end
for i = 5, #ARGV, 2 do redis.call('HINCRBYFLOAT', KEYS[1], ARGV[i] .. ' ' .. row, ARGV[i + 1]) end
redis.call('EXPIRE', KEYS[1], ARGV[2])
"""


class RedisDailyBudget(DailyBudget):
    """The total budget of all channels (None: unlimited) and the budgets of single channels."""

    def __init__(self, client: Redis, days: Days, budget: float | None) -> None:
        self._client = client
        self._days = days
        self._budget = budget
        self._take = client.register_script(_TAKE)

    async def reserve(self, amount: float, account: Account = NOBODY) -> str:
        """Reserve this amount of today's budgets; return the day. Raises ModelUnavailable."""
        day = self._days.today()
        if fields := self._fields(account):
            async with bounded_call():
                over = int(await self._take(keys=[_budget_key(day)], args=[f"{amount:.9f}", _TTL, *fields]))
            if over:
                whose = "This channel's budget" if fields[over - 3] else "The budget"
                used = f"{whose} for the writing model is used up for today, until {self._days.end}."
                raise ModelUnavailable(used, kind=ModelFailure.BUDGET)
        return day

    async def spent_share(self) -> float:
        """Return the share of today's total budget that is spent or reserved, from 0 to 1."""
        if self._budget is None:
            return 0.0
        async with bounded_call():
            spent = float(await self._client.hget(_budget_key(self._days.today()), _ALL) or 0.0)
        return spent / self._budget if self._budget else 1.0

    async def settle(self, reserved: float, spent: float, account: Account = NOBODY, *, day: str) -> None:
        """Release the reserved amount and record the spent one, on the day of the reservation."""
        if fields := self._fields(account):
            unlimited = [part for field in fields[::2] for part in (field, "")]
            async with bounded_call():
                await self._take(keys=[_budget_key(day)], args=[f"{spent - reserved:.9f}", _TTL, *unlimited])

    def _fields(self, account: Account) -> list[str]:
        """Return each counted field, followed by its limit."""
        of_all = [] if self._budget is None else [_ALL, str(self._budget)]
        return [*of_all, account.place, str(account.daily)] if account.daily else of_all


class RedisAnswerCounts(AnswerCounts):
    """A field for each name that has had an answer today, and for each question that was counted."""

    def __init__(self, client: Redis, days: Days) -> None:
        self._client = client
        self._days = days
        self._count = client.register_script(_COUNT)
        self._give_back = client.register_script(_GIVE_BACK)

    async def take(self, most: Sequence[tuple[str, int]], question: str) -> str:
        """Count one answer under each name, once, or return the name that has had as many as it may."""
        fields = [str(part) for pair in most for part in pair]
        async with bounded_call():
            over = int(await self._count(keys=[self._today()], args=[_TTL, f"?{question}", *fields]))
        return fields[over - 3] if over else ""

    async def give_back(self, question: str) -> None:
        """Take back what was counted today for this question; nothing where nothing was."""
        async with bounded_call():
            await self._give_back(keys=[self._today()], args=[f"?{question}"])

    def _today(self) -> str:
        return tagged_key(f"answers:{self._days.today()}")


class RedisUsageBook(UsageBook):
    """Usage sums by day, channel and base, for a month."""

    def __init__(self, client: Redis, *, most: int = MOST_ROWS) -> None:
        self._client = client
        self._most = most * len(_SUMS)
        self._book = client.register_script(_BOOK)

    async def book(self, used: UsageRow) -> None:
        """Add this row to its day."""
        sums = asdict(used)
        added = [part for name in _SUMS if sums[name] or name == "cost" for part in (name, f"{sums[name]:.9f}")]
        rows = [json.dumps([used.place, used.base]), json.dumps(["", ""])]
        async with bounded_call():
            await self._book(keys=[_usage_key(used.day)], args=[self._most, USAGE_DAYS * 24 * 3600, *rows, *added])

    async def rows(self, days: Sequence[str]) -> Sequence[UsageRow]:
        """Return the usage of these days."""
        found = []
        for day in days:
            async with bounded_call():
                stored = await self._client.hgetall(_usage_key(day))
            sums: dict[str, dict[str, float]] = {}
            for field, value in stored.items():
                name, _, row = str(field).partition(" ")
                sums.setdefault(row, {})[name] = float(value)
            found += [_row(day, row, values) for row, values in sums.items()]
        return found


def _row(day: str, row: str, sums: dict[str, float]) -> UsageRow:
    place, base = json.loads(row)
    whole = {name: round(value) for name, value in sums.items() if name != "cost"}
    return UsageRow(day, place, base, cost=sums.get("cost", 0.0), **whole)


def _budget_key(day: str) -> str:
    return tagged_key(f"spent:{day}")


def _usage_key(day: str) -> str:
    return tagged_key(f"usage:{day}")


MOST_EVENTS = 2_000  # per trace; the newest are kept

# KEYS trace; ARGV most ttl event…
_RECORD = """
for i = 3, #ARGV do redis.call('RPUSH', KEYS[1], ARGV[i]) end
redis.call('LTRIM', KEYS[1], -ARGV[1], -1)
redis.call('EXPIRE', KEYS[1], ARGV[2])
return 1
"""

# KEYS counters; ARGV name amount …
_ADD = """
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
            await in_order(self._client, lua(_ADD, [COUNTERS], *flat))

    async def counts(self) -> UsageCounts:
        """Return all counters."""
        async with bounded_call():
            found = await self._client.hgetall(COUNTERS)
        return UsageCounts.from_mapping({str(name): int(value) for name, value in found.items()})
