"""Ordered queue from Discord's events to the inbox.

The gateway does not redeliver. So events wait here, up to a bound, until the store accepts them, however long that
takes. Events that a resumed connection repeats are recognized by their ids.
"""

import asyncio
from collections.abc import Awaitable, Callable
from itertools import chain, repeat

import structlog

from core.model.errors import Busy, FootnoteError, StoreUnavailable
from core.model.incoming_events import Incoming
from core.ports.inbox import Inbox
from core.service.incoming import delivery

MOST_WAITING = 2_000
DRAIN_SECONDS = 5.0
PAUSES = (0.2, 0.5, 1.0, 2.0, 5.0)  # seconds between tries

log = structlog.get_logger(__name__)

Job = Callable[[], Awaitable[None]]
Tell = Callable[[str], Awaitable[None]]


class OrderedQueue:
    """One queue with one worker task, so that events are stored in the order of arrival."""

    def __init__(self, inbox: Inbox) -> None:
        self._inbox = inbox
        self._line: asyncio.Queue[Job] = asyncio.Queue(MOST_WAITING)

    def add(self, job: Job) -> bool:
        """Add a job. Return False if the queue is full."""
        try:
            self._line.put_nowait(job)
        except asyncio.QueueFull:
            log.warning("heard_too_much", waiting=self._line.qsize())
            return False
        return True

    async def run(self) -> None:
        """Process jobs until cancelled."""
        while True:
            job = await self._line.get()
            try:
                await self._until_done(job)
            except FootnoteError as error:
                log.warning("not_taken_up", reason=str(error))
            except Exception:
                log.exception("not_taken_up")
            finally:
                self._line.task_done()

    async def drain(self) -> None:
        """Wait until the queue is empty, but at most for DRAIN_SECONDS."""
        try:
            async with asyncio.timeout(DRAIN_SECONDS):
                await self._line.join()
        except TimeoutError:
            log.warning("left_in_line", waiting=self._line.qsize())

    async def put(self, delivery_id: str, incoming: Incoming, busy: Tell | None = None) -> None:
        """Store one delivery. Raises StoreUnavailable. ``busy`` tells a person that too many questions wait."""
        try:
            await self._inbox.put(delivery(delivery_id, incoming))
        except Busy as error:
            if busy is not None:
                await busy(str(error))

    async def _until_done(self, job: Job) -> None:
        """Run the job, and retry while the store is unavailable. Later jobs wait, because the order matters."""
        for pause in chain(PAUSES, repeat(PAUSES[-1])):
            try:
                await job()
            except StoreUnavailable as error:
                log.warning("store_away", reason=str(error), waiting=self._line.qsize())
                await asyncio.sleep(pause)
            else:
                return
