"""Job runner: one job at a time for each base, item by item, each outcome stored before the next item begins.

After a crash, the next worker that leases the base resumes at the first item without an outcome. A long job
periodically goes back to the end of its base's queue, so that nobody waits for a whole crawl.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from core.ingestion.ingestor import Ingestor, document_id_of
from core.ingestion.trash import Trash
from core.model.clock import Clock
from core.model.errors import Denied, FootnoteError, LeaseLost, NotFound, StoreUnavailable
from core.model.jobs import (
    MOST_ITEMS,
    ItemKind,
    ItemState,
    Job,
    JobCancelled,
    JobItem,
    JobKind,
    JobProgress,
    JobStage,
    JobState,
    document_of,
)
from core.model.knowledge import Document, conversation_platform
from core.model.person_answers import is_answer
from core.ports.catalog import Catalog
from core.ports.job_store import JobStore, SiteStore
from core.ports.platform import ConversationGone, PlatformCapabilities
from core.service.kb.item_sources import ItemSources, SiteSync
from core.service.kb.program_documents import check_readers
from core.service.sync.connections import Connections
from core.service.sync.documents import Guard
from core.service.sync.engine import SyncReport

TURN_SECONDS = 20.0  # then a job lets the next job of its base run
LOOK_SECONDS = 0.5  # how soon a cancellation is noticed
CARD_SECONDS = 1.5  # between two edits of a card, below what every platform allows
CARD_DEADLINE = 10.0
MOST_ATTEMPTS = 5  # give up a job after this many workers without any item's outcome
APART = "A file of a folder is already called “{name}”. Both are kept, and this one is called “{own}”."
WENT_WRONG = "Something went wrong on my side. Please retry; an admin finds the details in the log."

log = logging.getLogger(__name__)

MOST_NAMED = 100  # failed documents that a sync's card can name


@dataclass(slots=True)
class _Run:
    """A job in progress in its current state. The stored and shown state may be a little older."""

    job: Job
    guard: Guard
    suspect: str = ""  # source of the item that a dead worker may have left half done
    shown: Job | None = None
    shown_at: float = 0.0

    def report_progress(self, stage: JobStage, done: int, total: int) -> None:
        """Store the ingestor's progress after each batch. Raises JobCancelled between two batches."""
        if self.job.cancelled_by:
            raise JobCancelled("It was cancelled.")
        now = replace(self.job.progress, stage=stage, done=done, total=total)
        self.job = replace(self.job, progress=now)

    def begin_stage(self, stage: JobStage, source: str) -> None:
        """Store the stage and source that begin now."""
        self.job = replace(self.job, progress=JobProgress(stage, source))


@dataclass(frozen=True, slots=True)
class _JobReport(SyncReport):
    """Shows a sync on its job's card: counts of all outcomes, and failures by id.

    No title is shown, because admins see jobs whose documents they may not read.
    """

    run: _Run
    record: Callable[[_Run, JobItem], Awaitable[None]]

    def begin(self, stage: JobStage, title: str, done: int, total: int) -> None:
        """Store the current stage and progress."""
        self.run.begin_stage(stage, self.run.job.base)
        self.run.report_progress(stage, done, total)

    def progress(self, stage: JobStage, done: int, total: int) -> None:
        """Store the progress of the current document."""
        self.run.report_progress(stage, done, total)

    async def outcome(self, item: str, title: str, state: ItemState, reason: str = "") -> None:
        """Count a document's outcome; store a failed one with its reason."""
        job = self.run.job
        failed = state is ItemState.FAILED and len(job.items) < MOST_NAMED
        if failed:
            await self.record(self.run, JobItem(ItemKind.DOCUMENT, f"document {item}", "", state=state, reason=reason))
        else:
            self.run.job = replace(job, tally={**job.tally, state: job.tally.get(state, 0) + 1})


