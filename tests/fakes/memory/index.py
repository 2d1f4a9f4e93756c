"""An index in this process's memory: exact vectors, exact BM25, nothing to start. For tests and small shows."""

import math
import uuid
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from core.model.errors import IndexMismatch
from core.model.knowledge import Passage
from core.model.text import content_words
from core.ports.index import DenseAndBm25Hits, PassageVectors, Scope, cosines_of_nearest

if TYPE_CHECKING:
    from core.ports.index import Vectors

K1, B = 1.2, 0.75


class InProcessIndex:
    """``Index`` in a dict; every search looks at every passage of the scope."""

    def __init__(self, *, dimension: int | None = None) -> None:
        self.ready = True
        self.identity = uuid.uuid4().hex
        self._dimension = dimension
        self._passages: dict[str, Passage] = {}
        self._vectors: dict[str, PassageVectors] = {}
        self._words: dict[str, Counter[str]] = {}

    async def search(self, text: str, vector: "Vectors", scope: Scope, limit: int) -> DenseAndBm25Hits:
        """Both legs, at most ``limit`` of each."""
        seen = list(self._within(scope))
        scored = ((passage, float(self._vectors[passage.id].whole @ vector)) for passage in seen)
        dense, bm25 = _best(scored, limit), _best(self._bm25(text, seen), limit)
        found = list(dict.fromkeys(passage.id for passage, _ in (*dense, *bm25)))
        nearest = cosines_of_nearest([self._vectors[name].sentences for name in found], vector)
        told = {name: cosine for name, cosine in zip(found, nearest, strict=True) if cosine is not None}
        return DenseAndBm25Hits(dense, bm25, told)

    async def add(self, passages: Sequence[Passage], vectors: Sequence[PassageVectors]) -> None:
        """Insert or replace by passage id."""
        for passage, vector in zip(passages, vectors, strict=True):
            length = len(vector.whole)
            self._dimension = self._dimension or length
            if length != self._dimension:
                raise IndexMismatch(f"The index holds vectors of {self._dimension} dimensions, not of {length}.")
            self._passages[passage.id] = passage
            self._vectors[passage.id] = vector
            self._words[passage.id] = Counter(content_words(passage.searchable))

    async def known_vectors(self, passage_ids: Sequence[str]) -> Mapping[str, PassageVectors]:
        """The vectors of those passages that are there."""
        return {name: self._vectors[name] for name in passage_ids if name in self._vectors}

    async def remove(self, document: str, *, keep_version: str | None = None) -> int:
        """Delete a document's passages, or all but one version's; how many there were."""
        gone = [p.id for p in self._passages.values() if p.document == document and p.version != keep_version]
        for name in gone:
            del self._passages[name], self._vectors[name], self._words[name]
        return len(gone)

    async def passages(self, document: str, version: str, scope: Scope) -> Sequence[Passage]:
        """All passages of one version of a document, in reading order."""
        found = [p for p in self._within(scope) if p.document == document and p.version == version]
        return sorted(found, key=lambda passage: passage.ordinal)

    async def confirm(self, document: str, version: str) -> int:
        """How many passages of this version there are."""
        return (await self.passage_counts({document: version})).get(document, 0)

    async def passage_counts(self, versions: Mapping[str, str]) -> Mapping[str, int]:
        """How many passages of exactly these versions of documents there are."""
        return Counter(p.document for p in self._passages.values() if versions.get(p.document) == p.version)

    async def count(self, scope: Scope | None = None) -> int:
        """How many passages there are; of everything when scope is None."""
        return len(self._passages) if scope is None else len(list(self._within(scope)))

    async def versions(self) -> Mapping[str, frozenset[str]]:
        """Every document id present, with its versions."""
        found: defaultdict[str, set[str]] = defaultdict(set)
        for passage in self._passages.values():
            found[passage.document].add(passage.version)
        return {document: frozenset(versions) for document, versions in found.items()}

    async def sweep(self, stale: Mapping[str, Collection[str]]) -> int:
        """Delete exactly these versions of these documents; how many passages there were."""
        gone = [p.id for p in self._passages.values() if p.version in stale.get(p.document, ())]
        for name in gone:
            del self._passages[name], self._vectors[name], self._words[name]
        return len(gone)

    def _within(self, scope: Scope) -> Iterable[Passage]:
        for passage in self._passages.values():
            in_document = scope.documents is None or passage.document in scope.documents
            if passage.knowledge_base in scope.bases and in_document:
                yield passage

    def _bm25(self, text: str, seen: Sequence[Passage]) -> Iterable[tuple[Passage, float]]:
        """BM25 with Lucene's IDF; like Milvus, statistics are of everything held, whatever the scope."""
        frequencies = Counter(word for words in self._words.values() for word in words)
        mean = sum(words.total() for words in self._words.values()) / max(1, len(self._words)) or 1.0
        wanted = Counter(content_words(text))
        for passage in seen:
            words = self._words[passage.id]
            score = 0.0
            for word, times in wanted.items():
                count, spread = words[word], frequencies[word]
                idf = math.log(1 + (len(self._words) - spread + 0.5) / (spread + 0.5))
                score += times * idf * count * (K1 + 1) / (count + K1 * (1 - B + B * words.total() / mean))
            if score > 0:
                yield passage, score


def _best(scored: Iterable[tuple[Passage, float]], limit: int) -> tuple[tuple[Passage, float], ...]:
    return tuple(sorted(scored, key=lambda pair: (-pair[1], pair[0].id))[: max(0, limit)])
