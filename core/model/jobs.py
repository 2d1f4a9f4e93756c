"""What a piece of work on the knowledge is: who asked for it, what it consists of, and how far it is.

Everything here is frozen and serialises to JSON with ``json_codec``: a job outlives the process that accepted it. How
its items are fetched, and where its card is shown, is left to the adapters.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

from core.model.conversation import FORGOTTEN, Person
from core.model.errors import FootnoteError
from core.model.incoming_events import IN_THREAD, KeptReplyTarget
from core.model.json_codec import from_json, to_json
from core.model.knowledge import Document, conversation_platform

MOST_ITEMS = 1_000  # of one job


class JobKind(StrEnum):
    """What a job does."""

    INGEST = "ingest"  # the items it was given
    SITE = "site"  # the pages below a link, or those of a sitemap; found on the way
    HISTORY = "history"  # the conversations of a channel; found on the way
    REFRESH = "refresh"  # links and conversations that are known already, read again
    REMOVE = "remove"  # the documents of a base that no longer exists
    RESTORE = "restore"  # documents that were removed a short time ago
    REPAIR = "repair"  # documents of which the index has lost passages
    SYNC = "sync"  # a connection: what its source has now, and who may read it


class JobState(StrEnum):
    """Where a job is."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"  # as a whole; single items that failed leave a job done
    CANCELLED = "cancelled"


OVER = frozenset({JobState.DONE, JobState.FAILED, JobState.CANCELLED})


class ItemKind(StrEnum):
    """Where an item's bytes come from, and so what ``JobItem.reference`` is."""

    FILE = "file"  # the platform's own reference to an attached file
    SPOOLED = "spooled"  # the name under which the bytes were set aside
    LINK = "link"  # a URL
    CONVERSATION = "conversation"  # the platform's own reference to a thread
    TEXT = "text"  # the Markdown itself
    DOCUMENT = "document"  # a document's id; of a job that puts away the document itself (``document_item``)
    STORED = "stored"  # an address in a place that keeps files: s3://handbook/hotels.md
    ORIGINAL = "original"  # a document's id: what it was made of is kept


class JobUnit(StrEnum):
    """What a job counts where it is about several things."""

    DOCUMENT = "document"
    FILE = "file"
    LINK = "link"
    CONVERSATION = "conversation"


class ItemState(StrEnum):
    """How an item came out."""

    WAITING = "waiting"
    ADDED = "added"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    SKIPPED = "skipped"  # there is no text in it
    FAILED = "failed"
    REMOVED = "removed"
    RESTORED = "restored"


@dataclass(frozen=True, slots=True)
class JobItem:
    """One document of a job. ``source`` names it within its base, as ``Document.source`` does."""

    kind: ItemKind
    source: str
    reference: str
    name: str = ""
    url: str | None = None
    title: str = ""
    etag: str = ""  # of a conversation that is read again: which change of it the item covers
    state: ItemState = ItemState.WAITING
    reason: str = ""
    passages: int = 0
    notes: tuple[str, ...] = ()
    gone: bool = False  # a page of which its site says that there is none any more
    origin: str = ""  # as ``Document.origin``
    dated: str = ""  # as ``Document.dated``, where the giver says so
    audience: frozenset[str] = frozenset()  # more people must not read it, where the giver says so
    giver: str = ""  # the principal of a program, which must read the base that it adds to
    digest: str = ""  # of the bytes that were set aside for it, where they are known from the beginning

    @property
    def over(self) -> bool:
        """Whether nothing is left to do for it."""
        return self.state is not ItemState.WAITING


class JobStage(StrEnum):
    """What is being done to the current item."""

    WAITING = ""
    FETCHING = "fetching"
    PARSING = "parsing"
    RECOGNIZING = "recognizing"
    EMBEDDING = "embedding"


@dataclass(frozen=True, slots=True)
class JobProgress:
    """What a job is doing: ``done`` of ``total`` passages of ``source`` while embedding, pages in OCR, else 0 of 0.

    A SYNC counts its documents while fetching.
    """

    stage: JobStage = JobStage.WAITING
    source: str = ""
    done: int = 0
    total: int = 0


