"""``/kb``: permissions, effects and replies."""

from collections.abc import AsyncIterator

import pytest

from core.model.document_content import FileContent
from core.model.errors import NotFound
from core.model.knowledge import KnowledgeBase
from core.service.kb.commands import KbVerb
from core.service.kb.results import Refused, is_success
from tests.core.service.kb.knowledge_room import ADMIN, CHANNEL, MEMBER, Room, asked_in, denied, job_in, words

ADMINS_ONLY = sorted(set(KbVerb) - {KbVerb.LIST, KbVerb.SHOW})


@pytest.fixture
def room() -> Room:
    return Room()


# --- who may --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", ADMINS_ONLY)
async def test_who_is_no_admin_is_denied_and_that_is_recorded(room: Room, verb: KbVerb) -> None:
    await room.adds(refunds_md="# Refunds\n\nThirty days.")
    reply = await room.says(verb, MEMBER, base="handbook", target="refunds", confirmed=True, every="daily")
    assert denied(reply)
    assert not is_success(reply)
    assert await room.finds("refunds") == ["Refunds"]
    newest = (await room.audit.recent())[0]
    assert (newest.actor, newest.action, newest.allowed) == (MEMBER.id, f"kb {verb}", False)


async def test_a_forged_confirmation_is_denied_like_everything_else(room: Room) -> None:
    await room.adds(refunds_md="# Refunds\n\nThirty days.")
    asked = await room.says(KbVerb.REMOVE, base="handbook", target="refunds")
    reply = await room.kb_service.handle(asked_in(asked), room.caller(MEMBER))
    assert denied(reply)
    assert await room.finds("refunds") == ["Refunds"]


async def test_who_brings_bytes_along_must_be_an_admin_too(room: Room) -> None:
    async def files() -> AsyncIterator[FileContent]:
        yield FileContent("refunds.md", "refunds.md", b"# Refunds")

    reply = await room.kb_service.ingest_bytes(files(), "default", room.caller(MEMBER))
    assert denied(reply)
    assert await room.jobs.recent() == []
    assert (await room.audit.recent())[0].allowed is False


async def test_every_admin_action_is_in_the_audit(room: Room) -> None:
    await room.adds(refunds_md="# Refunds\n\nThirty days.")
    await room.says(KbVerb.DESCRIBE, base="handbook", text="What we promise")
    await room.says(KbVerb.GRANT, base="handbook", principals=(CHANNEL,), confirmed=True)
    await room.says(KbVerb.REMOVE, base="handbook", target="refunds", confirmed=True)
    await room.says(KbVerb.CANCEL, target="nosuchjob")
    actions = [(entry.action, entry.actor) for entry in await room.audit.recent()]
    assert [action for action, _ in reversed(actions)] == [
        "kb create", "kb ingest", "kb describe", "kb grant", "kb remove", "kb cancel",
    ]  # fmt: skip
    assert {actor for _, actor in actions} == {ADMIN.id}


async def test_looking_at_what_can_be_restored_is_not_in_the_audit(room: Room) -> None:
    await room.adds(refunds_md="# Refunds\n\nThirty days.")
    await room.says(KbVerb.REMOVE, base="handbook", target="refunds", confirmed=True)
    before = await room.audit.recent()
    for base in ("", "handbook"):
        assert "Refunds" in words(await room.says(KbVerb.RESTORE, base=base))
    assert await room.audit.recent() == before
    await room.says(KbVerb.RESTORE, target="refunds")
    assert next(entry.action for entry in await room.audit.recent()) == "kb restore"


async def test_a_secret_in_a_link_is_not_in_the_audit_nor_in_the_reply(room: Room) -> None:
    await room.says(KbVerb.CREATE, base="handbook")
    reply = await room.says(KbVerb.INGEST, base="handbook", target="https://docs.example/a?token=s3cret")
    await room.works()
    shown = [
        words(reply),
        words(await room.says(KbVerb.JOBS)),
        words(await room.says(KbVerb.JOBS, target=job_in(reply).id)),
    ]
    shown += [entry.target + entry.detail for entry in await room.audit.recent()]
    assert not any("s3cret" in text for text in shown)


# --- for clients that show documents whole --------------------------------------------------------------------------


async def test_who_lists_documents_whole_gets_those_of_bases_that_they_may_know_of(room: Room) -> None:
    await room.adds("handbook", refunds_md="# Refunds\n\nThirty days.")
    await room.adds("board", minutes_md="# Minutes\n\nSecret.")
    await room.says(KbVerb.GRANT, base="board", principals=("slack:user:T/U9",), confirmed=True)
    seen = {one.title for one in await room.kb_service.documents(room.caller(MEMBER))}
    assert (seen, len(await room.kb_service.documents(room.caller(ADMIN)))) == ({"Refunds"}, 2)
    assert [one.title for one in await room.kb_service.documents(room.caller(ADMIN), "Board")] == ["Minutes"]
    with pytest.raises(NotFound, match="no knowledge base called “board” here"):
        await room.kb_service.documents(room.caller(MEMBER), "board")


async def test_a_document_is_shown_whole_to_who_may_know_of_it(room: Room) -> None:
    await room.adds("board", minutes_md="# Minutes\n\nSecret.")
    await room.says(KbVerb.GRANT, base="board", principals=("slack:user:T/U9",), confirmed=True)
    document, passages = await room.kb_service.document("minutes", room.caller(ADMIN))
    assert (document.source, [one.text for one in passages]) == ("minutes.md", ["Secret."])
    with pytest.raises(NotFound, match="no document called “minutes” here"):
        await room.kb_service.document("minutes", room.caller(MEMBER))


async def test_a_base_that_is_required_is_made_once_and_on_record(room: Room) -> None:
    made = await room.kb_service.require_base("Rules", room.caller(ADMIN))
    again = await room.kb_service.require_base("rules", room.caller(ADMIN))
    assert isinstance(made, KnowledgeBase)
    assert made == again
    assert [entry.action for entry in await room.audit.recent()] == ["kb create"]
    refused = await room.kb_service.require_base("other", room.caller(MEMBER))
    assert isinstance(refused, Refused)
    assert denied(refused)
