"""Lists, details and jobs, and what is hidden from whom."""

import pytest

from core.service.kb.commands import KbVerb
from core.service.kb.results import DocumentList
from tests.core.service.kb.knowledge_room import MEMBER, Room, words


@pytest.fixture
def room() -> Room:
    return Room()


async def test_jobs_of_a_base_that_the_readers_may_not_see_are_not_listed(room: Room) -> None:
    job = await room.adds(refunds_md="# Refunds\n\nThirty days.")
    await room.says(KbVerb.GRANT, base="handbook", principals=("paper:channel:T/BOARD",), confirmed=True)
    for given in ("", job.id):
        assert job.id in words(await room.says(KbVerb.JOBS, target=given))
        assert job.id not in words(await room.says(KbVerb.JOBS, target=given, private=False))


async def test_a_base_that_the_readers_may_not_see_does_not_exist_for_them(room: Room) -> None:
    await room.adds("board", merger_md="# Merger\n\nWith Acme.")
    await room.says(KbVerb.GRANT, base="board", principals=("paper:channel:T/BOARD",), confirmed=True)
    unknown = words(await room.says(KbVerb.SHOW, MEMBER, base="nosuch"))
    for verb in (KbVerb.LIST, KbVerb.SHOW):
        for private in (True, False):
            reply = await room.says(verb, MEMBER, base="board", target="merger", private=private)
            assert words(reply) == unknown.replace("nosuch", "board")
    for public in (await room.says(KbVerb.LIST, private=False), await room.says(KbVerb.STATUS, private=False)):
        assert "board" not in words(public)
        assert "merger" not in words(public)
    assert "board" in words(await room.says(KbVerb.LIST))  # an admin's own eyes
    assert await room.kb_service.queries.complete("b", room.caller(MEMBER)) == ()
    assert await room.kb_service.queries.complete_document("merger", room.caller(MEMBER)) == ()


async def test_long_lists_are_paged(room: Room) -> None:
    await room.adds(**{f"doc{n:02}_md": f"# Doc {n:02}\n\nWords {n}." for n in range(10)})
    await room.adds(**{f"doc{n:02}_md": f"# Doc {n:02}\n\nWords {n}." for n in range(10, 13)})
    first = await room.says(KbVerb.LIST, MEMBER, base="handbook")
    last = await room.says(KbVerb.LIST, MEMBER, base="handbook", page=99)
    assert isinstance(first, DocumentList)
    assert isinstance(last, DocumentList)
    assert (first.page.number, first.page.pages, last.page.number) == (1, 2, 2)
    assert [one.title for one in last.documents] == ["Doc 10", "Doc 11", "Doc 12"]


async def test_a_document_is_shown_with_its_version_age_and_last_look(room: Room) -> None:
    await room.adds(refunds_md="# Refunds\n\nThirty days.")
    room.clock.advance(3 * 3600)
    shown = words(await room.says(KbVerb.SHOW, target="refunds"))
    assert "added 3 hours ago by Ada" in shown
    assert "last checked 3 hours ago: added" in shown
    assert "line 3: Thirty days." in shown
    assert "Ada" not in words(await room.says(KbVerb.SHOW, MEMBER, target="refunds"))


async def test_a_name_that_means_several_documents_is_asked_back(room: Room) -> None:
    await room.adds(refunds_md="# Refund rules\n\nA.", returns_md="# Refund forms\n\nB.")
    reply = await room.says(KbVerb.SHOW, target="refund")
    assert "could be any of 2: returns.md, refunds.md" in words(reply)


async def test_a_secret_in_a_link_is_not_shown_among_a_bases_failures(room: Room) -> None:
    await room.says(KbVerb.CREATE, base="handbook")
    await room.says(KbVerb.INGEST, base="handbook", target="https://docs.example/a?token=s3cret")
    await room.works()
    shown = words(await room.says(KbVerb.SHOW, base="handbook"))
    assert "https://docs.example/a?…: The host replied with 404 Not Found." in shown
    assert "s3cret" not in shown
