"""The plain retriever of the literature: BM25Okapi over everything, numpy, half of each after min-max scaling."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from core.model.text import content_words
from research.benchmark.corpus import SCOPE, Corpus, base_of

if TYPE_CHECKING:
    from core.ports.index import Vectors

MOST = 100_000  # passages; rank_bm25 takes some 4 KB of memory for each
QUERIES = 20  # it is slow, and steady
LIMIT = 10


@dataclass(slots=True)
class Plain:
    """Milliseconds of each question, and the passages of the scope that are truly nearest to it."""

    stemmed: list[float] = field(default_factory=list)
    as_written: list[float] = field(default_factory=list)
    nearest: list[frozenset[str]] = field(default_factory=list)


def measure_plain(corpus: Corpus) -> Plain:
    """Both ways to cut words: stemmed without stop words, as our own comparison has them, and rank_bm25's README's."""
    import numpy as np

    found = Plain()
    batches = list(corpus.batches())
    texts = [passage.text for passages, _ in batches for passage in passages]
    vectors: Vectors = np.concatenate([some for _, some in batches])
    seen = np.array([base_of(number) in SCOPE.bases for number in range(corpus.size)])
    del batches
    for vector in corpus.asked[:QUERIES]:
        best = np.argsort(-np.where(seen, vectors @ vector, -2.0))[:LIMIT]
        found.nearest.append(frozenset(corpus.passage(int(number)).id for number in best))
    found.stemmed = _time_queries(corpus, texts, vectors, lambda text: list(content_words(text)))
    found.as_written = _time_queries(corpus, texts, vectors, lambda text: text.lower().split(" "))
    return found


def _time_queries(
    corpus: Corpus, texts: Sequence[str], vectors: "Vectors", cut: Callable[[str], list[str]]
) -> list[float]:
    import numpy as np
    from rank_bm25 import BM25Okapi

    index = BM25Okapi([cut(text) for text in texts])
    took: list[float] = []
    for question, vector in zip(corpus.questions[:QUERIES], corpus.asked, strict=False):
        started = time.perf_counter()
        parts = (vectors @ vector, np.asarray(index.get_scores(cut(question))))
        fused = sum((part - part.min()) / (np.ptp(part) or 1.0) for part in parts)
        np.argsort(-np.asarray(fused))[:LIMIT]
        took.append((time.perf_counter() - started) * 1000)
    return took
