"""Cleanup of unused data, which does not run at every tick.

Orphaned passages have tests of their own, in ``tests/core/ingestion/test_orphans.py``.
"""

import pytest

from core.ingestion.trash import RESTORABLE
from core.service.kb.commands import KbVerb
from core.service.kb.schedules import TRASH_EVERY
from tests.core.service.kb.knowledge_room import Room


@pytest.fixture
async def room() -> Room:
    """A base from which one document was removed."""
    room = Room()
    await room.adds(refunds_md="# Refunds\n\nThirty days.", leave_md="# Leave\n\nTwenty days.")
    await room.says(KbVerb.REMOVE, target="refunds", confirmed=True)
    return room


async def ticks_after(room: Room, seconds: float) -> int:
    """Advance the clock and tick; return the number of stored removals."""
    room.clock.advance(seconds)
    await room.scheduler.tick()
    return len(await room.trash_store.removals())


async def test_a_removal_is_forgotten_when_it_can_not_be_put_back_any_more(room: Room) -> None:
    assert await ticks_after(room, RESTORABLE.total_seconds() - 1) == 1
    assert await ticks_after(room, TRASH_EVERY.total_seconds() + 1) == 0
    assert await room.finds("leave") == ["Leave"]


async def test_the_trash_is_looked_through_once_an_hour(room: Room) -> None:
    hour = TRASH_EVERY.total_seconds()
    assert await ticks_after(room, RESTORABLE.total_seconds() - hour / 2) == 1
    assert await ticks_after(room, hour / 2 + 60) == 1, "its time is over, and the hour is not"
    assert await ticks_after(room, hour) == 0
