"""Sources of a job's items: attached files, links, sites, conversations, and files spooled on this disk.

Also the sync of sites and file stores: when one is due to be read, and which of its pages are gone. A check lists names
and versions, and reads no content. ``core.model.jobs`` defines what counts as missed. A killed sync can start again at
any point: it counts once, and an already removed page is only reported.
"""

import asyncio
import hashlib
import logging
import re
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from core.ingestion.consistency import IndexConsistency
from core.ingestion.ingestor import document_id_of
from core.ingestion.originals import Material, Originals
from core.ingestion.trash import Trash
from core.model.document_content import as_markdown
from core.model.errors import DocumentRejected, FetchRefused, NotFound
from core.model.jobs import (
    MISSES,
    ItemKind,
    ItemState,
    Job,
    JobItem,
    JobKind,
    Site,
    contents_of,
    count_sync,
    missed_pages,
    outcome,
)
from core.model.knowledge import conversation_platform, is_link
from core.model.person_answers import answer_markdown, answer_place, is_answer
from core.ports.catalog import BlobStore, Catalog
from core.ports.job_store import Schedule, SiteStore
from core.ports.platform import ConversationGone, PlatformCapabilities, Transcript
from core.ports.sources import FileStores, PageGone, Web

MORE_FILES = "There are more files than the {limit} that were read. Add its folders one by one."
CHECK_SECONDS = 30.0  # for one check of a store; a slower one is checked again a minute later
_UNSAFE = re.compile(r"[^\w .-]+")

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ItemSources:
    """Finds the items of jobs, and reads their content.

    ``platforms`` by name: files and conversations are read on the job's platform.
    """

    catalog: Catalog
    blobs: BlobStore
    web: Web
    platforms: Mapping[str, PlatformCapabilities]
    originals: Originals
    consistency: IndexConsistency
    stores: FileStores
    pause: float = 0.2  # seconds between two pages of a site
    now: Callable[[], datetime] = lambda: datetime.now(UTC)

    async def find_items(self, job: Job) -> AsyncIterator[JobItem]:
        """Yield the items of a SITE or HISTORY job as they are found, at most ``job.limit`` readable ones.

        Each is spooled in the blob store first, so that a restart need not fetch it again. Raises FetchRefused when the
        first page cannot be fetched, NotFound when there is no such channel or place, and PlatformUnavailable.
        """
        if job.kind is JobKind.HISTORY:
            found = self._channel_items(job)
        elif is_link(job.reference):
            found = self._site_items(job)
        else:
            found = self._stored_items(job)
        async for item in found:
            yield item

    async def _channel_items(self, job: Job) -> AsyncIterator[JobItem]:
        """Yield one item for each conversation of a channel, the newest first."""
        async for conversation in self._transcript(job.platform).conversations(job.reference, job.limit):
            item = JobItem(
                ItemKind.SPOOLED,
                conversation.source,
                spool_name(job.id, conversation.source),
                name=file_name(conversation.title),
                url=conversation.permalink,
                title=conversation.title,
            )
            yield await self._set_aside(item, as_markdown(conversation))

    async def _site_items(self, job: Job) -> AsyncIterator[JobItem]:
        """Yield one item for each page of a site, then failed items for pages that could not be fetched."""
        refused: list[JobItem] = []

        def note(url: str, why: FetchRefused) -> None:
            gone = isinstance(why, PageGone)
            refused.append(JobItem(ItemKind.LINK, url, url, state=ItemState.FAILED, reason=str(why), gone=gone))

        async for page in self.web.crawl(job.reference, limit=job.limit, pause=self.pause, refused=note):
            item = JobItem(
                ItemKind.SPOOLED, page.url, spool_name(job.id, page.url), page.file_name, page.url, etag=page.etag or ""
            )
            yield await self._set_aside(item, page.data)
        for item in refused:
            yield item

    async def read_item(self, job: Job, item: JobItem) -> Material | None:
        """Return an item's content; None if its source says that it has not changed since it was last read.

        Raises DocumentRejected, FetchRefused, NotFound and PlatformUnavailable, each with the reason.
        """
        match item.kind:
            case ItemKind.LINK | ItemKind.STORED:
                return await (self._fetch_link if item.kind is ItemKind.LINK else self._read_stored)(job, item)
            case ItemKind.FILE:
                return await self._read_attachment(job, item)
            case ItemKind.SPOOLED:
                return await self._read_spooled(job, item)
            case ItemKind.CONVERSATION:
                return await self._read_conversation(job, item)
            case ItemKind.TEXT:
                return replace(_without_content(job, item), data=item.reference.encode(errors="replace"))
            case ItemKind.ORIGINAL:
                return await self._read_original(item)
            case ItemKind.DOCUMENT:
                raise DocumentRejected("That cannot be read.")

    async def _read_attachment(self, job: Job, item: JobItem) -> Material:
        download = self.platforms.get(job.platform, PlatformCapabilities()).download
        if download is None:
            raise NotFound(f"Files cannot be fetched from {job.platform or 'there'}.")
        name, data = await download(item.reference)
        return replace(_without_content(job, item), name=item.name or name, data=data)

    async def _read_spooled(self, job: Job, item: JobItem) -> Material | None:
        kept = await self.blobs.read(item.reference)
        if kept is None and item.url and job.kind is JobKind.SITE:
            return await self._fetch_link(job, replace(item, reference=item.url))
        if kept is None:
            raise NotFound("The uploaded copy is no longer stored.", remedy="Add it again.")
        return replace(_without_content(job, item), data=kept)

    async def forget(self, item: JobItem) -> None:
        """Delete what was spooled for a finished item."""
        if item.kind is ItemKind.SPOOLED:
            await self.blobs.forget(item.reference)

    async def _read_original(self, item: JobItem) -> Material | None:
        """Return the original of a document; None if the document was removed."""
        document = await self.catalog.document(item.reference)
        if document is None:
            return None
        kept = await self.originals.read(document)
        if kept is None:
            raise NotFound("The original is no longer stored.", remedy="Add it again.")
        return replace(kept, origin=document.origin)  # which may have been recorded since

    async def _stored_items(self, job: Job) -> AsyncIterator[JobItem]:
        """Yield the files of a file store. Their content is read later, one by one."""
        found = 0
        async for file in self.stores.files(job.reference, limit=job.limit + 1):
            found += 1
            if found > job.limit:
                more = MORE_FILES.format(limit=job.limit)
                yield JobItem(ItemKind.DOCUMENT, job.reference, "", state=ItemState.SKIPPED, reason=more)
                return
            yield JobItem(ItemKind.STORED, file.address, file.address, file.name, file.url, etag=file.version)

    async def _read_stored(self, job: Job, item: JobItem) -> Material | None:
        known = await self._known_etag(job, item)
        if known and known == item.etag:
            return None  # the listing already said that it is unchanged
        found = await self.stores.read(item.reference, version=known)
        if found is None:
            return None
        file, data = found
        return replace(_without_content(job, item), name=file.name, data=data, url=file.url, etag=file.version)

    async def _known_etag(self, job: Job, item: JobItem) -> str:
        """Return the source's version of our copy; '' if it has to be fetched again."""
        before = await self.catalog.document(document_id_of(job.base, item.source))
        etag = before.etag if before else ""
        if before is not None and etag and await self.consistency.incomplete([before]):
            return ""  # its passages are lost, so fetch it even if unchanged
        return etag

    async def _fetch_link(self, job: Job, item: JobItem) -> Material | None:
        fetched = await self.web.fetch(item.reference, etag=await self._known_etag(job, item) or None)
        if fetched.is_unchanged:
            return None
        made, etag = _without_content(job, item), fetched.etag or ""
        return replace(made, name=fetched.file_name, data=fetched.data, url=fetched.url, etag=etag)

    async def _read_answer(self, job: Job, item: JobItem) -> Material | None:
        """Return the document of a person's answer as its message reads now. Raises ConversationGone if deleted."""
        before = await self.catalog.document(document_id_of(job.base, item.source))
        if before is None and job.kind is JobKind.REFRESH:
            return None  # it was removed since
        place, message = answer_place(item.source)
        conversation = await self._transcript(conversation_platform(item.source)).read_again(place)
        said = next((one for one in conversation.messages if one.id == message), None)
        if said is None:
            raise ConversationGone("The message with this answer was deleted.")
        title, dated = (before.title, before.dated) if before else (item.title, f"{said.at:%Y-%m-%d}")
        dated, today = item.dated or dated, self.now().date()
        text = answer_markdown(title, said.author, said.text, written=said.at, dated=dated, today=today)
        return Material(
            source=item.source,
            name=file_name(title),
            data=text.encode(errors="replace"),
            url=conversation.permalink,
            added_by=before.added_by if before else job.by.name or job.by.id,
            title=title,
            dated=dated,
            origin=before.origin if before else item.origin,
        )

    async def _read_conversation(self, job: Job, item: JobItem) -> Material | None:
        if is_answer(item.source):
            return await self._read_answer(job, item)
        by = job.by.name or job.by.id
        if job.kind is JobKind.REFRESH:
            before = await self.catalog.document(document_id_of(job.base, item.source))
            if before is None:
                return None  # it was removed since
            by, transcript = before.added_by, self._transcript(conversation_platform(item.source))
            conversation = await transcript.read_again(item.source)
        else:
            conversation = await self._transcript(job.platform).conversation(item.reference)
        return Material(
            source=conversation.source,
            name=file_name(conversation.title),
            data=as_markdown(conversation),
            url=conversation.permalink,
            added_by=by,
            title=conversation.title,
        )

    async def _set_aside(self, item: JobItem, data: bytes) -> JobItem:
        await self.blobs.keep(item.reference, data)
        return item

    def _transcript(self, platform: str) -> Transcript:
        """Return the transcript reader of a platform. Raises NotFound without one."""
        transcript = self.platforms.get(platform, PlatformCapabilities()).transcript
        if transcript is None:
            raise NotFound(f"Conversations cannot be read on {platform or 'this platform'}.")
        return transcript


