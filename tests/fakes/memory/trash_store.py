"""Removals in a dictionary, for tests."""

from collections.abc import Sequence

from core.ports.trash_store import RemovedDocument, TrashStore


class InProcessTrashStore(TrashStore):
    """Keeps every removal until it is forgotten."""

    def __init__(self) -> None:
        self._removed: dict[str, RemovedDocument] = {}

    async def keep_removal(self, removed: RemovedDocument) -> None:
        """Keep it, replacing an earlier removal of the same document."""
        self._removed[removed.document.id] = removed

    async def removals(self) -> Sequence[RemovedDocument]:
        """Everything that is kept, the latest first."""
        return sorted(self._removed.values(), key=lambda removed: removed.at, reverse=True)

    async def removal(self, document_id: str) -> RemovedDocument | None:
        """The latest removal of this document."""
        return self._removed.get(document_id)

    async def forget_removal(self, document_id: str) -> None:
        """It was put back, or its time is over."""
        self._removed.pop(document_id, None)
