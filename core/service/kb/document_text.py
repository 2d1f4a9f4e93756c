"""One document as an admin or a reader sees it: what it is, when it was last looked at, and its passages' places."""

import textwrap
from collections.abc import Sequence
from datetime import datetime

from core.model.jobs import ItemState, Job
from core.model.knowledge import Document, Passage
from core.service.kb.job_text import age, count, shown_link

PREVIEW = 160


def _date_label(document: Document) -> str:
    return f"dated {document.dated}" if document.dated else "states no date"


def shown_document(
    document: Document, passages: Sequence[Passage], jobs: Sequence[Job], now: datetime, *, admin: bool
) -> tuple[str, list[str]]:
    """(what stands above, one line for each passage). ``jobs``, the newest first, tell of the last look at it."""
    facts = [
        f"**{document.title}** in {document.knowledge_base}",
        f"{shown_link(document.source)}, {document.media_type}",
        f"version {document.version[:8]}, {_date_label(document)}, {count(range(document.passages), 'passage')}",
        f"added {age(document.added_at, now) or 'some time ago'}{_by(document) if admin else ''}",
        *_looks(document, jobs, now),
        *document.notes,
    ]
    lines = [
        f"• {passage.place or 'the beginning'}: {textwrap.shorten(passage.text, PREVIEW, placeholder=' …')}"
        for passage in passages
    ]
    return "\n".join(facts), lines


def _by(document: Document) -> str:
    return f" by {document.added_by}" if document.added_by else ""


def _looks(document: Document, jobs: Sequence[Job], now: datetime) -> list[str]:
    """When it was last synchronised and how that went, as far as jobs are remembered."""
    for job in jobs:
        at = job.position(document.source) if job.base == document.knowledge_base else None
        if at is None or job.ended_at is None:
            continue
        item = job.items[at]
        why = f": {item.reason}" if item.state is ItemState.FAILED else ""
        return [f"last looked at {age(job.ended_at.isoformat(), now)}, {item.state}{why}"]
    return []
