"""Files where a team keeps them: added, changed, removed, interrupted, and what may not be read at all."""

from collections.abc import Iterator
from contextlib import suppress

import fsspec
import pytest

from core.model.jobs import ItemState, Job, JobState
from core.service.kb.commands import KbVerb
from core.service.kb.results import succeeded
from tests.core.service.kb.knowledge_room import Room, job_in, words

ROOT = "memory://stored/handbook"
DAY = 86_401


@pytest.fixture
def files() -> Iterator["fsspec.AbstractFileSystem"]:
    memory = fsspec.filesystem("memory")
    yield memory
    with suppress(FileNotFoundError):
        memory.rm("/stored", recursive=True)


@pytest.fixture
def room() -> Room:
    return Room()


async def scheduled(room: Room) -> Job:
    await room.says(KbVerb.CREATE, base="handbook")
    reply = await room.says(KbVerb.SCHEDULE, base="handbook", target=ROOT, every="daily")
    await room.works()
    return await room.job(job_in(reply).id)


async def a_day(room: Room) -> Job:
    room.clock.advance(DAY)
    await room.job_queue.tick()
    await room.works()
    return (await room.jobs.recent(1))[0]


def write(files: "fsspec.AbstractFileSystem", **said: str) -> None:
    for name, text in said.items():
        files.pipe_file(f"/stored/handbook/{name}.md", f"# {name}\n\n{text}".encode())


async def sources(room: Room) -> set[str]:
    return {one.source.removeprefix(f"{ROOT}/") for one in await room.catalog.documents(frozenset({"handbook"}))}


async def test_a_place_is_kept_up_with_and_only_what_changed_is_brought(
    room: Room, files: "fsspec.AbstractFileSystem"
) -> None:
    write(files, hotels="Oslo costs 190.", trains="Trains are preferred.")
    assert (await scheduled(room)).counts == {ItemState.ADDED: 2}
    assert "hotels" in await room.finds("Oslo")
    room.stores.brought.clear()
    assert (await a_day(room)).counts == {ItemState.UNCHANGED: 2}
    assert room.stores.brought == []
    write(files, hotels="Oslo costs 210.", meals="Meals are paid.")
    assert (await a_day(room)).counts == {ItemState.UPDATED: 1, ItemState.ADDED: 1, ItemState.UNCHANGED: 1}
    assert room.stores.brought == [f"{ROOT}/hotels.md", f"{ROOT}/meals.md"]


async def test_what_was_removed_from_a_place_goes_at_the_second_look(
    room: Room, files: "fsspec.AbstractFileSystem"
) -> None:
    write(files, hotels="Oslo costs 190.", trains="Trains are preferred.")
    await scheduled(room)
    files.rm_file("/stored/handbook/trains.md")
    await a_day(room)
    assert await sources(room) == {"hotels.md", "trains.md"}
    assert (await a_day(room)).counts[ItemState.REMOVED] == 1
    assert await sources(room) == {"hotels.md"}


async def test_a_place_that_is_away_in_the_middle_loses_nothing_and_is_gone_on_with(
    room: Room, files: "fsspec.AbstractFileSystem"
) -> None:
    write(files, hotels="Oslo costs 190.", trains="Trains are preferred.")
    room.stores.away = {f"{ROOT}/trains.md"}
    first = await scheduled(room)
    assert first.counts == {ItemState.ADDED: 1, ItemState.FAILED: 1}
    room.stores.away = set()
    assert (await a_day(room)).counts == {ItemState.ADDED: 1, ItemState.UNCHANGED: 1}
    assert await sources(room) == {"hotels.md", "trains.md"}


async def test_a_place_that_is_not_there_at_all_keeps_everything(
    room: Room, files: "fsspec.AbstractFileSystem"
) -> None:
    write(files, hotels="Oslo costs 190.")
    await scheduled(room)
    files.rm("/stored", recursive=True)
    for _ in range(3):
        assert (await a_day(room)).state is JobState.FAILED
    assert await sources(room) == {"hotels.md"}


async def test_a_place_that_the_installation_does_not_name_is_refused_with_what_it_names(room: Room) -> None:
    await room.says(KbVerb.CREATE, base="handbook")
    reply = await room.says(KbVerb.INGEST, base="handbook", target="s3://secret/files")
    assert not succeeded(reply)
    assert "not among those that may be read here (memory://)" in words(reply)
