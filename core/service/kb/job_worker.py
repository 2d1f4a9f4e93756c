"""A process's share of the jobs: some lanes that lease them one turn at a time, and the clock that makes others due."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress

from core.model.errors import Busy, FootnoteError, StoreUnavailable
from core.ports.inbox import Inbox, Lease
from core.service.kb.job_queue import job_delivery
from core.service.kb.job_runner import JobRunner
from core.service.leases import HandBack, pause, work_off

TICK_SECONDS = 60.0
HAND_BACK_SECONDS = 1.0  # before a job of a platform that is not connected here is offered to others

log = logging.getLogger(__name__)


class JobWorker:
    """A few lanes over the jobs' inbox, and the clock that makes scheduled refreshes due."""

    def __init__(
        self, *, name: str, inbox: Inbox, runner: JobRunner, tick: Callable[[], Awaitable[None]], lanes: int = 2
    ) -> None:
        """Work under this name; ``tick`` is called about once a minute."""
        self._name = name
        self._inbox = inbox
        self._runner = runner
        self._tick = tick
        self._lanes = lanes
        self.away: StoreUnavailable | None = None  # what kept the latest turn from its end: it is tried again, later

    async def run(self, stop: asyncio.Event) -> None:
        """Work until ``stop`` is set, then finish what is under way. Cancelled, it hands back what is not finished."""
        async with asyncio.TaskGroup() as group:
            for lane in range(self._lanes):
                group.create_task(work_off(self._inbox, self.handle, f"{self._name}-job-{lane}", stop))
            group.create_task(self._keep_time(stop))

    async def handle(self, lease: Lease) -> None:
        """One turn of one job. Raises LeaseLost and StoreUnavailable."""

        async def guard() -> None:
            await self._inbox.renew(lease)

        if not await self._runner.is_ours(lease.delivery.body):
            await asyncio.sleep(HAND_BACK_SECONDS)
            raise HandBack
        try:
            while (job := await self._runner.work(lease.delivery.body, guard)) is not None:
                if job.over:
                    return
                with suppress(Busy):  # too much is waiting to stand in line again: go on at once
                    await self._inbox.put(job_delivery(job))
                    return
        except StoreUnavailable as error:
            self.away = error
            raise

    async def _keep_time(self, stop: asyncio.Event) -> None:
        while not stop.is_set():
            try:
                await self._tick()
            except FootnoteError as error:
                log.warning("schedule_failed", extra={"reason": str(error)})
            except Exception:
                log.exception("schedule_failed")
            await pause(stop, TICK_SECONDS)
