"""Jobs that change the knowledge: who asked for one, its items, and its progress.

Everything here is frozen and serialises to JSON with ``json_codec``, because a job outlives the process that accepted
it. Adapters decide how items are fetched and where the job's card is shown.
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

MOST_ITEMS = 1_000  # in one job


class JobKind(StrEnum):
    """What a job does."""

    INGEST = "ingest"  # add the given items
    SITE = "site"  # add the pages below a link or of a sitemap, found on the way
    HISTORY = "history"  # add the conversations of a channel, found on the way
    REFRESH = "refresh"  # read known links and conversations again
    REMOVE = "remove"  # remove the documents of a deleted base
    RESTORE = "restore"  # restore recently removed documents
    REPAIR = "repair"  # rebuild documents whose passages are missing from the index
    SYNC = "sync"  # sync a connection: its source's documents and their readers


class JobState(StrEnum):
    """The state of a job. A job is done even if some of its documents failed."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"  # the job as a whole; with only single failed items it is done
    CANCELLED = "cancelled"


OVER = frozenset({JobState.DONE, JobState.FAILED, JobState.CANCELLED})


class ItemKind(StrEnum):
    """Where an item's bytes come from, and so what ``JobItem.reference`` is."""

    FILE = "file"  # the platform's own reference to an attached file
    SPOOLED = "spooled"  # the name under which the bytes are spooled
    LINK = "link"  # a URL
    CONVERSATION = "conversation"  # the platform's own reference to a thread
    TEXT = "text"  # the Markdown itself
    DOCUMENT = "document"  # a document's id; in jobs that remove it, the document itself (``document_item``)
    STORED = "stored"  # an address in a file store: s3://handbook/hotels.md
    ORIGINAL = "original"  # a document's id; its original bytes are kept


class JobUnit(StrEnum):
    """What a job with several items counts."""

    DOCUMENT = "document"
    FILE = "file"
    LINK = "link"
    CONVERSATION = "conversation"


class ItemState(StrEnum):
    """The result of one document of a job. A skipped document has no text."""

    WAITING = "waiting"
    ADDED = "added"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    SKIPPED = "skipped"  # it has no text
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
    etag: str = ""  # for a conversation that is read again: the change that this item covers
    state: ItemState = ItemState.WAITING
    reason: str = ""
    passages: int = 0
    notes: tuple[str, ...] = ()
    gone: bool = False  # a page that its site reports as deleted
    origin: str = ""  # as ``Document.origin``
    dated: str = ""  # as ``Document.dated``, if the sender sets it
    audience: frozenset[str] = frozenset()  # only these may read it, if the sender sets it
    giver: str = ""  # the principal of the API client, which must be able to read the base
    digest: str = ""  # of the spooled bytes, if known from the start

    @property
    def over(self) -> bool:
        """Whether its work is finished."""
        return self.state is not ItemState.WAITING


class JobStage(StrEnum):
    """The current step of a job: empty between documents, ``recognizing`` during OCR."""

    WAITING = ""
    FETCHING = "fetching"
    PARSING = "parsing"
    RECOGNIZING = "recognizing"
    EMBEDDING = "embedding"


@dataclass(frozen=True, slots=True)
class JobProgress:
    """The progress of a job.

    ``done`` of ``total`` counts passages of ``source`` while embedding, pages during OCR, and documents while a SYNC
    fetches. Otherwise both are 0.
    """

    stage: JobStage = JobStage.WAITING
    source: str = ""
    done: int = 0
    total: int = 0


@dataclass(frozen=True, slots=True)
class Job:
    """A job on one base. ``reply_target`` is where it was requested and where its card is shown."""

    id: str
    kind: JobKind
    base: str
    by: Person
    created_at: datetime
    platform: str = ""
    thread: str = ""  # thread key of the place where it was requested, as text
    reply_target: KeptReplyTarget = IN_THREAD
    subject: str = ""  # what it is about: a link, a channel's name, a title; empty: all of its items
    reference: str = ""  # SITE: its link; HISTORY: the platform's reference to the channel; SYNC: its name
    limit: int = 0  # SITE and HISTORY: maximum number of documents
    listed: bool = True  # whether all items are known; SITE and HISTORY find theirs on the way
    state: JobState = JobState.QUEUED
    items: tuple[JobItem, ...] = ()
    progress: JobProgress = JobProgress()
    reason: str = ""
    ended_at: datetime | None = None
    cancelled_by: str = ""  # set at once, although the job may take a moment to end
    attempts: int = 0  # workers that started it since an item last finished
    turn: int = 0  # times that it went back to the end of its base's queue
    tally: Mapping[ItemState, int] = field(default_factory=dict)  # SYNC: result counts beyond what ``items`` can hold

    @property
    def over(self) -> bool:
        """Whether it has ended, with any result."""
        return self.state in OVER

    @property
    def counts(self) -> Mapping[ItemState, int]:
        """The number of items by state."""
        return Counter(item.state for item in self.items) + Counter(self.tally)

    @property
    def unit(self) -> JobUnit:
        """What its items are called for a person."""
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
        """Return the index of the item with this source; None if there is none."""
        return next((n for n, item in enumerate(self.items) if item.source == source), None)

    def with_item(self, item: JobItem) -> "Job":
        """Return the job with this item replacing the one of the same source, or appended."""
        at = self.position(item.source)
        if at is None:
            return replace(self, items=(*self.items, item))
        return replace(self, items=(*self.items[:at], item, *self.items[at + 1 :]))

    def without_asker(self) -> "Job":
        """Return the job without any person's name. It keeps its reply target until it is over."""
        job = replace(self, by=FORGOTTEN)
        return replace(job, thread="", reply_target=IN_THREAD) if self.over else job

    def at_end(self, now: datetime, state: JobState, reason: str = "") -> "Job":
        """Return the job as ended at this time, in this state, with no progress."""
        return replace(self, state=state, reason=reason, ended_at=now, progress=JobProgress())


