"""Job cards: text, the Cancel button, and the final state."""

from dataclasses import replace
from datetime import UTC, datetime
from unittest.mock import AsyncMock

import pytest

from core.model.conversation import Person
from core.model.jobs import (
    ItemKind,
    ItemState,
    Job,
    JobItem,
    JobKind,
    JobProgress,
    JobStage,
    JobState,
    document_item,
    document_of,
)
from core.model.json_codec import from_json, to_json
from core.model.knowledge import Document
from core.service.delivery.job_cards import CardMessages, JobCards, KeptJobCard, PendingCardUpdate
from core.service.kb.commands import KbCommand, KbVerb
from core.service.kb.job_cards import job_card, job_state, job_title
from core.service.kb.summaries import JobSummary, summarize_job
from core.service.kb.text_spans import line_text
from tests.core.service.kb.knowledge_room import Room, conversation, job_in
from tests.fakes.memory.message_state import InProcessMessageStateStore, R

NOW = datetime(2026, 1, 5, 9, tzinfo=UTC)


def summary(kind: JobKind, *items: ItemKind, subject: str = "", listed: bool = True) -> JobSummary:
    made = tuple(JobItem(one, f"{n}.md", f"{n}.md") for n, one in enumerate(items))
    job = Job("j", kind, "handbook", Person("paper:ada", "Ada"), NOW, subject=subject, listed=listed, items=made)
    return summarize_job(job)


@pytest.mark.parametrize(
    ("job", "title"),
    [
        (summary(JobKind.INGEST, ItemKind.FILE, subject="a.md"), "Adding a.md to “handbook”"),
        (summary(JobKind.INGEST, ItemKind.FILE, ItemKind.LINK), "Adding 2 documents to “handbook”"),
        (summary(JobKind.INGEST, ItemKind.SPOOLED, ItemKind.SPOOLED), "Adding 2 files to “handbook”"),
        (summary(JobKind.REFRESH, ItemKind.LINK, ItemKind.LINK), "Refreshing 2 links in “handbook”"),
        (summary(JobKind.INGEST, ItemKind.CONVERSATION), "Adding this conversation to “handbook”"),
        (summary(JobKind.REMOVE, ItemKind.DOCUMENT), "Removing 1 document from “handbook”"),
        (summary(JobKind.REMOVE), "Removing 0 documents from “handbook”"),
        (summary(JobKind.HISTORY, listed=False), "Adding the conversations of this channel to “handbook”"),
        (summary(JobKind.HISTORY, subject="#general"), "Adding the conversations of #general to “handbook”"),
    ],
)
def test_a_job_is_called_by_what_it_is_about(job: JobSummary, title: str) -> None:
    assert job_title(job) == title


async def test_a_base_that_is_removed_counts_its_documents(room: Room) -> None:
    await room.adds(a_md="# A", b_md="# B")
    removed = job_in(await room.says(KbVerb.REMOVE, base="handbook", confirmed=True))
    assert (removed.subject, removed.items) == ("", 2)
    assert job_title(removed) == "Removing 2 documents from “handbook”"


async def test_the_conversation_where_a_command_is_given_has_no_name_until_it_is_read(room: Room) -> None:
    room.platform.conversations_["T/C/1"] = conversation("Five days.")
    accepted = job_in(await room.says(KbVerb.INGEST, conversation="T/C/1"))
    assert accepted.subject == ""
    assert job_title(accepted) == "Adding this conversation to “default”"
    await room.works()
    assert (await room.job(accepted.id)).state is JobState.DONE
    assert await room.finds("refunds", "default") == ["Refunds?"]


@pytest.fixture
def room() -> Room:
    return Room()


def test_a_channel_without_a_name_is_said_to_be_read() -> None:
    job = Job("j", JobKind.HISTORY, "handbook", Person("paper:ada"), NOW, state=JobState.RUNNING, listed=False)
    reading = summarize_job(job)
    assert job_state(reading) == "Running: 0 of 0 done."
    fetching = replace(job, progress=JobProgress(JobStage.FETCHING))
    assert job_state(summarize_job(fetching)) == "this channel, fetching. 0 found so far."


def test_a_job_that_an_earlier_version_kept_is_called_as_it_was() -> None:
    kept = (
        '{"id":"j","kind":"ingest","base":"handbook","by":{"id":"paper:ada","name":"Ada"},'
        '"created_at":"2026-01-05T09:00:00Z","subject":"12 documents","state":"done"}'
    )
    assert job_title(summarize_job(from_json(Job, kept))) == "Adding 12 documents to “handbook”"


def test_an_item_that_puts_a_document_away_carries_it_whole_at_rest_too() -> None:
    document = Document("d1", "handbook", "a.md", "A", "v1", "text/markdown", 3)
    item = from_json(JobItem, to_json(document_item(document)))
    assert item.source == "a.md"
    assert document_of(item) == document


