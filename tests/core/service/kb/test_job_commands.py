"""Adding and refreshing files, links, sites and channels, as an admin."""

from dataclasses import replace
from pathlib import Path

import pytest

from core.ingestion.consistency import APART, FIRST_LOOK
from core.ingestion.ingestor import Change
from core.ingestion.originals import Material
from core.ingestion.passage_vectors import vectors_of
from core.model.errors import IndexMismatch, StoreUnavailable
from core.model.incoming_events import FileReference
from core.model.jobs import ItemState, JobKind, JobState
from core.service.kb.commands import MOST_PAGES, KbVerb
from core.service.kb.results import is_success
from tests.bot.test_interrupted import Screen, written
from tests.core.service.kb.knowledge_room import ADMIN, CHANNEL, MEMBER, Room, conversation, denied, job_in, words
from tests.fakes.memory.index import InProcessIndex
from tests.fakes.memory.stores import InProcessCatalog


@pytest.fixture
def room() -> Room:
    return Room()


async def test_files_are_accepted_at_once_and_found_when_the_job_is_done(room: Room) -> None:
    await room.says(KbVerb.CREATE, base="handbook")
    room.platform.files = {"F1": b"# Refunds\n\nThirty days.", "F2": b"\0"}
    files = (FileReference("F1", "refunds.md"), FileReference("F2", "logo.png"))
    reply = await room.says(KbVerb.INGEST, base="handbook", files=files)
    assert job_in(reply).state is JobState.QUEUED
    assert await room.finds("refunds") == []
    await room.works()
    job = await room.job(job_in(reply).id)
    assert [(item.source, item.state) for item in job.items] == [
        ("refunds.md", ItemState.ADDED), ("logo.png", ItemState.FAILED),
    ]  # fmt: skip
    assert job.failed_items[0].reason == "This is no text."
    assert await room.finds("refunds") == ["Refunds"]
    assert room.platform.cards[-1].state is JobState.DONE


async def test_the_same_file_again_is_unchanged_and_a_new_version_replaces_it(room: Room) -> None:
    await room.adds(refunds_md="# Refunds\n\nThirty days.")
    again = await room.adds(refunds_md="# Refunds\n\nThirty days.")
    assert again.items[0].state is ItemState.UNCHANGED
    changed = await room.adds(refunds_md="# Refunds\n\nSixty days.")
    assert changed.items[0].state is ItemState.UPDATED
    assert await room.index.count() == 1


async def test_more_than_ten_files_and_what_is_no_link_are_refused_with_a_remedy(room: Room) -> None:
    await room.says(KbVerb.CREATE, base="handbook")
    many = tuple(FileReference(str(n), f"{n}.md") for n in range(11))
    assert "at most 10" in words(await room.says(KbVerb.INGEST, files=many))
    assert "https://" in words(await room.says(KbVerb.INGEST, target="ftp://example"))
    assert "Attach files" in words(await room.says(KbVerb.INGEST))
    two_jobs = await room.says(KbVerb.INGEST, files=many[:1], target="https://docs.example", limit=5)
    assert not is_success(two_jobs)
    assert "Add the files by themselves" in words(two_jobs)


async def test_a_site_is_followed_up_to_its_limit_and_pages_that_fail_are_named(room: Room) -> None:
    await room.says(KbVerb.CREATE, base="handbook")
    root = "https://docs.example/guide/"
    links = "".join(f'<a href="{n}.html">{n}</a>' for n in range(4)) + '<a href="gone.html">gone</a>'
    room.site.pages = {root: f"<html>{links}</html>"} | {f"{root}{n}.html": f"<html>page {n}" for n in range(4)}
    few = await room.says(KbVerb.INGEST, base="handbook", target=root, limit=3)
    reply = await room.says(KbVerb.INGEST, base="handbook", target=root, limit=10)
    await room.works()
    assert (await room.job(job_in(few).id)).counts == {ItemState.ADDED: 3}
    job = await room.job(job_in(reply).id)
    assert job.counts == {ItemState.UNCHANGED: 3, ItemState.ADDED: 2, ItemState.FAILED: 1}
    assert job.failed_items[0].source == f"{root}gone.html"
    assert not room.blobs.kept  # the spooled file is deleted after it is read


