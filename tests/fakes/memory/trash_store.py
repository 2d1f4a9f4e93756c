"""Removals in a dictionary, for tests."""

from collections.abc import Sequence

from core.ports.catalog import RemovedDocument, TrashStore


class InProcessTrashStore(TrashStore):
    """Keeps every removal until it is forgotten."""

    def __init__(self) -> None:
        self._removed: dict[str, RemovedDocument] = {}

    async def keep_removal(self, removed: RemovedDocument) -> None:
        """Keep it in place of an earlier one of the same key."""
        self._removed[removed.key] = removed

    async def removals(self) -> Sequence[RemovedDocument]:
        """Everything that is kept, the latest first."""
        return sorted(self._removed.values(), key=lambda removed: removed.at, reverse=True)

    async def removal(self, document_id: str) -> RemovedDocument | None:
        """The removal of this document; what was replaced is no removal."""
        return self._removed.get(document_id)

    async def forget_removal(self, key: str) -> None:
        """It was restored, or its time is over."""
        self._removed.pop(key, None)
