"""Schedules of links: set by admins, and run once when due, in whichever process."""

import asyncio
import hashlib
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta

from core.ingestion.consistency import OrphanedPassages
from core.ingestion.ingestor import document_id_of
from core.ingestion.trash import Trash
from core.model.clock import Clock
from core.model.errors import FootnoteError, NotFound
from core.model.jobs import Job, JobKind, refresh_item
from core.model.knowledge import conversation_platform, is_link, matching_sources, redact_link
from core.ports.job_store import Every, JobStore, Schedule, ScheduleStore
from core.ports.sources import FileStores
from core.service.kb.chat_changes import ChatChanges
from core.service.kb.commands import MOST_PAGES, Caller, KbCommand, KbVerb
from core.service.kb.item_sources import PlaceWatch
from core.service.kb.job_queue import JobQueue, site_limit
from core.service.kb.proposals import Proposals
from core.service.kb.queries import KnowledgeQueries
from core.service.kb.results import KbResult, ScheduleRemoved, ScheduleSaved
from core.service.kb.summaries import summarize_job, summarize_schedule
from core.service.kb.wording import ADD_AGAIN
from core.service.person_answers import PersonAnswers


@dataclass(frozen=True, slots=True)
class Schedules:
    """Handles SCHEDULE."""

    schedule_store: ScheduleStore
    job_queue: JobQueue
    queries: KnowledgeQueries
    clock: Clock
    stores: FileStores

    async def schedule(self, command: KbCommand, caller: Caller) -> KbResult:
        """SCHEDULE a link, or the document that came from it. A new link is also fetched at once."""
        if command.every not in tuple(Every):
            raise NotFound("How often should I fetch it?", remedy="Choose daily, weekly, on-change or never.")
        base = await self.queries.own_base(command.base, caller, create=True)
        every, link = Every(command.every), command.target.strip()
        known = matching_sources(await self.queries.documents(base), link) if link else ()
        link = known[0].source if len(known) == 1 and "://" not in link else link
        if conversation_platform(link) and not known:
            raise NotFound("That conversation is not in this knowledge base.", remedy="Add it first.")
        schedule = await self.save(link, every, command.limit, base.name, caller)
        if every is Every.NEVER:
            return ScheduleRemoved(base.name, redact_link(link))
        if any(one.source == link for one in known):
            return ScheduleSaved(summarize_schedule(schedule))
        first = KbCommand(KbVerb.INGEST, base.name, link, limit=command.limit)
        job = await self.job_queue.ingest(first, base.name, caller)
        return ScheduleSaved(summarize_schedule(schedule), summarize_job(job))

    async def save(self, link: str, every: Every, limit: int, base: str, caller: Caller) -> Schedule:
        """Save a schedule whose first fetch is one interval from now. Raises NotFound for anything but a link.

        ``limit`` is in pages, at most MOST_PAGES; up to 1 means the link alone. Only file stores can be watched
        (ON_CHANGE).
        """
        chat = bool(conversation_platform(link)) and every is not Every.ON_CHANGE
        if not is_link(link) and not chat and self.stores.refusal(link):
            raise NotFound(
                "I can only fetch links again.", remedy=(f"Enter a link that begins with https://. {ADD_AGAIN}")
            )
        if is_link(link) and every is Every.ON_CHANGE:
            raise NotFound(
                "I can watch buckets and other file stores, but not web pages.", remedy="Choose daily or weekly."
            )
        if is_link(link):
            limit = min(limit, MOST_PAGES) if limit > 1 else 0
        else:
            limit = 0 if chat else site_limit(link, limit)
        due = self.clock.now() + (every.interval or timedelta())
        schedule = Schedule(base, link, every, caller.person, due, limit)
        await self.schedule_store.save_schedule(schedule)
        return schedule

    async def remove(self, base: str, link: str = "") -> None:
        """Remove the schedules of a base, or of this link in it."""
        for schedule in await self.schedule_store.schedules():
            if schedule.base == base and link in ("", schedule.link):
                await self.schedule_store.save_schedule(replace(schedule, every=Every.NEVER))


TRASH_EVERY = timedelta(hours=1)
MOST_JOBS = 1_000  # searched for documents that are about to be written


