"""Proposals: they wait, are decided once, and become jobs."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from core.model.answer import Outcome
from core.model.conversation import Audience, Person
from core.model.jobs import JobState
from core.model.knowledge import KnowledgeBase
from core.ports.index import Scope
from core.ports.job_store import Proposal
from core.ports.usage import LoggedQuestion
from core.service.kb.commands import KbVerb
from core.service.kb.results import (
    BaseList,
    KbResult,
    ProposalDecided,
    ProposalList,
    ProposalRejected,
    ProposalSent,
    QueueStatus,
    is_success,
)
from core.service.kb.summaries import ProposalsWaiting
from tests.core.service.kb.knowledge_room import (
    ADMIN,
    CHANNEL,
    GRACE,
    MEMBER,
    Room,
    conversation,
    denied,
    job_in,
    words,
)
from tests.fakes.memory.stores import InProcessQuestionLog

NOW = datetime(2026, 3, 2, tzinfo=UTC)


@pytest.fixture
def room() -> Room:
    return Room()


async def test_what_a_member_adds_waits_for_an_admin_and_keeps_its_permalink(room: Room) -> None:
    await room.says(KbVerb.CREATE, base="handbook")
    reply = await room.kb_service.proposals.propose(conversation("Five working days."), room.caller(MEMBER))
    assert "waits for an admin" in words(reply)
    await room.works()
    assert await room.finds("working days") == []
    proposal = (await room.proposal_store.proposals())[0]
    assert proposal.id in words(await room.says(KbVerb.PROPOSALS))
    job_in(await room.says(KbVerb.APPROVE, base="handbook", target=proposal.id))
    await room.works()
    assert await room.finds("working days") == ["Refunds?"]
    document = (await room.catalog.documents(frozenset({"handbook"})))[0]
    assert document.url == "https://chat.example/T/C/1"
    assert not is_success(await room.says(KbVerb.APPROVE, base="handbook", target=proposal.id))


@pytest.mark.parametrize(("text", "found"), [("(to be written)", []), ("On deck two.", ["# Parking\n\nOn deck two."])])
async def test_a_draft_is_approved_only_once_written_and_without_notes(room: Room, text: str, found: list[str]) -> None:
    """As drafts of earlier versions wait: with their notes below the text."""
    await room.says(KbVerb.CREATE, base="handbook")
    notes = "## Asked\n\n- Where?\n\nNearest so far: Handbook.\n"
    draft = Proposal("d1", "handbook", "draft t1", "Parking", f"# Parking\n\n{text}\n\n{notes}", MEMBER, NOW)
    await room.proposal_store.keep_proposal(draft)
    result = await room.says(KbVerb.APPROVE, base="handbook", target="d1")
    assert is_success(result) is bool(found)
    jobs = await room.jobs.recent(5)
    assert [item.reference for job in jobs for item in job.items] == found
    assert len(await room.proposal_store.proposals()) == 1 - len(found), "a refused approval decides nothing"


async def test_a_rejected_proposal_is_gone(room: Room) -> None:
    await room.kb_service.proposals.propose(conversation("Five working days."), room.caller(MEMBER))
    proposal = (await room.proposal_store.proposals())[0]
    assert is_success(await room.says(KbVerb.REJECT, target=proposal.id))
    assert await room.proposal_store.proposals() == []


async def test_what_an_admin_adds_needs_nobody_else(room: Room) -> None:
    job_in(await room.kb_service.proposals.propose(conversation("Five working days."), room.caller(ADMIN)))
    await room.works()
    assert await room.finds("working days", "default") == ["Refunds?"]


async def test_a_correction_goes_the_same_way_and_a_later_one_replaces_it(room: Room) -> None:
    await room.says(KbVerb.CREATE, base="handbook")
    for right in ("Sixty days.", "Ninety days."):
        await room.kb_service.proposals.correct(
            "How long do refunds take?", right, "https://chat.example/1", room.caller(MEMBER)
        )
    for proposal in await room.proposal_store.proposals():
        await room.says(KbVerb.APPROVE, base="handbook", target=proposal.id)
    await room.works()
    assert await room.index.count() == 1
    passage = (await room.retriever.search("refunds", Scope(frozenset({"handbook"})))).hits[0].passage
    assert "Ninety days" in passage.text
    assert not is_success(await room.kb_service.proposals.correct("How long?", "  ", None, room.caller(MEMBER)))


@pytest.mark.parametrize(
    ("bases", "goes_to"),
    [
        (("board",), "board"),
        (("handbook", "board"), "board"),
        (("board", "legal", "handbook"), "board"),
        (("board", "people"), ""),
        ((), "default"),
    ],
)
async def test_a_correction_reaches_nobody_who_may_not_read_its_sources(
    room: Room, bases: tuple[str, ...], goes_to: str
) -> None:
    readers = {"handbook": set(), "board": {"u:1"}, "legal": {"u:1", "u:2"}, "people": {"u:3"}, "default": set()}
    for name, grants in readers.items():
        await room.catalog.save_base(KnowledgeBase(name, grants=frozenset(grants)))
    caller = replace(room.caller(ADMIN), audience=Audience(frozenset({ADMIN.id}), administers=True))
    result = await room.kb_service.proposals.correct("How long?", "Sixty days.", None, caller, bases=bases)
    assert is_success(result)
    assert [job.base for job in await room.jobs.recent(5)] == ([goes_to] if goes_to else [])
    assert len(await room.proposal_store.proposals()) == (0 if goes_to else 1), "an admin chooses where it goes"


async def test_a_correction_of_an_answer_from_a_removed_base_waits_for_an_admin(room: Room) -> None:
    await room.says(KbVerb.CREATE, base="handbook")
    result = await room.kb_service.proposals.correct(
        "How long?", "Sixty days.", None, room.caller(ADMIN), bases=("board",)
    )
    assert isinstance(result, ProposalSent)
    (proposal,) = await room.proposal_store.proposals()
    assert (proposal.base, "Sixty days." in proposal.text) == ("", True)


async def test_one_person_cannot_fill_the_list_of_proposals(room: Room) -> None:
    member = room.caller(MEMBER)
    replies = [await room.kb_service.proposals.propose(conversation("x", source=f"T/C/{n}"), member) for n in range(12)]
    assert [is_success(reply) for reply in replies] == [True] * 10 + [False] * 2


async def test_proposals_are_not_shown_where_others_read(room: Room) -> None:
    await room.kb_service.proposals.propose(conversation("The canary sings."), room.caller(MEMBER))
    reply = await room.says(KbVerb.PROPOSALS, private=False)
    assert "canary" not in words(reply)
    assert not is_success(reply)


async def test_a_proposals_words_are_gone_from_its_job_when_it_is_over(room: Room) -> None:
    await room.kb_service.proposals.propose(conversation("The unspeakable word."), room.caller(MEMBER))
    proposal = (await room.proposal_store.proposals())[0]
    approved = await room.says(KbVerb.APPROVE, target=proposal.id, base="default")
    assert "unspeakable" in (await room.job(job_in(approved).id)).items[0].reference
    await room.works()
    assert "unspeakable" not in repr(await room.job(job_in(approved).id))
    assert await room.finds("unspeakable word", "default") == ["Refunds?"]


async def test_proposals_are_decided_where_nobody_else_reads(room: Room) -> None:
    await room.kb_service.proposals.propose(conversation("Thirty days."), room.caller(MEMBER))
    proposal = (await room.proposal_store.proposals())[0]
    for verb in (KbVerb.APPROVE, KbVerb.REJECT):
        reply = await room.says(verb, target=proposal.id, private=False)
        assert not is_success(reply)
        assert "Refunds" not in words(reply)
    assert [one.id for one in await room.proposal_store.proposals()] == [proposal.id]


async def test_an_approval_for_which_there_is_no_room_holds_and_is_taken_up_when_there_is(room: Room) -> None:
    await room.kb_service.proposals.propose(conversation("Five working days."), room.caller(MEMBER))
    proposal = (await room.proposal_store.proposals())[0]
    for number in range(20):
        await room.says(KbVerb.INGEST, target=f"https://docs.example/{number}")
    approved = await room.says(KbVerb.APPROVE, target=proposal.id, base="default")
    assert await room.proposal_store.proposals() == []
    await room.works()
    assert (await room.job(job_in(approved).id)).state is JobState.QUEUED
    await room.scheduler.tick()
    await room.works()
    assert (await room.job(job_in(approved).id)).state is JobState.DONE
    assert await room.finds("working days", "default") == ["Refunds?"]
    assert await room.proposal_store.open_decisions() == []


async def proposed(room: Room, *texts: str) -> list[str]:
    """Add proposals with these texts; return their ids."""
    for number, text in enumerate(texts):
        made = conversation(text, source=f"T/C/{number}", title=f"Question {number}")
        assert is_success(await room.kb_service.proposals.propose(made, room.caller(MEMBER)))
        room.clock.advance(1)
    return [one.id for one in await room.proposal_store.proposals()]


async def pressed(room: Room, listed: KbResult, number: int, label: str, by: Person = ADMIN) -> KbResult:
    """Press the button with this name below a proposal, counted from 0; return the result."""
    (action,) = [one for one in waiting_in(listed).proposals[number].actions if one.label == label]
    return await room.kb_service.handle(action.command, room.caller(by))


def waiting_in(result: KbResult) -> ProposalList:
    """Return the proposals shown, alone or below a decision."""
    listed = result.remaining if isinstance(result, ProposalDecided) else result
    assert isinstance(listed, ProposalList), words(result)
    return listed


async def test_shows_the_outcome_of_a_proposal_above_the_remaining_ones(room: Room) -> None:
    await proposed(room, "Five working days.", "On Fridays.")
    listed = await room.says(KbVerb.PROPOSALS)
    first, second = waiting_in(listed).proposals
    assert [[one.label for one in proposal.actions] for proposal in (first, second)] == [["Approve", "Reject"]] * 2
    goes = "Approved proposals go into “default”, open to everyone, unless you name another knowledge base."
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
    assert "No proposals are waiting for review." in words(approved.remaining)
    await room.works()
    assert await room.finds("working days fridays", "default") == ["Question 1"]


async def test_an_admin_reads_who_will_see_what_is_approved_before_approving_it(room: Room) -> None:
    await room.says(KbVerb.CREATE, base="board", principals=(CHANNEL,))
    await proposed(room, "Five working days.")
    assert f"go into “board”, restricted to {CHANNEL}, unless" in words(await room.says(KbVerb.PROPOSALS))
    await room.says(KbVerb.CREATE, base="handbook")
    listed = await room.says(KbVerb.PROPOSALS)
    assert "go into “default”, open to everyone, unless" in words(listed)
    assert await room.trash.base("default") is None  # to look makes nothing
    await pressed(room, listed, 0, "Approve")
    assert await room.trash.base("default") is not None


async def test_a_decision_holds_however_often_and_by_whomever_it_is_pressed(room: Room) -> None:
    await proposed(room, "Five working days.")
    listed = await room.says(KbVerb.PROPOSALS)
    replies = await asyncio.gather(*(pressed(room, listed, 0, label) for label in ("Approve", "Reject") * 5))
    assert [is_success(reply) for reply in replies] == [True] + [False] * 9
    assert len(await room.jobs.recent()) == 1
    assert words(replies[1]).startswith("You already approved this for “default”, just now.")
    room.admins.add(GRACE)
    room.clock.advance(120)
    told = await pressed(room, listed, 0, "Reject", by=GRACE)
    assert words(told).startswith("Ada already approved this for “default”, 2 minutes ago.")
    assert not is_success(told)


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
    assert "Ada already rejected this" in words(told)
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


async def test_only_an_admin_sees_a_reminder_of_waiting_proposals(room: Room) -> None:
    for verb in (KbVerb.LIST, KbVerb.STATUS):
        assert "to review" not in words(await room.says(verb))
    await proposed(room, "Five working days.", "On Fridays.")
    for verb in (KbVerb.LIST, KbVerb.STATUS):
        reply = await room.says(verb)
        assert isinstance(reply, BaseList | QueueStatus)
        assert words(reply).endswith("2 proposals to review: /kb proposals")
        assert reply.waiting is not None
        assert reply.waiting.look is not None
        assert waiting_in(await room.kb_service.handle(reply.waiting.look.command, room.caller(ADMIN))).proposals
        assert "working days" not in words(reply)
        assert "to review" not in words(await room.says(verb, MEMBER))
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


async def test_a_corrected_answer_is_marked_where_questions_are_kept(room: Room) -> None:
    log = InProcessQuestionLog()
    await log.keep(LoggedQuestion("t1", "paper/T/C/1", MEMBER.id, "paper:channel:T/C", NOW, Outcome.ANSWERED))
    kb_service = replace(room.kb_service, proposals=replace(room.proposals, questions=log))
    assert not is_success(
        await kb_service.proposals.correct("How long?", " ", None, room.caller(MEMBER), trace_id="t1")
    )
    assert [question.corrected async for question in log.since(NOW)] == [False]
    assert is_success(
        await kb_service.proposals.correct("How long?", "Sixty days.", None, room.caller(MEMBER), trace_id="t1")
    )
    assert [question.corrected async for question in log.since(NOW)] == [True]


async def test_a_proposal_is_told_by_who_said_what_first_without_marks(room: Room) -> None:
    await proposed(room, "*Five* days.")
    (proposal,) = waiting_in(await room.says(KbVerb.PROPOSALS)).proposals
    assert proposal.beginning == "Bo: How long do refunds take? Ada: *Five* days."
