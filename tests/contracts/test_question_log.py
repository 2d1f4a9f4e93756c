"""The contract of every question log."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from redis.asyncio import Redis

from adapters.redis.memory import RedisMemory
from adapters.redis.question_log import RedisQuestionLog
from core.model.answer import Outcome
from core.ports.memory import Memory
from core.ports.usage import DocumentReference, LoggedQuestion, QuestionLog, QuestionVector
from tests.contracts.conversations import ANA, BEN, OTHER_THREAD, THREAD
from tests.fakes.memory.stores import InProcessMemory, InProcessQuestionLog, InProcessState

NOW = datetime.now(UTC).replace(microsecond=0)
LEAVE, TRAVEL = DocumentReference("d1", "handbook", "Leave"), DocumentReference("d2", "handbook", "Travel")
ASKED = LoggedQuestion(
    "t1",
    str(THREAD),
    ANA.id,
    THREAD.place,
    NOW,
    Outcome.ABSTAINED,
    private=False,
    question="May I take my dog “Bo” along?",
    vector=QuestionVector.encode("model", np.array([0.6, 0.8], dtype=np.float32)),
    cited=(LEAVE,),
    nearest=(TRAVEL, LEAVE),
    conflicts=((LEAVE, TRAVEL),),
    seconds=1.5,
    cost=0.01,
)


@dataclass(frozen=True)
class Stores:
    """A log that keeps three questions for thirty days, and the memory that forgets them."""

    log: QuestionLog
    memory: Memory

    async def traces(self, since: datetime = NOW - timedelta(days=365)) -> list[str]:
        return [question.trace_id async for question in self.log.since(since)]


class QuestionLogContract:
    """Override ``stores``."""

    @pytest.fixture
    def stores(self) -> Stores:
        raise NotImplementedError

    async def test_a_question_comes_back_whole(self, stores: Stores) -> None:
        await stores.log.keep(ASKED)
        (kept,) = [question async for question in stores.log.since(NOW)]
        assert kept == ASKED

    async def test_the_same_trace_again_replaces_it(self, stores: Stores) -> None:
        await stores.log.keep(ASKED)
        await stores.log.keep(replace(ASKED, outcome=Outcome.ANSWERED))
        assert [question.outcome async for question in stores.log.since(NOW)] == [Outcome.ANSWERED]

    async def test_they_come_oldest_first_from_a_moment_on(self, stores: Stores) -> None:
        for days in (1, 3, 2):
            await stores.log.keep(replace(ASKED, trace_id=f"t{days}", at=NOW - timedelta(days=days)))
        assert await stores.traces() == ["t3", "t2", "t1"]
        assert await stores.traces(NOW - timedelta(days=2)) == ["t2", "t1"]

    async def test_a_full_log_gives_up_the_oldest(self, stores: Stores) -> None:
        for number in range(5):
            await stores.log.keep(replace(ASKED, trace_id=f"t{number}", at=NOW + timedelta(minutes=number)))
        assert await stores.traces() == ["t2", "t3", "t4"]

    async def test_a_correction_stays_with_its_question(self, stores: Stores) -> None:
        await stores.log.keep(ASKED)
        await stores.log.mark_corrected("t1")
        await stores.log.keep(replace(ASKED, outcome=Outcome.ANSWERED))
        assert [question.corrected async for question in stores.log.since(NOW)] == [True]

    async def test_a_correction_of_what_is_not_kept_leaves_nothing(self, stores: Stores) -> None:
        await stores.log.mark_corrected("t1")
        await stores.log.keep(ASKED)
        assert [question.corrected async for question in stores.log.since(NOW)] == [False]

    async def test_forgetting_a_person_removes_theirs_alone(self, stores: Stores) -> None:
        await stores.log.keep(ASKED)
        await stores.log.mark_corrected("t1")
        await stores.log.keep(replace(ASKED, trace_id="t2", asker=BEN.id))
        await stores.memory.forget_person(ANA.id)
        assert await stores.traces() == ["t2"]
        await stores.log.keep(ASKED)
        assert [question.corrected async for question in stores.log.since(NOW)] == [False, False]

    async def test_forgetting_a_thread_removes_what_was_asked_there(self, stores: Stores) -> None:
        await stores.log.keep(ASKED)
        await stores.log.keep(replace(ASKED, trace_id="t2", thread=str(OTHER_THREAD)))
        await stores.memory.forget_thread(THREAD)
        assert await stores.traces() == ["t2"]


def test_a_vector_is_kept_to_the_third_digit() -> None:
    given = np.array([0.6, -0.8, 0.0123], dtype=np.float32)
    assert np.allclose(QuestionVector.encode("model", given).decode(), given, atol=1e-3)


class TestInProcessQuestionLog(QuestionLogContract):
    @pytest.fixture
    def stores(self) -> Stores:
        state = InProcessState()
        return Stores(InProcessQuestionLog(state, most=3), InProcessMemory(state))


@pytest.mark.live
class TestRedisQuestionLog(QuestionLogContract):
    @pytest.fixture
    def stores(self, redis: Redis) -> Stores:
        return Stores(RedisQuestionLog(redis, most=3, ttl=timedelta(days=30)), RedisMemory(redis))

    async def test_what_is_too_old_goes(self, stores: Stores, redis: Redis) -> None:
        await stores.log.keep(replace(ASKED, trace_id="old", at=NOW - timedelta(days=31)))
        await stores.log.keep(ASKED)
        assert await stores.traces() == ["t1"]
        assert {
            key for key in await redis.keys("footnote:{questions}:*") if "old" in str(await redis.dump(key))
        } == set()