ADA = Person("paper:ada", "Ada")
JOB = Job("abc", JobKind.INGEST, "handbook", ADA, datetime(2026, 1, 5, 9, tzinfo=UTC), subject="2 documents")
RUNNING, DONE = replace(JOB, state=JobState.RUNNING), replace(JOB, state=JobState.DONE)


def card(job: Job) -> KeptJobCard:
    return KeptJobCard(platform="paper", job=job.id, person=ADA.id, state=summarize_job(job), over=job.over)


def cards_in(store: InProcessMessageStateStore) -> JobCards:
    return JobCards(store, "paper", AsyncMock(CardMessages), NOW.timestamp)


@pytest.fixture
def store() -> InProcessMessageStateStore:
    return InProcessMessageStateStore()


@pytest.fixture
def cards(store: InProcessMessageStateStore) -> JobCards:
    return cards_in(store)


def test_a_card_says_why_the_job_failed_and_what_is_to_be_said_of_single_sources() -> None:
    failed = JobItem(ItemKind.FILE, "a.pdf", "F1", state=ItemState.FAILED, reason="It is locked.")
    shown = job_card(summarize_job(replace(JOB, state=JobState.FAILED, reason="No room.", items=(failed,))))
    assert [line_text(line) for line in shown.lines] == [
        "Adding 2 documents to “handbook”",
        "Failed: 1 failed.",
        "No room.",
        "• a.pdf: It is locked.",
    ]
    assert (shown.remarks, shown.footer) == (("No room.", "a.pdf: It is locked."), "job abc")


def test_why_a_job_was_cancelled_is_no_failure() -> None:
    assert job_card(summarize_job(replace(JOB, state=JobState.CANCELLED, reason="It was cancelled."))).remarks == ()


@pytest.mark.parametrize("job", [JOB, RUNNING])
def test_a_job_can_be_ended_on_its_card_until_it_is_over_or_being_ended(job: Job) -> None:
    offered = job_card(summarize_job(job)).cancel
    assert offered is not None
    assert offered.command == KbCommand(KbVerb.CANCEL, target="abc")
    assert job_card(summarize_job(replace(job, cancelled_by=ADA.id))).cancel is None
    assert job_card(summarize_job(replace(job, state=JobState.DONE))).cancel is None


def test_a_card_says_that_its_job_is_being_ended_until_it_is() -> None:
    ending = replace(RUNNING, cancelled_by=ADA.id)
    assert job_card(summarize_job(ending)).footer.startswith("Cancelling.")
    assert job_card(summarize_job(replace(ending, state=JobState.CANCELLED))).footer == "job abc"


async def owed(store: InProcessMessageStateStore) -> list[str]:
    return [one.job for one in await store.read_entries(PendingCardUpdate(platform="paper", job=""))]


async def test_the_end_of_a_job_is_owed_until_it_is_shown(cards: JobCards, store: InProcessMessageStateStore) -> None:
    await cards.keep(card(RUNNING))
    assert await owed(store) == []
    await cards.keep(card(DONE))
    await cards.finish()  # nothing shows it yet
    assert await owed(store) == [JOB.id]
    await store.save(replace(card(DONE), closed=True))
    await cards.finish()
    assert await owed(store) == []


async def test_a_card_that_was_forgotten_with_its_person_is_owed_to_nobody(
    cards: JobCards, store: InProcessMessageStateStore
) -> None:
    await cards.keep(card(DONE))
    await store.remove(card(DONE))
    await cards.finish()
    assert await owed(store) == []


async def test_a_job_that_is_being_ended_reads_so_unless_it_is_over(
    cards: JobCards, store: InProcessMessageStateStore
) -> None:
    ending = summarize_job(replace(RUNNING, cancelled_by=ADA.id))
    await cards.keep(card(RUNNING))
    assert await cards.keep_cancelling(ending, ADA.id) == replace(card(RUNNING), state=ending)
    await cards.keep(card(DONE))
    assert await cards.keep_cancelling(ending, ADA.id) is None
    assert await store.read(card(DONE)) == card(DONE)


async def test_an_end_that_comes_while_somebody_presses_is_not_taken_back() -> None:
    class Slow(InProcessMessageStateStore):
        """A store in which the job is cancelled just after its card was read."""

        async def read(self, blank: R) -> R | None:
            found = await super().read(blank)
            await self.save(card(DONE))
            return found

    slow = Slow()
    await slow.save(card(RUNNING))
    assert await cards_in(slow).keep_cancelling(summarize_job(replace(RUNNING, cancelled_by=ADA.id)), ADA.id) is None
    assert await InProcessMessageStateStore.read(slow, card(DONE)) == card(DONE)


def test_a_job_reads_the_same_after_it_was_kept() -> None:
    from core.model.json_codec import from_json, to_json

    summary = summarize_job(replace(DONE, ended_at=JOB.created_at))
    assert from_json(JobSummary, to_json(summary)) == summary
