"""Work of one process: lanes over the inboxes of messages and jobs, and periodic tasks."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass

from core.model.clock import Clock
from core.model.errors import Busy, StoreUnavailable
from core.model.incoming_events import Expiry
from core.model.records import CheckpointState
from core.ports.inbox import Inbox, Lease
from core.service.incoming import delivery
from core.service.kb.job_queue import job_delivery
from core.service.kb.job_runner import JobRunner
from core.service.leases import HandBack, repeat, work_off
from core.service.message_handler import MessageHandler

EXPIRY_SECONDS = 5.0
TICK_SECONDS = 60.0
HAND_BACK_SECONDS = 1.0  # before a job of a platform not connected here is handed back


@dataclass(slots=True, kw_only=True)
class Worker:
    """A bounded number of ``lanes`` over one inbox. Several processes may each run one."""

    name: str
    inbox: Inbox
    message_handler: MessageHandler
    clock: Clock
    lanes: int = 8

    async def run(self, stop: asyncio.Event) -> None:
        """Work until ``stop`` is set, then finish work in progress. If cancelled, hand back what is unfinished."""
        async with asyncio.TaskGroup() as group:
            for lane in range(self.lanes):
                group.create_task(work_off(self.inbox, self._handle, f"{self.name}-{lane}", stop))
            group.create_task(repeat(self._put_expired, EXPIRY_SECONDS, stop, "expiry_failed"))

    async def _handle(self, lease: Lease) -> None:
        with self.message_handler.metrics.track_work():
            await self.message_handler.handle(lease)

    async def _put_expired(self) -> None:
        """Put expired checkpoints into the inbox, so that exactly one worker handles each."""
        for checkpoint_id in await self.message_handler.checkpoints.due(self.clock.now()):
            parked = await self.message_handler.checkpoints.read(checkpoint_id)
            if parked is None or parked.checkpoint.thread.platform not in self.message_handler.platforms:
                continue
            card = CheckpointState(thread=parked.checkpoint.thread, checkpoint=checkpoint_id)
            kept = await self.message_handler.message_states.read(card)
            if kept is not None and kept.question is not None:
                await self.inbox.put(delivery(f"expiry:{checkpoint_id}", Expiry(checkpoint_id, kept.question)))


@dataclass(slots=True, kw_only=True)
class JobWorker:
    """A few lanes over the jobs' inbox, and a ``tick`` about once a minute for scheduled refreshes."""

    name: str
    inbox: Inbox
    runner: JobRunner
    tick: Callable[[], Awaitable[None]]
    lanes: int = 2
    away: StoreUnavailable | None = None  # the error that stopped the latest turn, which is retried later

    async def run(self, stop: asyncio.Event) -> None:
        """Work until ``stop`` is set, then finish work in progress. If cancelled, hand back what is unfinished."""
        async with asyncio.TaskGroup() as group:
            for lane in range(self.lanes):
                group.create_task(work_off(self.inbox, self.handle, f"{self.name}-job-{lane}", stop))
            group.create_task(repeat(self.tick, TICK_SECONDS, stop, "schedule_failed"))

    async def handle(self, lease: Lease) -> None:
        """Run one turn of one job. Raises LeaseLost and StoreUnavailable."""

        async def guard() -> None:
            await self.inbox.renew(lease)

        if not await self.runner.is_ours(lease.delivery.body):
            await asyncio.sleep(HAND_BACK_SECONDS)
            raise HandBack
        try:
            while (job := await self.runner.work(lease.delivery.body, guard)) is not None:
                if job.over:
                    return
                with suppress(Busy):  # the queue is full: go on at once
                    await self.inbox.put(job_delivery(job))
                    return
        except StoreUnavailable as error:
            self.away = error
            raise
