"""Jobs, bases and documents in Markdown, for every platform alike. What is shown to whom is decided elsewhere."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from urllib.parse import urlsplit

from core.ingestion.trash import NOBODY
from core.model.conversation import Person
from core.model.jobs import ItemState, Job, JobKind, JobStage, JobState
from core.model.knowledge import Document, KnowledgeBase
from core.ports.knowledge_records import Decision, Proposal, RemovedDocument, Schedule

MOST_FAILURES = 10  # named on a card
_WHAT = {
    JobKind.INGEST: "Adding {subject} to {base}",
    JobKind.SITE: "Adding the pages below {subject} to {base}",
    JobKind.HISTORY: "Adding the conversations of {subject} to {base}",
    JobKind.REFRESH: "Refreshing {subject} in {base}",
    JobKind.REMOVE: "Removing {subject} from {base}",
    JobKind.RESTORE: "Restoring {subject} in {base}",
    JobKind.REPAIR: "Putting back what the index has lost of {base}: {subject}",
}
_COUNTED = (
    ItemState.ADDED,
    ItemState.UPDATED,
    ItemState.UNCHANGED,
    ItemState.REMOVED,
    ItemState.RESTORED,
    ItemState.SKIPPED,
    ItemState.FAILED,
)


def job_title(job: Job) -> str:
    """What the job does, in one line without markup."""
    return _WHAT[job.kind].format(subject=shown_link(job.subject), base=f"“{job.base}”")


def job_text(job: Job) -> str:
    """A job's card: what it does, how far it is, and what failed and why."""
    lines = [f"**{job_title(job)}**", job_state(job)]
    if job.reason and job.state is not JobState.CANCELLED:
        lines.append(job.reason)
    failed = job.failed_items
    lines += [f"• {shown_link(item.source)}: {item.reason}" for item in failed[:MOST_FAILURES]]
    if len(failed) > MOST_FAILURES:
        lines.append(f"• and {len(failed) - MOST_FAILURES} more")
    skipped = [item for item in job.items if item.state is ItemState.SKIPPED]
    lines += [f"• {shown_link(item.source)}: {item.reason}" for item in skipped[:MOST_FAILURES]]
    lines += [f"• {shown_link(item.source)}: {note}" for item in job.items for note in item.notes][:MOST_FAILURES]
    lines.append(f"job {job.id}")
    return "\n".join(lines)


def job_state(job: Job) -> str:
    """How far the job is, in one line."""
    counts = ", ".join(f"{job.counts[state]} {state}" for state in _COUNTED if job.counts.get(state))
    match job.state:
        case JobState.QUEUED:
            return "Cancelled before it began." if job.cancelled_by else "Queued."
        case JobState.RUNNING:
            now = "Cancelling." if job.cancelled_by else _doing(job)
            return f"{now} {counts}." if counts else now
        case JobState.DONE:
            return f"Done{_took(job)}: {counts or 'nothing to do'}."
        case JobState.FAILED:
            return f"Failed{_took(job)}." if not counts else f"Failed{_took(job)} after {counts}."
        case JobState.CANCELLED:
            return f"Cancelled; {counts or 'nothing was changed'}."


def _doing(job: Job) -> str:
    now = job.progress
    over = sum(item.over for item in job.items)
    where = f"{over + 1} of {len(job.items)}: " if job.listed and len(job.items) > 1 and over < len(job.items) else ""
    name = shown_link(now.source) or "…"
    match now.stage:
        case JobStage.EMBEDDING:
            return f"{where}{name}, embedding {now.done} of {now.total}."
        case JobStage.RECOGNIZING:
            return f"{where}{name}, reading page {now.done + 1} of {now.total} by OCR."
        case JobStage.PARSING | JobStage.FETCHING:
            found = f" {len(job.items)} found so far." if not job.listed else ""
            return f"{where}{name}, {now.stage}.{found}"
        case JobStage.WAITING:
            return f"Under way: {over} of {len(job.items)} done."


