"""What a job is called: by the one thing that it is about, or by how many of what; also where it is at rest."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from core.model.conversation import Person
from core.model.jobs import ItemKind, Job, JobItem, JobKind, JobProgress, JobStage, JobState, document_item, document_of
from core.model.json_codec import from_json, to_json
from core.model.knowledge import Document
from core.service.kb.commands import KbVerb
from core.service.kb.job_cards import job_state, job_title
from core.service.kb.summaries import JobSummary, summarize_job
from tests.core.service.kb.knowledge_room import Room, conversation, job_in

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
