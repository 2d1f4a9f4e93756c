"""Whether all processes that serve work on the same index and the same files; who does not, refuses to start.

A second index would answer "the documents don't say" to what the first one knows, and a file that one process sets
aside would be gone for the other. Both look like answers, so that they are not left to be noticed.
"""

import asyncio
import logging
import uuid
from contextlib import suppress
from datetime import timedelta

from core.ingestion.originals import STORE_MARK
from core.model.errors import ConfigurationError, StoreUnavailable
from core.ports.catalog import BlobStore
from core.ports.inbox import NamedLeases, ProcessRegistry, ServingProcess
from core.service.leases import pause

LASTING = timedelta(seconds=60)
ANNOUNCE_SECONDS = 15.0
JOINING = "joining"  # the lease under which one process at a time compares itself with the others
JOIN_SECONDS = 30.0

log = logging.getLogger(__name__)


class SharedStores:
    """One process among those that serve."""

    def __init__(
        self, *, name: str, role: str, registry: ProcessRegistry, leases: NamedLeases, blobs: BlobStore
    ) -> None:
        self._name = name
        self._role = role
        self._registry = registry
        self._leases = leases
        self._blobs = blobs
        self._ours: ServingProcess | None = None
        self.joined = asyncio.Event()  # what is open here is what the others work on
        self.refused = ""  # why our latest word to the others was not taken: a store may answer, and take no writes

    async def join(self, index: str) -> None:
        """Be one of those that serve, with the index of this identity.

        Raises ConfigurationError where another one serves with an index or with files that this one does not see.
        """
        lasting = timedelta(seconds=JOIN_SECONDS)
        while not await self._leases.acquire(JOINING, self._name, lasting):  # noqa: ASYNC110 - another process has it
            await asyncio.sleep(0.2)
        try:
            ours = ServingProcess(self._name, self._role, index, await self._files())
            for other in await self._registry.live_processes():
                if other.name != self._name:
                    _compare(ours, other)
            await self._registry.announce(ours, LASTING)
        finally:
            await self._leases.release(JOINING, self._name)
        self._ours = ours
        self.joined.set()

    async def stay(self, stop: asyncio.Event) -> None:
        """Once joined, be known to the others until ``stop`` is set."""
        while not stop.is_set():
            try:
                if self._ours is not None:
                    await self._registry.announce(self._ours, LASTING)
                self.refused = ""
            except StoreUnavailable as error:
                self.refused = str(error)
                log.warning("not_announced", extra={"reason": self.refused})
            await pause(stop, ANNOUNCE_SECONDS)
        with suppress(StoreUnavailable):  # it runs out by itself
            await self._registry.withdraw(self._name)

    async def _files(self) -> str:
        """Return the identity of the store of files, given to it by the one who comes first."""
        found = await self._blobs.read(STORE_MARK)
        if found is None:
            found = uuid.uuid4().hex.encode()
            await self._blobs.keep(STORE_MARK, found)
        return found.decode(errors="replace")


def _compare(ours: ServingProcess, other: ServingProcess) -> None:
    if ours.index != other.index:
        raise ConfigurationError(
            f"The index here is not the one that {other.name} answers from.",
            remedy="Set MILVUS_URI to the same server for every process; the embedded index is one machine's.",
        )
    if ours.files != other.files:
        raise ConfigurationError(
            f"The files here are not those that {other.name} sets aside and reads.",
            remedy="Set BLOB_STORE_URL to the same place for every process, or share FOOTNOTE_HOME among them.",
        )
