"""Rows of versions that never became visible, because whoever wrote them died and nobody began again.

They are found by nobody, but they take room. An index cannot tell them from what is being written just now, so only
what stood there unpublished at two looks an hour apart goes, and nothing of documents that a job is about to write.
"""

from collections.abc import Collection

from core.model.clock import Clock
from core.ports.catalog import Catalog
from core.ports.index import Index

FIRST_LOOK = 600.0  # seconds: a command that soon ends looks at nothing
APART = 3_600.0  # seconds between two looks at the same rows: no document takes as long to write
EACH = 24 * 3_600.0  # seconds between looks where nothing was suspicious

Version = tuple[str, str]  # a document's id, and its version


class OrphanedPassages:
    """Looks now and then, and removes what was a leftover twice. Several processes may each do so."""

    def __init__(self, *, index: Index, catalog: Catalog, clock: Clock) -> None:
        """Begin to look in a while."""
        self._index = index
        self._catalog = catalog
        self._clock = clock
        self._suspects: frozenset[Version] = frozenset()
        self._next = clock.monotonic() + FIRST_LOOK

    @property
    def due(self) -> bool:
        """Whether it is time to look again."""
        return self._clock.monotonic() >= self._next

    async def look(self, busy: Collection[str]) -> int:
        """Remove what was unpublished at the last look and still is; how many passages. ``busy`` documents are left."""
        self._next = self._clock.monotonic() + APART
        await self._catalog.bases()  # raises where the catalog has lost something
        there = await self._index.versions()
        visible = await self._catalog.visible_versions(list(there))  # asked second: what was published is seen
        if not visible and await self._catalog.index_identity() != self._index.identity:
            return 0  # a catalog that has lost what it knew does not take the index with it
        unpublished = frozenset(
            (document, version)
            for document, versions in there.items()
            for version in versions
            if document not in busy and visible.get(document) != version
        )
        stale: dict[str, set[str]] = {}
        for document, version in unpublished & self._suspects:
            stale.setdefault(document, set()).add(version)
        removed = await self._index.sweep(stale) if stale else 0
        self._suspects = unpublished - self._suspects
        if not self._suspects:
            self._next = self._clock.monotonic() + EACH
        return removed
