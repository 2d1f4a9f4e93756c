"""Keeping up with a site: after it was walked through, its vanished pages are missed, and at the second time taken out.

What counts as missed is ``core.model.sites``; here it is done and told. Killed anywhere, it can begin again: a
sync counts once, and what is taken out already is only told.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, replace

from core.ingestion.ingestor import document_id_of
from core.ingestion.trash import Trash
from core.model.jobs import ItemState, Job, JobItem
from core.model.sites import MISSES, Site, count_sync, missed_pages, outcome
from core.ports.catalog import Catalog
from core.ports.site_store import SiteStore


@dataclass(frozen=True, slots=True)
class SiteSync:
    """Compares a site with what it was at the sync before. Holds no state of its own."""

    store: SiteStore
    catalog: Catalog
    trash: Trash

    async def take_out_missed(self, job: Job, guard: Callable[[], Awaitable[None]]) -> AsyncGenerator[JobItem, None]:
        """How each page came out that this sync missed; the sync is counted when all have been taken from here.

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
