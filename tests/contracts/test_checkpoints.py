"""The contract of every checkpoint store."""

import asyncio
from datetime import timedelta
from typing import NamedTuple

import pytest
from redis.asyncio import Redis

from adapters.redis.memory import RedisCheckpoints, RedisMemory
from core.ports.memory import Checkpoints, Memory
from tests.contracts.conversations import NOW, OTHER_THREAD, THREAD, asking_back, parked
from tests.fakes.memory.stores import InProcessCheckpoints, InProcessMemory, InProcessState


class Stores(NamedTuple):
    checkpoints: Checkpoints
    memory: Memory


class CheckpointsContract:
    """Override ``stores``."""

    @pytest.fixture
    def stores(self) -> Stores:
        raise NotImplementedError

    async def test_a_parked_inquiry_comes_back_as_it_was(self, stores: Stores) -> None:
        for one in (parked("c1"), asking_back("c2")):
            await stores.checkpoints.park(one)
            assert await stores.checkpoints.read(one.checkpoint.id) == one
            assert await stores.checkpoints.claim(one.checkpoint.id) == one

    async def test_an_unknown_checkpoint_is_none(self, stores: Stores) -> None:
        assert await stores.checkpoints.read("no such") is None
        assert await stores.checkpoints.claim("no such") is None

    async def test_of_many_who_press_at_once_one_gets_it(self, stores: Stores) -> None:
        await stores.checkpoints.park(parked("c1"))
        got = await asyncio.gather(*(stores.checkpoints.claim("c1") for _ in range(10)))
        assert [one for one in got if one is not None] == [parked("c1")]
        assert await stores.checkpoints.read("c1") is None

    async def test_the_same_claimant_gets_it_again_and_another_does_not(self, stores: Stores) -> None:
        await stores.checkpoints.park(parked("c1"))
        assert await stores.checkpoints.claim("c1", by="press-1") == parked("c1")
        assert await stores.checkpoints.claim("c1", by="press-2") is None
        assert await stores.checkpoints.read("c1", by="press-2") is None
        assert await stores.checkpoints.read("c1", by="press-1") == parked("c1")
        assert await stores.checkpoints.claim("c1", by="press-1") == parked("c1")

    async def test_parking_opens_it_in_its_thread_and_claiming_closes_it(self, stores: Stores) -> None:
        await stores.checkpoints.park(parked("c1"))
        assert (await stores.memory.recall(THREAD)).open_checkpoint == "c1"
        assert (await stores.memory.recall(OTHER_THREAD)).open_checkpoint == ""
        await stores.checkpoints.claim("c1")
        assert (await stores.memory.recall(THREAD)).open_checkpoint == ""

    async def test_a_second_checkpoint_of_a_thread_closes_the_first(self, stores: Stores) -> None:
        await stores.checkpoints.park(parked("c1"))
        await stores.checkpoints.park(parked("c2"))
        assert (await stores.memory.recall(THREAD)).open_checkpoint == "c2"
        assert await stores.checkpoints.claim("c1") is None
        assert await stores.checkpoints.claim("c2") is not None

    async def test_the_same_one_parked_again_can_be_taken_again(self, stores: Stores) -> None:
        await stores.checkpoints.park(parked("c1"))
        await stores.checkpoints.claim("c1")
        await stores.checkpoints.park(parked("c1"))
        assert await stores.checkpoints.claim("c1") == parked("c1")

    async def test_those_whose_time_is_over_are_due_until_somebody_takes_them(self, stores: Stores) -> None:
        await stores.checkpoints.park(parked("later", minutes=60))
        await stores.checkpoints.park(parked("soon", thread=OTHER_THREAD, minutes=10))
        assert await stores.checkpoints.due(NOW) == []
        assert await stores.checkpoints.due(NOW + timedelta(minutes=30)) == ["soon"]
        assert await stores.checkpoints.due(NOW + timedelta(hours=2)) == ["soon", "later"]
        await stores.checkpoints.claim("soon")
        assert await stores.checkpoints.due(NOW + timedelta(hours=2)) == ["later"]


class TestInProcessCheckpoints(CheckpointsContract):
    @pytest.fixture
    def stores(self) -> Stores:
        state = InProcessState()
        return Stores(InProcessCheckpoints(state), InProcessMemory(state))


@pytest.mark.live
class TestRedisCheckpoints(CheckpointsContract):
    @pytest.fixture
    def stores(self, redis: Redis) -> Stores:
        return Stores(RedisCheckpoints(redis), RedisMemory(redis))
