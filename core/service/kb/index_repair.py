"""Making good what the stores have lost: from the ledger, from originals, by links, or by naming what to add.

It goes the way of every job, one writer at a time for a base; here is only what such jobs consist of.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.ingestion.consistency import IndexConsistency
from core.ingestion.originals import Originals
from core.model.jobs import ItemKind, Job, JobItem, JobKind
from core.model.knowledge import Document, KnowledgeBase
from core.ports.catalog import Catalog
from core.service.kb.commands import Caller
from core.service.kb.job_queue import JobQueue
from core.service.kb.web_links import is_link
from core.service.lost_changes import LostChanges

TOGETHER = 500  # documents of one job
MOST_JOBS = 10  # of one command


@dataclass(frozen=True, slots=True)
class Repair:
    """What was begun. ``lost`` can only be added again, ``left`` wait for another time, ``complete`` lack nothing."""

    jobs: tuple[Job, ...] = ()
    lost: tuple[Document, ...] = ()
    left: int = 0
    complete: int = 0


@dataclass(frozen=True, slots=True)
class IndexRepair:
    """Finds what is missing and puts it in line. Holds no state of its own."""

    catalog: Catalog
    consistency: IndexConsistency
    originals: Originals
    job_queue: JobQueue
    lost_changes: LostChanges | None = None

    async def restore_catalog(self) -> tuple[str, ...]:
        """Make changes again that Redis has lost, also where it is empty; what was done, a line each.

        Raises StoreUnavailable.
        """
        if self.lost_changes is None:
            return ()
        await self.lost_changes.restore()
        return self.lost_changes.take_notices()

    async def begin(self, bases: Sequence[KnowledgeBase], caller: Caller) -> Repair:
        """Put in line what fills these bases again. The index that is open is the catalog's from now on.

        Raises Busy when too much waits, and StoreUnavailable where it is the catalog that is lost.
        """
        documents = await self.catalog.documents(frozenset(base.name for base in bases))
        missing = await self.consistency.incomplete(documents)
        await self.consistency.check_catalog()
        await self.consistency.adopt()
        begun = Repair(complete=len(documents) - len(missing))
        for base in bases:
            its = [one.document for one in missing if one.document.knowledge_base == base.name]
            begun = await self._base(begun, base, its, caller)
        return begun

    async def _base(self, begun: Repair, base: KnowledgeBase, missing: Sequence[Document], caller: Caller) -> Repair:
        items: list[JobItem] = []
        for document in missing:
            if (item := await self._item(document)) is None:
                begun = replace(begun, lost=(*begun.lost, document))
            else:
                items.append(item)
        for start in range(0, len(items), TOGETHER):
            some = items[start : start + TOGETHER]
            if len(begun.jobs) == MOST_JOBS:
                return replace(begun, left=begun.left + len(items) - start)
            subject = some[0].source if len(some) == 1 else ""
            job = self.job_queue.create_job(JobKind.REPAIR, base.name, caller, subject, some)
            begun = replace(begun, jobs=(*begun.jobs, await self.job_queue.accept(job)))
        return begun

    async def _item(self, document: Document) -> JobItem | None:
        """How a document is filled again; None where it can only be added again."""
        if await self.originals.read(document) is not None:
            return JobItem(ItemKind.ORIGINAL, document.source, document.id, title=document.title)
        return JobItem(ItemKind.LINK, document.source, document.source) if is_link(document.source) else None