def _took(job: Job) -> str:
    if job.ended_at is None:
        return ""
    return f" in {span(job.ended_at - job.created_at)}"


def span(time: timedelta) -> str:
    """A stretch of time in its largest unit."""
    seconds = max(0, int(time.total_seconds()))
    for size, name in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size:
            count = seconds // size
            return f"{count} {name}{'' if count == 1 else 's'}"
    return f"{seconds} second{'' if seconds == 1 else 's'}"


def age(stamp: str, now: datetime) -> str:
    """How long ago an ISO timestamp was; empty when it is none."""
    try:
        return f"{span(now - datetime.fromisoformat(stamp))} ago"
    except (ValueError, TypeError):
        return ""


def for_whom(base: KnowledgeBase) -> str:
    """Whom a base is for."""
    if not base.grants:
        return "open to everybody"
    named = sorted(base.grants - {NOBODY})
    return f"for {', '.join(named)}" if named else "for nobody, until it is granted"


def base_line(base: KnowledgeBase, documents: Sequence[Document], *, grants: bool) -> str:
    """A base in one line."""
    passages = sum(document.passages for document in documents)
    about = f": {base.description}" if base.description else ""
    whom = f", {for_whom(base)}" if grants else ""
    return f"• **{base.name}**{about} ({count(documents, 'document')}, {count(range(passages), 'passage')}{whom})"


def document_line(document: Document, now: datetime) -> str:
    """A document in one line."""
    added = age(document.added_at, now)
    parts = [count(range(document.passages), "passage"), f"version {document.version[:8]}", added and f"added {added}"]
    return f"• **{document.title}** ({', '.join(part for part in parts if part)}), {shown_link(document.source)}"


def removed_line(removed: RemovedDocument, until: datetime) -> str:
    """Something that can be put back."""
    return f"• **{removed.document.title}** of {removed.base.name}, until {until:%Y-%m-%d}"


def schedule_line(schedule: Schedule) -> str:
    """A link that is fetched again and again."""
    pages = f", up to {schedule.limit} pages" if schedule.limit > 1 else ""
    return (
        f"• {shown_link(schedule.link)} in {schedule.base}: {schedule.every}{pages}, next {schedule.next_at:%Y-%m-%d}"
    )


def proposal_line(proposal: Proposal) -> str:
    """Something that waits for an admin, with the beginning of its text."""
    text = proposal.text.removeprefix(f"# {proposal.title}")  # the title stands before it
    beginning = " ".join(text.split())[:280]
    where = f" for {proposal.base}" if proposal.base else ""
    link = f" {proposal.permalink}" if proposal.permalink else ""
    return (
        f"• `{proposal.id}` **{proposal.title}**{where}, by {proposal.by.name or proposal.by.id}:{link}\n  {beginning}"
    )


def decided_line(decision: Decision, caller: Person, now: datetime) -> str:
    """That a proposal was decided already: by whom, how and when."""
    who = "You" if decision.by.id == caller.id else decision.by.name or decision.by.id
    how = f"approved this already, for {decision.base}" if decision.approved else "rejected this already"
    ago = now - decision.at
    return f"{who} {how}, {'just now' if ago < timedelta(minutes=1) else f'{span(ago)} ago'}."


def job_line(job: Job) -> str:
    """A job in one line."""
    return f"• `{job.id}` {job_title(job)}: {job_state(job)}{' ' + job.reason if job.reason else ''}"


def count(things: Sequence[object] | range, name: str) -> str:
    """``3 documents``, ``1 document``."""
    return f"{len(things):,} {name}{'' if len(things) == 1 else 's'}"


def join_names(names: Iterable[str]) -> str:
    """Names in a row."""
    return ", ".join(names)


def shown_link(text: str) -> str:
    """A link as it may be shown and logged: without what may be a secret in its query."""
    if not text.startswith(("http://", "https://")):
        return text
    try:
        parts = urlsplit(text)
    except ValueError:  # of brackets that hold no address of a host
        return text.partition("?")[0]
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}{parts.path}{'?…' if parts.query else ''}"
