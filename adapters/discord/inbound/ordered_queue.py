"""From Discord's events to the inbox, in order.

The gateway repeats nothing by itself, so what we have heard is kept here, within bounds, until the store has it,
however long that takes; what a resumed connection repeats is known by its id.
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
PAUSES = (0.2, 0.5, 1.0, 2.0, 5.0)  # seconds between tries

log = structlog.get_logger(__name__)

Job = Callable[[], Awaitable[None]]
Tell = Callable[[str], Awaitable[None]]


class OrderedQueue:
    """One line, worked off by one task: so the order in which things were said is the order in which they are kept."""

    def __init__(self, inbox: Inbox) -> None:
        self._inbox = inbox
        self._line: asyncio.Queue[Job] = asyncio.Queue(MOST_WAITING)

    def add(self, job: Job) -> bool:
        """Take something up, in its turn; False when too much is waiting already."""
        try:
            self._line.put_nowait(job)
        except asyncio.QueueFull:
            log.warning("heard_too_much", waiting=self._line.qsize())
            return False
        return True

    async def run(self) -> None:
        """Work the line off, until cancelled."""
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

    async def drain(self, seconds: float = 5.0) -> None:
        """Wait until nothing is left in line, but not for long."""
        try:
            async with asyncio.timeout(seconds):
                await self._line.join()
        except TimeoutError:
            log.warning("left_in_line", waiting=self._line.qsize())

    async def put(self, delivery_id: str, incoming: Incoming, busy: Tell | None = None) -> None:
        """Keep one thing. Raises StoreUnavailable; ``busy`` says to the person that they have too many waiting."""
        try:
            await self._inbox.put(delivery(delivery_id, incoming))
        except Busy as error:
            if busy is not None:
                await busy(str(error))

    async def _until_done(self, job: Job) -> None:
        """Do it; while the store is away, try again. What is behind it waits, since the order matters."""
        for pause in chain(PAUSES, repeat(PAUSES[-1])):
            try:
                await job()
            except StoreUnavailable as error:
                log.warning("store_away", reason=str(error), waiting=self._line.qsize())
                await asyncio.sleep(pause)
            else:
                return
