"""What may be fetched again by itself, and what may not."""

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
