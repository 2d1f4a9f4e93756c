"""Syncing sites: pages that vanish, and pages that only seem to."""

import pytest

from core.model.jobs import ItemState, Job, JobState
from core.service.kb.commands import KbVerb
from core.service.kb.results import accepted_jobs, is_success
from tests.core.service.kb.knowledge_room import Room, card_words, job_in, words

ROOT = "https://docs.example/guide/"
DAY = 86_401


class Guide:
    """A site under one folder, scheduled daily."""

    def __init__(self, room: Room) -> None:
        self.room = room

    def has(self, *names: str, linked: tuple[str, ...] | None = None) -> None:
        """Serve these pages. The first page links to ``linked``, or to all of them."""
        links = "".join(f'<a href="{name}">{name}</a>' for name in (names if linked is None else linked))
        pages = {f"{ROOT}{name}": f"# {name}\n\nThe words of {name}." for name in names}
        self.room.site.pages = {ROOT: f"<html>{links}</html>", **pages}

    async def scheduled(self, limit: int = 20) -> Job:
        await self.room.says(KbVerb.CREATE, base="handbook")
        reply = await self.room.says(KbVerb.SCHEDULE, base="handbook", target=ROOT, every="daily", limit=limit)
        await self.room.works()
        return await self.room.job(job_in(reply).id)

    async def day(self) -> Job:
        """Advance the clock by a day; return the scheduled job."""
        self.room.clock.advance(DAY)
        await self.room.scheduler.tick()
        await self.room.works()
        return (await self.room.jobs.recent(1))[0]

    async def holds(self) -> set[str]:
        documents = await self.room.catalog.documents(frozenset({"handbook"}))
        return {one.source.removeprefix(ROOT) for one in documents} - {""}


@pytest.fixture
def guide() -> Guide:
    return Guide(Room())


async def test_removes_an_unlinked_page_at_the_second_sync_and_restores_it_if_relinked(guide: Guide) -> None:
    guide.has("a", "b", "c")
    assert (await guide.scheduled()).counts == {ItemState.ADDED: 4}
    guide.has("a", "b", "c", linked=("a", "b"))
    first = await guide.day()
    assert await guide.holds() == {"a", "b", "c"}
    assert "c: No page links to it any more. It is removed if the next check finds the same." in card_words(first)
    second = await guide.day()
    assert await guide.holds() == {"a", "b"}
    assert second.counts[ItemState.REMOVED] == 1
    assert "1 removed" in card_words(second)
    assert "c: No page links to it any more. It is removed, and can be restored for 7 days." in card_words(second)
    assert "c" not in await guide.room.finds("the words of c")
    assert is_success(await guide.room.says(KbVerb.RESTORE, base="handbook", target=f"{ROOT}c"))
    assert "c" in await guide.room.finds("the words of c")
    await guide.day()
    assert await guide.holds() == {"a", "b", "c"}  # whoever put it back wants it


async def test_a_page_that_its_site_says_is_gone_goes_at_the_second_sync(guide: Guide) -> None:
    guide.has("a", "b")
    await guide.scheduled()
    guide.has("a", linked=("a", "b"))
    first = await guide.day()
    assert await guide.holds() == {"a", "b"}
    assert "b: The site says that it was deleted. It is removed if" in card_words(first)
    assert not first.failed_items
    second = await guide.day()
    assert await guide.holds() == {"a"}
    assert "b: The site says that it was deleted. It is removed" in card_words(second)
    assert (await guide.day()).counts.get(ItemState.REMOVED) is None


async def test_missed_once_and_there_again_is_as_if_nothing_had_been(guide: Guide) -> None:
    guide.has("a", "b")
    await guide.scheduled()
    for linked in (("a",), ("a", "b"), ("a",), ("a", "b")):
        guide.has("a", "b", linked=linked)
        await guide.day()
    assert await guide.holds() == {"a", "b"}


async def test_a_page_that_fails_takes_nothing_out_neither_itself_nor_what_it_led_to(guide: Guide) -> None:
    guide.has("a", "b")
    await guide.scheduled()
    guide.has("a", "b", linked=("a",))
    guide.room.site.broken = {f"{ROOT}a"}
    for _ in range(3):
        job = await guide.day()
        assert job.failed_items[0].reason == "The host replied with 500 Internal Server Error."
    assert await guide.holds() == {"a", "b"}


async def test_a_site_that_does_not_answer_at_all_keeps_everything(guide: Guide) -> None:
    guide.has("a", "b")
    await guide.scheduled()
    guide.room.site.pages = {}
    for _ in range(3):
        assert (await guide.day()).state is JobState.FAILED
    assert await guide.holds() == {"a", "b"}


async def test_what_lies_beyond_the_limit_is_not_missed(guide: Guide) -> None:
    guide.has("a", "b", "c")
    await guide.scheduled(limit=4)
    guide.has("new", "a", "b", "c")
    for _ in range(3):
        await guide.day()
    assert await guide.holds() == {"new", "a", "b", "c"}


async def test_a_document_that_did_not_come_with_the_site_is_left_alone(guide: Guide) -> None:
    guide.has("a")
    await guide.scheduled()
    guide.room.site.pages[f"{ROOT}apart"] = "# apart\n\nAdded by hand."
    await guide.room.says(KbVerb.INGEST, base="handbook", target=f"{ROOT}apart")
    await guide.room.works()
    for _ in range(3):
        await guide.day()
    assert await guide.holds() == {"a", "apart"}


async def test_a_site_is_refreshed_by_walking_it_again_and_other_links_one_by_one(guide: Guide) -> None:
    room = guide.room
    guide.has("a")
    await guide.scheduled()
    room.site.pages["https://docs.example/apart"] = "# apart\n\nAlone."
    await room.says(KbVerb.INGEST, base="handbook", target="https://docs.example/apart")
    await room.adds(rules_md="# Rules\n\nOne.")
    guide.has("a", "fresh")
    room.site.pages["https://docs.example/apart"] = "# apart\n\nStill alone."
    reply = await room.says(KbVerb.REFRESH, base="handbook")
    first, second = accepted_jobs(reply)
    assert "1 document of “handbook” did not come from links and stay" in words(reply)
    await room.works()
    site, links = await room.job(first.id), await room.job(second.id)
    assert site.counts == {ItemState.UPDATED: 1, ItemState.UNCHANGED: 1, ItemState.ADDED: 1}
    assert links.counts == {ItemState.UPDATED: 1}
    again = await room.says(KbVerb.REFRESH, target=ROOT)
    assert (await room.job(job_in(again).id)).limit == 20


async def test_a_file_is_not_refreshed_and_what_to_do_is_said_in_one_line(guide: Guide) -> None:
    room = guide.room
    await room.adds(rules_md="# Rules\n\nOne.")
    for base, target in (("", "rules"), ("handbook", "")):
        reply = await room.says(KbVerb.REFRESH, base=base, target=target)
        assert not is_success(reply)
        assert "“Rules” did not come from a link, so it cannot be fetched again." in words(reply)
        assert "To update one, add the new file or conversation under the same name." in words(reply)
        assert "\n" not in words(reply)


async def test_a_base_that_is_removed_takes_what_was_known_of_its_sites_along(guide: Guide) -> None:
    guide.has("a")
    await guide.scheduled()
    assert await guide.room.site_store.sites("handbook")
    await guide.room.says(KbVerb.REMOVE, base="handbook", confirmed=True)
    assert not await guide.room.site_store.sites("handbook")
