"""One process at a time: the next turn comes when the first lets go, dies, or cannot know any more that it has it."""

import asyncio
from datetime import timedelta

from core.model.errors import StoreUnavailable
from core.service.leases import NamedLeaderLease
from tests.fakes.memory.clock import ManualClock
from tests.fakes.memory.processes import InProcessNamedLeases

SHORT = timedelta(milliseconds=40)


class LeasesThatMayBeAway(InProcessNamedLeases):
    """The store, which can be away."""

    away = False

    async def acquire(self, name: str, holder: str, lasting: timedelta) -> bool:
        if self.away:
            raise StoreUnavailable("Redis does not answer.")
        return await super().acquire(name, holder, lasting)


async def begun(turn: NamedLeaderLease) -> bool:
    """Whether it came at once."""
    waiting = asyncio.create_task(turn.wait_until_leader())
    await asyncio.wait({waiting}, timeout=0.1)
    came = waiting.done()
    waiting.cancel()
    return came


async def test_the_next_ones_turn_comes_when_the_first_lets_go() -> None:
    leases = InProcessNamedLeases(ManualClock())
    first, second = (NamedLeaderLease(leases, "gateway", name, lasting=SHORT) for name in ("first", "second"))
    assert await begun(first)
    assert not await begun(second)
    await first.release()
    assert await begun(second)


async def test_a_turn_is_over_when_another_has_it() -> None:
    clock = ManualClock()
    leases = InProcessNamedLeases(clock)
    first, second = (NamedLeaderLease(leases, "gateway", name, lasting=SHORT) for name in ("first", "second"))
    await first.wait_until_leader()
    clock.advance(60)  # as of a process that was stopped for a minute
    await second.wait_until_leader()
    async with asyncio.timeout(30):
        await first.renew_until_lost()
    assert not await begun(first)


async def test_a_turn_is_over_before_another_can_have_it_where_the_store_is_away() -> None:
    leases = LeasesThatMayBeAway(ManualClock())
    turn = NamedLeaderLease(leases, "gateway", "first", lasting=SHORT)
    await turn.wait_until_leader()
    leases.away = True
    async with asyncio.timeout(30):
        await turn.renew_until_lost()
    assert not await begun(NamedLeaderLease(leases, "gateway", "second", lasting=SHORT))  # nor does one begin
