"""The contract of every stream of answers in progress."""

import pytest
from redis.asyncio import Redis

from adapters.redis.memory import RedisMemory
from adapters.redis.message_state import RedisMessageStateStore
from adapters.redis.web_stores import RedisAnswerStream
from adapters.web.ask.answer_view import WebQuestionState
from core.model.conversation import ThreadKey
from core.ports.answer_view import (
    AnswerStream,
    AnswerUpdate,
    Begun,
    Ended,
    NoticeShown,
    Step,
    StepShown,
    StepState,
    TextAdded,
    TextVoided,
)
from tests.fakes.memory.answer_stream import InProcessAnswerStream

THREAD = ThreadKey("web", "", "web:operator", "1 {odd}")
EVERY: list[AnswerUpdate] = [
    Begun(),
    StepShown(Step("s", "Searching “x”", StepState.RUNNING, "detail")),
    TextAdded("Refunds take "),
    TextVoided(),
    TextAdded("14 days."),
    NoticeShown("said"),
    Ended(),
]


class AnswerStreamContract:
    """Override ``stream``."""

    @pytest.fixture
    def stream(self) -> AnswerStream:
        raise NotImplementedError

    async def test_every_kind_of_update_comes_back_in_order(self, stream: AnswerStream) -> None:
        await stream.publish(str(THREAD), "m", EVERY[:3])
        await stream.publish(str(THREAD), "m", EVERY[3:])
        assert list((await stream.read(str(THREAD), "m")).updates) == EVERY

    async def test_who_comes_back_gets_what_came_since(self, stream: AnswerStream) -> None:
        await stream.publish(str(THREAD), "m", EVERY[:2])
        first = await stream.read(str(THREAD), "m")
        assert (await stream.read(str(THREAD), "m", first.place)).updates == ()
        await stream.publish(str(THREAD), "m", EVERY[2:])
        assert list((await stream.read(str(THREAD), "m", first.place)).updates) == EVERY[2:]

    async def test_questions_are_apart(self, stream: AnswerStream) -> None:
        await stream.publish(str(THREAD), "m", EVERY)
        assert (await stream.read(str(THREAD), "other")).updates == ()


class TestInProcessAnswerStream(AnswerStreamContract):
    @pytest.fixture
    def stream(self) -> AnswerStream:
        return InProcessAnswerStream()


@pytest.mark.live
class TestRedisAnswerStream(AnswerStreamContract):
    @pytest.fixture
    def stream(self, redis: Redis) -> AnswerStream:
        return RedisAnswerStream(redis)

    async def test_it_runs_out_and_is_forgotten_with_its_thread_and_its_person(self, redis: Redis) -> None:
        stream, states = RedisAnswerStream(redis), RedisMessageStateStore(redis)
        for forget in ("thread", "person"):
            await states.save(WebQuestionState(thread=THREAD, message="m", asker="web:operator", trace="t"))
            await stream.publish(str(THREAD), "m", EVERY)
            kept = [key async for key in redis.scan_iter(match="*:live:*")]
            assert [await redis.ttl(key) > 0 for key in kept] == [True]
            memory = RedisMemory(redis)
            await (memory.forget_thread(THREAD) if forget == "thread" else memory.forget_person("web:operator"))
            assert [key async for key in redis.scan_iter(match="*:live:*")] == []
