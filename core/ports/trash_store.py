"""What was removed, and where its copy lies, for as long as it can be put back."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from core.model.knowledge import Document, KnowledgeBase


@dataclass(frozen=True, slots=True)
class RemovedDocument:
    """A document that was taken out, as it was, and the base it stood in. ``kept`` names the copy set aside."""

    document: Document
    base: KnowledgeBase
    at: datetime
    by: str
    kept: str
    whole_base: bool = False


class TrashStore(Protocol):
    """Keeps one removal a document, by the document's id, until it is forgotten. Raises StoreUnavailable."""

    async def keep_removal(self, removed: RemovedDocument) -> None:
        """Keep it, replacing an earlier removal of the same document."""

    async def removals(self) -> Sequence[RemovedDocument]:
        """Everything that is kept, the latest first."""

    async def removal(self, document_id: str) -> RemovedDocument | None:
        """The latest removal of this document."""

    async def forget_removal(self, document_id: str) -> None:
        """It was put back, or its time is over; nothing happens where it is not known."""
