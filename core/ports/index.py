"""Passages with their vectors and their lexical index."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from core.model.knowledge import Passage
from core.model.sentence_vectors import NO_SENTENCES, SentenceVectors

if TYPE_CHECKING:
    from core.ports.encoder import Vectors


@dataclass(frozen=True, slots=True)
class Scope:
    """What a search may see: always the bases, and one source where it is asked for (its id in the catalog)."""

    bases: frozenset[str]
    documents: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class PassageVectors:
    """What a passage is found by: the vector of the whole, (dimension,), and those of its sentences, where known."""

    whole: "Vectors"
    sentences: SentenceVectors = NO_SENTENCES


@dataclass(frozen=True, slots=True)
class DenseAndBm25Hits:
    """The two legs of one search, each best first: (passage, score).

    ``nearest`` is, by a passage's id, the cosine of the one of its sentences that is nearest to the query; nothing is
    said of a passage whose sentences have no vectors.
    """

    dense: tuple[tuple[Passage, float], ...] = ()
    bm25: tuple[tuple[Passage, float], ...] = ()
    nearest: Mapping[str, float] = field(default_factory=dict)


class Index(Protocol):
    """Holds passages with their vectors and their lexical index. Filters inside the query, never after it."""

    async def search(self, text: str, vector: "Vectors", scope: Scope, limit: int) -> DenseAndBm25Hits:
        """Both legs together, at most ``limit`` of each. ``vector`` is (dimension,). An empty scope finds nothing."""

    async def add(self, passages: Sequence[Passage], vectors: Sequence[PassageVectors]) -> None:
        """Insert or replace by passage id. Searchable on return."""

    async def confirm(self, document: str, version: str) -> int:
        """How many passages of this version there are, counted when whoever searches from now on finds all of them."""

    async def known_vectors(self, passage_ids: Sequence[str]) -> Mapping[str, PassageVectors]:
        """The vectors of those passages that are already there, so that they need not be encoded again."""

    async def remove(self, document: str, *, keep_version: str | None = None) -> int:
        """Delete a document's passages, or all but one version's; how many there were."""

    async def passages(self, document: str, version: str, scope: Scope) -> Sequence[Passage]:
        """All passages of one version of a document, in reading order."""

    @property
    def identity(self) -> str:
        """Which index this is, once it is open: no other one, on whatever server, has the same. Empty where unknown."""

    async def passage_counts(self, versions: Mapping[str, str]) -> Mapping[str, int]:
        """Of each document (by id) how many passages of exactly this version there are; of none, nothing is said."""

    async def count(self, scope: Scope | None = None) -> int:
        """How many passages there are; of everything when scope is None."""

    async def versions(self) -> Mapping[str, frozenset[str]]:
        """Every document id present, with its versions: for cleaning up after an interrupted ingest.

        It looks at every passage, which takes seconds where there are many: once at the start or once a day.
        """

    async def sweep(self, stale: Mapping[str, Collection[str]]) -> int:
        """Delete exactly these versions of these documents; how many passages there were.

        Which are stale is for the caller to know: those of ``versions``, read first, that the catalog does not
        publish, of documents that nobody writes meanwhile. An ingest begun again after a crash writes the very rows
        that the dead one left, so that an index cannot tell the two apart.
        """
