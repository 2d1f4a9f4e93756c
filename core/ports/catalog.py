"""Where documents are kept: the catalog, bytes by name, and copies of what was removed."""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from core.model.knowledge import Document, KnowledgeBase


class Catalog(Protocol):
    """The catalog: bases, documents, and which version of each is the visible one.

    ``publish`` is the one step that makes a new version visible: a search drops hits whose version is not the
    published one.
    """

    async def bases(self) -> Sequence[KnowledgeBase]:
        """Return all bases, by name."""

    async def save_base(self, base: KnowledgeBase) -> None:
        """Create or replace a base's description and grants."""

    async def remove_base(self, name: str) -> None:
        """Forget a base and the entries of its documents."""

    async def documents(self, bases: frozenset[str]) -> Sequence[Document]:
        """Return the documents of these bases, by base and title."""

    async def document(self, document_id: str) -> Document | None:
        """Return one document at its visible version."""

    async def publish(self, document: Document) -> Document | None:
        """Make this version the visible one, in one step; what it replaced."""

    async def republish(self, document: Document) -> bool:
        """Replace what is known of a document at its visible version; False where another version is visible."""

    async def withdraw(self, document_id: str) -> Document | None:
        """Make a document invisible at once; what it was."""

    async def visible_versions(self, document_ids: Sequence[str]) -> Mapping[str, str]:
        """Return the visible version of each of these documents; invisible ones are absent."""

    async def changes(self) -> int:
        """Return how often bases and documents were changed, ever, by the methods above.

        The number is written in the same step as the change, so a store that lost its end has a smaller one.
        """

    async def count_change(self, at_least: int = 0) -> int:
        """Count a change that was made elsewhere in the same store; the new number, which is ``at_least`` this."""

    async def index_identity(self) -> str:
        """Which index the passages of these documents are in (``Index.identity``); empty where nobody has said."""

    async def remember_index(self, identity: str) -> None:
        """From now on they are in this one."""


class BlobStore(Protocol):
    """Keeps bytes by name."""

    async def keep(self, name: str, data: bytes) -> None:
        """Keep them durably. Raises DocumentRejected when there is no room."""

    async def read(self, name: str) -> bytes | None:
        """Return the bytes; None when they are not there (any more)."""

    async def sizes(self, names: Collection[str]) -> Mapping[str, int]:
        """Return the size in bytes of each of these names that is there; contents are not read."""

    async def forget(self, name: str) -> None:
        """Remove them, if they are there."""

    async def sweep(self, older_than: timedelta, *, sparing: Collection[str] = ()) -> int:
        """Remove everything that was kept longer ago, but for what these names name; how many."""

    def entries(self) -> AsyncIterator[tuple[str, bytes]]:
        """Yield everything that is kept: (the store's own name for it, the bytes)."""

    async def keep_entry(self, entry: str, data: bytes) -> None:
        """Keep what ``entries`` of another store gave. Raises DocumentRejected as ``keep`` does."""


@dataclass(frozen=True, slots=True)
class RemovedDocument:
    """A document that was removed, as it was, and its base. ``kept`` names the copy set aside.

    ``replaced``: an ingest retired this version, and a newer one of the same document took its place.
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
        """What it is kept under: a document is removed once, and any of its versions may be replaced."""
        return f"{self.document.id}:{self.document.version}" if self.replaced else self.document.id


class TrashStore(Protocol):
    """Keeps removals by their keys until they are forgotten. Raises StoreUnavailable."""

    async def keep_removal(self, removed: RemovedDocument) -> None:
        """Keep it in place of an earlier one of the same key."""

    async def removals(self) -> Sequence[RemovedDocument]:
        """Return everything that is kept, the latest first."""

    async def removal(self, document_id: str) -> RemovedDocument | None:
        """Return the removal of this document; what was replaced is no removal."""

    async def forget_removal(self, key: str) -> None:
        """Forget what was restored or is too old; do nothing if it is not known."""
