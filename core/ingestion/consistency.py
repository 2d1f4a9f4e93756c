"""Consistency checks of index and originals against the catalog, which says which documents exist.

They are separate stores, and each can be replaced, emptied, truncated or restored without the others. With the wrong
index, every answer would be "the documents don't say". So the check refuses it. ``RecordedCatalog`` checks whether the
catalog itself has lost changes.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from core.ingestion.originals import Originals
from core.model.clock import Clock
from core.model.errors import IndexMismatch, StoreUnavailable
from core.model.knowledge import Document
from core.ports.catalog import Catalog
from core.ports.index import Index

REPAIR = "footnote kb repair"
BRING_BACK = (
    "Restore Redis's data, restore a backup with footnote restore, or add the documents again with footnote ingest."
    " To start again, move the index away."
)
_TOGETHER = 1_000  # documents counted per call
NAMED = 3  # documents named in one line


@dataclass(frozen=True, slots=True)
class Incomplete:
    """A document that has lost passages (``there`` is the number left) or its original."""

    document: Document
    there: int
    original_lost: bool = False

    @property
    def lacks_passages(self) -> bool:
        """Whether some of its passages are missing from the index."""
        return self.there < self.document.passages

    def __str__(self) -> str:
        lost = [f"{self.there} of {self.document.passages} passages"] if self.lacks_passages else []
        lost += ["its original is lost"] if self.original_lost else []
        return f"{self.document.source} ({', '.join(lost)})"


@dataclass(frozen=True, slots=True)
class IndexReport:
    """Comparison of the stores. The catalog counts ``passages``, the index counts ``rows``.

    ``unknown`` documents have passages in the index but are not in the catalog.
    """

    same: bool  # whether the catalog was written with this index
    documents: int
    passages: int
    rows: int
    incomplete: tuple[Incomplete, ...]
    unknown: int = 0

    @property
    def surplus(self) -> int:
        """Number of passages in the index that belong to no visible document. A running ingest has some."""
        return max(0, self.rows - (self.passages - sum(one.document.passages - one.there for one in self.incomplete)))


@dataclass(slots=True)
class IndexConsistency:
    """Comparison of the stores, and memory of the catalog's index. Without ``originals`` it ignores originals."""

    catalog: Catalog
    index: Index
    originals: Originals | None = None

    async def incomplete(self, documents: Sequence[Document]) -> tuple[Incomplete, ...]:
        """Return the documents whose visible version has lost passages or its original, in the same order."""
        originals = await self._lost_originals(documents)
        found: list[Incomplete] = []
        for start in range(0, len(documents), _TOGETHER):
            some = documents[start : start + _TOGETHER]
            there = await self.index.passage_counts({one.id: one.version for one in some})
            compared = [Incomplete(one, there.get(one.id, 0), one.id in originals) for one in some]
            found += [one for one in compared if one.lacks_passages or one.original_lost]
        return tuple(found)

    async def _lost_originals(self, documents: Sequence[Document]) -> frozenset[str]:
        return await self.originals.lost(documents) if self.originals else frozenset()

    async def find_losses(self) -> str:
        """Return one line on what index and originals have lost and what to do. Empty if nothing is lost.

        Compare the total counts first. Check each document only if they differ, since that takes seconds for many
        documents.
        """
        documents = await self._documents()
        if await self.index.count() == sum(one.passages for one in documents):
            originals = await self._lost_originals(documents)
            lost = [Incomplete(one, one.passages, True) for one in documents if one.id in originals]
        else:
            lost = list(await self.incomplete(documents))
        what = f"{len(lost)} of {len(documents)} documents are incomplete: {name_losses(lost)}."
        return f"{what} {REPAIR} repairs them, or lists the documents to add again." if lost else ""

    async def check(self) -> None:
        """Raise IndexMismatch if the catalog's documents are in another index.

        The first version stored no identity. Such an index is accepted unless it is empty. Raises StoreUnavailable if
        the catalog is lost, like ``check_catalog``.
        """
        await self.catalog.bases()  # recovers lost changes, or raises
        if await self.catalog.index_identity() == self.index.identity:
            return
        await self.check_catalog()
        documents = await self._documents()
        if await self._is_theirs(documents):
            await self.adopt()
            return
        what = (
            "the document that the catalog knows is"
            if len(documents) == 1
            else (f"the {len(documents)} documents that the catalog knows are")
        )
        raise IndexMismatch(
            f"This is not the index that {what} in.",
            remedy=f"Set MILVUS_URI back to the earlier address, or run {REPAIR} to fill this index.",
        )

    async def check_catalog(self) -> None:
        """Raise StoreUnavailable if the index has passages, but the catalog has no document and no index identity.

        That happens if Redis has lost its data. It also happens, briefly, during the first ingest.
        """
        if not await self.catalog.index_identity() and not await self._documents() and await self.index.count():
            raise StoreUnavailable(
                "The index has passages, but the catalog has no documents. Redis has lost data.",
                remedy=BRING_BACK,
            )

    async def _is_theirs(self, documents: Sequence[Document]) -> bool:
        """Return whether these documents are in this index, as far as can be known."""
        remembered = await self.catalog.index_identity()
        if remembered:
            return not documents or remembered == self.index.identity
        return bool(documents) == bool(await self.index.count())

    async def adopt(self) -> None:
        """Make this the catalog's index, even if it misses passages."""
        await self.catalog.remember_index(self.index.identity)

    async def settle(self) -> bool:
        """Adopt this index if it misses no passages. Return whether it is now the catalog's index."""
        if await self.catalog.index_identity() == self.index.identity:
            return True
        documents = await self._documents()
        lacking = any(one.lacks_passages for one in await self.incomplete(documents))
        if lacking or not (documents or await self._is_theirs(documents)):
            return False
        await self.adopt()
        return True

    async def report(self) -> IndexReport:
        """Count everything. That reads every passage's document id and takes seconds for many passages."""
        documents = await self._documents()
        report = IndexReport(
            same=await self._is_theirs(documents),
            documents=len(documents),
            passages=sum(document.passages for document in documents),
            rows=await self.index.count(),
            incomplete=await self.incomplete(documents),
        )
        if not report.surplus:
            return report
        known = {document.id for document in documents}
        return replace(report, unknown=sum(one not in known for one in await self.index.versions()))

    async def _documents(self) -> Sequence[Document]:
        bases = frozenset(base.name for base in await self.catalog.bases())
        return await self.catalog.documents(bases)


