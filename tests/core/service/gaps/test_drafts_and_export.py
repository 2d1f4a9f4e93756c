"""Exports and drafts of gaps."""

import csv
import io
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from core.model.conversation import Person, ThreadKey
from core.model.document_content import Conversation, TranscriptMessage
from core.model.errors import Denied, DocumentRejected, NotFound
from core.model.json_codec import from_json, to_json
from core.service.gaps.drafts import Draft, GapDrafts
from core.service.gaps.report import Gap, GapReport, as_csv
from tests.core.service.gaps.planted import EVERYTHING, House
from tests.core.service.kb.knowledge_room import RecordedPlatform
from tests.fakes.memory.encoder import HashingEncoder
from tests.fakes.memory.proposal_store import InProcessProposalStore
from tests.fakes.memory.stores import InProcessAudit

MONTH = timedelta(days=30)
PARKING = "Where may I park?"
ADA = Person("slack:T/U0", "Ada")


class Office:
    """An installation with admins, and a chat platform that still has the threads."""

    def __init__(self) -> None:
        self.house = House(HashingEncoder())
        self.platform = RecordedPlatform()
        self.proposal_store = InProcessProposalStore()
        self.audit = InProcessAudit()
        capabilities = {"slack": self.platform.capabilities()}
        self.drafts = GapDrafts(self.house.feedback, self.proposal_store, self.audit, self.house.clock, capabilities)

    async def gap(self) -> Gap:
        (gap,) = (await self.house.analysis.report(MONTH, EVERYTHING)).gaps
        return gap

    def said(self, thread: str, *texts: str) -> None:
        at = datetime(2026, 3, 29, tzinfo=UTC)
        messages = tuple(TranscriptMessage("Ben", at, text) for text in texts)
        self.platform.conversations_[str(ThreadKey.parse(thread))] = Conversation("s", PARKING, messages)


@pytest.fixture
async def office() -> Office:
    office = Office()
    await office.house.furnish()
    return office


def _written(draft: Draft) -> Draft:
    return replace(draft, text=draft.text.replace("(to be written)", "On deck two."))


async def test_a_draft_begins_with_what_was_asked_and_said_in_the_threads(office: Office) -> None:
    asked = await office.house.asks(PARKING)
    office.said(asked.thread, PARKING, "In the garage, on the second floor.")
    await office.house.dislikes(asked, reason="It is free for staff")
    draft = await office.drafts.begin(await office.gap(), EVERYTHING.bases)
    assert draft.title == PARKING
    assert draft.base == "handbook"
    assert "- **Ben**, 2026-03-29: In the garage, on the second floor." in draft.notes
    assert "- **Nia**: It is free for staff" in draft.notes
    assert f"- {PARKING}" in draft.notes
    assert draft.text == f"# {PARKING}\n\n(to be written)\n"


async def test_a_thread_that_is_gone_keeps_no_draft_from_being_begun(office: Office) -> None:
    await office.house.asks(PARKING)
    draft = await office.drafts.begin(await office.gap(), EVERYTHING.bases)
    assert "TranscriptMessage about it" not in draft.notes


async def test_words_of_a_private_thread_are_in_no_draft(office: Office) -> None:
    hidden = await office.house.asks(PARKING, private=True)
    office.said(hidden.thread, "My salary is at stake.")
    await office.house.dislikes(hidden, reason="My salary is at stake")
    await office.house.asks(PARKING)
    assert "salary" not in (await office.drafts.begin(await office.gap(), EVERYTHING.bases)).notes


async def test_there_is_no_draft_of_what_was_asked_in_private_alone(office: Office) -> None:
    for number in range(3):
        await office.house.asks(PARKING, by=f"slack:T/U{number}", private=True)
    with pytest.raises(NotFound):
        await office.drafts.begin(await office.gap(), EVERYTHING.bases)


async def test_a_document_that_the_reader_may_not_see_is_not_named_in_a_draft(office: Office) -> None:
    await office.house.asks(PARKING)
    assert "Handbook" not in (await office.drafts.begin(await office.gap(), frozenset())).notes


async def test_a_draft_waits_for_a_decision_even_when_an_admin_sends_it(office: Office) -> None:
    await office.house.asks(PARKING)
    draft = await office.drafts.begin(await office.gap(), EVERYTHING.bases)
    sent = await office.drafts.propose(_written(draft), ADA, is_admin=True)
    assert list(await office.proposal_store.proposals()) == [sent]
    assert (sent.title, sent.base, sent.by) == (PARKING, "handbook", ADA)


@pytest.mark.parametrize("text", ["# Parking\n\n(to be written)\n", "# Parking\n\n## Asked\n\n- Where?\n", "# Parking"])
async def test_a_draft_is_not_proposed_before_its_section_is_written(office: Office, text: str) -> None:
    await office.house.asks(PARKING)
    draft = replace(await office.drafts.begin(await office.gap(), EVERYTHING.bases), text=text)
    with pytest.raises(DocumentRejected, match=r"to be written|no text yet"):
        await office.drafts.propose(draft, ADA, is_admin=True)
    assert list(await office.proposal_store.proposals()) == []


async def test_notes_below_a_written_section_are_not_proposed_with_it(office: Office) -> None:
    await office.house.asks(PARKING)
    draft = await office.drafts.begin(await office.gap(), EVERYTHING.bases)
    text = "# Parking\n\nOn deck two.\n\n## Asked\n\n- Where?\n\nNearest so far: Handbook.\n"
    sent = await office.drafts.propose(replace(draft, text=text), ADA, is_admin=True)
    assert (sent.text, sent.beginning) == ("# Parking\n\nOn deck two.", "On deck two.")


async def test_who_is_no_admin_proposes_no_draft_and_that_is_recorded(office: Office) -> None:
    await office.house.asks(PARKING)
    draft = await office.drafts.begin(await office.gap(), EVERYTHING.bases)
    with pytest.raises(Denied):
        await office.drafts.propose(_written(draft), ADA, is_admin=False)
    assert list(await office.proposal_store.proposals()) == []
    assert [(entry.actor, entry.allowed) for entry in await office.audit.recent()] == [(ADA.id, False)]


async def test_a_table_has_a_line_for_each_gap_and_runs_no_formula(office: Office) -> None:
    await office.house.asks('=HYPERLINK("https://evil.example","x")')
    await office.house.asks("How do I unjam, then oil, the franking machine?")
    report = await office.house.analysis.report(MONTH, EVERYTHING)
    lines = list(csv.DictReader(io.StringIO(as_csv(report))))
    assert sorted(line["title"] for line in lines) == [
        '\'=HYPERLINK("https://evil.example","x")',
        "How do I unjam, then oil, the franking machine?",
    ]
    assert {line["abstained"] for line in lines} == {"1"}
    assert lines[0]["nearest_documents"] == "Handbook [handbook]"


async def test_a_report_is_json_and_comes_back_whole(office: Office) -> None:
    await office.house.asks(PARKING)
    report = await office.house.analysis.report(MONTH, EVERYTHING)
    assert json.loads(to_json(report))["gaps"][0]["reasons"] == {"abstained": 1}
    assert from_json(GapReport, to_json(report)) == report
