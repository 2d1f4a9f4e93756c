"""Log of the newest questions, and of the newest feedback on answers."""

import json
from collections.abc import AsyncIterator, Collection
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from redis.asyncio import Redis

from adapters.redis.client import bounded_call, texts
from adapters.redis.keys import (
    FEEDBACK,
    FEEDBACK_ORDER,
    QUESTIONS,
    QUESTIONS_CORRECTED,
    QUESTIONS_ORDER,
    QUESTIONS_OWNERS,
)
from core.model.json_codec import from_json, to_json
from core.ports.memory import Feedback, FeedbackStore
from core.ports.usage import LoggedQuestion, QuestionLog

_KEYS = [QUESTIONS, QUESTIONS_ORDER, QUESTIONS_OWNERS, QUESTIONS_CORRECTED]
_PAGE = 500

_DROP = """
local function drop(traces)
  for _, trace in ipairs(traces) do
    redis.call('HDEL', KEYS[1], trace)
    redis.call('ZREM', KEYS[2], trace)
    redis.call('HDEL', KEYS[3], trace)
    redis.call('SREM', KEYS[4], trace)
  end
end
"""

# KEYS records order owners corrected; ARGV trace json at owner most oldest
_KEEP = f"""
{_DROP}
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('ZADD', KEYS[2], ARGV[3], ARGV[1])
redis.call('HSET', KEYS[3], ARGV[1], ARGV[4])
drop(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', '(' .. ARGV[6], 'LIMIT', 0, 1000))
local over = redis.call('ZCARD', KEYS[2]) - tonumber(ARGV[5])
if over > 0 then drop(redis.call('ZRANGE', KEYS[2], 0, math.min(over, 1000) - 1)) end
"""

# KEYS records order owners corrected; ARGV trace
_MARK = "if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then redis.call('SADD', KEYS[4], ARGV[1]) end"

# KEYS records order owners corrected; ARGV trace…
_FORGET = f"{_DROP} drop(ARGV)"


class RedisQuestionLog(QuestionLog):
    """Log of the newest ``most`` questions for ``ttl``: about 2 KB each, 40 MB when full."""

    def __init__(self, client: Redis, *, most: int = 20_000, ttl: timedelta = timedelta(days=180)) -> None:
        self._client = client
        self._most = most
        self._ttl = ttl
        self._keep = client.register_script(_KEEP)
        self._mark = client.register_script(_MARK)

    async def keep(self, question: LoggedQuestion) -> None:
        """Store a question in place of an earlier one with the same trace."""
        oldest = (datetime.now(UTC) - self._ttl).timestamp()
        owner = json.dumps([question.asker, question.thread])
        kept = to_json(replace(question, corrected=False))
        async with bounded_call():
            await self._keep(
                keys=_KEYS, args=[question.trace_id, kept, question.at.timestamp(), owner, self._most, oldest]
            )

    async def mark_corrected(self, trace_id: str) -> None:
        """Mark this answer as corrected, if it is stored."""
        async with bounded_call():
            await self._mark(keys=_KEYS, args=[trace_id])

    async def since(self, moment: datetime) -> AsyncIterator[LoggedQuestion]:
        """Yield questions since this moment, oldest first."""
        async with bounded_call():
            traces = texts(await self._client.zrangebyscore(QUESTIONS_ORDER, moment.timestamp(), "+inf"))
            corrected = {str(trace) for trace in await self._client.smembers(QUESTIONS_CORRECTED)}
        for start in range(0, len(traces), _PAGE):
            page = traces[start : start + _PAGE]
            async with bounded_call():
                stored = await self._client.hmget(QUESTIONS, page)
            for trace, text in zip(page, stored, strict=True):
                if text is not None:
                    question = from_json(LoggedQuestion, str(text))
                    yield replace(question, corrected=True) if trace in corrected else question


async def forget_questions(client: Redis, *, person: str = "", thread: str = "") -> None:
    """Delete the questions of a person or thread. Raises redis exceptions, which its caller translates."""
    theirs: list[str] = []
    async for trace, owner in client.hscan_iter(QUESTIONS_OWNERS, count=_PAGE):
        asker, where = json.loads(owner)
        if (person and asker == person) or (thread and where == thread):
            theirs.append(str(trace))
    await _drop(client, theirs)


async def _drop(client: Any, traces: Collection[str]) -> None:
    waiting = list(traces)
    while waiting:
        await client.eval(_FORGET, len(_KEYS), *_KEYS, *waiting[:_PAGE])
        del waiting[:_PAGE]


_FEEDBACK_PAGE = 200

# KEYS words order; ARGV field json at most
_KEEP_FEEDBACK = """
local earlier = redis.call('HGET', KEYS[1], ARGV[1])
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('ZADD', KEYS[2], ARGV[3], ARGV[1])
local over = redis.call('ZCARD', KEYS[2]) - tonumber(ARGV[4])
if over > 0 then
  for _, field in ipairs(redis.call('ZRANGE', KEYS[2], 0, over - 1)) do
    redis.call('HDEL', KEYS[1], field)
    redis.call('ZREM', KEYS[2], field)
  end
end
return earlier or ''
"""


class RedisFeedbackStore(FeedbackStore):
    """Store of the newest ``most`` feedback entries, without a TTL because they become an evaluation set."""

    def __init__(self, client: Redis, *, most: int = 10_000) -> None:
        self._client = client
        self._most = most
        self._keep = client.register_script(_KEEP_FEEDBACK)

    async def keep(self, feedback: Feedback) -> Feedback | None:
        """Store feedback, by default dated now; return the person's earlier feedback, which it replaces."""
        at = feedback.at or datetime.now(UTC)
        field = json.dumps([feedback.trace_id, feedback.person.id])
        async with bounded_call():
            earlier = await self._keep(
                keys=[FEEDBACK, FEEDBACK_ORDER],
                args=[field, to_json(replace(feedback, at=at)), at.timestamp(), self._most],
            )
        return from_json(Feedback, str(earlier)) if earlier else None

    async def all(self) -> AsyncIterator[Feedback]:
        """Yield all feedback, oldest first."""
        async with bounded_call():
            fields = texts(await self._client.zrange(FEEDBACK_ORDER, 0, -1))
        for start in range(0, len(fields), _FEEDBACK_PAGE):
            async with bounded_call():
                page = await self._client.hmget(FEEDBACK, fields[start : start + _FEEDBACK_PAGE])
            for stored in page:
                if stored is not None:
                    yield from_json(Feedback, str(stored))
