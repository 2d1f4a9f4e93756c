"""The contracts of named leases and of the process registry."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest
from redis.asyncio import Redis

from adapters.redis.processes import RedisNamedLeases, RedisProcessRegistry
from core.ports.inbox import NamedLeases, ProcessRegistry, ServingProcess
from tests.fakes.memory.clock import ManualClock
from tests.fakes.memory.processes import InProcessNamedLeases, InProcessProcessRegistry

LONG, SHORT = timedelta(hours=1), timedelta(milliseconds=50)
ONE = ServingProcess("one", "worker", "index 1", "files 1")
TWO = ServingProcess("two", "platform", "index 1", "files 1")
Pass = Callable[[], Awaitable[None]]


class NamedLeasesContract:
    """Override ``leases`` and ``short_time``, after which SHORT is over."""

    @pytest.fixture
    def leases(self) -> NamedLeases:
        raise NotImplementedError

    @pytest.fixture
    def short_time(self) -> Pass:
        raise NotImplementedError

    async def test_one_holds_it_and_renews_it(self, leases: NamedLeases) -> None:
        assert await leases.acquire("gateway", "one", LONG)
        assert not await leases.acquire("gateway", "two", LONG)
        assert await leases.acquire("gateway", "one", LONG)
        assert await leases.acquire("something else", "two", LONG)

    async def test_what_is_let_go_another_has_at_once(self, leases: NamedLeases) -> None:
        await leases.acquire("gateway", "one", LONG)
        await leases.release("gateway", "two")
        assert not await leases.acquire("gateway", "two", LONG)
        await leases.release("gateway", "one")
        assert await leases.acquire("gateway", "two", LONG)

    async def test_what_is_not_renewed_runs_out(self, leases: NamedLeases, short_time: Pass) -> None:
        await leases.acquire("gateway", "one", SHORT)
        await short_time()
        assert await leases.acquire("gateway", "two", LONG)
        assert not await leases.acquire("gateway", "one", LONG)


class ProcessRegistryContract:
    """Override ``registry`` and ``short_time``, after which SHORT is over."""

    @pytest.fixture
    def registry(self) -> ProcessRegistry:
        raise NotImplementedError

    @pytest.fixture
    def short_time(self) -> Pass:
        raise NotImplementedError

    async def test_those_that_serve_are_known_by_name(self, registry: ProcessRegistry) -> None:
        assert list(await registry.live_processes()) == []
        for process in (TWO, ONE, TWO):
            await registry.announce(process, LONG)
        assert list(await registry.live_processes()) == [ONE, TWO]
        await registry.withdraw("one")
        assert list(await registry.live_processes()) == [TWO]

    async def test_who_falls_silent_is_forgotten(self, registry: ProcessRegistry, short_time: Pass) -> None:
        await registry.announce(ONE, SHORT)
        await registry.announce(TWO, LONG)
        await short_time()
        assert list(await registry.live_processes()) == [TWO]


async def wait_a_moment() -> None:
    await asyncio.sleep(SHORT.total_seconds() * 2)


class TestInProcessNamedLeases(NamedLeasesContract):
    @pytest.fixture
    def clock(self) -> ManualClock:
        return ManualClock()

    @pytest.fixture
    def leases(self, clock: ManualClock) -> NamedLeases:
        return InProcessNamedLeases(clock)

    @pytest.fixture
    def short_time(self, clock: ManualClock) -> Pass:
        async def passes() -> None:
            clock.advance(1.0)

        return passes


class TestInProcessProcessRegistry(ProcessRegistryContract):
    @pytest.fixture
    def clock(self) -> ManualClock:
        return ManualClock()

    @pytest.fixture
    def registry(self, clock: ManualClock) -> ProcessRegistry:
        return InProcessProcessRegistry(clock)

    @pytest.fixture
    def short_time(self, clock: ManualClock) -> Pass:
        async def passes() -> None:
            clock.advance(1.0)

        return passes


@pytest.mark.live
class TestRedisNamedLeases(NamedLeasesContract):
    @pytest.fixture
    def leases(self, redis: Redis) -> NamedLeases:
        return RedisNamedLeases(redis)

    @pytest.fixture
    def short_time(self) -> Pass:
        return wait_a_moment


@pytest.mark.live
class TestRedisProcessRegistry(ProcessRegistryContract):
    @pytest.fixture
    def registry(self, redis: Redis) -> ProcessRegistry:
        return RedisProcessRegistry(redis)

    @pytest.fixture
    def short_time(self) -> Pass:
        return wait_a_moment
