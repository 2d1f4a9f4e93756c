"""Places where files are kept: buckets, servers, repositories, folders."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class StoredFile:
    """One file in such a place.

    Attributes:
        address: where it is, and what it is called as a source: 's3://handbook/travel/hotels.md'.
        name: its file name.
        version: changes when the file does: an etag, a hash, or its time and size.
        url: where a person can look at it, when there is such a link.
    """

    address: str
    name: str
    version: str
    url: str | None = None


class FileStores(Protocol):
    """Lists and reads files in the places that this installation allows."""

    def refusal(self, address: str) -> str | None:
        """Why this is no address of such a place, or of none that is allowed; None when it may be read."""

    def files(self, address: str, *, limit: int) -> AsyncIterator[StoredFile]:
        """The files at and below an address, at most so many, in the order of their names.

        Raises FetchRefused, ``PageGone`` where there is nothing.
        """

    async def read(self, address: str, *, version: str = "") -> tuple[StoredFile, bytes] | None:
        """A file and its bytes; None when it is still of the version given. Raises FetchRefused, ``PageGone``."""
