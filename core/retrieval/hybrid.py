"""Hybrid search: encode the query, search both legs, drop unpublished versions, fuse, rerank.

The agent decides what to search for and whether the results suffice.
"""

import asyncio
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import TYPE_CHECKING

from core.model.errors import Unavailable
from core.model.evidence import Hit, first_of_each_document
from core.model.knowledge import Passage
from core.ports.catalog import Catalog
from core.ports.index import DenseAndBm25Hits, Encoder, Index, Reranker, Scope
from core.retrieval.fusion import fuse

MOST_IDENTIFIERS = 8  # searched for in every hit's text; a paste may have hundreds
NAMED = 2  # hits kept per identifier of the query, whatever their rank
_IDENTIFIER = re.compile(
    r"(?<![\w.,:/-])(?:v?\d+(?:\.\d+)+|[A-Za-z]+-?\d[\w-]*|\d+(?:-\d+)*-?(?=[A-Za-z]*[A-Z])[A-Za-z]+\d*"
    r"|[^\W\d_]{2,}(?:-[^\W\d_]{2,})+)(?![\w,:/-])"
)


def identifiers_in(query: str) -> tuple[str, ...]:
    """Return words with digits or hyphens: "5.1.3", "F31", "ring-round", but no amounts, times or years."""
    return tuple(dict.fromkeys(_IDENTIFIER.findall(query)))[:MOST_IDENTIFIERS]


def keep_named(query: str, hits: Sequence[Hit], kept: Sequence[Hit]) -> tuple[Hit, ...]:
    """Return the kept hits, the last ones replaced by hits that contain an identifier of the query.

    Hits with the identifier in a heading, or at the start of a line or row, come first.
    """
    named = [hit for one in identifiers_in(query) for hit in _holding(one, hits)[:NAMED]]
    missing = [hit for hit in named if hit not in kept]
    others = [hit for hit in kept if hit not in named]
    given_up = others[max(0, len(others) - len(missing)) :]
    return tuple(hit for hit in hits if hit in missing or (hit in kept and hit not in given_up))


def _holding(identifier: str, hits: Sequence[Hit]) -> list[Hit]:
    whole = re.compile(rf"(?<![\w.-]){re.escape(identifier)}(?!\w|[.-]\w)", re.IGNORECASE)
    entry = re.compile(rf"^\W*{whole.pattern}", re.IGNORECASE | re.MULTILINE)
    held = [hit for hit in hits if whole.search(hit.passage.searchable)]

    def is_entry(hit: Hit) -> bool:
        return any(entry.search(part) for part in (*hit.passage.heading[-1:], hit.passage.text))

    return sorted(held, key=lambda hit: not is_entry(hit))


if TYPE_CHECKING:
    from core.ports.index import Vectors

POOL = 50  # hits requested from each leg
RERANKED = 30  # hits of the fused pool that are reranked
FURTHER = 8  # documents listed after those of the hits; search metrics count them too
_FURTHER = 4
_OF_ONE_DOCUMENT = 3  # passages of a document at full score; later ones count less, to make room for others
_FURTHER_OF_ONE = 0.5


@dataclass(frozen=True, slots=True)
class Retrieval:
    """Results of one search, best first, with ``seconds`` by stage.

    ``further`` has the best hit of each following document that has no passage in ``hits``.
    """

    hits: tuple[Hit, ...] = ()
    further: tuple[Hit, ...] = ()
    vector_results: int = 0
    bm25_results: int = 0
    reranked: int = 0
    seconds: Mapping[str, float] = field(default_factory=dict)


