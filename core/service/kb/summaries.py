"""Stored jobs, bases, documents, schedules and proposals, reduced to what may be shown."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from core.ingestion.trash import RESTORABLE
from core.model.jobs import OVER, ItemState, Job, JobItem, JobKind, JobProgress, JobState, JobUnit
from core.model.knowledge import NOBODY, Document, KnowledgeBase, Passage, redact_link
from core.model.markdown_lines import without_marks
from core.ports.catalog import RemovedDocument
from core.ports.job_store import Every, Proposal, Schedule
from core.service.kb.commands import KbCommand, KbVerb


@dataclass(frozen=True, slots=True)
class OfferedCommand:
    """A possible next action: a button's label and its command. ``once``: only the first press counts."""

    label: str
    command: KbCommand
    once: bool = False


@dataclass(frozen=True, slots=True)
class Page:
    """The page of a list, counted from 1, and the commands that show its neighbours."""

    number: int = 1
    pages: int = 1
    previous: KbCommand | None = None
    next: KbCommand | None = None

    @property
    def buttons(self) -> tuple[OfferedCommand, ...]:
        """The buttons to its neighbours."""
        named = (("Previous page", self.previous), ("Next page", self.next))
        return tuple(OfferedCommand(label, command) for label, command in named if command is not None)


@dataclass(frozen=True, slots=True)
class ProposalsWaiting:
    """The number of proposals that wait for an admin. ``look`` is None if others read the reply."""

    count: int
    look: OfferedCommand | None = None


@dataclass(frozen=True, slots=True)
class Readers:
    """The readers of a base. Without principals and not for everybody, nobody may read it until it is granted.

    ``closed``: after a data loss in Redis only admins read it, until one of them confirms the readers.
    """

    everybody: bool
    principals: tuple[str, ...] = ()  # sorted
    closed: bool = False


@dataclass(frozen=True, slots=True)
class BaseSummary:
    """A base with its size. ``readers`` is None if the caller is no admin."""

    name: str
    description: str
    documents: int
    passages: int
    readers: Readers | None = None
    confirm: OfferedCommand | None = None  # set for an admin if the base is closed


@dataclass(frozen=True, slots=True)
class DocumentSummary:
    """A document. ``source`` has no secrets, ``version`` is a content hash, ``added_at`` is None if unknown."""

    id: str
    base: str
    title: str
    source: str
    version: str
    passages: int
    added_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class PassagePreview:
    """A passage's place in its document, and the start of its text."""

    place: str
    text: str


@dataclass(frozen=True, slots=True)
class SourceNote:
    """A note on one source: a failure, an omission or an observation. Both fields are safe to show."""

    source: str
    text: str


@dataclass(frozen=True, slots=True)
class LastLook:
    """The outcome of a document's latest sync, as far as jobs are stored."""

    at: datetime
    state: ItemState
    reason: str = ""  # of one that failed


@dataclass(frozen=True, slots=True)
class JobSummary:
    """A job that is safe to show. ``failed``, ``skipped`` and ``notes`` have at most ``MOST_NOTES`` entries each.

    ``subject`` is its link, channel name or title. It is empty if the job is about its ``items``, each a ``unit``, or
    about a channel without a name.
    """

    id: str
    kind: JobKind
    base: str
    subject: str
    state: JobState
    cancelling: bool  # a cancellation was requested, which may take a moment
    counts: tuple[tuple[ItemState, int], ...]  # of finished items, in display order
    items: int
    items_over: int
    listed: bool  # whether all items are known; sites and channels are listed while they run
    progress: JobProgress
    reason: str
    failed: tuple[SourceNote, ...]
    failures: int
    skipped: tuple[SourceNote, ...]
    notes: tuple[SourceNote, ...]
    created_at: datetime
    ended_at: datetime | None = None
    unit: JobUnit = JobUnit.DOCUMENT

    @property
    def over(self) -> bool:
        """Whether the job has ended."""
        return self.state in OVER


@dataclass(frozen=True, slots=True)
class ScheduleSummary:
    """A link that is fetched on a schedule; ``limit`` above 1 includes up to that many pages below it."""

    base: str
    link: str
    every: Every
    next_at: datetime
    limit: int = 0


@dataclass(frozen=True, slots=True)
class ProposalSummary:
    """A proposal: the start of its text, and the actions for an admin."""

    id: str
    title: str
    base: str  # empty: the approving admin names the base
    by: str  # the proposer's name
    at: datetime
    beginning: str
    permalink: str | None = None
    actions: tuple[OfferedCommand, ...] = ()


@dataclass(frozen=True, slots=True)
class RestorableDocument:
    """A removed or replaced document, and until when it can be restored. ``key`` is the target for RESTORE."""

    title: str
    base: str
    until: datetime
    key: str
    version: str
    replaced: bool = False  # by a newer version, at ``at``
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class SearchCheck:
    """What a search for a title finds after a removal or restore: the document, or other titles.

    ``found`` is None if the search failed.
    """

    title: str
    found: bool | None
    others: tuple[str, ...] = ()


