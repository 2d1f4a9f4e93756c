"""What is kept, cut down to what may be shown of it: jobs, bases, documents, schedules and proposals as results."""

import textwrap
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from core.ingestion.trash import RESTORABLE
from core.model.grants import NOBODY
from core.model.jobs import ItemState, Job, JobItem
from core.model.knowledge import Document, KnowledgeBase, Passage
from core.model.markdown_lines import without_marks
from core.ports.proposal_store import Proposal
from core.ports.schedule_store import Schedule
from core.ports.trash_store import RemovedDocument
from core.service.kb.commands import KbCommand, KbVerb
from core.service.kb.results import (
    BaseSummary,
    DocumentSummary,
    JobAccepted,
    JobSummary,
    KbAction,
    LastLook,
    PassagePreview,
    ProposalSummary,
    Readers,
    RestorableDocument,
    ScheduleSummary,
    SourceNote,
)
from core.service.kb.web_links import redact_link

MOST_NOTES = 10  # failures, omissions and observations that are named of a job
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
    """A job without its address, its texts and the secrets of its links."""
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


def summarize_accepted(job: Job, base: KnowledgeBase) -> JobAccepted:
    """A new job, and whom what it adds will be visible to: conversations and files carry words of few to many."""
    return JobAccepted(summarize_job(job), readers_of(base))


def _reasons(items: Sequence[JobItem]) -> tuple[SourceNote, ...]:
    return tuple(SourceNote(redact_link(item.source), item.reason) for item in items[:MOST_NOTES])


def readers_of(base: KnowledgeBase) -> Readers:
    """Whom a base is for. The readers that a source states are not listed: they may be many, and are its business."""
    if base.connection and base.grants:
        return Readers(everybody=False, principals=("its readers at the source",), closed=base.closed)
    return Readers(not base.grants, tuple(sorted(base.grants - {NOBODY})), base.closed)


def summarize_base(base: KnowledgeBase, documents: Sequence[Document], *, admin: bool) -> BaseSummary:
    """A base with these documents; whom it is for is told to admins."""
    passages = sum(document.passages for document in documents)
    return BaseSummary(
        base.name,
        base.description,
        len(documents),
        passages,
        readers_of(base) if admin else None,
        KbAction(f"Confirm the readers of {base.name}", KbCommand(KbVerb.CONFIRM, base.name))
        if admin and base.closed
        else None,
    )


def summarize_document(document: Document) -> DocumentSummary:
    """A document without the secrets of its link."""
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
    """An ISO timestamp; None when it is none."""
    try:
        time = datetime.fromisoformat(stamp)
    except ValueError:
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def last_look(document: Document, jobs: Sequence[Job]) -> LastLook | None:
    """How the newest of these jobs, the newest first, came out that looked at this document."""
    for job in jobs:
        at = job.position(document.source) if job.base == document.knowledge_base else None
        if at is None or job.ended_at is None:
            continue
        item = job.items[at]
        return LastLook(job.ended_at, item.state, item.reason if item.state is ItemState.FAILED else "")
    return None


def preview_passage(passage: Passage) -> PassagePreview:
    """Return the place of a passage and its first words, without the marks of Markdown."""
    return PassagePreview(passage.place, textwrap.shorten(without_marks(passage.text), PREVIEW, placeholder=" …"))


def summarize_schedule(schedule: Schedule) -> ScheduleSummary:
    """A schedule without the secrets of its link."""
    return ScheduleSummary(schedule.base, redact_link(schedule.link), schedule.every, schedule.next_at, schedule.limit)


def summarize_proposal(proposal: Proposal, page: int) -> ProposalSummary:
    """A proposal with what an admin may do about it on this page of the list."""
    verbs = {"Approve": KbVerb.APPROVE, "Reject": KbVerb.REJECT}
    return ProposalSummary(
        id=proposal.id,
        title=proposal.title,
        base=proposal.base,
        by=proposal.by.name or proposal.by.id,
        at=proposal.at,
        beginning=" ".join((proposal.beginning or proposal.text).split())[:BEGINNING],
        permalink=proposal.permalink,
        actions=tuple(
            KbAction(label, KbCommand(verb, target=proposal.id, page=page, listed=True), once=True)
            for label, verb in verbs.items()
        ),
    )


def summarize_removal(removed: RemovedDocument) -> RestorableDocument:
    """What can be restored, and until when."""
    return RestorableDocument(
        removed.document.title,
        removed.base.name,
        removed.at + RESTORABLE,
        removed.key,
        removed.document.version,
        removed.replaced,
        removed.at,
    )
