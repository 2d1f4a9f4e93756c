"""Keeping up with sites and file stores: when a place is due to be read, and which of its pages are gone.

A look at a place lists names and versions and reads nothing. What counts as missed is in ``core.model.jobs``. Killed
anywhere, a sync can begin again: it counts once, and a page that is removed already is only reported.
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
"""For one look; a place that takes longer is looked at again a minute later."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PlaceWatch:
    """Says when a place is due to be read. Holds no state of its own: what a sync saw is kept with its ``Site``."""

    stores: FileStores
    site_store: SiteStore

    async def due_job(self, schedule: Schedule, now: datetime) -> str | None:
        """Return the id of the job that is due, the same in every process; None while there is nothing new.

        Due is what changed, what was missed once and is to be looked for again, and each place once a day: files that
        could not be read are tried again then. A place that cannot be listed now is not due.
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
    """Compares a site with what it was at the sync before. Holds no state of its own."""

    store: SiteStore
    catalog: Catalog
    trash: Trash

    async def take_out_missed(self, job: Job, guard: Callable[[], Awaitable[None]]) -> AsyncGenerator[JobItem, None]:
        """Yield how each page came out that this sync missed; the sync is counted when all have been taken from here.

        ``guard`` raises LeaseLost when another worker has taken the base over.
        """
        known = {site.link: site for site in await self.store.sites(job.base)}
        before = known.get(job.reference, Site(job.base, job.reference))
        if before.synced_by == job.id:
            return  # it was killed just before its end
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
        """Take the page out where that is how it came out; False when somebody else had done so before."""
        document_id = document_id_of(job.base, item.source)
        document = await self.catalog.document(document_id)
        removal = await self.trash.removal(document_id)
        if document is not None and item.state is ItemState.REMOVED:
            await self.trash.remove(document, job.by.id)
        elif document is None and removal is not None and removal.at >= job.created_at:
            await self.trash.put_away(removal.document)  # a worker died over it
        return document is not None or (removal is not None and removal.at >= job.created_at)
