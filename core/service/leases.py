"""Leases: process a delivery while renewing its lease, and run leader-only work in one process at a time."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import timedelta

from core.model.errors import FootnoteError, LeaseLost, StoreUnavailable, Unavailable
from core.ports.inbox import Inbox, Lease, NamedLeases

RENEW_SECONDS = 10.0
TAKE_SECONDS = 1.0
RETRY_SECONDS = 2.0  # pause while the store is unavailable
REPEAT_SECONDS = 60.0  # after which the same problem is logged again


class _OncePerMinute(logging.Filter):
    """Logs the same problem once a minute, because every lane meets the same failing store every two seconds."""

    def __init__(self) -> None:
        super().__init__()
        self._logged: dict[tuple[str, str], float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        reason = getattr(record, "reason", None)
        if reason is None:
            return True
        trouble, now = (record.msg, reason), record.created
        self._logged = {one: at for one, at in self._logged.items() if now - at < REPEAT_SECONDS}
        if trouble in self._logged:
            return False
        self._logged[trouble] = now
        return True


log = logging.getLogger(__name__)
log.addFilter(_OncePerMinute())

Handle = Callable[[Lease], Awaitable[None]]


class HandBack(Exception):
    """Raised by a handler that cannot handle this delivery, so that another worker may."""


async def work_off(inbox: Inbox, handle: Handle, name: str, stop: asyncio.Event) -> None:
    """Run one lane: take deliveries and handle them one by one, until ``stop`` is set."""
    while not stop.is_set():
        try:
            lease = await inbox.take(name, timedelta(seconds=TAKE_SECONDS))
            if lease is not None:
                await hold(inbox, handle, lease)
        except Unavailable as error:  # the store, or the platform during an answer: retry
            log.warning("away", extra={"reason": str(error)})
            await pause(stop, RETRY_SECONDS)
        except Exception:  # no error of one delivery may end a lane
            log.exception("lane_failed", extra={"lane": name})
            await pause(stop, RETRY_SECONDS)


async def hold(inbox: Inbox, handle: Handle, lease: Lease) -> None:
    """Handle one delivery while renewing its lease, then complete it or hand it back.

    After any other failure the lease is kept until it expires, which is the pause before the retry.
    """
    work = asyncio.ensure_future(handle(lease))
    renewing = asyncio.create_task(_renew(inbox, lease, work))
    try:
        await asyncio.wait({work})
        if work.cancelled():  # the renewal found that another worker holds the lease
            return
        work.result()
        await inbox.complete(lease)
    except HandBack:
        await inbox.hand_back(lease)
    except LeaseLost:
        log.warning("lease_lost", extra={"delivery": lease.delivery.id})
    except Unavailable:
        raise
    except Exception:
        with suppress(FootnoteError):
            await inbox.begin(lease)  # count it as a run, so that retries end
        raise
    except asyncio.CancelledError:
        work.cancel()
        with suppress(asyncio.CancelledError, Exception):
            await work
        with suppress(FootnoteError):
            await inbox.hand_back(lease)
        raise
    finally:
        renewing.cancel()


async def _renew(inbox: Inbox, lease: Lease, work: "asyncio.Future[None]") -> None:
    while not work.done():
        await asyncio.sleep(RENEW_SECONDS)
        try:
            await inbox.renew(lease)
        except LeaseLost:
            work.cancel()
            return
        except StoreUnavailable as error:
            log.warning("renewal_failed", extra={"reason": str(error)})


async def repeat(act: Callable[[], Awaitable[object]], seconds: float, stop: asyncio.Event, failed: str) -> None:
    """Run ``act`` at once and every so many seconds until ``stop`` is set; log failures as the event ``failed``."""
    while not stop.is_set():
        try:
            await act()
        except FootnoteError as error:
            log.warning(failed, extra={"reason": str(error)})
        except Exception:
            log.exception(failed)
        await pause(stop, seconds)


async def pause(stop: asyncio.Event, seconds: float) -> None:
    """Wait for these seconds, or until ``stop`` is set."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):  # not wait_for, which on 3.11 can swallow a cancellation
            await stop.wait()


LASTING = timedelta(seconds=15)  # a restarted bot waits at most this long
RENEWALS = 4  # for each lease: three may fail before it is lost


class LeaderLease:
    """The exclusive right to do one thing among all processes. This one is for work that no other process can do."""

    async def wait_until_leader(self) -> None:
        """Wait until we hold the lease."""

    async def renew_until_lost(self) -> None:
        """Renew the lease until it is lost. The work under it must end when this returns."""
        await asyncio.Event().wait()

    async def release(self) -> None:
        """Release the lease at once."""


class NamedLeaderLease(LeaderLease):
    """A lease by name. When a leader dies, another takes over after the lease expires."""

    def __init__(self, leases: NamedLeases, name: str, holder: str, *, lasting: timedelta = LASTING) -> None:
        self._leases = leases
        self._name = name
        self._holder = holder
        self._lasting = lasting
        self._pause = lasting.total_seconds() / RENEWALS

    async def wait_until_leader(self) -> None:
        """Wait until we hold the lease. While the store is unavailable, nobody becomes the leader."""
        waiting = False
        while not await self._acquire():
            if not waiting:
                log.info("waiting_to_lead", extra={"lease": self._name})
            waiting = True
            await asyncio.sleep(self._pause)
        log.info("leading_began", extra={"lease": self._name})

    async def renew_until_lost(self) -> None:
        """Renew until another holds the lease, or until its state is unknown for too long."""
        loop = asyncio.get_running_loop()
        until = loop.time() + self._lasting.total_seconds() - self._pause
        while loop.time() < until:
            await asyncio.sleep(self._pause)
            asked = loop.time()
            try:
                if not await self._leases.acquire(self._name, self._holder, self._lasting):
                    break
            except StoreUnavailable as error:
                log.warning("leader_lease_not_renewed", extra={"lease": self._name, "reason": str(error)})
                continue
            until = asked + self._lasting.total_seconds() - self._pause
        log.warning("leader_lease_lost", extra={"lease": self._name})

    async def release(self) -> None:
        """Release the lease at once. If the store is unavailable, it expires by itself."""
        with suppress(FootnoteError):
            await self._leases.release(self._name, self._holder)

    async def _acquire(self) -> bool:
        try:
            return await self._leases.acquire(self._name, self._holder, self._lasting)
        except StoreUnavailable as error:
            log.warning("leader_lease_unknown", extra={"lease": self._name, "reason": str(error)})
            return False


class NeverLeader(LeaderLease):
    """The lease for work that other processes do."""

    async def wait_until_leader(self) -> None:
        """Wait forever."""
        await asyncio.Event().wait()
