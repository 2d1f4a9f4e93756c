"""What a job's card says, until when its job can be ended there, and which state it comes to show."""

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import pytest

from core.model.conversation import Person
from core.model.jobs import ItemKind, ItemState, Job, JobItem, JobKind, JobState
from core.model.records import PERSON
from core.service.kb.commands import KbCommand, KbVerb
from core.service.kb.job_cards import JobCardStates, KeptJobCard, job_card
from core.service.kb.summaries import JobSummary, summarize_job
from core.service.kb.text_spans import line_text
from tests.fakes.memory.message_state import InProcessMessageStateStore, R

ADA = Person("paper:ada", "Ada")
JOB = Job("abc", JobKind.INGEST, "handbook", ADA, datetime(2026, 1, 5, 9, tzinfo=UTC), subject="2 documents")
RUNNING, DONE = replace(JOB, state=JobState.RUNNING), replace(JOB, state=JobState.DONE)


@dataclass(frozen=True, kw_only=True)
class PaperCard(KeptJobCard, place="paper/{person}", subject="job-{job}"):
    person: str = field(metadata=PERSON)


def blank(job: str, person: str) -> PaperCard:
    return PaperCard(job=job, person=person)


def card(job: Job) -> PaperCard:
    return PaperCard(job=job.id, person=ADA.id, state=summarize_job(job), over=job.over)


@pytest.fixture
def states() -> JobCardStates:
    return JobCardStates(InProcessMessageStateStore(), "paper")


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


async def test_the_end_of_a_job_is_owed_until_it_is_shown(states: JobCardStates) -> None:
    await states.keep(card(RUNNING))
    assert await states.unshown(blank) == []
    await states.keep(card(DONE))
    assert await states.unshown(blank) == [card(DONE)]
    await states.mark_shown(JOB.id)
    assert await states.unshown(blank) == []


async def test_a_card_that_was_forgotten_with_its_person_is_owed_to_nobody(states: JobCardStates) -> None:
    await states.keep(card(DONE))
    await states.message_states.remove(card(DONE))
    assert await states.unshown(blank) == []
    assert await states.message_states.read_entries(states._pending_updates._update("")) == []


async def test_a_job_that_is_being_ended_reads_so_unless_it_is_over(states: JobCardStates) -> None:
    ending = summarize_job(replace(RUNNING, cancelled_by=ADA.id))
    await states.keep(card(RUNNING))
    assert await states.keep_cancelling(blank(JOB.id, ADA.id), ending) == replace(card(RUNNING), state=ending)
    await states.keep(card(DONE))
    assert await states.keep_cancelling(blank(JOB.id, ADA.id), ending) is None
    assert (await states.read(blank(JOB.id, ADA.id))).state == summarize_job(DONE)


async def test_an_end_that_comes_while_somebody_presses_is_not_taken_back() -> None:
    class Slow(InProcessMessageStateStore):
        """Somebody ends the job just after its card was read."""

        async def read(self, blank: R) -> R | None:
            found = await super().read(blank)
            await self.save(card(DONE))
            return found

    states = JobCardStates(Slow(), "paper")
    await states.message_states.save(card(RUNNING))
    ending = summarize_job(replace(RUNNING, cancelled_by=ADA.id))
    assert await states.keep_cancelling(blank(JOB.id, ADA.id), ending) is None
    assert (await states.read(blank(JOB.id, ADA.id))).state == summarize_job(DONE)


def test_an_end_that_an_earlier_version_kept_in_its_own_words_is_the_newest() -> None:
    assert replace(card(RUNNING), over=True).newest is None
    assert card(DONE).newest == summarize_job(DONE)


def test_a_job_reads_the_same_after_it_was_kept() -> None:
    from core.model.json_codec import from_json, to_json

    summary = summarize_job(replace(DONE, ended_at=JOB.created_at))
    assert from_json(JobSummary, to_json(summary)) == summary