MOST_NOTES = 10  # failures, omissions and observations listed for a job
PREVIEW = 160  # characters of a passage
BEGINNING = 280  # characters of a proposal
_COUNTED = (
    ItemState.ADDED,
    ItemState.UPDATED,
    ItemState.UNCHANGED,
    ItemState.REMOVED,
    ItemState.RESTORED,
    ItemState.SKIPPED,
    ItemState.FAILED,
)


def summarize_job(job: Job) -> JobSummary:
    """Return a job without its address, its texts and the secrets of its links."""
    counts = job.counts
    skipped = [item for item in job.items if item.state is ItemState.SKIPPED]
    noted = [SourceNote(redact_link(item.source), note) for item in job.items for note in item.notes]
    return JobSummary(
        id=job.id,
        kind=job.kind,
        base=job.base,
        subject=redact_link(job.subject),
        state=job.state,
        cancelling=bool(job.cancelled_by),
        counts=tuple((state, counts[state]) for state in _COUNTED if counts.get(state)),
        items=len(job.items),
        items_over=sum(item.over for item in job.items),
        listed=job.listed,
        progress=replace(job.progress, source=redact_link(job.progress.source)),
        reason=job.reason,
        failed=_reasons(job.failed_items),
        failures=len(job.failed_items),
        skipped=_reasons(skipped),
        notes=tuple(noted[:MOST_NOTES]),
        created_at=job.created_at,
        ended_at=job.ended_at,
        unit=job.unit,
    )


def _reasons(items: Sequence[JobItem]) -> tuple[SourceNote, ...]:
    return tuple(SourceNote(redact_link(item.source), item.reason) for item in items[:MOST_NOTES])


def readers_of(base: KnowledgeBase) -> Readers:
    """Return a base's readers. Those of a connected source are not listed: they may be many, and are its business."""
    if base.connection and base.grants:
        return Readers(everybody=False, principals=("its readers at the source",), closed=base.closed)
    return Readers(not base.grants, tuple(sorted(base.grants - {NOBODY})), base.closed)


def summarize_base(base: KnowledgeBase, documents: Sequence[Document], *, admin: bool) -> BaseSummary:
    """Return a base with these documents; only admins see its readers."""
    passages = sum(document.passages for document in documents)
    return BaseSummary(
        base.name,
        base.description,
        len(documents),
        passages,
        readers_of(base) if admin else None,
        OfferedCommand(f"Confirm the readers of {base.name}", KbCommand(KbVerb.CONFIRM, base.name))
        if admin and base.closed
        else None,
    )


def summarize_document(document: Document) -> DocumentSummary:
    """Return a document without the secrets of its link."""
    return DocumentSummary(
        document.id,
        document.knowledge_base,
        document.title,
        redact_link(document.source),
        document.version,
        document.passages,
        _time(document.added_at),
    )


def _time(stamp: str) -> datetime | None:
    """Return an ISO timestamp as a datetime; None if it is invalid."""
    try:
        time = datetime.fromisoformat(stamp)
    except ValueError:
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def last_look(document: Document, jobs: Sequence[Job]) -> LastLook | None:
    """Return this document's outcome in the newest of these jobs (newest first) that covered it."""
    for job in jobs:
        at = job.position(document.source) if job.base == document.knowledge_base else None
        if at is None or job.ended_at is None:
            continue
        item = job.items[at]
        return LastLook(job.ended_at, item.state, item.reason if item.state is ItemState.FAILED else "")
    return None


def preview_passage(passage: Passage) -> PassagePreview:
    """Return a passage's place and its first words, without Markdown."""
    return PassagePreview(passage.place, textwrap.shorten(without_marks(passage.text), PREVIEW, placeholder=" …"))


def summarize_schedule(schedule: Schedule) -> ScheduleSummary:
    """Return a schedule without the secrets of its link."""
    return ScheduleSummary(schedule.base, redact_link(schedule.link), schedule.every, schedule.next_at, schedule.limit)


def summarize_proposal(proposal: Proposal, page: int) -> ProposalSummary:
    """Return a proposal with an admin's actions for this page of the list."""
    approve = {"A is right": " a", "B is right": " b"} if proposal.sides else {"Approve": ""}
    commands = [(label, KbVerb.APPROVE, ruling) for label, ruling in approve.items()]
    return ProposalSummary(
        id=proposal.id,
        title=proposal.title,
        base=proposal.base,
        by=proposal.by.name or proposal.by.id,
        at=proposal.at,
        beginning=" ".join((proposal.beginning or proposal.text[:BEGINNING]).split()),
        permalink=proposal.permalink,
        actions=tuple(
            OfferedCommand(label, KbCommand(verb, target=f"{proposal.id}{ruling}", page=page, listed=True), once=True)
            for label, verb, ruling in (*commands, ("Reject", KbVerb.REJECT, ""))
        ),
    )


def summarize_removal(removed: RemovedDocument) -> RestorableDocument:
    """Return a removed document, and until when it can be restored."""
    return RestorableDocument(
        removed.document.title,
        removed.base.name,
        removed.at + RESTORABLE,
        removed.key,
        removed.document.version,
        removed.replaced,
        removed.at,
    )
