"""The clock: what is due is put in line, once, however many processes look at the clock."""

import asyncio
import hashlib
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta

from core.model.clock import Clock
from core.model.errors import FootnoteError
from core.model.jobs import ItemKind, Job, JobItem, JobKind
from core.ports.job_store import JobStore
from core.ports.schedule_store import Every, Schedule, ScheduleStore
from core.service.kb.housekeeping import Housekeeping
from core.service.kb.job_queue import JobQueue
from core.service.kb.place_watch import PlaceWatch
from core.service.kb.proposals import Proposals

LOOKS_AT_ONCE = 4  # at places that are watched: a look may take half a minute

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Scheduler:
    """Looks at the clock for ``JobWorker``.

    ``watch`` is None where no place is watched, ``enqueue_syncs`` where nothing can be connected.
    """

    schedule_store: ScheduleStore
    jobs: JobStore
    job_queue: JobQueue
    proposals: Proposals
    housekeeping: Housekeeping
    clock: Clock
    watch: PlaceWatch | None = None
    enqueue_syncs: Callable[[], Awaitable[None]] | None = None

    async def tick(self) -> None:
        """Do what is due, to be called about once a minute in every process. Raises StoreUnavailable.

        Scheduled refreshes; approvals and jobs that were kept and did not get into the line; what housekeeping is due.
        Places that are watched come last, for a place may take its time.
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
        await self.housekeeping.sweep()
        lanes = asyncio.Semaphore(LOOKS_AT_ONCE)
        async with asyncio.TaskGroup() as group:
            for schedule in due:
                if schedule.every is Every.ON_CHANGE:
                    group.create_task(self._look_in_turn(schedule, lanes))

    async def _refresh(self, schedule: Schedule) -> None:
        """Put the refresh of a link in line; its job has the same id in every process."""
        marks = f"{schedule.base}\x1f{schedule.link}\x1f{schedule.next_at.isoformat()}"
        await self._accept(hashlib.sha256(marks.encode()).hexdigest()[:12], schedule)
        await self._postpone(schedule, schedule.every.interval or timedelta(days=1))

    async def _look_in_turn(self, schedule: Schedule, lanes: asyncio.Semaphore) -> None:
        async with lanes:
            try:
                await self._look_at(schedule)
            except FootnoteError as error:  # the other places are looked at all the same
                log.warning("place_not_looked_at", extra={"base": schedule.base, "reason": str(error)})

    async def _look_at(self, schedule: Schedule) -> None:
        """Look at a place that is watched, and put its sync in line where something is new."""
        await self._postpone(schedule, schedule.every.interval or timedelta(minutes=1))
        if self.watch is None or await self._is_under_way(schedule):
            return
        job_id = await self.watch.due_job(schedule, self.clock.now())
        if job_id is not None:
            await self._accept(job_id, schedule)

    async def _postpone(self, schedule: Schedule, interval: timedelta) -> None:
        await self.schedule_store.save_schedule(replace(schedule, next_at=self.clock.now() + interval))

    async def _is_under_way(self, schedule: Schedule) -> bool:
        """Whether a sync of this place has not ended yet: what came since it began is seen a look later."""
        return any(
            (job.base, job.reference) == (schedule.base, schedule.link) and not job.over
            for job in await self.jobs.recent()
        )

    async def _accept(self, job_id: str, schedule: Schedule) -> None:
        """Put the job of a schedule in line; what is in the way now is not in the way at its next time."""
        job = Job(
            id=job_id,
            kind=JobKind.SITE if schedule.limit else JobKind.REFRESH,
            base=schedule.base,
            by=schedule.by,
            created_at=self.clock.now(),
            subject=schedule.link,
            reference=schedule.link if schedule.limit else "",
            limit=schedule.limit,
            listed=not schedule.limit,
            items=() if schedule.limit else (JobItem(ItemKind.LINK, schedule.link, schedule.link),),
        )
        with suppress(FootnoteError):
            await self.job_queue.accept(job)
