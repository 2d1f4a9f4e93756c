"""``/kb`` as people use it: who may, what happens, what is said."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from adapters.discord.api.reply_target import guild_principal, role_principal, user_principal
from adapters.testing.encoder import HashingEncoder
from adapters.testing.stores import InProcessQuestionLog
from core.ingestion.trash import NOBODY, RESTORABLE
from core.model.answer import Outcome
from core.model.conversation import Audience, Person, ThreadKey
from core.model.errors import NotFound, StoreUnavailable
from core.model.incoming_events import FileReference
from core.model.jobs import ItemState, JobState
from core.model.knowledge import KnowledgeBase
from core.model.principals import EVERYONE
from core.ports.encoder import Vectors
from core.ports.index import Scope
from core.ports.question_log import LoggedQuestion
from core.service.kb.commands import KbVerb
from core.service.kb.job_queue import MOST_PAGES
from core.service.kb.results import (
    BaseList,
    DocumentList,
    KbResult,
    ProposalDecided,
    ProposalList,
    ProposalRejected,
    ProposalsWaiting,
    QueueStatus,
    Refused,
    succeeded,
)
from tests.core.service.kb.knowledge_room import (
    ADMIN,
    CHANNEL,
    GRACE,
    MEMBER,
    Room,
    asked_in,
    conversation,
    denied,
    job_in,
    words,
)

NOW = datetime(2026, 3, 2, tzinfo=UTC)
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
    assert not succeeded(reply)
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
    async def files() -> AsyncIterator[tuple[str, str, bytes]]:
        yield "refunds.md", "refunds.md", b"# Refunds"

    reply = await room.kb_service.ingest_bytes(files(), "default", room.caller(MEMBER))
    assert denied(reply)
    assert await room.jobs.recent() == []
    assert (await room.audit.recent())[0].allowed is False


async def test_jobs_of_a_base_that_the_readers_may_not_see_are_not_listed(room: Room) -> None:
    job = await room.adds(refunds_md="# Refunds\n\nThirty days.")
    await room.says(KbVerb.GRANT, base="handbook", principals=("paper:channel:T/BOARD",))
    for given in ("", job.id):
        assert job.id in words(await room.says(KbVerb.JOBS, target=given))
        assert job.id not in words(await room.says(KbVerb.JOBS, target=given, private=False))


async def test_every_admin_action_is_in_the_audit(room: Room) -> None:
    await room.adds(refunds_md="# Refunds\n\nThirty days.")
    await room.says(KbVerb.DESCRIBE, base="handbook", text="What we promise")
    await room.says(KbVerb.GRANT, base="handbook", principals=(CHANNEL,))
    await room.says(KbVerb.REMOVE, base="handbook", target="refunds", confirmed=True)
    await room.says(KbVerb.CANCEL, target="nosuchjob")
    actions = [(entry.action, entry.actor) for entry in await room.audit.recent()]
    assert [action for action, _ in reversed(actions)] == [
        "kb create", "kb ingest", "kb describe", "kb grant", "kb remove", "kb cancel",
    ]  # fmt: skip
    assert {actor for _, actor in actions} == {ADMIN.id}


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


# --- bringing in ----------------------------------------------------------------------------------------------------


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
    assert not succeeded(two_jobs)
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
    assert f"for {CHANNEL}" in words(reply)


# --- keeping current ------------------------------------------------------------------------------------------------


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


async def test_a_scheduled_link_is_fetched_when_it_is_due_and_once_however_many_look(room: Room) -> None:
    await room.says(KbVerb.CREATE, base="handbook")
    room.site.pages["https://docs.example/a"] = "# A\n\nWords."
    await room.says(KbVerb.SCHEDULE, base="handbook", target="https://docs.example/a", every="daily")
    await room.works()
    asked = len(room.site.asked)
    await room.job_queue.tick()
    await room.works()
    assert len(room.site.asked) == asked
    room.clock.advance(86_401)
    await room.job_queue.tick()
    await room.job_queue.tick()
    await room.works()
    assert len(room.site.asked) == asked + 1
    await room.says(KbVerb.SCHEDULE, base="handbook", target="https://docs.example/a", every="never")
    room.clock.advance(86_401)
    await room.job_queue.tick()
    await room.works()
    assert len(room.site.asked) == asked + 1


async def test_what_came_as_a_file_cannot_be_refreshed_or_scheduled(room: Room) -> None:
    await room.adds(refunds_md="# Refunds\n\nThirty days.")
    assert "did not come from a link" in words(await room.says(KbVerb.REFRESH, target="refunds"))
    assert "Only links" in words(await room.says(KbVerb.SCHEDULE, target="refunds", every="daily"))


# --- taking out and putting back ------------------------------------------------------------------------------------


async def test_removing_asks_first_and_then_shows_by_a_search_that_it_is_gone(room: Room) -> None:
    await room.adds(refunds_md="# Refunds\n\nThirty days.", leave_md="# Leave\n\nTwenty days.")
    asked = await room.says(KbVerb.REMOVE, base="handbook", target="refunds")
    assert await room.finds("refunds thirty") != ["Leave"]
    reply = await room.kb_service.handle(asked_in(asked), room.caller(ADMIN))
    assert "1 passage then, 0 now" in words(reply)
    assert "now finds Leave" in words(reply)
    assert "Refunds" not in await room.finds("refunds thirty days")


async def test_another_document_of_the_same_title_is_told_apart_by_its_source(room: Room) -> None:
    await room.adds(one_md="# Refunds\n\nThirty days.", two_md="# Refunds\n\nSixty days.")
    reply = await room.says(KbVerb.REMOVE, base="handbook", target="one.md", confirmed=True)
    assert "A search for “Refunds” now finds Refunds (two.md)." in words(reply)


async def test_what_was_removed_can_be_restored_as_it_was_for_seven_days(room: Room) -> None:
    await room.adds(refunds_md="# Refunds\n\nThirty days.")
    before = (await room.catalog.documents(frozenset({"handbook"})))[0]
    await room.says(KbVerb.REMOVE, target="refunds", confirmed=True)
    read = len(room.parser.read)
    reply = await room.says(KbVerb.RESTORE, target="refunds")
    assert "is back" in words(reply)
    assert await room.catalog.document(before.id) == before
    assert await room.finds("refunds") == ["Refunds"]
    assert len(room.parser.read) == read
    await room.says(KbVerb.REMOVE, target="refunds", confirmed=True)
    room.clock.advance(RESTORABLE.total_seconds() + 1)
    assert not succeeded(await room.says(KbVerb.RESTORE, target="refunds"))


async def test_a_whole_base_goes_at_once_and_comes_back_with_its_grants(room: Room) -> None:
    await room.adds(refunds_md="# Refunds\n\nThirty days.", leave_md="# Leave\n\nTwenty days.")
    await room.says(KbVerb.GRANT, base="handbook", principals=(CHANNEL,))
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
    assert "removed while" in (await room.job(job_in(reply).id)).failed_items[0].reason
    assert await room.finds("refunds") == []
    assert await room.index.count() == 0


async def test_removing_nothing_in_particular_is_refused(room: Room) -> None:
    await room.adds(refunds_md="# Refunds\n\nThirty days.")
    assert not succeeded(await room.says(KbVerb.REMOVE, confirmed=True))
    assert await room.finds("refunds") == ["Refunds"]


# --- whom it is for -------------------------------------------------------------------------------------------------


async def test_revoking_the_last_grant_closes_a_base_and_never_opens_it(room: Room) -> None:
    await room.says(KbVerb.CREATE, base="board", principals=(CHANNEL,))
    reply = await room.says(KbVerb.REVOKE, base="board", principals=(CHANNEL,))
    assert "for nobody" in words(reply)
    base = await room.trash.base("board")
    assert base is not None
    assert base.grants == {NOBODY}
    assert not base.visible_to(Audience(frozenset({CHANNEL})))
    await room.says(KbVerb.GRANT, base="board", principals=(EVERYONE,))
    opened = await room.trash.base("board")
    assert opened is not None
    assert opened.visible_to(Audience())


@pytest.mark.parametrize(
    "slip",
    ["nonsense", "slack:chanel:T1/C1", "slack:channel:C1", "slak:channel:T1/C1", "slack:T1/U1", "#sales", NOBODY, ""],
)
async def test_a_slip_in_a_grant_is_refused_and_closes_nothing(room: Room, slip: str) -> None:
    await room.says(KbVerb.CREATE, base="handbook")
    for verb, base in ((KbVerb.GRANT, "handbook"), (KbVerb.CREATE, "board")):
        reply = await room.says(verb, base=base, principals=("slack:group:T1/S1", slip))
        assert not succeeded(reply)
        assert f"“{slip}” is nobody" in words(reply)
        assert "everyone" in words(reply)
        assert "slack:channel:TEAM/CHANNEL" in words(reply)
        assert "\n" not in words(reply)
    assert [(base.name, base.grants) for base in await room.catalog.bases()] == [("handbook", frozenset())]


@pytest.mark.parametrize(
    "principal",
    [
        ThreadKey("slack", "T0AB", "C9XY", "1.2").place, "slack:group:T0AB/S1", "slack:user:T0AB/U1", "slack:team:T0AB",
        ThreadKey("discord", "17", "18", "19").place, role_principal(17, 20), user_principal(21), guild_principal(17),
    ],
)  # fmt: skip
async def test_everybody_whom_a_platform_names_can_be_granted(room: Room, principal: str) -> None:
    await room.says(KbVerb.CREATE, base="board")
    reply = await room.says(KbVerb.GRANT, base="board", principals=(principal,))
    assert words(reply) == f"“board” is for {principal}."


async def test_a_grant_that_would_not_be_accepted_any_more_can_be_revoked(room: Room) -> None:
    await room.catalog.save_base(KnowledgeBase("board", grants=frozenset({"nonsense", CHANNEL})))
    reply = await room.says(KbVerb.REVOKE, base="board", principals=("nonsense",))
    assert words(reply) == f"“board” is for {CHANNEL}."


async def test_a_base_that_the_readers_may_not_see_does_not_exist_for_them(room: Room) -> None:
    await room.adds("board", merger_md="# Merger\n\nWith Acme.")
    await room.says(KbVerb.GRANT, base="board", principals=("paper:channel:T/BOARD",))
    unknown = words(await room.says(KbVerb.SHOW, MEMBER, base="nosuch"))
    for verb in (KbVerb.LIST, KbVerb.SHOW):
        for private in (True, False):
            reply = await room.says(verb, MEMBER, base="board", target="merger", private=private)
            assert words(reply) == unknown.replace("nosuch", "board")
    for public in (await room.says(KbVerb.LIST, private=False), await room.says(KbVerb.STATUS, private=False)):
        assert "board" not in words(public)
        assert "merger" not in words(public)
    assert "board" in words(await room.says(KbVerb.LIST))  # an admin's own eyes
    assert await room.kb_service.complete("b", room.caller(MEMBER)) == ()
    assert await room.kb_service.complete_document("merger", room.caller(MEMBER)) == ()


# --- proposals ------------------------------------------------------------------------------------------------------


async def test_what_a_member_adds_waits_for_an_admin_and_keeps_its_permalink(room: Room) -> None:
    await room.says(KbVerb.CREATE, base="handbook")
    reply = await room.kb_service.propose(conversation("Five working days."), room.caller(MEMBER))
    assert "An admin will look" in words(reply)
    await room.works()
    assert await room.finds("working days") == []
    proposal = (await room.proposal_store.proposals())[0]
    assert proposal.id in words(await room.says(KbVerb.PROPOSALS))
    job_in(await room.says(KbVerb.APPROVE, base="handbook", target=proposal.id))
    await room.works()
    assert await room.finds("working days") == ["Refunds?"]
    document = (await room.catalog.documents(frozenset({"handbook"})))[0]
    assert document.url == "https://chat.example/T/C/1"
    assert not succeeded(await room.says(KbVerb.APPROVE, base="handbook", target=proposal.id))


async def test_a_rejected_proposal_is_gone(room: Room) -> None:
    await room.kb_service.propose(conversation("Five working days."), room.caller(MEMBER))
    proposal = (await room.proposal_store.proposals())[0]
    assert succeeded(await room.says(KbVerb.REJECT, target=proposal.id))
    assert await room.proposal_store.proposals() == []


async def test_what_an_admin_adds_needs_nobody_else(room: Room) -> None:
    job_in(await room.kb_service.propose(conversation("Five working days."), room.caller(ADMIN)))
    await room.works()
    assert await room.finds("working days", "default") == ["Refunds?"]


async def test_a_correction_goes_the_same_way_and_a_later_one_replaces_it(room: Room) -> None:
    await room.says(KbVerb.CREATE, base="handbook")
    for right in ("Sixty days.", "Ninety days."):
        await room.kb_service.correct("How long do refunds take?", right, "https://chat.example/1", room.caller(MEMBER))
    for proposal in await room.proposal_store.proposals():
        await room.says(KbVerb.APPROVE, base="handbook", target=proposal.id)
    await room.works()
    assert await room.index.count() == 1
    passage = (await room.retriever.search("refunds", Scope(frozenset({"handbook"})))).hits[0].passage
    assert "Ninety days" in passage.text
    assert not succeeded(await room.kb_service.correct("How long?", "  ", None, room.caller(MEMBER)))


async def test_one_person_cannot_fill_the_list_of_proposals(room: Room) -> None:
    member = room.caller(MEMBER)
    replies = [await room.kb_service.propose(conversation("x", source=f"T/C/{n}"), member) for n in range(12)]
    assert [succeeded(reply) for reply in replies] == [True] * 10 + [False] * 2


async def test_proposals_are_not_shown_where_others_read(room: Room) -> None:
    await room.kb_service.propose(conversation("The canary sings."), room.caller(MEMBER))
    reply = await room.says(KbVerb.PROPOSALS, private=False)
    assert "canary" not in words(reply)
    assert not succeeded(reply)


# --- looking --------------------------------------------------------------------------------------------------------


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
    assert "last looked at 3 hours ago, added" in shown
    assert "line 3: Thirty days." in shown
    assert "Ada" not in words(await room.says(KbVerb.SHOW, MEMBER, target="refunds"))


async def test_a_name_that_means_several_documents_is_asked_back(room: Room) -> None:
    await room.adds(refunds_md="# Refund rules\n\nA.", returns_md="# Refund forms\n\nB.")
    reply = await room.says(KbVerb.SHOW, target="refund")
    assert "could be any of 2: returns.md, refunds.md" in words(reply)


async def test_a_base_that_fills_every_search_can_be_removed_and_is_searched_for_afterwards(room: Room) -> None:
    text = "parcels gates and harbours " * 40
    sections = "".join(f"## Rule {n}\n\nRule {n} speaks of {text}.\n\n" for n in range(350))
    await room.adds(rules_md=f"# Rules\n\n{sections}")
    assert await room.index.count() > 300
    reply = await room.says(KbVerb.REMOVE, base="handbook", confirmed=True)
    assert succeeded(reply)
    assert "A search for “Rules” now finds nothing." in words(reply)
    assert await room.index.count() > 300  # its rows are still there, and nothing of them is found


async def test_what_was_removed_is_said_to_be_even_when_no_search_can_be_made(room: Room) -> None:
    await room.adds(refunds_md="# Refunds\n\nThirty days.")

    async def away(*_: object) -> object:
        raise StoreUnavailable("The encoder is away.")

    room.encoder.encode_queries = away  # type: ignore[method-assign,assignment]
    reply = await room.says(KbVerb.REMOVE, target="refunds", confirmed=True)
    assert succeeded(reply)
    assert "1 passage then, 0 now. No search can be made just now." in words(reply)


async def test_a_proposals_words_are_gone_from_its_job_when_it_is_over(room: Room) -> None:
    await room.kb_service.propose(conversation("The unspeakable word."), room.caller(MEMBER))
    proposal = (await room.proposal_store.proposals())[0]
    approved = await room.says(KbVerb.APPROVE, target=proposal.id, base="default")
    assert "unspeakable" in (await room.job(job_in(approved).id)).items[0].reference
    await room.works()
    assert "unspeakable" not in repr(await room.job(job_in(approved).id))
    assert await room.finds("unspeakable word", "default") == ["Refunds?"]


async def test_proposals_are_decided_where_nobody_else_reads(room: Room) -> None:
    await room.kb_service.propose(conversation("Thirty days."), room.caller(MEMBER))
    proposal = (await room.proposal_store.proposals())[0]
    for verb in (KbVerb.APPROVE, KbVerb.REJECT):
        reply = await room.says(verb, target=proposal.id, private=False)
        assert not succeeded(reply)
        assert "Refunds" not in words(reply)
    assert [one.id for one in await room.proposal_store.proposals()] == [proposal.id]


async def test_a_secret_in_a_link_is_not_shown_among_a_bases_failures(room: Room) -> None:
    await room.says(KbVerb.CREATE, base="handbook")
    await room.says(KbVerb.INGEST, base="handbook", target="https://docs.example/a?token=s3cret")
    await room.works()
    shown = words(await room.says(KbVerb.SHOW, base="handbook"))
    assert "https://docs.example/a?…: The host answered 404 Not Found." in shown
    assert "s3cret" not in shown


async def test_a_base_that_was_closed_since_a_removal_hides_what_can_be_restored(room: Room) -> None:
    await room.adds(refunds_md="# Refunds\n\nThirty days.")
    await room.says(KbVerb.REMOVE, target="refunds", confirmed=True)
    assert "Refunds" in words(await room.says(KbVerb.RESTORE, private=False))
    await room.says(KbVerb.GRANT, base="handbook", principals=("paper:channel:T/BOARD",))
    assert "Refunds" not in words(await room.says(KbVerb.RESTORE, private=False))
    assert "Refunds" in words(await room.says(KbVerb.RESTORE))


async def test_an_approval_for_which_there_is_no_room_holds_and_is_taken_up_when_there_is(room: Room) -> None:
    await room.kb_service.propose(conversation("Five working days."), room.caller(MEMBER))
    proposal = (await room.proposal_store.proposals())[0]
    for number in range(20):
        await room.says(KbVerb.INGEST, target=f"https://docs.example/{number}")
    approved = await room.says(KbVerb.APPROVE, target=proposal.id, base="default")
    assert await room.proposal_store.proposals() == []
    await room.works()
    assert (await room.job(job_in(approved).id)).state is JobState.QUEUED
    await room.job_queue.tick()
    await room.works()
    assert (await room.job(job_in(approved).id)).state is JobState.DONE
    assert await room.finds("working days", "default") == ["Refunds?"]
    assert await room.proposal_store.unsettled() == []


async def proposed(room: Room, *texts: str) -> list[str]:
    """Proposals of these words; their ids."""
    for number, text in enumerate(texts):
        made = conversation(text, source=f"T/C/{number}", title=f"Question {number}")
        assert succeeded(await room.kb_service.propose(made, room.caller(MEMBER)))
        room.clock.advance(1)
    return [one.id for one in await room.proposal_store.proposals()]


async def pressed(room: Room, listed: KbResult, number: int, label: str, by: Person = ADMIN) -> KbResult:
    """What comes of the button of this name below a proposal, the first being 0."""
    (action,) = [one for one in waiting_in(listed).proposals[number].actions if one.label == label]
    return await room.kb_service.handle(action.command, room.caller(by))


def waiting_in(result: KbResult) -> ProposalList:
    """The proposals that are shown, alone or below what was decided."""
    listed = result.remaining if isinstance(result, ProposalDecided) else result
    assert isinstance(listed, ProposalList), words(result)
    return listed


async def test_a_proposal_is_shown_with_its_buttons_and_what_comes_of_one_above_those_that_are_left(room: Room) -> None:
    await proposed(room, "Five working days.", "On Fridays.")
    listed = await room.says(KbVerb.PROPOSALS)
    first, second = waiting_in(listed).proposals
    assert [[one.label for one in proposal.actions] for proposal in (first, second)] == [["Approve", "Reject"]] * 2
    goes = "What is approved goes into “default”, open to everybody, unless another is named."
    assert words(listed).startswith(f"Proposals\n{goes}\n")
    assert first.title == "Question 0"
    assert "On Fridays." in second.beginning
    rejected = await pressed(room, listed, 0, "Reject")
    assert isinstance(rejected, ProposalDecided)
    assert rejected.outcome == ProposalRejected("Question 0")
    assert rejected.remaining.proposals == (second,)
    approved = await pressed(room, rejected, 0, "Approve")
    assert isinstance(approved, ProposalDecided)
    assert "Adding Question 1 to “default”" in words(approved.outcome)
    assert "Nothing waits to be looked at." in words(approved.remaining)
    await room.works()
    assert await room.finds("working days fridays", "default") == ["Question 1"]


async def test_an_admin_reads_who_will_see_what_is_approved_before_approving_it(room: Room) -> None:
    await room.says(KbVerb.CREATE, base="board", principals=(CHANNEL,))
    await proposed(room, "Five working days.")
    assert f"goes into “board”, for {CHANNEL}, unless" in words(await room.says(KbVerb.PROPOSALS))
    await room.says(KbVerb.CREATE, base="handbook")
    listed = await room.says(KbVerb.PROPOSALS)
    assert "goes into “default”, open to everybody, unless" in words(listed)
    assert await room.trash.base("default") is None  # to look makes nothing
    await pressed(room, listed, 0, "Approve")
    assert await room.trash.base("default") is not None


async def test_a_decision_holds_however_often_and_by_whomever_it_is_pressed(room: Room) -> None:
    await proposed(room, "Five working days.")
    listed = await room.says(KbVerb.PROPOSALS)
    replies = await asyncio.gather(*(pressed(room, listed, 0, label) for label in ("Approve", "Reject") * 5))
    assert [succeeded(reply) for reply in replies] == [True] + [False] * 9
    assert len(await room.jobs.recent()) == 1
    assert words(replies[1]).startswith("You approved this already, for default, just now.")
    room.admins.add(GRACE)
    room.clock.advance(120)
    told = await pressed(room, listed, 0, "Reject", by=GRACE)
    assert words(told).startswith("Ada approved this already, for default, 2 minutes ago.")
    assert not succeeded(told)


async def test_rights_are_those_at_the_press(room: Room) -> None:
    (name,) = await proposed(room, "Five working days.")
    listed = await room.says(KbVerb.PROPOSALS)
    refused = await pressed(room, listed, 0, "Approve", by=MEMBER)
    assert denied(refused)
    assert "Question 0" not in words(refused)
    assert [one.id for one in await room.proposal_store.proposals()] == [name]
    entry = (await room.audit.recent())[0]
    assert (entry.actor, entry.action, entry.target, entry.allowed) == (MEMBER.id, "kb approve", name, False)


async def test_what_was_rejected_says_by_whom_to_the_next_who_looks_at_an_old_list(room: Room) -> None:
    await proposed(room, "Five working days.", "On Fridays.")
    listed = await room.says(KbVerb.PROPOSALS)
    await pressed(room, listed, 0, "Reject")
    room.admins.add(GRACE)
    told = await pressed(room, listed, 0, "Approve", by=GRACE)
    assert "Ada rejected this already" in words(told)
    assert "On Fridays." in words(told)
    assert await room.jobs.recent() == []


async def test_proposals_are_turned_page_by_page_also_after_one_is_decided(room: Room) -> None:
    await proposed(room, *(f"Words {n}." for n in range(8)))
    first = waiting_in(await room.says(KbVerb.PROPOSALS))
    assert (len(first.proposals), first.page.number, first.page.pages, first.page.previous) == (5, 1, 2, None)
    assert first.page.next is not None
    second = waiting_in(await room.kb_service.handle(first.page.next, room.caller(ADMIN)))
    assert len(second.proposals) == 3
    left = waiting_in(await pressed(room, second, 0, "Reject"))
    assert (left.page.number, left.page.pages, left.page.next) == (2, 2, None)
    assert left.page.previous is not None
    turned = await room.kb_service.handle(left.page.previous, room.caller(ADMIN))
    assert turned == first


async def test_an_admin_is_told_at_the_next_command_that_something_waits_and_nobody_else_is(room: Room) -> None:
    for verb in (KbVerb.LIST, KbVerb.STATUS):
        assert "to look at" not in words(await room.says(verb))
    await proposed(room, "Five working days.", "On Fridays.")
    for verb in (KbVerb.LIST, KbVerb.STATUS):
        reply = await room.says(verb)
        assert isinstance(reply, BaseList | QueueStatus)
        assert words(reply).endswith("2 proposals to look at: /kb proposals")
        assert reply.waiting is not None
        assert reply.waiting.look is not None
        assert waiting_in(await room.kb_service.handle(reply.waiting.look.command, room.caller(ADMIN))).proposals
        assert "working days" not in words(reply)
        assert "to look at" not in words(await room.says(verb, MEMBER))
        public = await room.says(verb, private=False)
        assert isinstance(public, BaseList | QueueStatus)
        assert public.waiting == ProposalsWaiting(2)  # how many there are, and no way to their words
    assert await room.kb_service.proposals_waiting(room.caller(MEMBER)) == 0
    assert await room.kb_service.proposals_waiting(room.caller(ADMIN)) == 2


async def test_the_words_of_what_was_decided_are_forgotten_who_decided_is_not(room: Room) -> None:
    (name,) = await proposed(room, "The unspeakable word.")
    await room.says(KbVerb.APPROVE, target=name, base="default")
    held = await room.proposal_store.decision(name)
    assert held is not None
    assert (held.by, held.approved, held.base) == (ADMIN, True, "default")
    assert "unspeakable" not in repr(held)


async def test_a_copy_is_not_put_back_after_its_time_whoever_asks(room: Room) -> None:
    await room.adds(refunds_md="# Refunds\n\nThirty days.")
    await room.says(KbVerb.REMOVE, target="refunds", confirmed=True)
    removed = (await room.trash_store.removals())[0]
    room.clock.advance(RESTORABLE.total_seconds() + 1)
    with pytest.raises(NotFound, match="is gone"):
        await room.trash.restore(removed)


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
    assert succeeded(await room.says(KbVerb.RESTORE, target="refunds"))
    assert other.asked == 1


async def test_a_corrected_answer_is_marked_where_questions_are_kept(room: Room) -> None:
    log = InProcessQuestionLog()
    await log.keep(LoggedQuestion("t1", "paper/T/C/1", MEMBER.id, "paper:channel:T/C", NOW, Outcome.ANSWERED))
    kb_service = replace(room.kb_service, questions=log)
    assert not succeeded(await kb_service.correct("How long?", " ", None, room.caller(MEMBER), trace_id="t1"))
    assert [question.corrected async for question in log.since(NOW)] == [False]
    assert succeeded(await kb_service.correct("How long?", "Sixty days.", None, room.caller(MEMBER), trace_id="t1"))
    assert [question.corrected async for question in log.since(NOW)] == [True]


async def test_a_proposal_is_told_by_who_said_what_first_without_marks(room: Room) -> None:
    await proposed(room, "*Five* days.")
    (proposal,) = waiting_in(await room.says(KbVerb.PROPOSALS)).proposals
    assert proposal.beginning == "Bo: How long do refunds take? Ada: *Five* days."


# --- for clients that show documents whole --------------------------------------------------------------------------


async def test_who_lists_documents_whole_gets_those_of_bases_that_they_may_know_of(room: Room) -> None:
    await room.adds("handbook", refunds_md="# Refunds\n\nThirty days.")
    await room.adds("board", minutes_md="# Minutes\n\nSecret.")
    await room.says(KbVerb.GRANT, base="board", principals=("slack:user:T/U9",))
    seen = {one.title for one in await room.kb_service.documents(room.caller(MEMBER))}
    assert (seen, len(await room.kb_service.documents(room.caller(ADMIN)))) == ({"Refunds"}, 2)
    assert [one.title for one in await room.kb_service.documents(room.caller(ADMIN), "Board")] == ["Minutes"]
    with pytest.raises(NotFound, match="no knowledge base called “board” here"):
        await room.kb_service.documents(room.caller(MEMBER), "board")


async def test_a_document_is_shown_whole_to_who_may_know_of_it(room: Room) -> None:
    await room.adds("board", minutes_md="# Minutes\n\nSecret.")
    await room.says(KbVerb.GRANT, base="board", principals=("slack:user:T/U9",))
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
