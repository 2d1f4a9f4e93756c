"""Content and buttons of a job's card, the same in every client.

A client renders the ``JobCard``. Cancel is offered until the job is over or being cancelled. ``KnowledgeService``
checks who may press it.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import assert_never

from core.model.jobs import ItemState, JobKind, JobStage, JobState, JobUnit
from core.service.kb.commands import KbCommand, KbVerb
from core.service.kb.results import CancelRequested
from core.service.kb.summaries import JobSummary, OfferedCommand, SourceNote
from core.service.kb.text_spans import Line, code, count, duration, plain, strong
from core.service.kb.wording import outcome_lines

_WHAT = {
    JobKind.INGEST: "Adding {subject} to “{base}”",
    JobKind.SITE: "Adding the pages below {subject} to “{base}”",
    JobKind.HISTORY: "Adding the conversations of {subject} to “{base}”",
    JobKind.REFRESH: "Refreshing {subject} in “{base}”",
    JobKind.REMOVE: "Removing {subject} from “{base}”",
    JobKind.RESTORE: "Restoring {subject} in “{base}”",
    JobKind.REPAIR: "Repairing “{base}”: {subject}",
    JobKind.SYNC: "Syncing “{base}” with {subject}",
}


def job_title(job: JobSummary) -> str:
    """Return in one line what the job does."""
    return _WHAT[job.kind].format(subject=job_subject(job), base=job.base)


def job_subject(job: JobSummary) -> str:
    """Return what the job is about: one name, or a count."""
    if job.subject:
        return job.subject
    if job.kind is JobKind.HISTORY:
        return "this channel"
    if job.unit is JobUnit.CONVERSATION and job.items == 1:
        return "this conversation"
    return count(job.items, job.unit)


def job_state(job: JobSummary) -> str:
    """Return the job's progress in one line."""
    counts = ", ".join(f"{number} {state}" for state, number in job.counts)
    match job.state:
        case JobState.QUEUED:
            return "Cancelled before it started." if job.cancelling else "Queued."
        case JobState.RUNNING:
            now = "Cancelling." if job.cancelling else _stage(job)
            return f"{now} {counts}." if counts else now
        case JobState.DONE:
            ended = "Done" if not counts or any(state is not ItemState.FAILED for state, _ in job.counts) else "Failed"
            return f"{ended}{_took(job)}: {counts or 'nothing to do'}."
        case JobState.FAILED:
            return f"Failed{_took(job)}." if not counts else f"Failed{_took(job)}: {counts}."
        case JobState.CANCELLED:
            return f"Cancelled. {counts or 'Nothing was changed'}."
        case unknown:
            assert_never(unknown)


def job_notes(job: JobSummary) -> list[str]:
    """Return notes on single sources: failures, omissions and observations."""
    lines = list(map(source_note_line, job.failed))
    if job.failures > len(job.failed):
        lines.append(f"and {job.failures - len(job.failed)} more")
    return [*lines, *map(source_note_line, (*job.skipped, *job.notes))]


def job_line(job: JobSummary) -> Line:
    """Return a job in one line of a list."""
    return (code(job.id), plain(f" {job_title(job)}: {job_state(job)}{' ' + job.reason if job.reason else ''}"))


def source_note_line(note: SourceNote) -> str:
    """Return a source with its note."""
    return f"{note.source}: {note.text}"


def _stage(job: JobSummary) -> str:
    now, total, over = job.progress, job.items, job.items_over
    where = f"{over + 1} of {total}: " if job.listed and total > 1 and over < total else ""
    name = now.source or job_subject(job)
    match now.stage:
        case JobStage.EMBEDDING:
            return f"{where}{name}, indexing passage {now.done} of {now.total}."
        case JobStage.RECOGNIZING:
            return f"{where}{name}, reading page {now.done + 1} of {now.total} by OCR."
        case JobStage.PARSING | JobStage.FETCHING:
            found = f" {total} found so far." if not job.listed else ""
            doing = "reading" if now.stage is JobStage.PARSING else now.stage
            where = f"{now.done + 1} of {now.total}: " if now.total and now.done < now.total else where
            return f"{where}{name}, {doing}.{found}"
        case JobStage.WAITING:
            return "Running." if job.kind is JobKind.SYNC else f"Running: {over} of {total} done."
        case unknown:
            assert_never(unknown)


def _took(job: JobSummary) -> str:
    """Return how long the job took, if at least a second."""
    took = timedelta() if job.ended_at is None else job.ended_at - job.created_at
    return f" in {duration(took)}" if took >= timedelta(seconds=1) else ""


@dataclass(frozen=True, slots=True)
class JobCard:
    """The text of a job's card, and the command to cancel it.

    ``reason`` is why the job failed as a whole, ``notes`` are about single sources, ``footer`` names the job.
    """

    title: str
    state: str
    footer: str
    reason: str = ""
    notes: tuple[str, ...] = ()
    cancel: OfferedCommand | None = None  # until the job is over or being cancelled

    @property
    def remarks(self) -> tuple[str, ...]:
        """The sentences below the state."""
        return (self.reason, *self.notes) if self.reason else self.notes

    @property
    def lines(self) -> tuple[Line, ...]:
        """Everything except the footer, for a client that shows text."""
        below = [self.state, *([self.reason] if self.reason else []), *(f"• {note}" for note in self.notes)]
        return ((strong(self.title),), *((plain(text),) for text in below))


def job_card(job: JobSummary) -> JobCard:
    """Return the card of a job in its current state."""
    ending = job.cancelling and not job.over
    return JobCard(
        title=job_title(job),
        state=job_state(job),
        footer=outcome_lines(CancelRequested(job.id, job))[0] if ending else job_id_line(job.id),
        reason="" if job.state is JobState.CANCELLED else job.reason,
        notes=tuple(job_notes(job)),
        cancel=None if job.over or ending else OfferedCommand("Cancel", KbCommand(KbVerb.CANCEL, target=job.id)),
    )


def job_id_line(job_id: str) -> str:
    """Return the job's id, for people who type it."""
    return f"job {job_id}"
