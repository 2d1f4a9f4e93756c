"""Lanes retry while their store is down, and log it readably."""

import asyncio
import logging
from datetime import timedelta

import pytest

from core.model.errors import StoreUnavailable
from core.ports.inbox import Lease
from core.service import leases
from core.service.leases import REPEAT_SECONDS, NamedLeaderLease, work_off
from tests.fakes.memory.clock import ManualClock
from tests.fakes.memory.inbox import InProcessInbox
from tests.fakes.memory.processes import InProcessNamedLeases


class Refusing(InProcessInbox):
    """A store that refuses every lease with a reason."""

    asked = 0

    async def take(self, worker: str, timeout: timedelta) -> Lease | None:
        self.asked += 1
        raise StoreUnavailable("Redis is full.")


async def nothing(_: Lease) -> None:
    raise AssertionError("there is nothing to handle")


async def test_many_lanes_with_the_same_trouble_log_it_once_a_minute(caplog: pytest.LogCaptureFixture) -> None:
    inbox, stop = Refusing(), asyncio.Event()
    lanes = [asyncio.create_task(work_off(inbox, nothing, f"lane-{n}", stop)) for n in range(8)]
    while inbox.asked < len(lanes):
        await asyncio.sleep(0)
    stop.set()
    await asyncio.gather(*lanes)
    (logged,) = [record for record in caplog.records if record.getMessage() == "away"]
    caplog.clear()
    for seconds in (1.0, REPEAT_SECONDS, REPEAT_SECONDS + 1.0):
        again = logging.makeLogRecord(vars(logged) | {"created": logged.created + seconds})
        leases.log.handle(again)
    other = logging.makeLogRecord(vars(logged) | {"reason": "Redis does not respond."})
    leases.log.handle(other)
    assert [record.created - logged.created for record in caplog.records] == [REPEAT_SECONDS, 0.0]


SHORT = timedelta(milliseconds=40)


class LeasesThatMayBeAway(InProcessNamedLeases):
    """A lease store that can be down."""

    away = False

    async def acquire(self, name: str, holder: str, lasting: timedelta) -> bool:
        if self.away:
            raise StoreUnavailable("Redis does not respond.")
        return await super().acquire(name, holder, lasting)


async def begun(turn: NamedLeaderLease) -> bool:
    """Return whether it began without any wait."""
    waiting = asyncio.create_task(turn.wait_until_leader())
    for _ in range(50):
        await asyncio.sleep(0)
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
