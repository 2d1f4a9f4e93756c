"""Search: text as vectors, passages with their vectors and their lexical index, and reranking."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeAlias

from core.model.knowledge import Passage
from core.model.sentence_vectors import NO_SENTENCES, SentenceVectors

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Vectors: TypeAlias = npt.NDArray[np.float32]
else:  # numpy costs a tenth of a second, and nobody here touches a number
    Vectors = object


class Encoder(Protocol):
    """Turns text into vectors of unit length."""

    @property
    def name(self) -> str:
        """The model, as the index remembers it."""

    @property
    def dimension(self) -> int:
        """The length of a vector."""

    async def encode_queries(self, texts: Sequence[str]) -> "Vectors":
        """(n, dimension), float32. Cached and fast: this is on the way of every question."""

    async def encode_passages(self, texts: Sequence[str]) -> "Vectors":
        """(n, dimension), float32. For many texts; yields to queries that arrive meanwhile."""

    async def count_tokens(self, texts: Sequence[str]) -> Sequence[int]:
        """Tokens of each text under this model, without truncation."""

    @property
    def window(self) -> int:
        """How many tokens of a text the model reads."""


class Reranker(Protocol):
    """Judges query and passage together."""

    @property
    def available(self) -> bool:
        """Whether a model is loaded; without one the fused order is kept."""

    async def rerank(self, query: str, texts: Sequence[str]) -> Sequence[float] | None:
        """Return a probability in [0, 1] for each text, or None when no model is available."""


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
        """How many passages of this version there are, counted once every search finds all of them."""

    async def known_vectors(self, passage_ids: Sequence[str]) -> Mapping[str, PassageVectors]:
        """Return the vectors of those passages that are already there, so that they need not be encoded again."""

    async def remove(self, document: str, *, keep_version: str | None = None) -> int:
        """Delete a document's passages, or all but one version's; how many there were."""

    async def passages(self, document: str, version: str, scope: Scope) -> Sequence[Passage]:
        """Return all passages of one version of a document, in reading order."""

    @property
    def identity(self) -> str:
        """Which index this is, once it is open: no other one, on whatever server, has the same. Empty where unknown."""

    async def passage_counts(self, versions: Mapping[str, str]) -> Mapping[str, int]:
        """Of each document (by id) how many passages of exactly this version there are; of none, nothing is said."""

    async def count(self, scope: Scope | None = None) -> int:
        """Return how many passages there are; of everything when scope is None."""

    async def versions(self) -> Mapping[str, frozenset[str]]:
        """Return every document id present, with its versions: for cleaning up after an interrupted ingest.

        It looks at every passage, which takes seconds where there are many: once at the start or once a day.
        """

    async def sweep(self, stale: Mapping[str, Collection[str]]) -> int:
        """Delete exactly these versions of these documents; how many passages there were.

        Which are stale is for the caller to know: those of ``versions``, read first, that the catalog does not
        publish, of documents that nobody writes meanwhile. An ingest begun again after a crash writes the very rows
        that the dead one left, so that an index cannot tell the two apart.
        """
