"""What is posted where: every implementation keeps it, shares it, and refuses a stale worker."""

import asyncio
from datetime import timedelta

import pytest
from redis.asyncio import Redis

from adapters.redis.inbox import RedisInbox
from adapters.redis.keys import posting_key
from adapters.redis.message_state import RedisMessageStateStore
from adapters.testing.inbox import InProcessInbox
from adapters.testing.message_state import InProcessMessageStateStore
from adapters.testing.stores import InProcessState
from core.model.errors import LeaseLost
from core.ports.inbox import Delivery, Inbox
from core.ports.message_state import MessageStateStore

THREAD = "paper/T/C/1 {odd}"


class PostingsContract:
    """Subclass it and give ``road``: message states and an inbox on the same store."""

    @pytest.fixture
    async def road(self) -> tuple[MessageStateStore, Inbox]:
        raise NotImplementedError

    async def test_values_are_added_and_replaced(self, road: tuple[MessageStateStore, Inbox]) -> None:
        message_states, _ = road
        await message_states.keep(THREAD, "m1", {"page": "1", "part": "a"})
        await message_states.keep(THREAD, "m1", {"part": "b"})
        assert dict(await message_states.read(THREAD, "m1")) == {"page": "1", "part": "b"}
        assert dict(await message_states.read(THREAD, "m2")) == {}

    async def test_of_many_who_take_a_value_one_gets_it(self, road: tuple[MessageStateStore, Inbox]) -> None:
        message_states, _ = road
        await message_states.keep(THREAD, "m1", {"open": "yes", "part": "a"})
        takers = [message_states.take(THREAD, "m1", "open", {"taken": f"by {n}"}) for n in range(8)]
        taken = await asyncio.gather(*takers)
        assert sorted(taken) == [*[""] * 7, "yes"]
        assert dict(await message_states.read(THREAD, "m1")) == {"part": "a", "taken": f"by {taken.index('yes')}"}

    async def test_what_is_not_there_cannot_be_taken_and_leaves_nothing(
        self, road: tuple[MessageStateStore, Inbox]
    ) -> None:
        message_states, _ = road
        assert await message_states.take(THREAD, "m1", "open", {"taken": "by me"}) == ""
        assert dict(await message_states.read(THREAD, "m1")) == {}

    async def test_a_value_that_was_taken_can_be_kept_and_taken_again(
        self, road: tuple[MessageStateStore, Inbox]
    ) -> None:
        message_states, _ = road
        for value in ("one", "two"):
            await message_states.keep(THREAD, "m1", {"open": value})
            assert await message_states.take(THREAD, "m1", "open") == value
            assert dict(await message_states.read(THREAD, "m1")) == {}
        await message_states.keep(THREAD, "m1", {"open": "one"})
        assert await message_states.take(THREAD, "m1", "open", {"open": "two"}) == "one"
        assert dict(await message_states.read(THREAD, "m1")) == {"open": "two"}

    async def test_a_call_off_is_heard_once(self, road: tuple[MessageStateStore, Inbox]) -> None:
        message_states, _ = road
        await message_states.request_cancel(THREAD, "m1", "edited")
        assert await message_states.take_cancel(THREAD, "m2") == ""
        assert await message_states.take_cancel(THREAD, "m1") == "edited"
        assert await message_states.take_cancel(THREAD, "m1") == ""

    async def test_a_stale_worker_cannot_keep_anything(self, road: tuple[MessageStateStore, Inbox]) -> None:
        message_states, inbox = road
        await inbox.put(Delivery("e1", "paper", THREAD, "alice", "{}"))
        stale = await inbox.take("first", timedelta(seconds=1))
        assert stale is not None
        await message_states.keep(THREAD, "m1", {"page": "1"}, fence=stale.fence)
        await inbox.hand_back(stale)
        fresh = await inbox.take("second", timedelta(seconds=1))
        assert fresh is not None
        with pytest.raises(LeaseLost):
            await message_states.keep(THREAD, "m1", {"page": "2"}, fence=stale.fence)
        await message_states.keep(THREAD, "m1", {"page": "3"}, fence=fresh.fence)
        assert dict(await message_states.read(THREAD, "m1")) == {"page": "3"}


class TestInProcess(PostingsContract):
    @pytest.fixture
    async def road(self) -> tuple[MessageStateStore, Inbox]:
        state = InProcessState()
        return InProcessMessageStateStore(state), InProcessInbox(state)


@pytest.mark.live
class TestRedis(PostingsContract):
    @pytest.fixture
    async def road(self, redis: Redis) -> tuple[MessageStateStore, Inbox]:
        return RedisMessageStateStore(redis), RedisInbox(redis)

    async def test_the_last_value_taken_and_replaced_keeps_the_time_it_has(self, redis: Redis) -> None:
        message_states = RedisMessageStateStore(redis, ttl=timedelta(minutes=5))
        await message_states.keep(THREAD, "m1", {"open": "yes"})
        await message_states.take(THREAD, "m1", "open", {"taken": "by me"})
        assert 0 < await redis.ttl(posting_key(THREAD, "m1")) <= 300
