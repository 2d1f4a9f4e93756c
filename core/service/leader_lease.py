"""Doing what only one process at a time may do: the others wait, and take over when its lease ends."""

import asyncio
import logging
from contextlib import suppress
from datetime import timedelta
from typing import Protocol

from core.model.errors import FootnoteError, StoreUnavailable
from core.ports.named_leases import NamedLeases

LASTING = timedelta(seconds=15)  # a bot that was killed and started again waits that long at most
RENEWALS = 4  # in one lease: three may fail before it is given up

log = logging.getLogger(__name__)


class LeaderLease(Protocol):
    """The right to do one thing that no other process does meanwhile."""

    async def wait_until_leader(self) -> None:
        """Returns when it is ours."""

    async def renew_until_lost(self) -> None:
        """Keeps it, for as long as it can be kept: what is done under it has to end when this returns."""

    async def release(self) -> None:
        """Let another have it at once."""


class NamedLeaderLease(LeaderLease):
    """A lease by its name. A leader that dies is followed when its lease has run out."""

    def __init__(self, leases: NamedLeases, name: str, holder: str, *, lasting: timedelta = LASTING) -> None:
        self._leases = leases
        self._name = name
        self._holder = holder
        self._lasting = lasting
        self._pause = lasting.total_seconds() / RENEWALS

    async def wait_until_leader(self) -> None:
        """Returns when it is ours; with the store away, nobody becomes the leader."""
        waiting = False
        while not await self._acquire():
            if not waiting:
                log.info("waiting_to_lead", extra={"lease": self._name})
            waiting = True
            await asyncio.sleep(self._pause)
        log.info("leading_began", extra={"lease": self._name})

    async def renew_until_lost(self) -> None:
        """Keeps it until another has it, or until it can no longer be known that none has."""
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
        """Let another have it at once; with the store away it runs out by itself."""
        with suppress(FootnoteError):
            await self._leases.release(self._name, self._holder)

    async def _acquire(self) -> bool:
        try:
            return await self._leases.acquire(self._name, self._holder, self._lasting)
        except StoreUnavailable as error:
            log.warning("leader_lease_unknown", extra={"lease": self._name, "reason": str(error)})
            return False


class AlwaysLeader(LeaderLease):
    """Where nobody else could do it."""

    async def wait_until_leader(self) -> None:
        """At once."""

    async def renew_until_lost(self) -> None:
        """For ever."""
        await asyncio.Event().wait()

    async def release(self) -> None:
        """Nothing is held."""


class NeverLeader(LeaderLease):
    """Where others do it."""

    async def wait_until_leader(self) -> None:
        """For ever."""
        await asyncio.Event().wait()

    async def renew_until_lost(self) -> None:
        """Not at all."""

    async def release(self) -> None:
        """Nothing is held."""
