"""The contract of every schedule store."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from redis.asyncio import Redis

from adapters.redis.kb_stores import RedisScheduleStore
from core.model.conversation import Person
from core.ports.job_store import Every, Schedule, ScheduleStore
from tests.fakes.memory.schedule_store import InProcessScheduleStore

ADA = Person("slack:T1/U1", "Ada")
NOW = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)


class ScheduleContract:
    """Override ``schedule_store``."""

    @pytest.fixture
    def schedule_store(self) -> ScheduleStore:
        raise NotImplementedError

    async def test_schedules_stand_by_when_they_are_due_and_never_takes_one_away(
        self, schedule_store: ScheduleStore
    ) -> None:
        weekly = Schedule("handbook", "https://a", Every.WEEKLY, ADA, NOW + timedelta(days=7))
        daily = Schedule("handbook", "https://b", Every.DAILY, ADA, NOW + timedelta(days=1), limit=5)
        await schedule_store.save_schedule(weekly)
        await schedule_store.save_schedule(daily)
        assert list(await schedule_store.schedules()) == [daily, weekly]
        await schedule_store.save_schedule(replace(daily, every=Every.NEVER))
        assert list(await schedule_store.schedules()) == [weekly]


class TestInProcessScheduleStore(ScheduleContract):
    @pytest.fixture
    def schedule_store(self) -> ScheduleStore:
        return InProcessScheduleStore()


@pytest.mark.live
class TestRedisScheduleStore(ScheduleContract):
    @pytest.fixture
    def schedule_store(self, redis: Redis) -> ScheduleStore:
        return RedisScheduleStore(redis)
