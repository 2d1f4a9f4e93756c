"""The contracts of daily answer counts and of the usage store."""

import asyncio

import pytest
from redis.asyncio import Redis

from adapters.redis.usage import USAGE_DAYS, RedisAnswerCounts, RedisUsageBook
from core.model.clock import Days
from core.ports.usage import AnswerCounts, UsageBook, UsageRow
from tests.fakes.memory.clock import ManualClock
from tests.fakes.memory.stores import InProcessAnswerCounts, InProcessUsageBook

ADA, CHANNEL = ("ada", 3), ("slack:channel:T/C", 5)


class AnswerCountsContract:
    """Override ``counts``."""

    @pytest.fixture
    def counts(self) -> AnswerCounts:
        raise NotImplementedError

    async def test_of_many_at_once_only_as_many_as_the_limit_are_counted(self, counts: AnswerCounts) -> None:
        refused = await asyncio.gather(*(counts.take([ADA, CHANNEL], f"q{n}") for n in range(20)))
        assert sorted(refused) == [""] * 3 + [ADA[0]] * 17

    async def test_a_refused_answer_counts_nowhere(self, counts: AnswerCounts) -> None:
        for number in range(10):
            await counts.take([CHANNEL, ADA], f"q{number}")
        assert [await counts.take([CHANNEL, ("ben", 9)], f"b{n}") for n in range(3)] == ["", "", CHANNEL[0]]

    async def test_a_question_that_is_tried_again_counts_once(self, counts: AnswerCounts) -> None:
        assert [await counts.take([("ada", 1), CHANNEL], "q") for _ in range(3)] == [""] * 3
        assert await counts.take([("ada", 1), CHANNEL], "other") == "ada"

    async def test_what_is_given_back_can_be_had_again_and_only_once(self, counts: AnswerCounts) -> None:
        for question in ("one", "two"):
            assert not await counts.take([("ada", 2), CHANNEL], question)
        for question in ("one", "one", "unknown"):
            await counts.give_back(question)
        assert [await counts.take([("ada", 2), CHANNEL], name) for name in ("three", "four")] == ["", "ada"]


class TestInProcessAnswerCounts(AnswerCountsContract):
    @pytest.fixture
    def counts(self) -> AnswerCounts:
        return InProcessAnswerCounts()


class TestRedisAnswerCounts(AnswerCountsContract):
    @pytest.fixture
    def counts(self, redis: Redis) -> AnswerCounts:
        return RedisAnswerCounts(redis, Days(ManualClock()))

    async def test_a_new_day_begins_at_nothing_and_old_counts_expire(self, redis: Redis) -> None:
        clock = ManualClock()
        counts = RedisAnswerCounts(redis, Days(clock))
        assert [await counts.take([("ada", 1)], name) for name in "qr"] == ["", "ada"]
        clock.advance(24 * 3600)
        assert not await counts.take([("ada", 1)], "s")
        assert all([0 < await redis.ttl(key) <= 3 * 24 * 3600 async for key in redis.scan_iter()])


MONDAY, TUESDAY = "2026-01-05", "2026-01-06"
ONE = UsageRow(MONDAY, "slack:channel:T/C", "handbook", answers=1, tokens=1200, cost=0.0125)


class UsageBookContract:
    """Override ``book``."""

    @pytest.fixture
    def book(self) -> UsageBook:
        raise NotImplementedError

    async def test_what_is_booked_is_added_up_by_day_channel_and_base(self, book: UsageBook) -> None:
        other = UsageRow(TUESDAY, "slack:channel:T/C", "", not_found=1, cost=0.001)
        quoted = UsageRow(MONDAY, "discord:channel:1/ü 2", "wiki", quotes=1)
        for used in (ONE, ONE, other, quoted):
            await book.book(used)
        rows = {(row.day, row.place, row.base): row for row in await book.rows([MONDAY, TUESDAY])}
        assert len(rows) == 3
        twice = rows[MONDAY, "slack:channel:T/C", "handbook"]
        assert (twice.answers, twice.tokens, round(twice.cost, 6)) == (2, 2400, 0.025)
        assert rows[TUESDAY, "slack:channel:T/C", ""] == other
        assert rows[MONDAY, "discord:channel:1/ü 2", "wiki"] == quoted
        assert list(await book.rows([TUESDAY])) == [other]


class TestInProcessUsageBook(UsageBookContract):
    @pytest.fixture
    def book(self) -> UsageBook:
        return InProcessUsageBook()


class TestRedisUsageBook(UsageBookContract):
    @pytest.fixture
    def book(self, redis: Redis) -> UsageBook:
        return RedisUsageBook(redis)

    async def test_a_day_has_a_bound_and_an_end(self, redis: Redis) -> None:
        book = RedisUsageBook(redis, most=3)
        for number in range(30):
            await book.book(UsageRow(MONDAY, f"slack:channel:T/{number}", "handbook", answers=1, cost=0.5))
        rows = await book.rows([MONDAY])
        assert len(rows) < 10
        assert sum(row.answers for row in rows) == 30
        assert sum(row.cost for row in rows) == 15.0
        assert all([0 < await redis.ttl(key) <= USAGE_DAYS * 24 * 3600 async for key in redis.scan_iter()])
