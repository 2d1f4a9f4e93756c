"""The contract of every feedback store."""

from dataclasses import replace
from datetime import timedelta

import pytest
from redis.asyncio import Redis

from adapters.redis.question_log import RedisFeedbackStore
from core.ports.memory import Feedback, FeedbackStore
from tests.contracts.conversations import ANA, BEN, NOW, turn
from tests.fakes.memory.stores import InProcessFeedbackStore

WORD = Feedback("t1", ANA, helpful=False, reason="outdated", citations=turn("t1", cites=(1,)).citations, at=NOW)


class FeedbackBoxContract:
    """Override ``box``: one that keeps three."""

    @pytest.fixture
    def box(self) -> FeedbackStore:
        raise NotImplementedError

    async def test_the_last_word_of_a_person_on_an_answer_counts(self, box: FeedbackStore) -> None:
        assert await box.keep(WORD) is None
        assert await box.keep(replace(WORD, person=BEN, at=NOW + timedelta(minutes=1))) is None
        assert await box.keep(replace(WORD, helpful=True, at=NOW + timedelta(minutes=2))) == WORD
        assert [(word.person, word.helpful) async for word in box.all()] == [(BEN, False), (ANA, True)]

    async def test_words_come_back_whole_and_oldest_first(self, box: FeedbackStore) -> None:
        later = replace(WORD, trace_id="t2", at=NOW + timedelta(days=1))
        await box.keep(later)
        await box.keep(WORD)
        assert [word async for word in box.all()] == [WORD, later]

    async def test_a_word_without_a_time_is_of_now(self, box: FeedbackStore) -> None:
        await box.keep(replace(WORD, at=None))
        (word,) = [word async for word in box.all()]
        assert word.at is not None
        assert word.at.tzinfo is not None

    async def test_a_full_box_gives_up_the_oldest(self, box: FeedbackStore) -> None:
        for number in range(5):
            await box.keep(replace(WORD, trace_id=f"t{number}", at=NOW + timedelta(minutes=number)))
        assert [word.trace_id async for word in box.all()] == ["t2", "t3", "t4"]


class TestInProcessFeedbackBox(FeedbackBoxContract):
    @pytest.fixture
    def box(self) -> FeedbackStore:
        return InProcessFeedbackStore(most=3)


@pytest.mark.live
class TestRedisFeedbackBox(FeedbackBoxContract):
    @pytest.fixture
    def box(self, redis: Redis) -> FeedbackStore:
        return RedisFeedbackStore(redis, most=3)
