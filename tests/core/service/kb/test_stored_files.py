"""Files where a team keeps them, in places of every kind: added, changed, removed, watched, interrupted, forbidden."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from core.model.errors import StoreUnavailable
from core.model.incoming_events import FileReference
from core.model.jobs import ItemState, Job, JobState, Site
from core.service.kb.commands import KbVerb
from core.service.kb.job_queue import MOST_STORED
from core.service.kb.results import is_success
from tests.adapters.documents.sources.places import KINDS, Place, open_place
from tests.core.service.kb.knowledge_room import Room, Stores, job_in, words
from tests.core.service.kb.test_job_kills import Fuse, Killed, editions_found, process
from tests.fakes.memory.site_store import InProcessSiteStore

DAY = 86_401
MINUTE = 61
LEASE = 31


@pytest.fixture(params=KINDS)
def place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    with open_place(request.param, tmp_path, monkeypatch) as opened:
        yield opened


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    with open_place("memory", tmp_path, monkeypatch) as opened:
        yield opened


def room_beside(place: Place) -> Room:
    return Room(Stores([place.address], place.allow_private))


async def scheduled(room: Room, place: Place, every: str = "daily") -> Job:
    await room.says(KbVerb.CREATE, base="handbook")
    reply = await room.says(KbVerb.SCHEDULE, base="handbook", target=place.address, every=every)
    await room.works()
    return await room.job(job_in(reply).id)


async def after(room: Room, seconds: float) -> Job:
    """The newest job, when the clock has gone on and all that was due is done."""
    room.clock.advance(seconds)
    await room.scheduler.tick()
    await room.works()
    return (await room.jobs.recent(1))[0]


def write(place: Place, **said: str) -> None:
    for name, text in said.items():
        place.write(f"{name}.md", f"# {name}\n\n{text}".encode())


async def sources(room: Room, place: Place) -> set[str]:
    documents = await room.catalog.documents(frozenset({"handbook"}))
    return {one.source.removeprefix(f"{place.address}/") for one in documents}


async def test_a_place_is_kept_up_with_and_only_what_changed_is_brought(place: Place) -> None:
    room = room_beside(place)
    write(place, hotels="Oslo costs 190.", trains="Trains are preferred.")
    assert (await scheduled(room, place)).counts == {ItemState.ADDED: 2}
    assert "hotels" in await room.finds("Oslo")
    room.stores.asked.clear()
    assert (await after(room, DAY)).counts == {ItemState.UNCHANGED: 2}
    assert room.stores.asked == [], "what its place says it is as it was, when listing it, costs no request"
    write(place, hotels="Oslo costs 210.", meals="Meals are paid.")
    assert (await after(room, DAY)).counts == {ItemState.UPDATED: 1, ItemState.ADDED: 1, ItemState.UNCHANGED: 1}
    assert room.stores.asked == [f"{place.address}/hotels.md", f"{place.address}/meals.md"]


async def test_what_was_removed_from_a_place_goes_at_the_second_look(place: Place) -> None:
    room = room_beside(place)
    write(place, hotels="Oslo costs 190.", trains="Trains are preferred.")
    await scheduled(room, place)
    place.remove("trains.md")
    await after(room, DAY)
    assert await sources(room, place) == {"hotels.md", "trains.md"}
    assert (await after(room, DAY)).counts[ItemState.REMOVED] == 1
    assert await sources(room, place) == {"hotels.md"}


async def test_a_place_that_is_away_in_the_middle_loses_nothing_and_is_gone_on_with(place: Place) -> None:
    room = room_beside(place)
    write(place, hotels="Oslo costs 190.", trains="Trains are preferred.")
    room.stores.away = {f"{place.address}/trains.md"}
    first = await scheduled(room, place)
    assert first.counts == {ItemState.ADDED: 1, ItemState.FAILED: 1}
    room.stores.away = set()
    assert (await after(room, DAY)).counts == {ItemState.ADDED: 1, ItemState.UNCHANGED: 1}
    assert await sources(room, place) == {"hotels.md", "trains.md"}


async def test_a_place_with_nothing_in_it_any_more_keeps_everything(place: Place) -> None:
    room = room_beside(place)
    write(place, hotels="Oslo costs 190.")
    await scheduled(room, place)
    place.remove("hotels.md")
    for _ in range(3):
        assert (await after(room, DAY)).state is JobState.FAILED
    assert await sources(room, place) == {"hotels.md"}


async def test_a_watched_place_is_read_when_something_there_changed_and_not_before(place: Place) -> None:
    room = room_beside(place)
    write(place, hotels="Oslo costs 190.", trains="Trains are preferred.")
    first = await scheduled(room, place, "on-change")
    assert (await after(room, MINUTE)).id == first.id, "nothing has changed"
    write(place, hotels="Oslo costs 210.", meals="Meals are paid.")
    room.stores.brought.clear()
    changed = await after(room, MINUTE)
    assert changed.counts == {ItemState.UPDATED: 1, ItemState.ADDED: 1, ItemState.UNCHANGED: 1}
    assert room.stores.brought == [f"{place.address}/hotels.md", f"{place.address}/meals.md"]
    assert (await after(room, MINUTE)).id == changed.id
    place.remove("trains.md")
    await after(room, MINUTE)
    removed = await after(room, MINUTE)
    assert removed.counts[ItemState.REMOVED] == 1, "what is missed is looked for once more, without waiting for a day"
    assert await sources(room, place) == {"hotels.md", "meals.md"}
    assert (await after(room, MINUTE)).id == removed.id


OLD = frozenset({"old alpha", "old beta", "old gamma"})
HALF = frozenset({"new alpha", "old beta", "old gamma", "new delta"})  # gamma is missed once
NEW = frozenset({"new alpha", "old beta", "new delta"})
BREAKS = ("stores.read", "index.add", "catalog.publish", "site_store.save_site")


async def _killed(place: Place, calls: int) -> tuple[Room, Job, Fuse]:
    """A room in which a process read what changed in a place, and died before the call after so many."""
    room = room_beside(place)
    write(place, **{name: f"The old edition of {name}." for name in ("alpha", "beta", "gamma")})
    await scheduled(room, place)
    write(place, **{name: f"The new edition of {name}." for name in ("alpha", "delta")})
    place.remove("gamma.md")
    room.clock.advance(DAY)
    await room.scheduler.tick()
    fuse = Fuse(calls)
    try:
        await process(room, fuse).works()
    except Killed:
        pass
    else:
        fuse.calls = len(fuse.made)
    return room, (await room.jobs.recent(1))[0], fuse


async def test_killed_while_it_reads_a_place_it_comes_to_the_same_end(
    place: Place, request: pytest.FixtureRequest
) -> None:
    _, _, whole = await _killed(place, 10_000)
    near = "e2e" not in {mark.name for mark in request.node.iter_markers()}
    breaks = list(range(len(whole.made))) if near else [whole.made.index(name) for name in BREAKS]
    assert set(BREAKS) <= {whole.made[at] for at in breaks}
    for calls in breaks:
        place.remove("delta.md")
        room, job, fuse = await _killed(place, calls)
        where = f"killed before call {calls}, {fuse.last}"
        assert await editions_found(room) <= OLD | HALF, where
        room.clock.advance(LEASE)
        await room.works()
        ended = await room.job(job.id)
        assert ended.state is JobState.DONE, where
        assert await editions_found(room) == HALF, where
        await after(room, DAY)
        assert await editions_found(room) == NEW, where
        kept = sum(one.passages for one in await room.catalog.documents(frozenset({"handbook"})))
        assert await room.index.count() == kept, where


async def test_more_files_than_one_job_reads_are_said(memory: Place) -> None:
    room = room_beside(memory)
    write(memory, alpha="One.", beta="Two.", gamma="Three.")
    await room.says(KbVerb.CREATE, base="handbook")
    reply = await room.says(KbVerb.INGEST, base="handbook", target=memory.address, limit=2)
    await room.works()
    job = await room.job(job_in(reply).id)
    assert job.counts == {ItemState.ADDED: 2, ItemState.SKIPPED: 1}
    assert "There are more files than the 2 that were read." in job.items[-1].reason
    assert job.limit < MOST_STORED


async def test_a_folder_is_scheduled_as_a_whole_though_one_file_of_it_is_there_already(memory: Place) -> None:
    room = room_beside(memory)
    write(memory, hotels="Oslo costs 190.")
    await room.says(KbVerb.CREATE, base="handbook")
    await room.says(KbVerb.INGEST, base="handbook", target=f"{memory.address}/hotels.md")
    await room.works()
    write(memory, trains="Trains are preferred.")
    await scheduled(room, memory)
    assert await sources(room, memory) == {"hotels.md", "trains.md"}


async def test_pages_of_the_web_are_not_watched(memory: Place) -> None:
    room = room_beside(memory)
    await room.says(KbVerb.CREATE, base="handbook")
    reply = await room.says(KbVerb.SCHEDULE, base="handbook", target="https://docs.example/", every="on-change")
    assert not is_success(reply)
    assert "but not web pages" in words(reply)


async def test_a_watched_place_that_cannot_be_looked_at_holds_up_no_other_schedule(memory: Place) -> None:
    room = room_beside(memory)
    write(memory, hotels="Oslo costs 190.")
    await scheduled(room, memory, "on-change")
    memory.remove("hotels.md")
    room.site.pages["https://docs.example/a"] = "# A\n\nOne."
    await room.says(KbVerb.SCHEDULE, base="handbook", target="https://docs.example/a", every="daily")
    await room.works()
    room.site.pages["https://docs.example/a"] = "# A\n\nTwo."
    assert (await after(room, DAY)).counts == {ItemState.UPDATED: 1}


class ForgetfulSiteStore(InProcessSiteStore):
    """Cannot tell what was seen of one base."""

    async def sites(self, base: str) -> Sequence[Site]:
        if base == "broken":
            raise StoreUnavailable("The store is away.")
        return await super().sites(base)


async def test_a_watched_place_of_which_nothing_is_known_holds_up_no_other_watched_place(memory: Place) -> None:
    room = room_beside(memory)
    write(memory, hotels="Oslo costs 190.")
    for base in ("broken", "handbook"):
        await room.says(KbVerb.CREATE, base=base)
        await room.says(KbVerb.SCHEDULE, base=base, target=memory.address, every="on-change")
        await room.works()
    kept, room.site_store = room.site_store, ForgetfulSiteStore()
    for site in await kept.sites("handbook"):
        await room.site_store.save_site(site)
    room.assemble()
    write(memory, trains="Trains are preferred.")
    assert (await after(room, MINUTE)).counts == {ItemState.ADDED: 1, ItemState.UNCHANGED: 1}
    assert await sources(room, memory) == {"hotels.md", "trains.md"}


async def test_a_place_that_the_installation_does_not_name_is_refused_with_what_it_names(memory: Place) -> None:
    room = room_beside(memory)
    await room.says(KbVerb.CREATE, base="handbook")
    reply = await room.says(KbVerb.INGEST, base="handbook", target="s3://secret/files")
    assert not is_success(reply)
    assert "not among those that may be read here (memory://" in words(reply)


async def test_files_beside_a_place_are_two_jobs_and_none_is_left_out_in_silence(memory: Place) -> None:
    room = room_beside(memory)
    await room.says(KbVerb.CREATE, base="handbook")
    files = (FileReference("rules.md", "rules.md"),)
    reply = await room.says(KbVerb.INGEST, base="handbook", target=memory.address, files=files)
    assert not is_success(reply)
    assert words(reply) == "Files cannot be added together with a channel or a site. Add the files by themselves."
    assert await room.jobs.recent() == []
