"""Confluence's files and comments: what is read of a page beside its own text."""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from adapters.connectors.confluence import PLUGIN
from adapters.connectors.http import opener
from adapters.documents.parser import DocumentParser
from adapters.documents.web.fetcher import Rules
from core.model.jobs import ItemState
from core.model.principals import mail_principal
from tests.connectors.sync_room import SyncRoom
from tests.fakes.confluence.contract import SPECIFICATION
from tests.fakes.confluence.server import EMAIL, TOKEN, FakeConfluence

pytestmark = pytest.mark.skipif(not SPECIFICATION.exists(), reason="The description is not shared here.")
ADA, BO = (mail_principal(f"{name}@example.org") for name in ("ada", "bo"))


@pytest.fixture
async def site() -> AsyncIterator[FakeConfluence]:
    async with FakeConfluence(page_size=2) as site:
        for number in ("1", "2", "3"):
            site.add_page(number, f"Page {number}", f"<h1>Part</h1><p>Alpha number {number}.</p>")
        yield site
        assert not site.violations


@pytest.fixture
async def room(site: FakeConfluence) -> AsyncIterator[SyncRoom]:
    async with DocumentParser() as parser:
        yield SyncRoom(PLUGIN, {"url": site.url, "email": EMAIL, "token": TOKEN}, parser, site.port)


async def test_a_file_is_a_document_with_its_own_title_address_and_path(room: SyncRoom, site: FakeConfluence) -> None:
    site.add_file("att7", "2", "prices.md", b"The pump costs 40 euros.")
    await room.sync()
    (file,) = [one for one in await room.catalog.documents(frozenset({"wiki"})) if one.title == "prices.md"]
    assert file.url == f"{site.url}/wiki/spaces/ENG/pages/2?preview=att7"
    assert await room.texts("what the pump costs", BO)
    listed = (await room.store.items("wiki"))["2/att7"].listed
    assert '"Page 2"' in listed


async def test_a_file_has_the_readers_of_its_page_and_follows_them(room: SyncRoom, site: FakeConfluence) -> None:
    site.add_file("att7", "2", "prices.md", b"The pump costs 40 euros.")
    site.pages["2"].parent, site.pages["1"].users = "1", ("ada",)
    await room.sync()
    assert "prices.md" in await room.titles(ADA)
    assert await room.titles(BO) == ["Page 3"]
    site.pages["1"].users = ()
    before = len(site.calls)
    await room.sync()
    assert "prices.md" in await room.titles(BO)
    assert not [one for one in site.calls[before:] if "download" in one]
    site.pages["2"].users = ("ada",)
    await room.sync()
    assert "prices.md" not in await room.titles(BO)


async def test_a_new_version_a_rename_and_a_removal_of_a_file(room: SyncRoom, site: FakeConfluence) -> None:
    file = site.add_file("att7", "2", "prices.md", b"The pump costs 40 euros.")
    await room.sync()
    file.data, file.version = b"The pump costs 55 euros.", 2
    assert (await room.sync()).outcomes == [("prices.md", ItemState.UPDATED, "")]
    assert "The pump costs 40 euros." not in await room.texts("pump euros", ADA)
    calls = len(site.calls)
    file.title, file.version = "list.md", 3
    await room.sync()
    assert await room.titles(ADA) == ["Page 1", "Page 2", "Page 3", "list.md"]
    fetched = site.calls[calls:]
    assert fetched[-2:] == ["/rest/api/content/2/child/attachment/att7/download", "/media/att7"]
    assert sum("search" in one for one in fetched) == 4  # two answers of pages, and for each what is on them
    del site.children["att7"]
    assert (await room.sync()).outcomes == [("list.md", ItemState.REMOVED, "")]
    assert await room.leftovers() == []


async def test_files_go_with_their_page(room: SyncRoom, site: FakeConfluence) -> None:
    site.add_file("att7", "2", "prices.md", b"The pump costs 40 euros.")
    await room.sync()
    site.pages["2"].is_deleted = True
    await room.sync()
    assert await room.titles(ADA) == ["Page 1", "Page 3"]
    assert await room.leftovers() == []


async def test_files_of_other_types_are_counted_and_not_fetched(room: SyncRoom, site: FakeConfluence) -> None:
    for number, name in enumerate(("a.png", "b.PNG", "c.mp4", "noname", "d.txt")):
        site.add_file(f"att{number}", "1", name, b"Text.")
    for _ in range(2):  # each round counts from the beginning
        await room.sync()
        assert (await room.state()).unread == {
            "files of type .png": 2,
            "files of type .mp4": 1,
            "files without a type": 1,
        }
    assert sum("download" in one for one in site.calls) == 1


async def test_a_file_that_is_too_large_is_named_and_the_others_are_read(room: SyncRoom, site: FakeConfluence) -> None:
    room.rules = replace(room.rules, max_bytes=20_000)
    site.add_file("att7", "2", "large.txt", b"x" * 30_000)
    site.add_file("att8", "2", "small.txt", b"The pump costs 40 euros.")
    await room.sync()
    assert "small.txt" in await room.titles(ADA)
    assert "larger than" in (await room.store.items("wiki"))["2/att7"].reason


async def test_comments_are_part_of_their_page_with_author_date_and_words(room: SyncRoom, site: FakeConfluence) -> None:
    site.add_comment("50", "2", "<p>The pump costs <strong>40</strong> euros.</p>")
    site.add_comment("51", "2", "<p>Since May.</p>", author="bo", words="Alpha <b>")
    await room.sync()
    assert await room.titles(ADA) == ["Page 1", "Page 2", "Page 3"]
    async with PLUGIN.open(room.settings, opener(Rules(allow_private=room.rules.allow_private))) as connector:
        (page,) = [one async for one in connector.fetch(await connector.lookup(["2"]))]
    html = getattr(page, "data", b"").decode()
    assert "<h1>Comment by Ada, 2026-02-03</h1><p>The pump costs" in html
    assert "<h1>Comment on “Alpha &lt;b&gt;” by Bo, 2026-02-03</h1><p>Since May.</p>" in html
    passages = [one for one in await room.texts("pump costs euros", ADA) if "40" in one]
    assert passages
    assert not any("40" in one for one in await room.texts("pump costs euros", mail_principal("eve@example.org")))


async def test_a_new_an_edited_and_a_removed_comment_are_noticed(room: SyncRoom, site: FakeConfluence) -> None:
    await room.sync()
    comment = site.add_comment("50", "2", "<p>The pump costs 40 euros.</p>")
    assert (await room.sync()).outcomes == [("Page 2", ItemState.UPDATED, "")]
    comment.body, comment.version, comment.when = "<p>It costs 55.</p>", 2, "2026-02-04T09:00:00.000Z"
    assert (await room.sync()).outcomes == [("Page 2", ItemState.UPDATED, "")]
    assert (await room.sync()).outcomes == []
    del site.children["50"]
    assert (await room.sync()).outcomes == [("Page 2", ItemState.UPDATED, "")]
    assert not any("55" in one for one in await room.texts("it costs", ADA))


async def test_more_files_and_comments_than_one_answer_holds(room: SyncRoom, site: FakeConfluence) -> None:
    for number in range(5):
        site.add_file(f"att{number}", "1", f"{number}.txt", f"File {number}.".encode())
        site.add_comment(str(60 + number), "2", f"<p>Remark {number}.</p>")
    await room.sync()
    assert {f"{number}.txt" for number in range(5)} <= set(await room.titles(ADA))
    found = " ".join(await room.texts("remark", ADA))
    assert all(f"Remark {number}." in found for number in range(5))