@dataclass(slots=True)
class Housekeeping:
    """Periodic cleanup; several processes may each run it."""

    trash: Trash
    jobs: JobStore
    clock: Clock
    orphans: OrphanedPassages
    _trash_swept: float = float("-inf")  # in seconds of the monotonic clock

    async def sweep(self) -> None:
        """Run due cleanups: removed documents' copies once an hour, orphaned passages when ``orphans`` is due.

        Raises StoreUnavailable.
        """
        if self.clock.monotonic() - self._trash_swept > TRASH_EVERY.total_seconds():
            self._trash_swept = self.clock.monotonic()
            await self.trash.sweep()
        if self.orphans.due:
            await self.orphans.look(await self._unwritten_documents())

    async def _unwritten_documents(self) -> frozenset[str]:
        """Return the ids of documents that jobs will write; their passages are not orphans."""
        jobs = [job for job in await self.jobs.recent(MOST_JOBS) if not job.over]
        return frozenset(document_id_of(job.base, item.source) for job in jobs for item in job.items)


LOOKS_AT_ONCE = 4  # watched stores checked in parallel: one check may take half a minute

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Scheduler:
    """Runs periodic work for ``JobWorker``.

    ``chat_changes`` is None if no chat is followed, ``enqueue_syncs`` if nothing can
    be connected.
    """

    schedule_store: ScheduleStore
    jobs: JobStore
    job_queue: JobQueue
    proposals: Proposals
    housekeeping: Housekeeping
    clock: Clock
    watch: PlaceWatch
    chat_changes: ChatChanges | None = None
    enqueue_syncs: Callable[[], Awaitable[None]] | None = None
    person_answers: PersonAnswers | None = None

    async def tick(self) -> None:
        """Do what is due. Every process calls this about once a minute. Raises StoreUnavailable.

        It runs scheduled refreshes, changes in chats, approvals and jobs that were not enqueued, and cleanup. Watched
        stores come last, because they may be slow.
        """
        now = self.clock.now()
        due = [schedule for schedule in await self.schedule_store.schedules() if schedule.is_due(now)]
        for schedule in due:
            if schedule.every is not Every.ON_CHANGE:
                await self._refresh(schedule)
        await self.proposals.enqueue_approved()
        await self.job_queue.requeue_orphaned()
        if self.enqueue_syncs is not None:
            await self.enqueue_syncs()
        if self.chat_changes is not None:
            await self.chat_changes.enqueue()
        await self.housekeeping.sweep()
        if self.person_answers is not None:
            await self.person_answers.tick()
        lanes = asyncio.Semaphore(LOOKS_AT_ONCE)
        async with asyncio.TaskGroup() as group:
            for schedule in due:
                if schedule.every is Every.ON_CHANGE:
                    group.create_task(self._look_in_turn(schedule, lanes))

    async def _refresh(self, schedule: Schedule) -> None:
        """Enqueue the refresh of a link. Its job has the same id in every process."""
        marks = f"{schedule.base}\x1f{schedule.link}\x1f{schedule.next_at.isoformat()}"
        await self._accept(hashlib.sha256(marks.encode()).hexdigest()[:12], schedule)
        await self._postpone(schedule, schedule.every.interval or timedelta(days=1))

    async def _look_in_turn(self, schedule: Schedule, lanes: asyncio.Semaphore) -> None:
        async with lanes:
            try:
                await self._look_at(schedule)
            except FootnoteError as error:  # the other stores are still checked
                log.warning("place_not_looked_at", extra={"base": schedule.base, "reason": str(error)})

    async def _look_at(self, schedule: Schedule) -> None:
        """Check a watched store, and enqueue its sync if something is new."""
        await self._postpone(schedule, schedule.every.interval or timedelta(minutes=1))
        if await self._is_under_way(schedule):
            return
        job_id = await self.watch.due_job(schedule, self.clock.now())
        if job_id is not None:
            await self._accept(job_id, schedule)

    async def _postpone(self, schedule: Schedule, interval: timedelta) -> None:
        await self.schedule_store.save_schedule(replace(schedule, next_at=self.clock.now() + interval))

    async def _is_under_way(self, schedule: Schedule) -> bool:
        """Return whether a sync of this store is unfinished; later changes are found by the next check."""
        return any(
            (job.base, job.reference) == (schedule.base, schedule.link) and not job.over
            for job in await self.jobs.recent()
        )

    async def _accept(self, job_id: str, schedule: Schedule) -> None:
        """Enqueue the job of a schedule. Errors are ignored; the next due time tries again."""
        job = Job(
            id=job_id,
            kind=JobKind.SITE if schedule.limit else JobKind.REFRESH,
            base=schedule.base,
            by=schedule.by,
            created_at=self.clock.now(),
            platform=conversation_platform(schedule.link),
            subject=schedule.link,
            reference=schedule.link if schedule.limit else "",
            limit=schedule.limit,
            listed=not schedule.limit,
            items=() if schedule.limit else (refresh_item(schedule.link),),
        )
        with suppress(FootnoteError):
            await self.job_queue.accept(job)
