"""Lanes whose store is away: they go on trying, and the log is read by people."""

import asyncio
import logging
from datetime import timedelta

import pytest

from core.model.errors import StoreUnavailable
from core.ports.inbox import Lease
from core.service import leases
from core.service.leases import REPEAT_SECONDS, work_off
from tests.fakes.memory.inbox import InProcessInbox


class Refusing(InProcessInbox):
    """Gives nothing out, and says why."""

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
    other = logging.makeLogRecord(vars(logged) | {"reason": "Redis does not answer."})
    leases.log.handle(other)
    assert [record.created - logged.created for record in caplog.records] == [REPEAT_SECONDS, 0.0]