@dataclass(slots=True, kw_only=True)
class JobRunner:
    """Processes one job at a time; several runners may run in one process or in many.

    The platforms of ``item_sources`` show the cards. ``connections`` is None if nothing can be
    connected.
    """

    jobs: JobStore
    ingestor: Ingestor
    catalog: Catalog
    trash: Trash
    site_store: SiteStore
    item_sources: ItemSources
    clock: Clock
    connections: Connections | None = None

    async def is_ours(self, job_id: str) -> bool:
        """Return whether this process can do a job: it is over, from the clock, or its platform is connected here."""
        job = await self.jobs.read(job_id)
        if job is None or job.over or job.cancelled_by:
            return True
        needed = {job.platform}
        refreshes = job.kind is JobKind.REFRESH
        needed |= {conversation_platform(one.source) for one in job.items if refreshes or is_answer(one.source)}
        return needed <= {"", *self.item_sources.platforms}

    async def work(self, job_id: str, guard: Guard, *, seconds: float = TURN_SECONDS) -> Job | None:
        """Run a job for about this long; return its state, over or not. None when there is nothing to do.

        ``guard`` raises LeaseLost when another worker has taken the base over. Raises that, and StoreUnavailable.
        """
        job = await self.jobs.read(job_id)
        if job is None:
            return None
        run = _Run(job, guard, _in_hand(job))
        if job.over:  # its worker may have died before it showed the end
            await self._show(run, last=True)
            return None
        until = self.clock.monotonic() + seconds
        try:
            await self._record(run, replace(job, state=JobState.RUNNING, attempts=job.attempts + 1))
            if job.attempts >= MOST_ATTEMPTS:
                raise NotFound("It crashed the worker several times.", remedy="Try again with fewer files at once.")
            await self._show(run)
            if job.kind is JobKind.SYNC:
                await self._work_sync(run, until)
            else:
                await self._run_cancellable(run, partial(self._find_items, run))
                await self._work_items(run, until)
        except JobCancelled as reason:
            await self._end(run, JobState.CANCELLED, _one_line(reason))
        except (LeaseLost, StoreUnavailable):
            raise
        except FootnoteError as error:
            await self._end(run, JobState.FAILED, _one_line(error))
        await self._show(run, last=True)
        return run.job

    async def _find_items(self, run: _Run) -> None:
        """Find the items of a site or a channel, and store each one at once."""
        if run.job.listed:
            return
        run.begin_stage(JobStage.FETCHING, run.job.subject)
        async for item in self.item_sources.find_items(run.job):
            await run.guard()
            if run.job.position(item.source) is None and len(run.job.items) < MOST_ITEMS:
                await self._record_item(run, item)
        if not run.job.items:
            raise NotFound("I found nothing to read there.", remedy="Check the link or the path.")
        await self._record(run, replace(run.job, listed=True))

    async def _work_items(self, run: _Run, until: float) -> None:
        """Process the items without an outcome until they are done or the turn is over."""
        for number, item in enumerate([item for item in run.job.items if not item.over]):
            if number and self.clock.monotonic() >= until:
                await self._record(run, replace(run.job, turn=run.job.turn + 1, attempts=0, progress=JobProgress()))
                return
            await self._run_cancellable(run, partial(self._work_item, run, item))
            await self._show(run)
        if run.job.kind is JobKind.SITE:
            async with aclosing(
                SiteSync(self.site_store, self.catalog, self.trash).take_out_missed(run.job, run.guard)
            ) as vanished:
                async for item in vanished:
                    await self._record_item(run, item)
        await self._end(run, JobState.DONE)

    async def _work_sync(self, run: _Run, until: float) -> None:
        """Continue a sync until its round ends or the turn is over."""
        connections = self.connections
        if connections is None:
            raise NotFound("Nothing is connected here.")
        ended: list[bool] = []

        async def work() -> None:
            ended.append(
                await connections.sync(
                    run.job.reference, guard=run.guard, report=_JobReport(run, self._record_item), until=until
                )
            )

        await self._run_cancellable(run, work)
        if ended[0]:
            await self._end(run, JobState.DONE)
        else:
            await self._record(run, replace(run.job, turn=run.job.turn + 1, attempts=0, progress=JobProgress()))

    async def _end(self, run: _Run, state: JobState, reason: str = "") -> None:
        """Delete spooled and half-written data, then store that the job is over."""
        await self._tidy(run, run.suspect)
        for item in run.job.items:
            await self.item_sources.forget(item)  # cancelled, or left by a dead worker
        await self._record(run, run.job.at_end(self.clock.now(), state, reason))

    async def _tidy(self, run: _Run, source: str) -> None:
        """Remove what a dead worker left of its last item, once that item has an outcome."""
        if source and source == run.suspect:
            await run.guard()
            await self.ingestor.tidy(run.job.base, source)
            run.suspect = ""

    async def _work_item(self, run: _Run, item: JobItem) -> None:
        """Process one item and store its outcome. A failure is the item's outcome and does not end the job."""
        try:
            outcome = await self._outcome(run, item)
        except (LeaseLost, StoreUnavailable, JobCancelled):
            raise
        except FootnoteError as error:
            outcome = replace(item, state=ItemState.FAILED, reason=_one_line(error))
        except Exception:
            log.exception("job_item_failed", extra={"job": run.job.id})
            outcome = replace(item, state=ItemState.FAILED, reason=WENT_WRONG)
        await run.guard()
        await self._tidy(run, item.source)
        if item.kind is ItemKind.TEXT:
            outcome = replace(outcome, reference="")  # the text is now in the base, or was rejected
        await self._record_item(run, outcome)
        await self.item_sources.forget(item)

    async def _outcome(self, run: _Run, item: JobItem) -> JobItem:
        """Process one item by the job's kind and return it with its outcome."""
        match run.job.kind:
            case JobKind.REMOVE:
                count = await self.trash.put_away(document_of(item))
                return replace(item, state=ItemState.REMOVED, passages=count)
            case JobKind.RESTORE:
                document = await self._restore_document(item.reference, run.job.by.id)
                return replace(item, state=ItemState.RESTORED, passages=document.passages)
            case _:
                return await self._ingest_item(run, item)

    async def _restore_document(self, document_id: str, by: str) -> Document:
        removed = await self.trash.removal(document_id)
        if removed is not None:
            return await self.trash.restore(removed, by)
        document = await self.catalog.document(document_id)  # a worker died just after restoring it
        if document is None:
            raise NotFound("It is not among the removed documents.", remedy="Add it again.")
        return document

    async def _ingest_item(self, run: _Run, item: JobItem) -> JobItem:
        job = run.job
        await self._check_base(run, item)
        run.begin_stage(JobStage.FETCHING, item.source)
        try:
            material = await self.item_sources.read_item(job, item)
        except ConversationGone as reason:
            return await self._withdraw(run, item, reason)
        if material is None:
            return replace(item, state=ItemState.UNCHANGED)
        own = await self.ingestor.keep_apart(material, job.base)
        apart = (APART.format(name=material.source, own=own.source),) if own.source != material.source else ()
        material, retire = own, partial(self.trash.retire, by=job.by.id)
        result = await self.ingestor.ingest(
            material,
            job.base,
            run.report_progress,
            still_ours=partial(self._check_publishable, run, replace(item, source=material.source)),
            retire=retire,
        )
        document_id = document_id_of(job.base, material.source)
        removal = await self.trash.removal(document_id)
        if removal is not None and removal.at > job.created_at:
            await self.ingestor.remove(document_id)
            raise NotFound(
                "Someone removed it while this job was running.", remedy="Add it again if that was a mistake."
            )
        return replace(
            item,
            state=ItemState(result.change),
            reason=result.reason,
            passages=result.passages,
            notes=(*result.notes, *apart),
        )

    async def _withdraw(self, run: _Run, item: JobItem, reason: ConversationGone) -> JobItem:
        """Remove the document of a deleted conversation. If it was only being added, raise the reason."""
        document = await self.catalog.document(document_id_of(run.job.base, item.source))
        if document is None:
            raise reason
        await run.guard()
        await self.trash.remove(document, run.job.by.id)
        return replace(item, state=ItemState.REMOVED, passages=document.passages, notes=(str(reason),))

    async def _check_base(self, run: _Run, item: JobItem) -> None:
        """Raise JobCancelled if the base was removed, Denied if its readers no longer fit this item."""
        base = await self.trash.base(run.job.base)
        if base is None:
            raise JobCancelled("Someone removed the knowledge base in the meantime.")
        check_readers(base, item.audience, item.giver)

    async def _check_kept(self, run: _Run, item: JobItem) -> None:
        """Raise NotFound if a person's answer that is refreshed was deleted, as when that person was forgotten."""
        refreshes = run.job.kind is JobKind.REFRESH and is_answer(item.source)
        if refreshes and await self.catalog.document(document_id_of(run.job.base, item.source)) is None:
            raise NotFound("It was deleted while it was read again.")

    async def _check_publishable(self, run: _Run, item: JobItem) -> None:
        """Check again once the passages are written; remove them if they may not become visible."""
        await run.guard()
        try:
            await self._check_base(run, item)
            await self._check_kept(run, item)
        except (JobCancelled, Denied, NotFound):
            await self.ingestor.tidy(run.job.base, item.source)
            raise

    async def _run_cancellable(self, run: _Run, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Run the work while watching for cancellation and showing progress. Raises JobCancelled.

        The work is cancelled at once before anything is written; after that, between two batches.
        """
        await self._check_cancelled(run)
        task = asyncio.create_task(work())
        try:
            while not (await asyncio.wait({task}, timeout=LOOK_SECONDS))[0]:
                if run.job.progress.stage is JobStage.EMBEDDING:
                    with suppress(JobCancelled):  # the next batch will find it
                        await self._check_cancelled(run)
                else:
                    await self._check_cancelled(run)
                await self._show(run)
            task.result()
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await task

    async def _check_cancelled(self, run: _Run) -> None:
        """Raise JobCancelled when somebody cancelled the job."""
        if by := await self.jobs.find_canceller(run.job.id):
            run.job = replace(run.job, cancelled_by=by)
            raise JobCancelled("It was cancelled.")

    async def _record_item(self, run: _Run, item: JobItem) -> None:
        run.job = replace(run.job.with_item(item), attempts=0)
        await self.jobs.record(run.job, [item])

    async def _record(self, run: _Run, job: Job) -> None:
        run.job = job
        await self.jobs.record(job)

    async def _show(self, run: _Run, *, last: bool = False) -> None:
        """Store and show the progress, at a bounded rate. A failing card does not stop the job."""
        now = self.clock.monotonic()
        if run.shown == run.job or (not last and run.shown is not None and now - run.shown_at < CARD_SECONDS):
            return
        run.shown, run.shown_at = run.job, now
        await self.jobs.record(run.job)
        card = self.item_sources.platforms.get(run.job.platform, PlatformCapabilities()).card
        if card is None:
            return
        try:
            async with asyncio.timeout(CARD_DEADLINE):
                await card.show(run.job)
        except Exception:
            log.exception("job_card_failed", extra={"job": run.job.id})


def _in_hand(job: Job) -> str:
    """Return the source that an earlier worker may have been processing when it died; empty without one."""
    if job.state is JobState.QUEUED or job.kind in {JobKind.REMOVE, JobKind.RESTORE}:
        return ""
    return next((item.source for item in job.items if not item.over), "")


def _one_line(error: FootnoteError) -> str:
    return " ".join(str(error).split())[:300]
