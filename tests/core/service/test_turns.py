"""One process at a time: the next turn comes when the first lets go, dies, or cannot know any more that it has it."""

import asyncio
from datetime import timedelta

from adapters.testing.clock import ManualClock
from adapters.testing.processes import InProcessNamedLeases
from core.model.errors import StoreUnavailable
from core.service.turns import LeasedTurn

SHORT = timedelta(milliseconds=40)


class LeasesThatMayBeAway(InProcessNamedLeases):
    """The store, which can be away."""

    away = False

    async def acquire(self, name: str, holder: str, lasting: timedelta) -> bool:
        if self.away:
            raise StoreUnavailable("Redis does not answer.")
        return await super().acquire(name, holder, lasting)


async def begun(turn: LeasedTurn) -> bool:
    """Whether it came at once."""
    waiting = asyncio.create_task(turn.wait())
    await asyncio.wait({waiting}, timeout=0.1)
    came = waiting.done()
    waiting.cancel()
    return came


async def test_the_next_ones_turn_comes_when_the_first_lets_go() -> None:
    leases = InProcessNamedLeases(ManualClock())
    first, second = (LeasedTurn(leases, "gateway", name, lasting=SHORT) for name in ("first", "second"))
    assert await begun(first)
    assert not await begun(second)
    await first.end()
    assert await begun(second)


async def test_a_turn_is_over_when_another_has_it() -> None:
    clock = ManualClock()
    leases = InProcessNamedLeases(clock)
    first, second = (LeasedTurn(leases, "gateway", name, lasting=SHORT) for name in ("first", "second"))
    await first.wait()
    clock.advance(60)  # as of a process that was stopped for a minute
    await second.wait()
    async with asyncio.timeout(30):
        await first.hold()
    assert not await begun(first)


async def test_a_turn_is_over_before_another_can_have_it_where_the_store_is_away() -> None:
    leases = LeasesThatMayBeAway(ManualClock())
    turn = LeasedTurn(leases, "gateway", "first", lasting=SHORT)
    await turn.wait()
    leases.away = True
    async with asyncio.timeout(30):
        await turn.hold()
    assert not await begun(LeasedTurn(leases, "gateway", "second", lasting=SHORT))  # nor does one begin