@dataclass(frozen=True, slots=True)
class Job:
    """A piece of work on one base. ``reply_target`` is where it was asked for, and so where its card is shown."""

    id: str
    kind: JobKind
    base: str
    by: Person
    created_at: datetime
    platform: str = ""
    thread: str = ""  # the thread key of the place where it was asked for, as text
    reply_target: KeptReplyTarget = IN_THREAD
    subject: str = ""  # a link, a channel's name, a title: what it is about; empty where that is all of its items
    reference: str = ""  # of SITE its link, of HISTORY the platform's own reference to the channel, of SYNC its name
    limit: int = 0  # of SITE and HISTORY: how many documents at most
    listed: bool = True  # whether all items are known; those of SITE and HISTORY are found on the way
    state: JobState = JobState.QUEUED
    items: tuple[JobItem, ...] = ()
    progress: JobProgress = JobProgress()
    reason: str = ""
    ended_at: datetime | None = None
    cancelled_by: str = ""  # from then on, although it may take a moment to end
    attempts: int = 0  # how many workers took it up since an item last came out
    turn: int = 0  # how many times it went back to the end of its base's queue
    tally: Mapping[ItemState, int] = field(default_factory=dict)  # of SYNC: what came out, of more than items can hold

    @property
    def over(self) -> bool:
        """Whether it has ended, however."""
        return self.state in OVER

    @property
    def counts(self) -> Mapping[ItemState, int]:
        """How many items came out which way."""
        return Counter(item.state for item in self.items) + Counter(self.tally)

    @property
    def unit(self) -> JobUnit:
        """What its items are, for a person."""
        kinds = {item.kind for item in self.items} if self.kind in {JobKind.INGEST, JobKind.REFRESH} else set()
        if kinds == {ItemKind.CONVERSATION}:
            return JobUnit.CONVERSATION
        if self.kind is JobKind.REFRESH and kinds <= {ItemKind.LINK}:
            return JobUnit.LINK
        return JobUnit.FILE if kinds == {ItemKind.SPOOLED} else JobUnit.DOCUMENT

    @property
    def failed_items(self) -> tuple[JobItem, ...]:
        """The items that failed, each with its reason."""
        return tuple(item for item in self.items if item.state is ItemState.FAILED)

    def position(self, source: str) -> int | None:
        """Return where the item of this source is among the items."""
        return next((n for n, item in enumerate(self.items) if item.source == source), None)

    def with_item(self, item: JobItem) -> "Job":
        """Return the job with this item in place of the one of the same source, or behind the others."""
        at = self.position(item.source)
        if at is None:
            return replace(self, items=(*self.items, item))
        return replace(self, items=(*self.items[:at], item, *self.items[at + 1 :]))

    def without_asker(self) -> "Job":
        """Return the job without anybody's name; the way back to them is kept until it is over."""
        job = replace(self, by=FORGOTTEN)
        return replace(job, thread="", reply_target=IN_THREAD) if self.over else job

    def at_end(self, now: datetime, state: JobState, reason: str = "") -> "Job":
        """Return the job at its end: in this state, at this time, doing nothing any more."""
        return replace(self, state=state, reason=reason, ended_at=now, progress=JobProgress())


def refresh_item(source: str, etag: str = "") -> JobItem:
    """Return the item that reads what a document was made of again: a link or a conversation."""
    return JobItem(ItemKind.CONVERSATION if conversation_platform(source) else ItemKind.LINK, source, source, etag=etag)


def document_item(document: Document) -> JobItem:
    """Return the item that puts a document away. It carries the whole of it: to be put away it is invisible already."""
    return JobItem(ItemKind.DOCUMENT, document.source, to_json(document))


def document_of(item: JobItem) -> Document:
    """Return the document that an item of ``document_item`` carries."""
    document: Document = from_json(Document, item.reference)
    return document


class JobCancelled(FootnoteError):
    """The job was cancelled while it was worked on."""


def content_digest(data: bytes) -> str:
    """Return what tells two contents apart: the beginning of their SHA-256, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()[:32]


def waiting_duplicate(job: Job, others: Iterable[Job]) -> Job | None:
    """Return the job among the others that has all of this one's work still before it; None when there is none.

    Jobs of a base are done in the order they came, so one with another job of the same sources behind it would not
    leave the base as this one does.
    """
    wanted = {_content(item) for item in job.items}
    if not all(item.digest for item in job.items):
        return None
    sources = {item.source for item in job.items}
    ahead = [one for one in others if one.base == job.base and not one.over and not one.cancelled_by]
    for other in sorted(ahead, key=lambda one: one.created_at, reverse=True):
        same_asker = (other.kind, other.platform, other.by.id) == (job.kind, job.platform, job.by.id)
        if same_asker and wanted <= {_content(item) for item in other.items if not item.over}:
            return other
        if not other.listed or sources & {item.source for item in other.items}:
            return None
    return None


def pending_sources(base: str, jobs: Iterable[Job]) -> frozenset[str]:
    """Return the sources of a base that these jobs have still before them."""
    ahead = (one for one in jobs if one.base == base and not one.over and not one.cancelled_by)
    return frozenset(item.source for one in ahead for item in one.items if not item.over)


def _content(item: JobItem) -> tuple[str, str, str, str]:
    return item.source, item.name, item.digest, item.origin


MISSES = 2
ONCE_MORE = "If the next check finds the same, it is removed."
GONE = "The site says that it was deleted."
UNLINKED = "No page links to it any more."


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
    """Return whether a sync has seen all there is: it met neither its limit nor a page that could not be fetched."""
    unread = any(item.state is ItemState.FAILED and not item.gone for item in job.items if item.kind is ItemKind.LINK)
    return not unread and sum(item.kind in (ItemKind.SPOOLED, ItemKind.STORED) for item in job.items) < job.limit


def count_sync(site: Site, job: Job) -> Site:
    """Return the site after a sync. What a partial one did not come across is neither missed nor seen."""
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
    """Return what changes when any of these files (address, version) does, or one comes or goes; '' for none."""
    lines = sorted(f"{address}\x1f{version}" for address, version in files)
    return hashlib.sha256("\x1e".join(lines).encode()).hexdigest()[:16] if lines else ""


def missed_pages(before: Site, after: Site) -> Sequence[str]:
    """Return the pages that this sync missed, in order."""
    return sorted(source for source, misses in after.pages.items() if misses > before.pages.get(source, 0))


def outcome(source: str, misses: int, *, gone: bool) -> JobItem:
    """Return how a missed page comes out: kept for now, or taken out, and why."""
    why = GONE if gone else UNLINKED
    if misses < MISSES:
        return JobItem(
            ItemKind.DOCUMENT, source, "", state=ItemState.UNCHANGED, notes=(f"{why} {ONCE_MORE}",), gone=gone
        )
    notes = (f"{why} It is removed, and can be restored for 7 days.",)
    return JobItem(ItemKind.DOCUMENT, source, "", state=ItemState.REMOVED, notes=notes, gone=gone)
