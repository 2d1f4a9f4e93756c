"""Stores of documents: the catalog, bytes by name, and copies of removed documents."""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from core.model.knowledge import Document, KnowledgeBase


class Catalog(Protocol):
    """The catalog of bases, documents, and the visible version of each document.

    Only ``publish`` makes a new version visible. A search drops hits of any other version.
    """

    async def bases(self) -> Sequence[KnowledgeBase]:
        """Return all bases, by name."""

    async def save_base(self, base: KnowledgeBase) -> None:
        """Create or replace a base's description and grants."""

    async def remove_base(self, name: str) -> None:
        """Delete a base and the entries of its documents."""

    async def documents(self, bases: frozenset[str]) -> Sequence[Document]:
        """Return the documents of these bases, by base and title."""

    async def document(self, document_id: str) -> Document | None:
        """Return one document in its visible version."""

    async def publish(self, document: Document) -> Document | None:
        """Make this version the visible one, in one step. Return the document that it replaced."""

    async def republish(self, document: Document) -> bool:
        """Replace a document's entry for its visible version; False if another version is visible."""

    async def withdraw(self, document_id: str) -> Document | None:
        """Make a document invisible at once. Return what it was."""

    async def visible_versions(self, document_ids: Sequence[str]) -> Mapping[str, str]:
        """Return the visible version of each of these documents; invisible ones are absent."""

    async def changes(self) -> int:
        """Return how often the methods above have ever changed bases and documents.

        The number is written in the same step as the change. So a store that lost its last writes has a smaller number.
        """

    async def count_change(self, at_least: int = 0) -> int:
        """Count a change made elsewhere in the same store. Return the new number, which is at least ``at_least``."""

    async def index_identity(self) -> str:
        """Return the index that has these documents' passages (``Index.identity``); empty if none was recorded."""

    async def remember_index(self, identity: str) -> None:
        """Record that the passages are in this index."""


class BlobStore(Protocol):
    """Keeps bytes by name."""

    async def keep(self, name: str, data: bytes) -> None:
        """Save bytes durably. Raises DocumentRejected if there is no room."""

    async def read(self, name: str) -> bytes | None:
        """Return the bytes; None if there are none (any more)."""

    async def sizes(self, names: Collection[str]) -> Mapping[str, int]:
        """Return the size in bytes of each of these names that exists, without reading contents."""

    async def forget(self, name: str) -> None:
        """Delete the bytes, if they exist."""

    async def sweep(self, older_than: timedelta, *, sparing: Collection[str] = ()) -> int:
        """Delete everything older than this, except the names in ``sparing``. Return how many were deleted."""

    def entries(self) -> AsyncIterator[tuple[str, bytes]]:
        """Yield every entry: (the store's own name for it, the bytes)."""

    async def keep_entry(self, entry: str, data: bytes) -> None:
        """Save an entry that ``entries`` of another store yielded. Raises DocumentRejected like ``keep``."""


@dataclass(frozen=True, slots=True)
class RemovedDocument:
    """A removed document and its base. ``kept`` names the saved copy.

    ``replaced``: an ingest replaced this version by a newer one of the same document.
    """

    document: Document
    base: KnowledgeBase
    at: datetime
    by: str
    kept: str
    whole_base: bool = False
    replaced: bool = False

    @property
    def key(self) -> str:
        """Its key. A document is removed only once, but several of its versions may be replaced."""
        return f"{self.document.id}:{self.document.version}" if self.replaced else self.document.id


class TrashStore(Protocol):
    """Store of removals by key. Raises StoreUnavailable."""

    async def keep_removal(self, removed: RemovedDocument) -> None:
        """Save a removal, replacing an earlier one with the same key."""

    async def removals(self) -> Sequence[RemovedDocument]:
        """Return all removals, the latest first."""

    async def removal(self, document_id: str) -> RemovedDocument | None:
        """Return the removal of this document. Replaced versions do not count."""

    async def forget_removal(self, key: str) -> None:
        """Delete a removal that was restored or is too old. Does nothing if it is unknown."""
