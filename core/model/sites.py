"""What a site was made of when it was last read through, and which of its pages have vanished since.

A page is missed when its source says that it is gone, or when nothing leads to it any more. Missed in two syncs in a
row, it is taken out: once may be a mistake on the other side. Who crawls, and who takes out, is elsewhere.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from core.model.jobs import ItemKind, ItemState, Job, JobItem

MISSES = 2
ONCE_MORE = "If that is so the next time too, it is taken out."
GONE = "The site says that it is gone."
UNLINKED = "Nothing leads there any more."


@dataclass(frozen=True, slots=True)
class Site:
    """The pages below one link, in one base.

    Attributes:
        pages: how many syncs in a row each has been missed.
        synced_by: the id of the job that counted last: it is not to count twice.
        synced_on: that job's day, ISO.
        contents: of a place that keeps files, ``contents_of`` what that job listed; '' while something is missed.
    """

    base: str
    link: str
    limit: int = 0
    pages: Mapping[str, int] = field(default_factory=dict)
    synced_by: str = ""
    synced_on: str = ""
    contents: str = ""


def is_whole(job: Job) -> bool:
    """Whether a sync has seen all there is: it met neither its limit nor a page that could not be fetched."""
    unread = any(item.state is ItemState.FAILED and not item.gone for item in job.items if item.kind is ItemKind.LINK)
    return not unread and sum(item.kind in (ItemKind.SPOOLED, ItemKind.STORED) for item in job.items) < job.limit


def count_sync(site: Site, job: Job) -> Site:
    """The site after a sync. What a partial one did not come across is neither missed nor seen."""
    there = {item.source for item in job.items if item.kind is not ItemKind.DOCUMENT and not item.gone}
    gone = {item.source for item in job.items if item.gone}
    whole = is_whole(job)
    known = {source: misses + (source in gone or whole) for source, misses in site.pages.items() if source not in there}
    stored = [(item.source, item.etag) for item in job.items if item.kind is ItemKind.STORED]
    return replace(
        site,
        limit=job.limit,
        pages=known | dict.fromkeys(sorted(there), 0),
        synced_by=job.id,
        synced_on=f"{job.created_at:%Y-%m-%d}",
        contents="" if any(0 < misses < MISSES for misses in known.values()) else contents_of(stored),
    )


def contents_of(files: Iterable[tuple[str, str]]) -> str:
    """What changes when any of these files (address, version) does, or one comes or goes; '' for none."""
    lines = sorted(f"{address}\x1f{version}" for address, version in files)
    return hashlib.sha256("\x1e".join(lines).encode()).hexdigest()[:16] if lines else ""


def missed_pages(before: Site, after: Site) -> Sequence[str]:
    """The pages that this sync missed, in order."""
    return sorted(source for source, misses in after.pages.items() if misses > before.pages.get(source, 0))


def outcome(source: str, misses: int, *, gone: bool) -> JobItem:
    """How a missed page comes out: kept for now, or taken out, and why."""
    why = GONE if gone else UNLINKED
    if misses < MISSES:
        return JobItem(
            ItemKind.DOCUMENT, source, "", state=ItemState.UNCHANGED, notes=(f"{why} {ONCE_MORE}",), gone=gone
        )
    notes = (f"{why} It is taken out, and can be restored for 7 days.",)
    return JobItem(ItemKind.DOCUMENT, source, "", state=ItemState.REMOVED, notes=notes, gone=gone)
