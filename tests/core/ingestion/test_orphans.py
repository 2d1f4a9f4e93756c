"""Leftovers of a dead process: removed after two checks an hour apart, and nothing else."""

import pytest

from core.ingestion.consistency import APART, EACH, FIRST_LOOK
from core.ingestion.originals import Material
from core.model.incoming_events import FileReference
from core.service.kb.commands import KbVerb
from tests.core.service.kb.knowledge_room import Room
from tests.core.service.kb.test_job_kills import Fuse, Killed, process

NEW = Material("rules.md", "rules.md", b"# Rules\n\nThe new rules.")


@pytest.fixture
async def room() -> Room:
    """A base with one document, of which a process wrote a new version and died before it was visible."""
    living, room, fuse = Room(), Room(), Fuse(10_000)
    for one in (living, room):
        await one.adds(rules_md="# Rules\n\nThe old rules.")
    await process(living, fuse).ingestor.ingest(NEW, "handbook")
    dying = process(room, Fuse(fuse.made.index("catalog.publish")))
    with pytest.raises(Killed):
        await dying.ingestor.ingest(NEW, "handbook")
    assert await room.index.count() == 2
    return room


async def _looks(room: Room, seconds: float) -> int:
    """Advance the clock and tick; return the number of passages."""
    room.clock.advance(seconds)
    await room.scheduler.tick()
    return await room.index.count()


async def test_a_version_that_never_became_visible_goes_at_the_second_look(room: Room) -> None:
    assert await _looks(room, FIRST_LOOK - 1) == 2
    assert await _looks(room, 1) == 2
    assert await _looks(room, APART - 1) == 2
    assert await _looks(room, 1) == 1
    assert await room.finds("rules") == ["Rules"]


async def test_what_became_visible_between_the_looks_stays_whole(room: Room) -> None:
    await _looks(room, FIRST_LOOK)
    await room.ingestor.ingest(NEW, "handbook")
    await _looks(room, APART)
    await _looks(room, EACH)
    found = await room.retriever.search("rules", room.scope("handbook"))
    assert [hit.passage.text for hit in found.hits] == ["The new rules."]


async def test_what_is_visible_is_never_taken(room: Room) -> None:
    await room.adds("other", more_md="# More\n\nWords.")
    for seconds in (FIRST_LOOK, APART, APART, EACH, APART):
        await _looks(room, seconds)
    assert await room.finds("rules") == ["Rules"]
    assert await room.finds("words", "other") == ["More"]


async def test_a_document_that_a_job_is_about_to_write_is_left_alone(room: Room) -> None:
    await _looks(room, FIRST_LOOK)
    room.platform.files["rules.md"] = NEW.data
    await room.says(KbVerb.INGEST, base="handbook", files=(FileReference("rules.md", "rules.md"),))
    assert await _looks(room, APART) == 2
    await room.works()
    assert await room.index.count() == 1
    assert await _looks(room, EACH) == 1


async def test_what_waits_to_be_put_away_is_left_until_its_copy_is_made(room: Room) -> None:
    await room.says(KbVerb.REMOVE, base="handbook", confirmed=True)
    for seconds in (FIRST_LOOK, APART, EACH):
        assert await _looks(room, seconds) == 2
    await room.works()
    await room.says(KbVerb.RESTORE, base="handbook")
    await room.works()
    assert await room.finds("rules") == ["Rules"]


async def test_an_index_without_leftovers_is_looked_at_once_a_day(room: Room) -> None:
    await _looks(room, FIRST_LOOK)
    await _looks(room, APART)
    await _looks(room, APART)
    looks = 0

    async def counted() -> dict[str, frozenset[str]]:
        nonlocal looks
        looks += 1
        return {}

    room.index.versions = counted  # type: ignore[method-assign]
    for _ in range(20):
        await _looks(room, APART)
    assert looks == 0
    await _looks(room, EACH)
    assert looks == 1
