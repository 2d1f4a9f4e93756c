"""What people thought of answers, in Redis: the last word of each person on each answer, at most so many."""

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime

from redis.asyncio import Redis

from adapters.redis.client import bounded_call, texts
from adapters.redis.keys import FEEDBACK, FEEDBACK_ORDER
from core.model.json_codec import from_json, to_json
from core.ports.feedback import Feedback, FeedbackStore

_PAGE = 200

# KEYS words order; ARGV field json at most
_KEEP = """
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
    """Keeps the newest ``most``, without a time to live: they are to become an evaluation set."""

    def __init__(self, client: Redis, *, most: int = 10_000) -> None:
        self._client = client
        self._most = most
        self._keep = client.register_script(_KEEP)

    async def keep(self, feedback: Feedback) -> Feedback | None:
        """Keep it; the person's earlier word on the same answer, which it replaces. Without a time, it is of now."""
        at = feedback.at or datetime.now(UTC)
        field = json.dumps([feedback.trace_id, feedback.person.id])
        async with bounded_call():
            earlier = await self._keep(
                keys=[FEEDBACK, FEEDBACK_ORDER],
                args=[field, to_json(replace(feedback, at=at)), at.timestamp(), self._most],
            )
        return from_json(Feedback, str(earlier)) if earlier else None

    async def all(self) -> AsyncIterator[Feedback]:
        """Everything kept, oldest first."""
        async with bounded_call():
            fields = texts(await self._client.zrange(FEEDBACK_ORDER, 0, -1))
        for start in range(0, len(fields), _PAGE):
            async with bounded_call():
                page = await self._client.hmget(FEEDBACK, fields[start : start + _PAGE])
            for stored in page:
                if stored is not None:
                    yield from_json(Feedback, str(stored))