def _without_content(job: Job, item: JobItem) -> Material:
    """Return what a job says of an item, to be completed by its content."""
    by = job.by.name or job.by.id
    return Material(
        item.source, item.name, b"", item.url, by, item.title, item.etag, origin=item.origin, dated=item.dated
    )


def spool_name(job_id: str, source: str) -> str:
    """Return the blob's name for a spooled item; it is the same for the same job and source."""
    return f"spooled-{job_id}-{hashlib.sha256(source.encode()).hexdigest()[:16]}"


def file_name(title: str) -> str:
    """Return a file name for a conversation's title: safe on every disk, at most 80 characters and ``.md``."""
    return f"{_UNSAFE.sub(' ', title).strip()[:80] or 'conversation'}.md"


@dataclass(frozen=True, slots=True)
class PlaceWatch:
    """Decides when a file store is due to be read. Stateless: what a sync saw is stored with its ``Site``."""

    stores: FileStores
    site_store: SiteStore

    async def due_job(self, schedule: Schedule, now: datetime) -> str | None:
        """Return the id of the job that is due, the same in every process; None if nothing is new.

        Due are changes, files missed once that are searched for again, and each store once a day, which also retries
        unreadable files. A store that cannot be listed now is not due.
        """
        sites = await self.site_store.sites(schedule.base)
        site = next((one for one in sites if one.link == schedule.link), Site(schedule.base, schedule.link))
        try:
            async with asyncio.timeout(CHECK_SECONDS):
                files = self.stores.files(schedule.link, limit=schedule.limit)
                contents = contents_of([(file.address, file.version) async for file in files])
        except (FetchRefused, TimeoutError) as reason:
            log.info("place_not_listed", extra={"reason": str(reason)})
            return None
        today = f"{now:%Y-%m-%d}"
        if (contents, today) == (site.contents, site.synced_on):
            return None
        marks = f"{schedule.base}\x1f{schedule.link}\x1f{contents}\x1f{site.synced_by}\x1f{today}"
        return hashlib.sha256(marks.encode()).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class SiteSync:
    """Compares a site with its previous sync. Stateless."""

    store: SiteStore
    catalog: Catalog
    trash: Trash

    async def take_out_missed(self, job: Job, guard: Callable[[], Awaitable[None]]) -> AsyncGenerator[JobItem, None]:
        """Yield the outcome of each page that this sync missed; the sync is counted once all are consumed.

        ``guard`` raises LeaseLost when another worker has taken the base over.
        """
        known = {site.link: site for site in await self.store.sites(job.base)}
        before = known.get(job.reference, Site(job.base, job.reference))
        if before.synced_by == job.id:
            return  # the job was killed just before its end
        now = count_sync(before, job)
        for source in missed_pages(before, now):
            await guard()
            at = job.position(source)
            gone = at is not None and job.items[at].gone
            item = outcome(source, now.pages[source], gone=gone)
            if await self._take_out(job, item):
                yield item
        kept = {source: misses for source, misses in now.pages.items() if misses < MISSES}
        await self.store.save_site(replace(now, pages=kept))

    async def _take_out(self, job: Job, item: JobItem) -> bool:
        """Remove the page if that is its outcome; return False if somebody else removed it before."""
        document_id = document_id_of(job.base, item.source)
        document = await self.catalog.document(document_id)
        removal = await self.trash.removal(document_id)
        if document is not None and item.state is ItemState.REMOVED:
            await self.trash.remove(document, job.by.id)
        elif document is None and removal is not None and removal.at >= job.created_at:
            await self.trash.put_away(removal.document)  # a worker died while removing it
        return document is not None or (removal is not None and removal.at >= job.created_at)