async def test_no_site_is_followed_further_than_the_bound(room: Room) -> None:
    await room.says(KbVerb.CREATE, base="handbook")
    reply = await room.says(KbVerb.INGEST, base="handbook", target="https://docs.example/", limit=10**9)
    assert (await room.job(job_in(reply).id)).limit == MOST_PAGES


async def test_a_channels_history_becomes_one_document_for_each_conversation(room: Room) -> None:
    await room.says(KbVerb.CREATE, base="handbook")
    room.platform.conversations_ = {
        "1": conversation("Five days.", source="T/C/1"),
        "2": conversation("On Fridays.", source="T/C/2", title="Payroll"),
    }
    await room.says(KbVerb.INGEST, base="handbook", channel="C")
    await room.works()
    documents = await room.catalog.documents(frozenset({"handbook"}))
    assert [(one.title, one.url) for one in documents] == [
        ("Payroll", "https://chat.example/T/C/2"), ("Refunds?", "https://chat.example/T/C/1"),
    ]  # fmt: skip


async def test_adding_says_whom_the_base_is_for(room: Room) -> None:
    await room.says(KbVerb.CREATE, base="handbook", principals=(CHANNEL,))
    reply = await room.says(KbVerb.INGEST, base="handbook", target="https://docs.example/a")
    assert f"restricted to {CHANNEL}" in words(reply)


async def test_a_refresh_of_an_unchanged_link_reads_nothing(room: Room) -> None:
    await room.says(KbVerb.CREATE, base="handbook")
    room.site.pages["https://docs.example/a"] = "# A\n\nOld words."
    await room.says(KbVerb.INGEST, base="handbook", target="https://docs.example/a")
    await room.works()
    read = len(room.parser.read)
    reply = await room.says(KbVerb.REFRESH, base="handbook")
    await room.works()
    assert (await room.job(job_in(reply).id)).items[0].state is ItemState.UNCHANGED
    assert len(room.parser.read) == read
    assert [etag is not None for _, etag in room.site.asked] == [
        False,
        True,
    ]  # the second time it could say "unchanged"
    room.site.pages["https://docs.example/a"] = "# A\n\nNew words."
    await room.says(KbVerb.REFRESH, base="handbook", target="A")
    await room.works()
    assert len(room.parser.read) == read + 1


def loses_its_index(room: Room) -> None:
    """Another ``MILVUS_URI``, or the database file is gone: an empty index beside the same catalog."""
    room.index = InProcessIndex()
    room.assemble()


async def test_ingest_puts_back_what_the_index_has_lost(room: Room, tmp_path: Path) -> None:
    paths = written(tmp_path, a_md="# Ferry\n\nThe ferry leaves at nine.", b_md="# Bus\n\nThe bus leaves at ten.")
    await Screen(room).ingests(*paths, base="handbook")
    loses_its_index(room)
    assert await room.finds("when does the ferry leave") == []
    results = await Screen(room).ingests(*paths, base="handbook")
    assert [(one.change, len(one.notes)) for one in results] == [(Change.UPDATED, 1), (Change.UPDATED, 1)]
    assert (await room.finds("when does the ferry leave"))[0] == "Ferry"
    again = await Screen(room).ingests(*paths, base="handbook")
    assert [one.change for one in again] == [Change.UNCHANGED, Change.UNCHANGED]


async def test_a_document_of_which_some_passages_are_gone_is_filled_up(room: Room) -> None:
    text = "\n\n".join(f"# Rule {n}\n\nParcel {n} leaves at gate {n * 31}, whatever the weather." for n in range(9))
    material = Material("rules.md", "rules.md", text.encode())
    await room.ingestor.ensure_base("handbook")
    passages = (await room.ingestor.ingest(material, "handbook")).passages
    for name in list(room.index._passages)[::2]:
        del room.index._passages[name], room.index._vectors[name], room.index._words[name]
    assert (await room.ingestor.ingest(material, "handbook")).change is Change.UPDATED
    assert await room.index.count() == passages


