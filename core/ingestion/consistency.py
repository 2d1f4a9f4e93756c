"""Whether catalog, index and originals agree: the first says what there is, the others have it, or have lost it.

They are separate stores, and each can be exchanged, emptied, cut short or restored without the others. An index that is
not the one the catalog was written with answers "the documents don't say" to everything, so it is refused, not
searched. ``RecordedCatalog`` knows whether the catalog itself has lost something.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from core.ingestion.originals import Originals
from core.model.clock import Clock
from core.model.errors import IndexMismatch, StoreUnavailable
from core.model.knowledge import Document
from core.ports.catalog import Catalog
from core.ports.index import Index

REPAIR = "footnote kb repair"
BRING_BACK = (
    "Restore Redis's data, or footnote restore a backup, or footnote ingest the documents; "
    "to start again, move the index away."
)
_TOGETHER = 1_000  # documents counted at a time
NAMED = 3  # documents in one line


@dataclass(frozen=True, slots=True)
class Incomplete:
    """A document of which something is lost: passages, of which so many are there, or what it was made of."""

    document: Document
    there: int
    original_lost: bool = False

    @property
    def lacks_passages(self) -> bool:
        """Whether a search does not find all of it."""
        return self.there < self.document.passages

    def __str__(self) -> str:
        lost = [f"{self.there} of {self.document.passages} passages"] if self.lacks_passages else []
        lost += ["its original is lost"] if self.original_lost else []
        return f"{self.document.source} ({', '.join(lost)})"


@dataclass(frozen=True, slots=True)
class IndexReport:
    """The stores side by side: ``passages`` are the catalog's, ``rows`` the index's.

    ``unknown`` documents have passages in the index and are not in the catalog at all.
    """

    same: bool  # whether it is the index that the catalog was written with
    documents: int
    passages: int
    rows: int
    incomplete: tuple[Incomplete, ...]
    unknown: int = 0

    @property
    def surplus(self) -> int:
        """Passages in the index that belong to no visible document; an ingest under way has some."""
        return max(0, self.rows - (self.passages - sum(one.document.passages - one.there for one in self.incomplete)))


class IndexConsistency:
    """Compares, and remembers which index the catalog belongs to. Without ``originals`` those are not looked at."""

    def __init__(self, catalog: Catalog, index: Index, originals: Originals | None = None) -> None:
        self._catalog = catalog
        self._index = index
        self._originals = originals

    async def incomplete(self, documents: Sequence[Document]) -> tuple[Incomplete, ...]:
        """Return those of these documents that have lost something, at their visible versions, in the same order."""
        originals = await self._lost_originals(documents)
        found: list[Incomplete] = []
        for start in range(0, len(documents), _TOGETHER):
            some = documents[start : start + _TOGETHER]
            there = await self._index.passage_counts({one.id: one.version for one in some})
            compared = [Incomplete(one, there.get(one.id, 0), one.id in originals) for one in some]
            found += [one for one in compared if one.lacks_passages or one.original_lost]
        return tuple(found)

    async def _lost_originals(self, documents: Sequence[Document]) -> frozenset[str]:
        return await self._originals.lost(documents) if self._originals else frozenset()

    async def find_losses(self) -> str:
        """Return what index and originals have lost, in one line with what to do; empty where they have lost nothing.

        Passages are counted first: which documents lack some is looked at only where the counts differ, since that
        takes seconds where there are many.
        """
        documents = await self._documents()
        if await self._index.count() == sum(one.passages for one in documents):
            originals = await self._lost_originals(documents)
            lost = [Incomplete(one, one.passages, True) for one in documents if one.id in originals]
        else:
            lost = list(await self.incomplete(documents))
        what = f"{len(lost)} of {len(documents)} documents have lost something: {name_losses(lost)}."
        return f"{what} {REPAIR} fills it again, or lists what to add." if lost else ""

    async def check(self) -> None:
        """Raise IndexMismatch where this is not the index that the catalog's documents are in.

        What the first version wrote has no identity: it is taken for what it says it is, unless it is empty. Raises
        StoreUnavailable where it is the catalog that is lost, as ``check_catalog`` does.
        """
        await self._catalog.bases()  # of a catalog that has lost nothing
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
            remedy=f"Set MILVUS_URI back to the former address, or let {REPAIR} fill this one.",
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
        """Return whether this is the index that these documents are in, as far as can be known."""
        remembered = await self._catalog.index_identity()
        if remembered:
            return not documents or remembered == self._index.identity
        return bool(documents) == bool(await self._index.count())

    async def adopt(self) -> None:
        """Make this the catalog's index from now on, whatever may be missing in it."""
        await self._catalog.remember_index(self._index.identity)

    async def settle(self) -> bool:
        """Adopt this index if nothing is missing in it; whether it is the catalog's now."""
        if await self._catalog.index_identity() == self._index.identity:
            return True
        documents = await self._documents()
        lacking = any(one.lacks_passages for one in await self.incomplete(documents))
        if lacking or not (documents or await self._is_theirs(documents)):
            return False
        await self.adopt()
        return True

    async def report(self) -> IndexReport:
        """Count everything: a look at every passage's document, seconds where there are many."""
        documents = await self._documents()
        report = IndexReport(
            same=await self._is_theirs(documents),
            documents=len(documents),
            passages=sum(document.passages for document in documents),
            rows=await self._index.count(),
            incomplete=await self.incomplete(documents),
        )
        if not report.surplus:
            return report
        known = {document.id for document in documents}
        return replace(report, unknown=sum(one not in known for one in await self._index.versions()))

    async def _documents(self) -> Sequence[Document]:
        bases = frozenset(base.name for base in await self._catalog.bases())
        return await self._catalog.documents(bases)


def name_losses(lost: Sequence[Incomplete]) -> str:
    """Return the first few by name, and how many more."""
    more = f" and {len(lost) - NAMED} more" if len(lost) > NAMED else ""
    return ", ".join(str(one) for one in lost[:NAMED]) + more


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
