"""Search: embedding of text, the index of passages with vectors and BM25, and reranking.

A passage's vector describes the whole passage, but the answer may be in one sentence of ten. So its sentences' vectors
are stored with it, in eight bits a number: one byte for each dimension. A cosine then differs from the 32-bit one by
some thousandths.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Protocol, TypeAlias

from core.model.knowledge import Passage

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Vectors: TypeAlias = npt.NDArray[np.float32]
else:  # importing numpy takes 0.1 s, and nothing here computes with it
    Vectors = object

_MOST = 127  # largest signed eight-bit number used


@dataclass(frozen=True, slots=True)
class SentenceVectors:
    """The vectors of some texts, in order, or of the first ones if there was no room for all.

    ``digest`` covers all the texts, to detect that the passage is now split differently. ``numbers`` are (n, dimension)
    signed bytes, row by row, each row with its own scale.
    """

    digest: str = ""
    numbers: bytes = b""

    @classmethod
    def of(cls, texts: Sequence[str], vectors: "Vectors | None" = None) -> "SentenceVectors":
        """Return the quantised form of (n, dimension) vectors of n texts; without texts, an empty one."""
        import numpy as np

        if not texts or vectors is None:
            return cls(digest_of(texts))
        scaled = vectors * (_MOST / np.maximum(np.abs(vectors).max(axis=1, keepdims=True), 1e-9))
        return cls(digest_of(texts), np.rint(scaled).astype(np.int8).tobytes())

    def as_vectors(self, dimension: int) -> "Vectors":
        """Return the vectors: (n, dimension), float32, unit length."""
        import numpy as np

        rows = np.frombuffer(self.numbers, np.int8).reshape(-1, dimension).astype(np.float32)
        unit: Vectors = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
        return unit


NO_SENTENCES = SentenceVectors()


def digest_of(texts: Sequence[str]) -> str:
    """Return a digest of these texts in this order."""
    return blake2b("\x1f".join(texts).encode(errors="replace"), digest_size=6).hexdigest()


def cosines_of_nearest(passages: Sequence[SentenceVectors], vector: "Vectors") -> list[float | None]:
    """Return for each passage the highest cosine of its sentences with a unit vector; None if it has no sentences."""
    import numpy as np

    dimension = len(vector)
    counts = [len(one.numbers) // dimension for one in passages]
    if not sum(counts):
        return [None] * len(passages)
    together = SentenceVectors("", b"".join(one.numbers for one in passages))
    cosines = together.as_vectors(dimension) @ vector
    starts = [start for start, count in zip(np.cumsum([0, *counts[:-1]]).tolist(), counts, strict=True) if count]
    best = iter(np.maximum.reduceat(cosines, starts).tolist())
    return [next(best) if count else None for count in counts]


class Encoder(Protocol):
    """Embedding model that turns text into vectors of unit length."""

    @property
    def name(self) -> str:
        """The name of the model, as recorded in the index."""

    @property
    def dimension(self) -> int:
        """The length of a vector."""

    async def encode_queries(self, texts: Sequence[str]) -> "Vectors":
        """Return (n, dimension), float32. Cached and fast, because every question waits for it."""

    async def encode_passages(self, texts: Sequence[str]) -> "Vectors":
        """Return (n, dimension), float32. For many texts; lets queries that arrive in between go first."""

    async def count_tokens(self, texts: Sequence[str]) -> Sequence[int]:
        """Return the number of tokens of each text under this model, without truncation."""

    @property
    def window(self) -> int:
        """The maximum number of tokens of a text that the model reads."""


class Reranker(Protocol):
    """Cross-encoder, which scores query and passage together."""

    @property
    def available(self) -> bool:
        """Whether a model is loaded. Without one the fused order stays."""

    async def rerank(self, query: str, texts: Sequence[str]) -> Sequence[float] | None:
        """Return a probability in [0, 1] for each text, or None if no model is available."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The limits of a search: its bases and, optionally, single documents (by catalog id)."""

    bases: frozenset[str]
    documents: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class PassageVectors:
    """The vectors of a passage: of the whole, (dimension,), and of its sentences, if known."""

    whole: "Vectors"
    sentences: SentenceVectors = NO_SENTENCES


@dataclass(frozen=True, slots=True)
class DenseAndBm25Hits:
    """The two legs of one search, each best first: (passage, score).

    ``nearest`` maps a passage's id to the highest cosine of its sentences with the query. Passages without sentence
    vectors are absent.
    """

    dense: tuple[tuple[Passage, float], ...] = ()
    bm25: tuple[tuple[Passage, float], ...] = ()
    nearest: Mapping[str, float] = field(default_factory=dict)


class Index(Protocol):
    """Index of passages with vectors and BM25. It filters inside the query, never afterwards."""

    async def search(self, text: str, vector: "Vectors", scope: Scope, limit: int) -> DenseAndBm25Hits:
        """Search with both legs, at most ``limit`` hits each. ``vector``: (dimension,). An empty scope has no hits."""

    async def add(self, passages: Sequence[Passage], vectors: Sequence[PassageVectors]) -> None:
        """Insert or replace by passage id. Searchable on return."""

    async def confirm(self, document: str, version: str) -> int:
        """Return the number of passages of this version, counted once every search finds all of them."""

    async def known_vectors(self, passage_ids: Sequence[str]) -> Mapping[str, PassageVectors]:
        """Return the stored vectors of these passages, so that they need not be embedded again."""

    async def remove(self, document: str, *, keep_version: str | None = None) -> int:
        """Delete a document's passages, or all except one version's. Return how many there were."""

    async def passages(self, document: str, version: str, scope: Scope) -> Sequence[Passage]:
        """Return all passages of one version of a document, in reading order."""

    @property
    def identity(self) -> str:
        """The unique identity of this index, once it is open. No other index on any server has it. Empty if unknown."""

    async def passage_counts(self, versions: Mapping[str, str]) -> Mapping[str, int]:
        """Return the number of passages of exactly this version, by document id. Omits documents without any."""

    async def count(self, scope: Scope | None = None) -> int:
        """Return the number of passages in the scope, or in the whole index if ``scope`` is None."""

    async def versions(self) -> Mapping[str, frozenset[str]]:
        """Return every document id in the index with its versions, to clean up after an interrupted ingest.

        Scans every passage, which takes seconds in a large index. Call it at the start or once a day.
        """

    async def sweep(self, stale: Mapping[str, Collection[str]]) -> int:
        """Delete exactly these versions of these documents. Return how many passages there were.

        The caller decides what is stale: versions from an earlier ``versions`` call that the catalog does not publish,
        of documents that no one is writing. The index cannot decide this, because an ingest that restarts after a crash
        writes the same rows that the crashed one left.
        """