async def test_repair_fills_a_lost_index_from_what_documents_were_made_of(room: Room) -> None:
    await room.adds(ferry_md="# Ferry\n\nThe ferry leaves at nine.", bus_md="# Bus\n\nThe bus leaves at ten.")
    room.site.pages["https://pier.example/"] = "The pier opens at five."
    await room.says(KbVerb.INGEST, base="handbook", target="https://pier.example/")
    await room.works()
    room.platform.files.clear()
    room.site.pages.clear()  # no new confirmation is needed
    loses_its_index(room)
    reply = await room.says(KbVerb.REPAIR)
    await room.works()
    job = await room.job(job_in(reply).id)
    assert (job.kind, job.state, job.counts[ItemState.UPDATED]) == (JobKind.REPAIR, JobState.DONE, 3)
    assert (await room.finds("when does the ferry leave"))[0] == "Ferry"
    assert "Nothing to repair: the index has all passages of 3 documents." in words(await room.says(KbVerb.REPAIR))


async def test_what_was_not_kept_is_fetched_again_by_its_link_or_named(room: Room) -> None:
    await room.adds(ferry_md="# Ferry\n\nThe ferry leaves at nine.")
    room.site.pages["https://pier.example/"] = "The pier opens at five."
    await room.says(KbVerb.INGEST, base="handbook", target="https://pier.example/")
    await room.works()
    room.kept_originals.kept.clear()  # as of documents that the first version took in
    loses_its_index(room)
    reply = await room.says(KbVerb.REPAIR)
    assert not is_success(reply)
    assert "Add them again, or remove them:\n• handbook: ferry.md" in words(reply)
    await room.works()
    assert len(await room.finds("pier opens")) == 1
    assert room.site.asked[-1] == ("https://pier.example/", None)  # not: has it changed?


async def test_a_refresh_of_a_page_whose_passages_are_lost_fetches_it_whole(room: Room) -> None:
    room.site.pages["https://pier.example/"] = "The pier opens at five."
    await room.says(KbVerb.CREATE, base="handbook")
    await room.says(KbVerb.INGEST, base="handbook", target="https://pier.example/")
    await room.works()
    loses_its_index(room)
    await room.says(KbVerb.REFRESH, base="handbook")
    await room.works()
    assert len(await room.finds("pier opens")) == 1


async def test_repair_is_for_admins_and_on_record(room: Room) -> None:
    assert denied(await room.says(KbVerb.REPAIR, MEMBER))
    await room.says(KbVerb.REPAIR, ADMIN)
    assert [(one.actor, one.allowed) for one in await room.audit.recent()] == [(ADMIN.id, True), (MEMBER.id, False)]


async def test_an_index_that_is_not_the_catalogs_is_refused_until_it_is_filled(room: Room) -> None:
    await room.consistency.check()
    await room.adds(ferry_md="# Ferry\n\nThe ferry leaves at nine.")
    await room.consistency.check()
    right = room.index
    loses_its_index(room)
    with pytest.raises(IndexMismatch, match="footnote kb repair"):
        await room.consistency.check()
    assert not await room.consistency.settle()
    room.index = right
    room.assemble()
    await room.consistency.check()
    loses_its_index(room)
    await room.says(KbVerb.REPAIR)
    await room.consistency.check()