@dataclass(slots=True)
class Retriever:
    """Hybrid search over the published versions in an index."""

    index: Index
    encoder: Encoder
    reranker: Reranker | None
    catalog: Catalog
    pool: int = field(default=POOL, kw_only=True)

    async def search(self, query: str, scope: Scope, limit: int = 10) -> Retrieval:
        """Return the best passages for a query. Raises Unavailable if a store or the encoder does not respond."""
        if not query.strip() or limit < 1 or not scope.bases:
            return Retrieval()
        seconds: dict[str, float] = {}
        with _time_stage(seconds, "encode"):
            vector = (await self.encoder.encode_queries([query]))[0]
        asked = max(self.pool, limit)
        legs, dropped = await self._visible_legs(query, vector, scope, asked, seconds)
        if dropped and len(legs.dense) < limit <= len(legs.dense) + dropped:
            # Unpublished versions fill the pool, so retry once with a larger one.
            asked *= _FURTHER
            legs, dropped = await self._visible_legs(query, vector, scope, asked, seconds)
        with _time_stage(seconds, "fuse"):
            hits = fuse(query, legs, asked - dropped)
        reranked = 0
        if hits and self.reranker is not None:
            with _time_stage(seconds, "rerank"):
                hits, reranked = await self._rerank(query, hits, max(RERANKED, limit))
        kept = await asyncio.to_thread(keep_named, query, hits, spread(hits, limit))
        return Retrieval(kept, further_documents(hits, kept), len(legs.dense), len(legs.bm25), reranked, seconds)

    async def _visible_legs(
        self, query: str, vector: "Vectors", scope: Scope, asked: int, seconds: dict[str, float]
    ) -> tuple[DenseAndBm25Hits, int]:
        """Return both legs without unpublished passages, and how many the leg that lost more has lost."""
        with _time_stage(seconds, "search"):
            found = await self.index.search(query, vector, scope, asked)
        documents = sorted({passage.document for passage, _ in (*found.dense, *found.bm25)})
        if not documents:
            return found, 0
        with _time_stage(seconds, "visible"):
            visible = await self.catalog.visible_versions(documents)

        def keep_published(leg: Sequence[tuple[Passage, float]]) -> tuple[tuple[Passage, float], ...]:
            return tuple((p, score) for p, score in leg if visible.get(p.document) == p.version)

        legs = replace(found, dense=keep_published(found.dense), bm25=keep_published(found.bm25))
        return legs, max(len(found.dense) - len(legs.dense), len(found.bm25) - len(legs.bm25))

    async def _rerank(self, query: str, hits: tuple[Hit, ...], depth: int) -> tuple[tuple[Hit, ...], int]:
        assert self.reranker is not None
        pool = hits[:depth]
        try:
            scores = await self.reranker.rerank(query, [hit.passage.searchable for hit in pool])
        except Unavailable:
            return hits, 0  # keep the fused order; the model server reports the error
        if scores is None:
            return hits, 0
        judged = [replace(hit, rerank=score, score=score) for hit, score in zip(pool, scores, strict=True)]
        judged.sort(key=lambda hit: -hit.score)
        rest = [replace(hit, score=min(hit.score, judged[-1].score)) for hit in hits[depth:]]
        return (*judged, *rest), len(judged)


def spread(hits: Sequence[Hit], limit: int) -> tuple[Hit, ...]:
    """Return the best ``limit`` hits, in order. From its fourth passage on, a document's hits count half.

    Otherwise the passages of one or two long pages can push out all other documents. Nothing changes if a page is one
    passage. Measured in docs/measurements.md.
    """
    counts: Counter[str] = Counter()
    worth: list[float] = []
    for hit in hits:
        counts[hit.passage.document] += 1
        worth.append(hit.score * (_FURTHER_OF_ONE if counts[hit.passage.document] > _OF_ONE_DOCUMENT else 1.0))
    kept = sorted(range(len(hits)), key=lambda place: -worth[place])[:limit]
    return tuple(hits[place] for place in sorted(kept))


def further_documents(hits: Sequence[Hit], kept: Sequence[Hit]) -> tuple[Hit, ...]:
    """Return the best hit of each document without a kept hit, best first, at most ``FURTHER``."""
    return first_of_each_document(hits, (hit.passage.document for hit in kept))[:FURTHER]


@contextmanager
def _time_stage(seconds: dict[str, float], stage: str) -> Iterator[None]:
    started = perf_counter()
    try:
        yield
    finally:
        seconds[stage] = seconds.get(stage, 0.0) + perf_counter() - started
