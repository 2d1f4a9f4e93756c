"""What is posted where: every implementation keeps it, shares it, and refuses a stale worker."""

from datetime import timedelta

import pytest
from redis.asyncio import Redis

from adapters.stores.redis_inbox import RedisInbox
from adapters.stores.redis_postings import RedisPostings
from adapters.testing.inbox import InProcessInbox
from adapters.testing.postings import InProcessPostings
from adapters.testing.stores import InProcessState
from core.errors import LeaseLost
from core.ports import Delivery, Inbox, Postings

THREAD = "paper/T/C/1 {odd}"


class PostingsContract:
    """Subclass it and give ``road``: postings and an inbox on the same store."""

    @pytest.fixture
    async def road(self) -> tuple[Postings, Inbox]:
        raise NotImplementedError

    async def test_values_are_added_and_replaced(self, road: tuple[Postings, Inbox]) -> None:
        postings, _ = road
        await postings.keep(THREAD, "m1", {"page": "1", "part": "a"})
        await postings.keep(THREAD, "m1", {"part": "b"})
        assert dict(await postings.read(THREAD, "m1")) == {"page": "1", "part": "b"}
        assert dict(await postings.read(THREAD, "m2")) == {}

    async def test_a_call_off_is_heard_once(self, road: tuple[Postings, Inbox]) -> None:
        postings, _ = road
        await postings.call_off(THREAD, "m1", "edited")
        assert await postings.called_off(THREAD, "m2") == ""
        assert await postings.called_off(THREAD, "m1") == "edited"
        assert await postings.called_off(THREAD, "m1") == ""

    async def test_a_stale_worker_cannot_keep_anything(self, road: tuple[Postings, Inbox]) -> None:
        postings, inbox = road
        await inbox.put(Delivery("e1", "paper", THREAD, "alice", "{}"))
        stale = await inbox.take("first", timedelta(seconds=1))
        assert stale is not None
        await postings.keep(THREAD, "m1", {"page": "1"}, fence=stale.fence)
        await inbox.hand_back(stale)
        fresh = await inbox.take("second", timedelta(seconds=1))
        assert fresh is not None
        with pytest.raises(LeaseLost):
            await postings.keep(THREAD, "m1", {"page": "2"}, fence=stale.fence)
        await postings.keep(THREAD, "m1", {"page": "3"}, fence=fresh.fence)
        assert dict(await postings.read(THREAD, "m1")) == {"page": "3"}


class TestInProcess(PostingsContract):
    @pytest.fixture
    async def road(self) -> tuple[Postings, Inbox]:
        state = InProcessState()
        return InProcessPostings(state), InProcessInbox(state)


@pytest.mark.live
class TestRedis(PostingsContract):
    @pytest.fixture
    async def road(self, redis: Redis) -> tuple[Postings, Inbox]:
        return RedisPostings(redis), RedisInbox(redis)