async def test_a_catalog_that_came_back_empty_is_said_until_a_document_is_there_again(room: Room) -> None:
    await room.consistency.check()
    await room.adds(ferry_md="# Ferry\n\nThe ferry leaves at nine.")
    await room.consistency.check()
    room.catalog = InProcessCatalog()
    room.assemble()
    with pytest.raises(StoreUnavailable, match="Redis has lost data"):
        await room.consistency.check()
    assert not (await room.consistency.report()).same
    assert not await room.consistency.settle()
    await room.says(KbVerb.CREATE, base="handbook")
    assert "Redis has lost data" in words(await room.says(KbVerb.REPAIR))
    room.clock.advance(FIRST_LOOK)
    for _ in range(3):
        await room.scheduler.tick()
        room.clock.advance(APART)
    assert await room.index.count() == 1  # what the catalog knew may come back
    await room.adds(bus_md="# Bus\n\nThe bus leaves at ten.")
    await room.consistency.check()


async def test_an_empty_index_is_the_catalogs_before_anything_is_in_it(room: Room) -> None:
    assert await room.consistency.settle()
    assert await room.catalog.index_identity() == room.index.identity


async def test_what_the_first_version_wrote_is_taken_for_what_it_is(room: Room) -> None:
    """It gave no index an identity: one with passages is the catalog's, an empty one is not."""
    await room.adds(ferry_md="# Ferry\n\nThe ferry leaves at nine.")
    await room.catalog.remember_index("")
    await room.consistency.check()
    assert await room.catalog.index_identity() == room.index.identity
    await room.catalog.remember_index("")
    loses_its_index(room)
    with pytest.raises(IndexMismatch):
        await room.consistency.check()


async def test_the_original_goes_with_its_document_and_stays_while_it_can_be_restored(room: Room) -> None:
    await room.adds(ferry_md="# Ferry\n\nThe ferry leaves at nine.")
    first = set(room.kept_originals.kept)
    assert len(first) == 1
    await room.adds(ferry_md="# Ferry\n\nThe ferry leaves at ten.")
    assert first < set(room.kept_originals.kept)  # for as long as the first version can be restored
    (document,) = await room.catalog.documents(frozenset({"handbook"}))
    await room.ingestor.remove(document.id)
    assert set(room.kept_originals.kept) == first


async def test_a_report_says_what_is_missing_and_what_belongs_to_nobody(room: Room) -> None:
    await room.adds(ferry_md="# Ferry\n\nThe ferry leaves at nine.")
    whole = await room.consistency.report()
    assert (whole.same, whole.documents, whole.incomplete, whole.surplus) == (True, 1, (), 0)
    (passage,) = room.index._passages.values()
    left = replace(passage, id="x", version="never published")
    await room.index.add([left], await vectors_of([left], room.encoder))
    report = await room.consistency.report()
    assert (report.surplus, report.unknown) == (1, 0)
    stray = replace(passage, id="y", document="nowhere")
    await room.index.add([stray], await vectors_of([stray], room.encoder))
    assert (await room.consistency.report()).unknown == 1
    loses_its_index(room)
    lost = await room.consistency.report()
    assert [(one.document.source, one.there) for one in lost.incomplete] == [("ferry.md", 0)]
    assert lost.surplus == 0


async def test_a_lost_original_is_read_again_by_its_link_and_named_where_there_is_none(room: Room) -> None:
    room.site.pages["https://docs.example/bus"] = "# Bus\n\nThe bus leaves at ten."
    await room.adds(ferry_md="# Ferry\n\nThe ferry leaves at nine.")
    await room.says(KbVerb.INGEST, base="handbook", target="https://docs.example/bus")
    await room.works()
    for name, data in room.kept_originals.kept.items():
        room.kept_originals.kept[name] = data[:-1]
    assert "2 of 2 documents have lost something" in await room.consistency.find_losses()
    reply = await room.says(KbVerb.REPAIR)
    assert "The originals of 1 document are not stored. Add them again, or remove them:" in words(reply)
    assert "• handbook: ferry.md" in words(reply)
    await room.works()
    assert (await room.consistency.find_losses()).startswith("1 of 2 documents are incomplete: ferry.md")
    await room.adds(ferry_md="# Ferry\n\nThe ferry leaves at nine.")
    assert await room.consistency.find_losses() == ""
