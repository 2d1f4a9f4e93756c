"""A job's card in any client: what it says, what can be pressed on it, and that it comes to show the newest state.

A client renders the ``JobCard`` and knows where its card is. The rules stand here: the newest state is kept before it
is shown, so that every client shows that; a job may be ended until it is over or being ended; that it is over
is owed until it is shown. Who may press is decided where the pressed command goes, by ``KnowledgeCommands``.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TypeVar, assert_never

from core.model.jobs import ItemState, JobKind, JobStage, JobState, JobUnit
from core.model.records import PERSON, Record
from core.ports.message_state import MessageStateStore
from core.service.kb.commands import KbCommand, KbVerb
from core.service.kb.results import CancelRequested
from core.service.kb.summaries import JobSummary, KbAction, SourceNote
from core.service.kb.text_spans import Line, code, count, duration, plain, strong
from core.service.kb.wording import outcome_lines
from core.service.leases import repeat

LOOK_SECONDS = 60.0  # between two looks at what other processes have left


@dataclass(frozen=True, kw_only=True)
class PendingCardUpdate(Record, place="{platform}/kb", subject="endings", entry="{job}"):
    """One job that is over and whose card does not say so yet."""

    platform: str
    job: str
    person: str = field(default="", metadata=PERSON)  # whose card it is


async def look_after(finish: Callable[[], Awaitable[None]], stop: asyncio.Event) -> None:
    """Finish what was left, at once and then now and again, until ``stop`` is set."""
    await repeat(finish, LOOK_SECONDS, stop, "cards_not_finished")


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
    """Return what the job does, in one line."""
    return _WHAT[job.kind].format(subject=job_subject(job), base=job.base)


def job_subject(job: JobSummary) -> str:
    """Return what the job is about: the name of the one thing, or how many of what."""
    if job.subject:
        return job.subject
    if job.kind is JobKind.HISTORY:
        return "this channel"
    if job.unit is JobUnit.CONVERSATION and job.items == 1:
        return "this conversation"
    return count(job.items, job.unit)


def job_state(job: JobSummary) -> str:
    """Return how far the job is, in one line."""
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
    """Of single sources what failed, what was left out and what was noticed."""
    lines = list(map(source_note_line, job.failed))
    if job.failures > len(job.failed):
        lines.append(f"and {job.failures - len(job.failed)} more")
    return [*lines, *map(source_note_line, (*job.skipped, *job.notes))]


def job_line(job: JobSummary) -> Line:
    """Return a job in one line of a list."""
    return (code(job.id), plain(f" {job_title(job)}: {job_state(job)}{' ' + job.reason if job.reason else ''}"))


def source_note_line(note: SourceNote) -> str:
    """Return a source, and what is to be said of it."""
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
    """Return how long it took, where that is worth a word."""
    took = timedelta() if job.ended_at is None else job.ended_at - job.created_at
    return f" in {duration(took)}" if took >= timedelta(seconds=1) else ""


_TRIES = 5  # to keep that a job is being ended, while anyone who works on it keeps how far it is

Card = TypeVar("Card", bound="KeptJobCard")


@dataclass(frozen=True, slots=True)
class JobCard:
    """What a card says, and what can be done about its job.

    ``reason`` is why the job failed as a whole, ``notes`` are about single sources, ``footer`` names the job.
    """

    title: str
    state: str
    footer: str
    reason: str = ""
    notes: tuple[str, ...] = ()
    cancel: KbAction | None = None  # until the job is over or being ended

    @property
    def remarks(self) -> tuple[str, ...]:
        """What is to be said below the state, one sentence each."""
        return (self.reason, *self.notes) if self.reason else self.notes

    @property
    def lines(self) -> tuple[Line, ...]:
        """All of it but the footer, for a client that shows text."""
        below = [self.state, *([self.reason] if self.reason else []), *(f"• {note}" for note in self.notes)]
        return ((strong(self.title),), *((plain(text),) for text in below))


def job_card(job: JobSummary) -> JobCard:
    """Return the card of a job as it is."""
    ending = job.cancelling and not job.over
    return JobCard(
        title=job_title(job),
        state=job_state(job),
        footer=outcome_lines(CancelRequested(job.id, job))[0] if ending else job_id_line(job.id),
        reason="" if job.state is JobState.CANCELLED else job.reason,
        notes=tuple(job_notes(job)),
        cancel=None if job.over or ending else KbAction("Cancel", KbCommand(KbVerb.CANCEL, target=job.id)),
    )


def job_id_line(job_id: str) -> str:
    """Return what names a job, for the one who would type its id."""
    return f"job {job_id}"


@dataclass(frozen=True, kw_only=True)
class KeptJobCard(Record):
    """The newest state that a card should show. A platform says below this where it is kept and which message it is."""

    job: str
    person: str = field(default="", metadata=PERSON)  # who asked for the job, by qualified id
    state: JobSummary | None = field(default=None, metadata={"stored": "job"})
    over: bool = False

    @property
    def newest(self) -> JobSummary | None:
        """What to show; None where an earlier version kept it, in words of its own."""
        return None if self.state is not None and self.over and not self.state.over else self.state


@dataclass(frozen=True, slots=True)
class JobCardStates:
    """What the cards of one platform should show, and which are still to say that their job is over."""

    message_states: MessageStateStore
    platform: str

    async def keep(self, card: Card) -> Card:
        """Keep what is said here of a card, before it is shown; the card as it is then. Raises StoreUnavailable.

        If its job is over, this is still to be shown: a worker that dies before that has not done the job.
        """
        await self.message_states.save(card)
        if card.over:
            await self.message_states.save(self._update(card.job, card.person))
        return await self.message_states.read(card) or card

    async def keep_cancelling(self, blank: Card, job: JobSummary) -> Card | None:
        """Keep that somebody is ending this job; None where its end is kept already, which is newer.

        Raises StoreUnavailable.
        """
        for _ in range(_TRIES):
            kept = await self.read(blank)
            if kept.over:
                return None
            now = replace(kept, state=job)
            if await self.message_states.exchange(kept, now):
                return now
        return None

    async def read(self, blank: Card) -> Card:
        """Return the card as it is kept; with nothing on it where it is not. Raises StoreUnavailable."""
        return await self.message_states.read(blank) or blank

    async def mark_shown(self, job_id: str) -> None:
        """Record that the last card update is shown or never will be. Raises StoreUnavailable."""
        await self.message_states.remove(self._update(job_id))

    async def unshown(self, blank: Callable[[str, str], Card]) -> Sequence[Card]:
        """Return the cards that are still to say that their job is over; ``blank`` makes one of a job and its person.

        What was forgotten with its person is owed to nobody any more. Raises StoreUnavailable.
        """
        found: list[Card] = []
        for update in await self.message_states.read_entries(self._update("")):
            card = await self.read(blank(update.job, update.person))
            if card.over:
                found.append(card)
            else:
                await self.mark_shown(update.job)
        return found

    def _update(self, job_id: str, person: str = "") -> PendingCardUpdate:
        return PendingCardUpdate(platform=self.platform, job=job_id, person=person)
