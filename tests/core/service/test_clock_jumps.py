"""Clock changes: forward and back a day, and back an hour. Nothing stops, and nothing runs twice.

Leases of questions and jobs run by time that passes, and sign-ins on the page by Redis's own expiry; of a server whose
clock is set back, see ``tests/adapters/redis/test_clock_set_back.py``.
"""

from datetime import timedelta
from pathlib import Path

import pytest

from core.ports.inbox import Delivery
from core.service.kb.commands import KbVerb
from tests.adapters.documents.sources.places import open_place
from tests.core.service.kb.knowledge_room import Room, Stores
from tests.fakes.memory.clock import ManualClock
from tests.fakes.memory.inbox import InProcessInbox

LINK = "https://docs.example/a"
HOUR, DAY, MINUTE = 3_600, 86_400, 61
JUMPS = {"back an hour": (-HOUR,), "forward a day and back": (DAY + 5, -DAY), "forward a day": (DAY + 5,)}


async def looks(room: Room) -> None:
    """Let two processes tick, and run everything that is due."""
    await room.scheduler.tick()
    await room.scheduler.tick()
    await room.works()


@pytest.mark.parametrize("jumps", JUMPS.values(), ids=JUMPS)
async def test_a_link_is_fetched_every_day_and_once_for_each_jump_at_most(jumps: tuple[float, ...]) -> None:
    room = Room()
    await room.says(KbVerb.CREATE, base="handbook")
    room.site.pages[LINK] = "# A\n\nWords."
    await room.says(KbVerb.SCHEDULE, base="handbook", target=LINK, every="daily")
    await room.works()
    before = len(room.site.asked)
    for jump in jumps:
        room.clock.set_to(jump)
        await looks(room)
    assert len(room.site.asked) <= before + len(jumps)
    for _ in range(3):
        seen = len(room.site.asked)
        room.clock.advance(DAY + 10)
        await looks(room)
        assert len(room.site.asked) == seen + 1


@pytest.mark.parametrize("jumps", JUMPS.values(), ids=JUMPS)
async def test_a_watched_place_is_looked_at_a_minute_later(
    jumps: tuple[float, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_place("memory", tmp_path, monkeypatch) as place:
        room = Room(Stores([place.address], place.allow_private))
        place.write("hotels.md", b"# Hotels\n\nOslo costs 190.")
        await room.says(KbVerb.CREATE, base="handbook")
        await room.says(KbVerb.SCHEDULE, base="handbook", target=place.address, every="on-change")
        await room.works()
        for jump in jumps:
            room.clock.set_to(jump)
            await looks(room)
        place.write("trains.md", b"# Trains\n\nTrains are preferred.")
        room.clock.advance(MINUTE)
        await looks(room)
        assert "Trains" in await room.finds("preferred")


@pytest.mark.parametrize("jumps", JUMPS.values(), ids=JUMPS)
async def test_a_lease_lasts_as_long_as_it_says(jumps: tuple[float, ...]) -> None:
    clock = ManualClock()
    inbox = InProcessInbox(clock=clock)
    await inbox.put(Delivery("d1", "slack", "slack/T1/C1/1", "U1", "{}"))
    lease = await inbox.take("one", timedelta())
    assert lease is not None
    for jump in jumps:
        clock.set_to(jump)
        assert await inbox.take("another", timedelta()) is None
        await inbox.renew(lease)
    clock.advance(31)
    again = await inbox.take("another", timedelta())
    assert again is not None
    assert again.fence > lease.fence
