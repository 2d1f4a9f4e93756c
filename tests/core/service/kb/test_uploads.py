"""Local files before an upload: which ones are needed, the expected result, and permissions."""

from collections.abc import AsyncIterator

import pytest

from core.ingestion.ingestor import Change, IngestResult
from core.model.document_content import FileContent
from core.model.errors import Denied
from core.model.incoming_events import FileReference
from core.model.knowledge import Document
from core.service.kb.commands import KbVerb
from tests.core.service.kb.knowledge_room import ADMIN, MEMBER, Room

LEAVE, RULES = "# Leave\n\nTwenty days.", "# Rules\n\nNo shoes."


@pytest.fixture
async def room() -> Room:
    """A base with two documents."""
    room = Room()
    await room.adds(leave_md=LEAVE, rules_md=RULES)
    return room


async def files(**texts: str) -> AsyncIterator[FileContent]:
    for name, text in texts.items():
        source = name.replace("_", ".")
        yield FileContent(source, source, text.encode())


async def unchanged(room: Room, **texts: str) -> list[str]:
    return list(await room.kb_service.find_unchanged(files(**texts), "handbook", room.caller(ADMIN)))


async def test_what_stands_there_word_for_word_needs_no_ingest(room: Room) -> None:
    assert await unchanged(room, leave_md=LEAVE, rules_md="# Rules\n\nShoes.", new_md="# New") == ["leave.md"]


async def test_what_the_index_has_lost_needs_one(room: Room) -> None:
    (rules,) = [one for one in await _documents(room) if one.source == "rules.md"]
    await room.index.remove(rules.id)
    assert await unchanged(room, leave_md=LEAVE, rules_md=RULES) == ["leave.md"]


async def test_what_a_job_in_line_is_about_to_change_needs_one(room: Room) -> None:
    await room.says(KbVerb.INGEST, base="handbook", files=(FileReference("rules.md", "rules.md"),))
    assert await unchanged(room, leave_md=LEAVE, rules_md=RULES) == ["leave.md"]


async def test_a_preview_says_what_would_come_of_each_and_makes_no_base(room: Room) -> None:
    given = {"leave_md": LEAVE, "rules_md": "# Rules\n\nShoes.", "new_md": "# New", "bad_md": "\0"}
    caller = room.caller(ADMIN)
    previewed = await room.kb_service.preview_ingest(files(**given), "HANDBOOK", caller)
    assert [one.change for one in previewed] == [Change.UNCHANGED, Change.UPDATED, Change.ADDED, Change.FAILED]
    assert previewed[-1] == IngestResult("bad.md", Change.FAILED, reason="This is no text.")
    elsewhere = await room.kb_service.preview_ingest(files(leave_md=LEAVE), "elsewhere", caller)
    assert [one.change for one in elsewhere] == [Change.ADDED]
    assert [base.name for base in await room.catalog.bases()] == ["handbook"]


async def test_who_is_no_admin_learns_nothing_of_what_stands_there(room: Room) -> None:
    member = room.caller(MEMBER)
    with pytest.raises(Denied):
        await room.kb_service.find_unchanged(files(leave_md=LEAVE), "handbook", member)
    with pytest.raises(Denied):
        await room.kb_service.preview_ingest(files(leave_md=LEAVE), "handbook", member)


async def _documents(room: Room) -> list[Document]:
    return list(await room.catalog.documents(frozenset({"handbook"})))
