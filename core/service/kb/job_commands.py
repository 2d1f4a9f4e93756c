"""Commands whose work is a job: ingest, refresh, repair and cancel."""

from collections.abc import AsyncIterable, Sequence
from dataclasses import dataclass, replace

from core.ingestion.consistency import IndexConsistency
from core.ingestion.originals import Originals
from core.model.document_content import FileContent
from core.model.errors import FootnoteError, NotFound
from core.model.jobs import ItemKind, Job, JobItem, JobKind, Site
from core.model.knowledge import Document, KnowledgeBase, is_link
from core.ports.catalog import Catalog
from core.ports.job_store import JobStore, SiteStore
from core.service.kb.command_audit import CommandAudit
from core.service.kb.commands import Caller, KbCommand, KbVerb
from core.service.kb.job_cards import job_subject
from core.service.kb.job_queue import JobQueue, can_be_read_again
from core.service.kb.queries import KnowledgeQueries, one_job
from core.service.kb.results import CancelRequested, JobAccepted, KbResult, RefreshAccepted, Refused, RepairAccepted
from core.service.kb.summaries import (
    readers_of,
    summarize_document,
    summarize_job,
)
from core.service.lost_changes import LostChanges


def summarize_accepted(job: Job, base: KnowledgeBase) -> JobAccepted:
    """Return a new job with the readers of what it adds, because a conversation may reach more people than before."""
    return JobAccepted(summarize_job(job), readers_of(base))


TOGETHER = 500  # documents of one job
MOST_JOBS = 10  # of one command


@dataclass(frozen=True, slots=True)
class Repair:
    """A started repair. ``lost`` can only be added again, ``left`` wait for another time, ``complete`` need nothing."""

    jobs: tuple[Job, ...] = ()
    lost: tuple[Document, ...] = ()
    left: int = 0
    complete: int = 0


@dataclass(frozen=True, slots=True)
class IndexRepair:
    """Finds missing passages and enqueues jobs that restore them. Stateless."""

    catalog: Catalog
    consistency: IndexConsistency
    originals: Originals
    job_queue: JobQueue
    lost_changes: LostChanges | None = None

    async def restore_catalog(self) -> tuple[str, ...]:
        """Redo changes that Redis lost, even if it is empty; return one line for each.

        Raises StoreUnavailable.
        """
        if self.lost_changes is None:
            return ()
        await self.lost_changes.restore()
        return self.lost_changes.take_notices()

    async def begin(self, bases: Sequence[KnowledgeBase], caller: Caller) -> Repair:
        """Enqueue jobs that fill these bases again. From now on, the open index is the catalog's.

        Raises Busy when too much waits, and StoreUnavailable if the catalog itself is lost.
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
        """Return the item that restores a document; None if it can only be added again."""
        if await self.originals.read(document) is not None:
            return JobItem(ItemKind.ORIGINAL, document.source, document.id, title=document.title)
        return JobItem(ItemKind.LINK, document.source, document.source) if is_link(document.source) else None


@dataclass(frozen=True, slots=True)
class JobCommands:
    """Handles INGEST, REFRESH, REPAIR and CANCEL."""

    queries: KnowledgeQueries
    job_queue: JobQueue
    jobs: JobStore
    site_store: SiteStore
    audit: CommandAudit
    repair: IndexRepair

    async def ingest(self, command: KbCommand, caller: Caller) -> KbResult:
        """INGEST what the command names."""
        base = await self.queries.own_base(command.base, caller, create=True)
        return summarize_accepted(await self.job_queue.ingest(command, base.name, caller), base)

    async def ingest_bytes(self, files: AsyncIterable[FileContent], base: str, caller: Caller) -> KbResult:
        """INGEST files whose bytes the client sends. The caller has checked the right to do so."""
        try:
            target = await self.queries.own_base(base, caller, create=True)
            job = await self.job_queue.ingest_bytes(files, target.name, caller)
        except FootnoteError as error:
            return Refused.of(error)
        accepted = summarize_accepted(job, target)
        about = f"{target.name}/{job_subject(accepted.job)}"
        await self.audit.record(caller, KbVerb.INGEST, about, detail=f"job {job.id}")
        return accepted

    async def refresh(self, command: KbCommand, caller: Caller) -> KbResult:
        """REFRESH a document, a site, or everything in a base that came from links and conversations."""
        if not command.target:
            return await self._refresh_base(command, caller)
        if (site := await self._site(command, caller)) is not None:
            job = await self.job_queue.ingest_site(site.link, site.limit, site.base, caller)
            return JobAccepted(summarize_job(job))
        chosen = await self.queries.document(command, caller)
        job = await self.job_queue.refresh([chosen], chosen.knowledge_base, caller)
        return JobAccepted(summarize_job(job))

    async def _refresh_base(self, command: KbCommand, caller: Caller) -> KbResult:
        """Enqueue a job for each site, which finds its own pages, and one for all other links."""
        base = await self.queries.base(command.base, caller)
        sites = await self.site_store.sites(base.name)
        below = {source for site in sites for source in site.pages}
        others = [one for one in await self.queries.documents(base) if one.source not in below]
        jobs = [await self.job_queue.ingest_site(site.link, site.limit, base.name, caller) for site in sites]
        if any(map(can_be_read_again, others)) or not sites:
            jobs.append(await self.job_queue.refresh(others, base.name, caller))
        left = sum(not can_be_read_again(one) for one in others)
        return RefreshAccepted(tuple(map(summarize_job, jobs)), base.name, left)

    async def _site(self, command: KbCommand, caller: Caller) -> Site | None:
        """Return the known site that starts at the command's link."""
        bases = [await self.queries.base(command.base, caller)] if command.base else await self.queries.visible(caller)
        for base in bases:
            for site in await self.site_store.sites(base.name):
                if site.link == command.target.strip():
                    return site
        return None

    async def repair_index(self, command: KbCommand, caller: Caller) -> KbResult:
        """REPAIR: restore what Redis lost, then fill one base or all from originals and links."""
        restored = await self.repair.restore_catalog()
        name = command.base or command.target
        bases = [await self.queries.base(name, caller)] if name else await self.queries.visible(caller)
        begun = await self.repair.begin(bases, caller)
        return RepairAccepted(
            jobs=tuple(map(summarize_job, begun.jobs)),
            lost=tuple(map(summarize_document, begun.lost)),
            left=begun.left,
            complete=begun.complete,
            restored=restored,
        )

    async def cancel(self, command: KbCommand, caller: Caller) -> KbResult:
        """CANCEL a job. Its worker ends it at the next point that leaves nothing half done."""
        job = one_job(await self.queries.jobs_of(caller), command.target)
        if job.over:
            raise NotFound("That job has already ended.")
        if not await self.jobs.cancel(job.id, caller.person.id):
            raise NotFound("That job is already being cancelled.")
        return CancelRequested(job.id, summarize_job(replace(job, cancelled_by=caller.person.id)))
