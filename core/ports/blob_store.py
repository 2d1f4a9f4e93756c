"""Where bytes are set aside: what waits to be read, copies of what was removed, and what documents were made of."""

from collections.abc import AsyncIterator, Collection, Mapping
from datetime import timedelta
from typing import Protocol


class BlobStore(Protocol):
    """Keeps bytes by name."""

    async def keep(self, name: str, data: bytes) -> None:
        """Keep them durably. Raises DocumentRejected when there is no room."""

    async def read(self, name: str) -> bytes | None:
        """The bytes; None when they are not there (any more)."""

    async def sizes(self, names: Collection[str]) -> Mapping[str, int]:
        """Of each of these names that is there, how many bytes; what they hold is not read."""

    async def forget(self, name: str) -> None:
        """Remove them, if they are there."""

    async def sweep(self, older_than: timedelta, *, sparing: Collection[str] = ()) -> int:
        """Remove everything that was kept longer ago, but for what these names name; how many."""

    def entries(self) -> AsyncIterator[tuple[str, bytes]]:
        """Everything that is kept: (the store's own name for it, the bytes)."""

    async def keep_entry(self, entry: str, data: bytes) -> None:
        """Keep what ``entries`` of another store gave. Raises DocumentRejected as ``keep`` does."""
