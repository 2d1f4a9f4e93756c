"""Whether catalog and index agree: the one says which passages there are, the other has them, or has lost them.

They are two stores, and each can be exchanged, emptied or restored without the other. An index that is not the one
the catalog was written with answers "the documents don't say" to everything, so it is refused, not searched.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from core.model.errors import IndexMismatch, StoreUnavailable
from core.model.knowledge import Document
from core.ports.catalog import Catalog
from core.ports.index import Index

REPAIR = "footnote kb repair"
BRING_BACK = (
    "Bring Redis's data back, or footnote restore a backup, or footnote ingest the documents; "
    "to start again, move the index away."
)
_TOGETHER = 1_000  # documents counted at a time


@dataclass(frozen=True, slots=True)
class Incomplete:
    """A document of which the index has only so many passages."""

    document: Document
    there: int


@dataclass(frozen=True, slots=True)
class IndexReport:
    """Catalog and index side by side: ``passages`` are the catalog's, ``rows`` the index's."""

    same: bool  # whether it is the index that the catalog was written with
    documents: int
    passages: int
    rows: int
    incomplete: tuple[Incomplete, ...]

    @property
    def surplus(self) -> int:
        """Passages in the index that belong to no visible document; an ingest under way has some."""
        return max(0, self.rows - (self.passages - sum(one.document.passages - one.there for one in self.incomplete)))


class IndexConsistency:
    """Compares, and remembers which index the catalog belongs to."""

    def __init__(self, catalog: Catalog, index: Index) -> None:
        self._catalog = catalog
        self._index = index

    async def incomplete(self, documents: Sequence[Document]) -> tuple[Incomplete, ...]:
        """Those of these documents that have lost passages, at their visible versions, in the same order."""
        found: list[Incomplete] = []
        for start in range(0, len(documents), _TOGETHER):
            some = documents[start : start + _TOGETHER]
            there = await self._index.passage_counts({one.id: one.version for one in some})
            found += [Incomplete(one, there.get(one.id, 0)) for one in some if there.get(one.id, 0) < one.passages]
        return tuple(found)

    async def check(self) -> None:
        """Raise IndexMismatch where this is not the index that the catalog's documents are in.

        What the first version wrote has no identity: it is taken for what it says it is, unless it is empty. Raises
        StoreUnavailable where it is the catalog that is lost, as ``check_catalog`` does.
        """
        if await self._catalog.index_identity() == self._index.identity:
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
            remedy=f"Set MILVUS_URI back to where it was, or let {REPAIR} fill this one.",
        )

    async def check_catalog(self) -> None:
        """Raise StoreUnavailable where the index has passages, and the catalog knows of no document and of no index.

        A Redis that came back empty looks like this. So does a first ingest that is under way, which passes.
        """
        if not await self._catalog.index_identity() and not await self._documents() and await self._index.count():
            raise StoreUnavailable(
                "The index has passages, and the catalog knows no document: Redis has lost what it knew.",
                remedy=BRING_BACK,
            )

    async def _is_theirs(self, documents: Sequence[Document]) -> bool:
        """Whether this is the index that these documents are in, as far as can be known."""
        remembered = await self._catalog.index_identity()
        if remembered:
            return not documents or remembered == self._index.identity
        return bool(documents) == bool(await self._index.count())

    async def adopt(self) -> None:
        """This is the catalog's index from now on, whatever may be missing in it."""
        await self._catalog.remember_index(self._index.identity)

    async def settle(self) -> bool:
        """Adopt this index if nothing is missing in it; whether it is the catalog's now."""
        if await self._catalog.index_identity() == self._index.identity:
            return True
        documents = await self._documents()
        if await self.incomplete(documents) or not (documents or await self._is_theirs(documents)):
            return False
        await self.adopt()
        return True

    async def report(self) -> IndexReport:
        """Count everything: a look at every passage's document, seconds where there are many."""
        documents = await self._documents()
        return IndexReport(
            same=await self._is_theirs(documents),
            documents=len(documents),
            passages=sum(document.passages for document in documents),
            rows=await self._index.count(),
            incomplete=await self.incomplete(documents),
        )

    async def _documents(self) -> Sequence[Document]:
        bases = frozenset(base.name for base in await self._catalog.bases())
        return await self._catalog.documents(bases)
