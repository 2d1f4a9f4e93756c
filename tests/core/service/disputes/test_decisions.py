"""Decisions about differing sources: reported once, decided by an admin who can read both, cited from then on."""

import pytest

from core.model.conversation import Audience
from core.model.errors import AlreadyDone, NotFound
from core.model.evidence import Evidence
from core.service.actions.presses import AnswerButton, buttons_below
from core.service.kb.commands import KbVerb
from core.service.kb.results import is_success
from tests.core.harness import BOB, Harness, Told, user_actions
from tests.core.service.kb.knowledge_room import ADMIN, GRACE, Room, words

QUESTION = "How long are logs kept?"
TOPIC = "How long are logs kept"
SHORT, LONG = "Logs are kept for 30 days.", "Logs are kept for 90 days."
BOARD = frozenset({GRACE.id, BOB.id})


class Office:
    """An installation with documents, whose reported disputes wait for its admins."""

    def __init__(self, grants: frozenset[str] = frozenset()) -> None:
        self.harness, self.room, self.grants = Harness(), Room(), grants
        room, harness = self.room, self.harness
        room.catalog, room.index, room.encoder = harness.catalog, harness.index, harness.encoder
        room.admins.add(GRACE)
        room.assemble()
        self.actions = user_actions(harness, room.proposal_store).answers

    async def knows(self) -> None:
        await self.harness.knows(SHORT, title="Runbook", dated="2024-05-02", headings=["Storage"])
        await self.harness.knows(
            LONG, title="Retention", dated="2026-03-09", headings=["Duration"], base="board", grants=self.grants
        )

    async def asks(self, cited: str) -> Told:
        """Ask, and return the answer, which cites the passage with this text."""

        def compose(_inquiry: object, _thread: object, evidence: tuple[Evidence, ...]) -> str:
            item = next(one for one in evidence if cited in one.passage.text)
            return f"It is known. [{item.id}]"

        self.harness.script.enqueue("compose", compose)
        return await self.harness.asks(QUESTION, audience=Audience(frozenset({BOB.id})))

    async def tells(self, told: Told, principals: frozenset[str] = frozenset({BOB.id})) -> None:
        turn = (await self.harness.memory.recall(self.harness.key())).turns[-1]
        assert told.answer.dispute is not None
        await self.actions.tell_owner(self.harness.key(), turn.trace_id, BOB, Audience(principals))

    async def waiting(self) -> str:
        (proposal,) = await self.room.proposal_store.proposals()
        return proposal.id


@pytest.fixture
async def office() -> Office:
    office = Office()
    await office.knows()
    return office


async def test_the_button_is_offered_only_where_sources_differ(office: Office) -> None:
    answer = (await office.asks("30 days")).answer
    assert AnswerButton.OWNER in buttons_below(answer)
    alone = Harness()
    await alone.knows(SHORT, title="Runbook")
    assert AnswerButton.OWNER not in buttons_below((await alone.asks(QUESTION)).answer)


async def test_a_pair_is_proposed_once_however_it_is_asked_and_pressed(office: Office) -> None:
    await office.tells(await office.asks("30 days"))
    with pytest.raises(AlreadyDone, match="already know"):
        await office.tells(await office.asks("90 days"))
    shown = words(await office.room.says(KbVerb.PROPOSALS))
    assert "A, Retention (2026-03-09): “Logs are kept for 90 days.”" in shown
    assert "B, Runbook (2024-05-02): “Logs are kept for 30 days.”" in shown
    assert is_success(await office.room.says(KbVerb.REJECT, target=await office.waiting()))
    with pytest.raises(AlreadyDone, match="already decided"):
        await office.tells(await office.asks("30 days"))