def refresh_item(source: str, etag: str = "") -> JobItem:
    """Return the item that reads a document's source again: a link or a conversation."""
    return JobItem(ItemKind.CONVERSATION if conversation_platform(source) else ItemKind.LINK, source, source, etag=etag)


def document_item(document: Document) -> JobItem:
    """Return the item that removes a document. It carries the whole document, which is no longer in the catalog."""
    return JobItem(ItemKind.DOCUMENT, document.source, to_json(document))


def document_of(item: JobItem) -> Document:
    """Return the document that an item of ``document_item`` carries."""
    document: Document = from_json(Document, item.reference)
    return document


class JobCancelled(FootnoteError):
    """The job was cancelled while it was worked on."""


def content_digest(data: bytes) -> str:
    """Return a digest of the content: the beginning of its SHA-256, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()[:32]


def waiting_duplicate(job: Job, others: Iterable[Job]) -> Job | None:
    """Return another job that still has all of this job's work to do; None if there is none.

    A base does its jobs in order. If another job with the same sources comes after the duplicate, skipping this job
    would change the result, so None is returned.
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
    """Return the sources of a base that these jobs have still to process."""
    ahead = (one for one in jobs if one.base == base and not one.over and not one.cancelled_by)
    return frozenset(item.source for one in ahead for item in one.items if not item.over)


def _content(item: JobItem) -> tuple[str, str, str, str]:
    return item.source, item.name, item.digest, item.origin


MISSES = 2
ONCE_MORE = "It is removed if the next check finds the same."
GONE = "The site says that it was deleted."
UNLINKED = "No page links to it any more."


@dataclass(frozen=True, slots=True)
class Site:
    """The pages below one link, in one base.

    Attributes:
        pages: number of syncs in a row that missed each page.
        synced_by: id of the last counted job, which must not count twice.
        synced_on: that job's day, ISO.
        contents: for a file store, ``contents_of`` the last listing; '' while a file is missed.
    """

    base: str
    link: str
    limit: int = 0
    pages: Mapping[str, int] = field(default_factory=dict)
    synced_by: str = ""
    synced_on: str = ""
    contents: str = ""


def is_whole(job: Job) -> bool:
    """Return whether a sync saw everything: it did not reach its limit, and every page could be fetched."""
    unread = any(item.state is ItemState.FAILED and not item.gone for item in job.items if item.kind is ItemKind.LINK)
    return not unread and sum(item.kind in (ItemKind.SPOOLED, ItemKind.STORED) for item in job.items) < job.limit


def count_sync(site: Site, job: Job) -> Site:
    """Return the site after a sync. Pages that a partial sync did not reach count as neither missed nor seen."""
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
    """Return a digest that changes if any file (address, version) changes, is added or is removed; '' for no files."""
    lines = sorted(f"{address}\x1f{version}" for address, version in files)
    return hashlib.sha256("\x1e".join(lines).encode()).hexdigest()[:16] if lines else ""


def missed_pages(before: Site, after: Site) -> Sequence[str]:
    """Return the pages that this sync missed, in order."""
    return sorted(source for source, misses in after.pages.items() if misses > before.pages.get(source, 0))


def outcome(source: str, misses: int, *, gone: bool) -> JobItem:
    """Return the item for a missed page: kept for now, or removed, with the reason."""
    why = GONE if gone else UNLINKED
    if misses < MISSES:
        return JobItem(
            ItemKind.DOCUMENT, source, "", state=ItemState.UNCHANGED, notes=(f"{why} {ONCE_MORE}",), gone=gone
        )
    notes = (f"{why} It is removed, and can be restored for 7 days.",)
    return JobItem(ItemKind.DOCUMENT, source, "", state=ItemState.REMOVED, notes=notes, gone=gone)