def name_losses(lost: Sequence[Incomplete]) -> str:
    """Return the first few by name, and the number of others."""
    more = f" and {len(lost) - NAMED} more" if len(lost) > NAMED else ""
    return ", ".join(str(one) for one in lost[:NAMED]) + more


FIRST_LOOK = 600.0  # seconds before the first check, so that a short command makes none
APART = 3_600.0  # seconds between two checks of the same rows; writing a document takes less
EACH = 24 * 3_600.0  # seconds until the next check if nothing was suspicious

Version = tuple[str, str]  # a document's id, and its version


@dataclass(slots=True, kw_only=True)
class OrphanedPassages:
    """Periodic removal of passages that two checks found orphaned. Several processes may run it at once."""

    index: Index
    catalog: Catalog
    clock: Clock
    _suspects: frozenset[Version] = frozenset()
    _next: float = field(init=False)

    def __post_init__(self) -> None:
        self._next = self.clock.monotonic() + FIRST_LOOK

    @property
    def due(self) -> bool:
        """Whether the next check is due."""
        return self.clock.monotonic() >= self._next

    async def look(self, busy: Collection[str]) -> int:
        """Remove passages that two checks in a row found unpublished. Skip ``busy`` documents. Return the number."""
        self._next = self.clock.monotonic() + APART
        await self.catalog.bases()  # raises where the catalog has lost something
        there = await self.index.versions()
        visible = await self.catalog.visible_versions(list(there))  # read second: sees new publications
        if not visible and await self.catalog.index_identity() != self.index.identity:
            return 0  # a catalog that lost its data must not delete the index's
        unpublished = frozenset(
            (document, version)
            for document, versions in there.items()
            for version in versions
            if document not in busy and visible.get(document) != version
        )
        stale: dict[str, set[str]] = {}
        for document, version in unpublished & self._suspects:
            stale.setdefault(document, set()).add(version)
        removed = await self.index.sweep(stale) if stale else 0
        self._suspects = unpublished - self._suspects
        if not self._suspects:
            self._next = self.clock.monotonic() + EACH
        return removed
