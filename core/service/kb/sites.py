"""Sync of sites and file stores: when one is due to be read, and which of its pages are gone.

A check lists names and versions, and reads no content. ``core.model.jobs`` defines what counts as missed. A killed sync
can start again at any point: it counts once, and an already removed page is only reported.
"""

import asyncio
import hashlib
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime

from core.ingestion.ingestor import document_id_of
from core.ingestion.trash import Trash
from core.model.errors import FetchRefused
from core.model.jobs import MISSES, ItemState, Job, JobItem, Site, contents_of, count_sync, missed_pages, outcome
from core.ports.catalog import Catalog
from core.ports.job_store import Schedule, SiteStore
from core.ports.sources import FileStores

SECONDS = 30.0
"""For one check. A slower store is checked again a minute later."""

log = logging.getLogger(__name__)


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
            async with asyncio.timeout(SECONDS):
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
