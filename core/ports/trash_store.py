"""Documents that were removed or replaced, and where their copies are, for as long as they can be restored."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from core.model.knowledge import Document, KnowledgeBase


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
        """Everything that is kept, the latest first."""

    async def removal(self, document_id: str) -> RemovedDocument | None:
        """The removal of this document; what was replaced is no removal."""

    async def forget_removal(self, key: str) -> None:
        """It was restored, or its time is over; nothing happens where it is not known."""
