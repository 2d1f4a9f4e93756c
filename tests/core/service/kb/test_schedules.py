"""Which sources can have a schedule."""

import pytest

from core.service.kb.commands import KbVerb
from tests.core.service.kb.knowledge_room import Room, words


@pytest.fixture
def room() -> Room:
    return Room()


async def test_what_came_as_a_file_cannot_be_refreshed_or_scheduled(room: Room) -> None:
    await room.adds(refunds_md="# Refunds\n\nThirty days.")
    assert "did not come from a link" in words(await room.says(KbVerb.REFRESH, target="refunds"))
    assert "I can only fetch links again" in words(await room.says(KbVerb.SCHEDULE, target="refunds", every="daily"))


async def test_a_scheduled_link_is_fetched_when_it_is_due_and_once_however_many_look(room: Room) -> None:
    await room.says(KbVerb.CREATE, base="handbook")
    room.site.pages["https://docs.example/a"] = "# A\n\nWords."
    await room.says(KbVerb.SCHEDULE, base="handbook", target="https://docs.example/a", every="daily")
    await room.works()
    asked = len(room.site.asked)
    await room.scheduler.tick()
    await room.works()
    assert len(room.site.asked) == asked
    room.clock.advance(86_401)
    await room.scheduler.tick()
    await room.scheduler.tick()
    await room.works()
    assert len(room.site.asked) == asked + 1
    await room.says(KbVerb.SCHEDULE, base="handbook", target="https://docs.example/a", every="never")
    room.clock.advance(86_401)
    await room.scheduler.tick()
    await room.works()
    assert len(room.site.asked) == asked + 1
