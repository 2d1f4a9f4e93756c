"""Removing and restoring documents and whole bases, verified by a search."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from core.ingestion.passage_vectors import copy_passages, pack, put_back, unpack
from core.ingestion.trash import MOST_REPLACED, RESTORABLE
from core.model.errors import NotFound, StoreUnavailable
from core.model.incoming_events import FileReference
from core.ports.index import Vectors
from core.service.kb.commands import KbVerb
from core.service.kb.results import is_success
from tests.core.service.kb.knowledge_room import ADMIN, CHANNEL, Room, asked_in, job_in, words
from tests.fakes.memory.encoder import HashingEncoder


@pytest.fixture
def room() -> Room:
    return Room()


async def test_removing_asks_first_and_then_shows_by_a_search_that_it_is_gone(room: Room) -> None:
    await room.adds(refunds_md="# Refunds\n\nThirty days.", leave_md="# Leave\n\nTwenty days.")
    asked = await room.says(KbVerb.REMOVE, base="handbook", target="refunds")
    assert await room.finds("refunds thirty") != ["Leave"]
    reply = await room.kb_service.handle(asked_in(asked), room.caller(ADMIN))
    assert "Removed “" in words(reply)
    assert "now finds: Leave" in words(reply)
    assert "Refunds" not in await room.finds("refunds thirty days")


async def test_another_document_of_the_same_title_is_told_apart_by_its_source(room: Room) -> None:
    await room.adds(one_md="# Refunds\n\nThirty days.", two_md="# Refunds\n\nSixty days.")
    reply = await room.says(KbVerb.REMOVE, base="handbook", target="one.md", confirmed=True)
    assert "A search for its title now finds: Refunds (two.md)." in words(reply)


async def test_what_was_removed_can_be_restored_as_it_was_for_seven_days(room: Room) -> None:
    await room.adds(refunds_md="# Refunds\n\nThirty days.")
    before = (await room.catalog.documents(frozenset({"handbook"})))[0]
    await room.says(KbVerb.REMOVE, target="refunds", confirmed=True)
    read = len(room.parser.read)
    reply = await room.says(KbVerb.RESTORE, target="refunds")
    assert "Restored “" in words(reply)
    assert await room.catalog.document(before.id) == before
    assert await room.finds("refunds") == ["Refunds"]
    assert len(room.parser.read) == read
    await room.says(KbVerb.REMOVE, target="refunds", confirmed=True)
    room.clock.advance(RESTORABLE.total_seconds() + 1)
    assert not is_success(await room.says(KbVerb.RESTORE, target="refunds"))


async def test_a_whole_base_goes_at_once_and_comes_back_with_its_grants(room: Room) -> None:
    await room.adds(refunds_md="# Refunds\n\nThirty days.", leave_md="# Leave\n\nTwenty days.")
    await room.says(KbVerb.GRANT, base="handbook", principals=(CHANNEL,), confirmed=True)
    asked = await room.says(KbVerb.REMOVE, base="handbook")
    assert "2 documents" in words(asked)
    await room.says(KbVerb.REMOVE, base="handbook", confirmed=True)
    assert await room.finds("days") == []  # before the job has even begun
    await room.works()
    assert await room.index.count() == 0
    job_in(await room.says(KbVerb.RESTORE, base="handbook"))
    await room.works()
    assert sorted(await room.finds("days")) == ["Leave", "Refunds"]
    base = await room.trash.base("handbook")
    assert base is not None
    assert base.grants == {CHANNEL}


async def test_a_document_that_is_removed_while_a_job_brings_it_in_stays_out(room: Room) -> None:
    await room.adds(refunds_md="# Refunds\n\nThirty days.")
    room.platform.files["refunds.md"] = b"# Refunds\n\nSixty days."
    reply = await room.says(KbVerb.INGEST, base="handbook", files=(FileReference("refunds.md", "refunds.md"),))
    room.clock.advance(1)
    await room.says(KbVerb.REMOVE, target="refunds", confirmed=True)
    await room.works()
    assert "removed it while" in (await room.job(job_in(reply).id)).failed_items[0].reason
    assert await room.finds("refunds") == []
    assert await room.index.count() == 0


async def test_a_version_is_not_restored_while_a_job_replaces_the_document(room: Room) -> None:
    await room.adds(refunds_md="# Refunds\n\nThirty days.")
    await room.adds(refunds_md="# Refunds\n\nSixty days.")
    room.platform.files["refunds.md"] = b"# Refunds\n\nNinety days."
    room.clock.advance(1)
    await room.says(KbVerb.INGEST, base="handbook", files=(FileReference("refunds.md", "refunds.md"),))
    refused = await room.says(KbVerb.RESTORE, target="refunds")
    assert "Wait until job" in words(refused)
    await room.works()
    assert is_success(await room.says(KbVerb.RESTORE, target="refunds"))
    assert await room.finds_text("refunds days", "handbook") == ["Sixty days."]


async def test_removing_nothing_in_particular_is_refused(room: Room) -> None:
    await room.adds(refunds_md="# Refunds\n\nThirty days.")
    assert not is_success(await room.says(KbVerb.REMOVE, confirmed=True))
    assert await room.finds("refunds") == ["Refunds"]


async def test_removing_a_base_that_fills_every_search_is_verified_by_a_search(room: Room) -> None:
    text = "parcels gates and harbours " * 40
    sections = "".join(f"## Rule {n}\n\nRule {n} speaks of {text}.\n\n" for n in range(350))
    await room.adds(rules_md=f"# Rules\n\n{sections}")
    assert await room.index.count() > 300
    reply = await room.says(KbVerb.REMOVE, base="handbook", confirmed=True)
    assert is_success(reply)
    assert "A search for its title now finds: nothing." in words(reply)
    assert await room.index.count() > 300  # its rows are still there, and nothing of them is found


async def test_what_was_removed_is_said_to_be_even_when_no_search_can_be_made(room: Room) -> None:
    await room.adds(refunds_md="# Refunds\n\nThirty days.")

    async def away(*_: object) -> object:
        raise StoreUnavailable("The encoder is away.")

    room.encoder.encode_queries = away  # type: ignore[method-assign,assignment]
    reply = await room.says(KbVerb.REMOVE, target="refunds", confirmed=True)
    assert is_success(reply)
    assert "I could not check this with a search." in words(reply)


async def test_a_base_that_was_closed_since_a_removal_hides_what_can_be_restored(room: Room) -> None:
    await room.adds(refunds_md="# Refunds\n\nThirty days.")
    await room.says(KbVerb.REMOVE, target="refunds", confirmed=True)
    assert "Refunds" in words(await room.says(KbVerb.RESTORE, private=False))
    await room.says(KbVerb.GRANT, base="handbook", principals=("paper:channel:T/BOARD",), confirmed=True)
    assert "Refunds" not in words(await room.says(KbVerb.RESTORE, private=False))
    assert "Refunds" in words(await room.says(KbVerb.RESTORE))


async def test_a_copy_is_not_put_back_after_its_time_whoever_asks(room: Room) -> None:
    await room.adds(refunds_md="# Refunds\n\nThirty days.")
    await room.says(KbVerb.REMOVE, target="refunds", confirmed=True)
    removed = (await room.trash_store.removals())[0]
    room.clock.advance(RESTORABLE.total_seconds() + 1)
    with pytest.raises(NotFound, match="has expired"):
        await room.trash.restore(removed, ADMIN.id)


async def test_what_is_restored_under_another_encoder_is_encoded_anew(room: Room) -> None:
    await room.adds(refunds_md="# Refunds\n\nThirty days.")
    await room.says(KbVerb.REMOVE, target="refunds", confirmed=True)

    class Other(HashingEncoder):
        asked = 0

        @property
        def name(self) -> str:
            return "another"

        async def encode_passages(self, texts: Sequence[str]) -> Vectors:
            self.asked += len(texts)
            return await super().encode_passages(texts)

    room.encoder = other = Other()
    room.assemble()
    assert is_success(await room.says(KbVerb.RESTORE, target="refunds"))
    assert other.asked == 2  # the passage, and its one sentence


async def test_restoring_a_copy_without_sentence_vectors_encodes_it_again(room: Room) -> None:
    await room.adds(refunds_md="# Refunds\n\nThirty days.")
    (document,) = await room.catalog.documents(frozenset({"handbook"}))
    copy = await copy_passages(document, room.index, room.encoder)
    assert copy is not None
    (passage,) = copy.passages
    before = await room.index.known_vectors([passage.id])
    await room.index.remove(document.id)
    await put_back(unpack(pack(replace(copy, sentences=()))), room.index, room.encoder)
    after = await room.index.known_vectors([passage.id])
    assert before[passage.id].sentences.numbers
    assert after[passage.id].sentences == before[passage.id].sentences


async def test_what_comes_back_to_a_removed_base_has_the_readers_it_had_last(room: Room) -> None:
    await room.adds(refunds_md="# Refunds\n\nThirty days.", leave_md="# Leave\n\nTwenty days.")
    await room.adds(leave_md="# Leave\n\nTwenty-five days.")
    await room.says(KbVerb.REMOVE, target="refunds", confirmed=True)
    await room.says(KbVerb.GRANT, base="handbook", principals=(CHANNEL,), confirmed=True)
    await room.says(KbVerb.REMOVE, base="handbook", confirmed=True)
    await room.works()
    room.clock.advance(1)
    assert is_success(await room.says(KbVerb.RESTORE, target="refunds", private=False))
    base = await room.trash.base("handbook")
    assert base is not None
    assert base.grants == {CHANNEL}


async def test_a_removed_version_is_kept_when_its_earlier_replacement_is_forgotten(room: Room) -> None:
    await room.adds(refunds_md="# Refunds\n\nThirty days.")
    for days in range(MOST_REPLACED + 1):
        room.clock.advance(1)
        await room.adds(refunds_md=f"# Refunds\n\n{days} days.")
    room.clock.advance(1)
    await room.adds(refunds_md="# Refunds\n\nThirty days.")
    await room.says(KbVerb.REMOVE, target="refunds", confirmed=True)
    await room.trash.sweep()
    removed = next(one for one in await room.trash_store.removals() if not one.replaced)
    await room.trash.restore(removed, ADMIN.id)
    assert await room.finds_text("refunds days", "handbook") == ["Thirty days."]
