"""The lease of a process that is alone."""

import asyncio

from core.service.leases import LeaderLease


class AlwaysLeader(LeaderLease):
    """The lease for work that no other process can do."""

    async def wait_until_leader(self) -> None:
        """Return at once."""

    async def renew_until_lost(self) -> None:
        """Wait forever."""
        await asyncio.Event().wait()

    async def release(self) -> None:
        """Do nothing."""
