"""Startup check: every serving process must share one index and one blob store, or refuse to start.

With a second index, a process would answer "the documents don't say" to what the first one knows. With a second blob
store, spooled files of one process would be missing in the other. Both errors look like normal answers, so nobody would
notice them.
"""

import asyncio
import logging
import uuid
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta

from core.ingestion.originals import STORE_MARK
from core.model.errors import ConfigurationError, StoreUnavailable
from core.ports.catalog import BlobStore
from core.ports.inbox import NamedLeases, ProcessRegistry, ServingProcess
from core.service.leases import pause

LASTING = timedelta(seconds=60)
ANNOUNCE_SECONDS = 15.0
JOINING = "joining"  # the lease that lets one process at a time compare itself with the others
JOIN_SECONDS = 30.0

log = logging.getLogger(__name__)


@dataclass(slots=True, kw_only=True)
class SharedStores:
    """One of the serving processes."""

    name: str
    role: str
    registry: ProcessRegistry
    leases: NamedLeases
    blobs: BlobStore
    joined: asyncio.Event = field(default_factory=asyncio.Event)  # this process has the same stores as the others
    refused: str = ""  # why our latest announcement failed: a store may answer but reject writes
    _ours: ServingProcess | None = None

    async def join(self, index: str) -> None:
        """Join the serving processes with the index of this identity.

        Raises ConfigurationError if another one serves with an index or files that this one does not see.
        """
        lasting = timedelta(seconds=JOIN_SECONDS)
        while not await self.leases.acquire(JOINING, self.name, lasting):  # noqa: ASYNC110 - another process has it
            await asyncio.sleep(0.2)
        try:
            ours = ServingProcess(self.name, self.role, index, await self._files())
            for other in await self.registry.live_processes():
                if other.name != self.name:
                    _compare(ours, other)
            await self.registry.announce(ours, LASTING)
        finally:
            await self.leases.release(JOINING, self.name)
        self._ours = ours
        self.joined.set()

    async def stay(self, stop: asyncio.Event) -> None:
        """Announce this process, once joined, until ``stop`` is set."""
        while not stop.is_set():
            try:
                if self._ours is not None:
                    await self.registry.announce(self._ours, LASTING)
                self.refused = ""
            except StoreUnavailable as error:
                self.refused = str(error)
                log.warning("not_announced", extra={"reason": self.refused})
            await pause(stop, ANNOUNCE_SECONDS)
        with suppress(StoreUnavailable):  # the announcement expires by itself
            await self.registry.withdraw(self.name)

    async def _files(self) -> str:
        """Return the identity of the blob store, which the first process creates."""
        found = await self.blobs.read(STORE_MARK)
        if found is None:
            found = uuid.uuid4().hex.encode()
            await self.blobs.keep(STORE_MARK, found)
        return found.decode(errors="replace")


def _compare(ours: ServingProcess, other: ServingProcess) -> None:
    if ours.index != other.index:
        raise ConfigurationError(
            f"This process and {other.name} use different indexes.",
            remedy="Set MILVUS_URI to the same server for every process. The embedded index works on one machine only.",
        )
    if ours.files != other.files:
        raise ConfigurationError(
            f"This process and {other.name} use different file stores.",
            remedy="Set BLOB_STORE_URL to the same place for every process, or share FOOTNOTE_HOME among them.",
        )
