"""Works off the inbox: takes a delivery, holds and renews its thread's lease, hands it to the desk, marks it done."""

import asyncio
from contextlib import suppress
from datetime import timedelta

import structlog

from adapters import metrics
from adapters.desk import Desk, kept_message
from adapters.incoming import Expiry, delivery
from core.errors import FootnoteError, LeaseLost, StoreUnavailable
from core.ports import Clock, Inbox, Lease

RENEW_SECONDS = 10.0
TAKE_SECONDS = 1.0
RETRY_SECONDS = 2.0  # pause while the store is away
EXPIRY_SECONDS = 5.0

log = structlog.get_logger(__name__)


class Worker:
    """A bounded number of lanes over one inbox. Several processes may each run one."""

    def __init__(self, *, name: str, inbox: Inbox, desk: Desk, clock: Clock, lanes: int = 8) -> None:
        """Work under this name, on this many deliveries at once."""
        self._name = name
        self._inbox = inbox
        self._desk = desk
        self._clock = clock
        self._lanes = lanes

    async def run(self, stop: asyncio.Event) -> None:
        """Work until ``stop`` is set, then finish what is under way. Cancelled, it hands back what is not finished."""
        async with asyncio.TaskGroup() as group:
            for lane in range(self._lanes):
                group.create_task(self._lane(f"{self._name}-{lane}", stop))
            group.create_task(self._expire(stop))

    async def _lane(self, name: str, stop: asyncio.Event) -> None:
        while not stop.is_set():
            try:
                lease = await self._inbox.take(name, timedelta(seconds=TAKE_SECONDS))
                if lease is not None:
                    with metrics.IN_WORK.track_inprogress():
                        await self._hold(lease)
            except StoreUnavailable as error:
                log.warning("store_away", reason=str(error))
                await _pause(stop, RETRY_SECONDS)

    async def _hold(self, lease: Lease) -> None:
        """Work on one delivery while its lease is renewed, then mark it done; or give it back."""
        work = asyncio.create_task(self._desk.handle(lease))
        renewing = asyncio.create_task(self._renew(lease, work))
        try:
            await asyncio.wait({work})
            if work.cancelled():  # the renewal found that another worker holds the thread
                return
            work.result()
            await self._inbox.done(lease)
        except LeaseLost:
            log.warning("lease_lost", delivery=lease.delivery.id)
        except asyncio.CancelledError:
            work.cancel()
            with suppress(asyncio.CancelledError, FootnoteError):
                await work
            with suppress(FootnoteError):
                await self._inbox.hand_back(lease)
            raise
        finally:
            renewing.cancel()

    async def _renew(self, lease: Lease, work: asyncio.Task[None]) -> None:
        while not work.done():
            await asyncio.sleep(RENEW_SECONDS)
            try:
                await self._inbox.renew(lease)
            except LeaseLost:
                work.cancel()
                return
            except StoreUnavailable as error:
                log.warning("renewal_failed", reason=str(error))

    async def _expire(self, stop: asyncio.Event) -> None:
        """Put checkpoints whose time is over into the inbox, so that exactly one worker answers each."""
        while not stop.is_set():
            await _pause(stop, EXPIRY_SECONDS)
            try:
                await self._put_expired()
            except FootnoteError as error:
                log.warning("expiry_failed", reason=str(error))

    async def _put_expired(self) -> None:
        for checkpoint_id in await self._desk.checkpoints.due(self._clock.now()):
            parked = await self._desk.checkpoints.read(checkpoint_id)
            if parked is None or parked.checkpoint.thread.platform not in self._desk.platforms:
                continue
            thread = str(parked.checkpoint.thread)
            kept = await self._desk.postings.read(thread, f"checkpoint:{checkpoint_id}")
            if "question" in kept:
                expiry = Expiry(checkpoint_id, kept_message(kept["question"]))
                await self._inbox.put(delivery(f"expiry:{checkpoint_id}", expiry))


async def _pause(stop: asyncio.Event, seconds: float) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):  # not wait_for, which on 3.11 can swallow a cancellation
            await stop.wait()
