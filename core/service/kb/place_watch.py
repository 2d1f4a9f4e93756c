"""Watching a place that keeps files: what is there now, beside what the last sync of it saw.

A look lists names and versions, and reads nothing. It works for every kind of place alike, folders on a network
included, which tell nobody when something in them changes.
"""

import asyncio
import hashlib
import logging
from dataclasses import dataclass
from datetime import datetime

from core.model.errors import FetchRefused
from core.model.sites import Site, contents_of
from core.ports.file_stores import FileStores
from core.ports.schedule_store import Schedule
from core.ports.site_store import SiteStore

SECONDS = 30.0
"""For one look; a place that takes longer is looked at again a minute later."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PlaceWatch:
    """Says when a place is due to be read. Holds no state of its own: what a sync saw is kept with its ``Site``."""

    stores: FileStores
    site_store: SiteStore

    async def due_job(self, schedule: Schedule, now: datetime) -> str | None:
        """The id of the job that is due, the same in every process; None while there is nothing new.

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
