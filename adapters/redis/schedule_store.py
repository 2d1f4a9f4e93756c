"""Schedules, in one hash of Redis by base and link."""

import json
from collections.abc import Sequence

from redis.asyncio import Redis

from adapters.redis.client import bounded_call
from adapters.redis.keys import SCHEDULES
from core.model.json_codec import from_json, to_json
from core.ports.schedule_store import Every, Schedule, ScheduleStore


class RedisScheduleStore(ScheduleStore):
    """Entries stay until they are taken away."""

    def __init__(self, client: Redis) -> None:
        self._client = client

    async def save_schedule(self, schedule: Schedule) -> None:
        """Keep it, replacing the earlier one of the same link in the same base; NEVER takes it away."""
        field = json.dumps([schedule.base, schedule.link])
        async with bounded_call():
            if schedule.every is Every.NEVER:
                await self._client.hdel(SCHEDULES, field)
            else:
                await self._client.hset(SCHEDULES, field, to_json(schedule))

    async def schedules(self) -> Sequence[Schedule]:
        """All of them, the next one first."""
        async with bounded_call():
            stored = await self._client.hvals(SCHEDULES)
        found: list[Schedule] = [from_json(Schedule, text) for text in stored]
        return sorted(found, key=lambda schedule: schedule.next_at)
