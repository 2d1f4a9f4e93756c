"""Bringing in and fetching again: files, links, sites and channels, as an admin asks for them."""

import pytest

from core.model.incoming_events import FileReference
from core.model.jobs import ItemState, JobState
from core.service.kb.commands import MOST_PAGES, KbVerb
from core.service.kb.results import is_success
from tests.core.service.kb.knowledge_room import CHANNEL, Room, conversation, job_in, words


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
    assert not room.blobs.kept  # what was set aside is gone once it is read


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