async def test_who_may_not_read_both_sources_neither_tells_nor_sees_nor_decides() -> None:
    office = Office(BOARD)
    await office.knows()
    told = await office.asks("30 days")
    with pytest.raises(NotFound):
        await office.tells(told, frozenset({"paper:carol"}))
    await office.tells(told)
    room, name = office.room, await office.waiting()
    assert "No proposals" in words(await room.says(KbVerb.PROPOSALS, by=ADMIN))
    assert await room.kb_service.proposals_waiting(room.caller(ADMIN)) == 0
    for verb in (KbVerb.APPROVE, KbVerb.REJECT):
        assert "no such proposal" in words(await room.says(verb, by=ADMIN, target=f"{name} a"))
    assert "90 days" in words(await room.says(KbVerb.PROPOSALS, by=GRACE))
    assert await room.kb_service.proposals_waiting(room.caller(GRACE)) == 1
    assert is_success(await room.says(KbVerb.APPROVE, by=GRACE, target=f"{name} a"))


@pytest.mark.parametrize(("ruling", "base", "right"), [("a", "board", LONG), ("b", "default", SHORT)])
async def test_the_decision_is_a_document_in_the_base_of_the_right_source(
    office: Office, ruling: str, base: str, right: str
) -> None:
    await office.tells(await office.asks("30 days"))
    room = office.room
    assert is_success(await room.says(KbVerb.APPROVE, target=f"{await office.waiting()} {ruling}"))
    await room.works()
    (document,) = [one for one in await room.catalog.documents(frozenset({base})) if one.title == TOPIC]
    assert document.dated == f"{room.clock.now():%Y-%m-%d}"
    (text,) = [one for one in await room.finds_text(QUESTION, base) if "Approved" in one]
    assert f"by {ADMIN.name}, where two sources differed." in text
    assert right in text
    assert ({LONG, SHORT} - {right}).pop() not in text


@pytest.mark.parametrize("ruling", ["", " c", " both"])
async def test_a_dispute_is_not_approved_without_saying_which_is_right(office: Office, ruling: str) -> None:
    await office.tells(await office.asks("30 days"))
    name = await office.waiting()
    reply = await office.room.says(KbVerb.APPROVE, target=f"{name}{ruling}")
    assert not is_success(reply)
    assert f"{name} a" in words(reply)
    assert await office.waiting() == name


async def test_both_sides_of_two_bases_go_into_none_that_is_not_named(office: Office) -> None:
    await office.tells(await office.asks("30 days"))
    name = await office.waiting()
    reply = await office.room.says(KbVerb.APPROVE, target=f"{name} both 30 days for debug logs, 90 for the others.")
    assert not is_success(reply)
    assert "Add --kb and the name" in words(reply)
    assert await office.waiting() == name


async def test_both_hold_in_the_cases_that_the_admin_names(office: Office) -> None:
    await office.tells(await office.asks("30 days"))
    ruling = f"{await office.waiting()} both 30 days for debug logs, 90 for the others."
    assert is_success(await office.room.says(KbVerb.APPROVE, target=ruling, base="default"))
    await office.room.works()
    (text,) = [one for one in await office.room.finds_text(QUESTION, "default") if "Approved" in one]
    assert all(part in text for part in (SHORT, LONG, "30 days for debug logs, 90 for the others."))


@pytest.mark.parametrize("cited", ["Approved", "90 days", "30 days"])
async def test_an_answer_with_the_decision_does_not_say_that_they_differ(office: Office, cited: str) -> None:
    await office.tells(await office.asks("30 days"))
    await office.room.says(KbVerb.APPROVE, target=f"{await office.waiting()} a")
    await office.room.works()
    answer = (await office.asks(cited)).answer
    assert answer.dispute is None
    assert "differ." not in answer.text
    assert TOPIC in {one.title for one in answer.citations}, "the decision is cited"


async def test_sources_that_the_decision_is_not_about_still_differ(office: Office) -> None:
    await office.tells(await office.asks("30 days"))
    await office.room.says(KbVerb.APPROVE, target=f"{await office.waiting()} a")
    await office.room.works()
    await office.harness.knows("Logs are kept for 14 days.", title="Handbook", dated="2026-10-01", headings=["Keeping"])
    answer = (await office.asks("Approved")).answer
    assert answer.dispute is not None
    assert "14 days" in answer.text
