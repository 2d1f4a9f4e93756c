"""Answers in the making, as Redis streams: bounded, and gone a quarter of an hour after the last word."""

from collections.abc import Sequence
from typing import Any

from redis.asyncio import Redis

from adapters.redis.client import bounded_call
from adapters.redis.keys import live_key
from adapters.redis.pipelines import in_order
from core.model.json_codec import from_json, to_json
from core.ports.answer_stream import AnswerStream, AnswerUpdate, Updates

MOST_UPDATES = 5_000  # of one answer; the end is kept beside it whatever comes
_TTL = 15 * 60  # seconds
_AT_ONCE = 500


class RedisAnswerStream(AnswerStream):
    """One stream a question, in the hash slot of its thread."""

    def __init__(self, client: Redis) -> None:
        self._client = client

    async def publish(self, thread: str, subject: str, updates: Sequence[AnswerUpdate]) -> None:
        """Append an event to an answer's stream."""
        key = live_key(thread, subject)
        added = [
            ("XADD", key, "MAXLEN", "~", MOST_UPDATES, "*", "update", to_json(update, AnswerUpdate))
            for update in updates
        ]
        async with bounded_call():
            await in_order(self._client, *added, ("EXPIRE", key, _TTL))

    async def read(self, thread: str, subject: str, after: str = "") -> Updates:
        """What came after this place."""
        start = f"({after}" if after else "-"
        async with bounded_call():
            found: Any = await self._client.xrange(live_key(thread, subject), min=start, count=_AT_ONCE)
        updates = tuple(from_json(AnswerUpdate, fields["update"]) for _, fields in found)
        return Updates(updates, str(found[-1][0]) if found else after)
