"""The product's search, from a question whose vector is known to its ten best passages.

All of it is timed: both legs with their filter and the pool of each that the product takes, what is published of them,
and the fusion. The reranker is left out: it is a model, and takes what the model takes.
"""

import asyncio
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bot.container import Footnote
from core.ports.index import Encoder
from core.retrieval.hybrid import POOL, Retriever
from research.benchmark.corpus import SCOPE, Corpus
from research.benchmark.plain_retriever import LIMIT, MOST, Plain, measure_plain
from research.benchmark.rows import JUDGED, ReportRow, percentile
from research.benchmark.yardstick import Yardstick
from research.evaluation.corpus import WrappedEncoder

if TYPE_CHECKING:
    from core.ports.index import Vectors

_LARGE = 1_000_000
MOST_SCANS = 1.0  # a search of 100,000 passages may take as long as numpy takes to look at as many vectors
_STAGES = ("search", "visible", "fuse")


class _PrecomputedEncoder(WrappedEncoder):
    """Knows the questions' vectors already."""

    def __init__(self, encoder: Encoder, corpus: Corpus) -> None:
        super().__init__(encoder)
        self._known = dict(zip(corpus.questions, corpus.asked, strict=True))

    async def encode_queries(self, texts: Sequence[str]) -> "Vectors":
        """Return the vectors that were made before the measurement."""
        import numpy as np

        return np.stack([self._known[text] for text in texts])


@dataclass(slots=True)
class _SearchTimes:
    """Milliseconds of each question and of each stage, and what the dense leg found."""

    took: list[float] = field(default_factory=list)
    stages: dict[str, list[float]] = field(default_factory=dict)
    nearest: list[frozenset[str]] = field(default_factory=list)


async def search_rows(footnote: Footnote, corpus: Corpus, yardstick: Yardstick) -> list[ReportRow]:
    """Ours, then the plain one on the same corpus and the same questions; where that is too large for it, ours only."""
    ours = await _time_searches(footnote, corpus)
    plain = await asyncio.to_thread(measure_plain, corpus) if corpus.size <= MOST else None
    return [*_times(corpus.size, ours, yardstick), *_against(corpus.size, ours, plain)]


async def _time_searches(footnote: Footnote, corpus: Corpus) -> _SearchTimes:
    retriever = Retriever(footnote.index, _PrecomputedEncoder(footnote.encoder, corpus), None, footnote.catalog)
    found = _SearchTimes()
    for question in corpus.questions[:10]:
        await retriever.search(question, SCOPE, LIMIT)
    for question in corpus.questions:
        started = time.perf_counter()
        one = await retriever.search(question, SCOPE, LIMIT)
        found.took.append((time.perf_counter() - started) * 1000)
        for stage in _STAGES:
            found.stages.setdefault(stage, []).append(one.seconds.get(stage, 0.0) * 1000)
    for question, vector in zip(corpus.questions, corpus.asked, strict=True):
        legs = await footnote.index.search(question, vector, SCOPE, POOL)
        found.nearest.append(frozenset(passage.id for passage, _ in legs.dense[:LIMIT]))
    return found


def _times(size: int, ours: _SearchTimes, yardstick: Yardstick) -> list[ReportRow]:
    p50, p95 = percentile(ours.took, 0.5), percentile(ours.took, 0.95)
    stages = ", ".join(f"{stage} {statistics.median(ours.stages[stage]):.1f}" for stage in _STAGES)
    half, most = (None, 50) if size >= _LARGE else (10, 25)
    return [
        ReportRow(
            f"hybrid search, {size:,}: p50",
            f"{p50:.1f} ms",
            stages,
            f"under {half} ms" if half else "",
            _verdict(size, met=p50 < half) if half else None,
        ),
        ReportRow(
            f"hybrid search, {size:,}: p95", f"{p95:.1f} ms", "", f"under {most} ms", _verdict(size, met=p95 < most)
        ),
        ReportRow(
            f"hybrid search, {size:,}: p50 in scans",
            f"{p50 / yardstick.scan:.2f} (p95 {p95 / yardstick.scan:.2f})",
            yardstick.scan_note,
            f"under {MOST_SCANS}",
            _verdict(size, met=p50 / yardstick.scan < MOST_SCANS),
        ),
    ]


def _against(size: int, ours: _SearchTimes, plain: Plain | None) -> list[ReportRow]:
    if plain is None:
        return [ReportRow("the plain retriever", "not run", f"more than {MOST:,} passages", "", None)]
    p50 = percentile(ours.took, 0.5)
    stemmed, as_written = percentile(plain.stemmed, 0.5), percentile(plain.as_written, 0.5)
    shares = [len(mine & true) / LIMIT for mine, true in zip(ours.nearest, plain.nearest, strict=False)]
    return [
        ReportRow(
            "times faster than the plain retriever",
            f"{as_written / p50:.1f}",
            f"its p50 {as_written:.1f} ms, words as they stand",
            "50",
            _verdict(size, met=as_written / p50 >= 50),
        ),
        ReportRow("the same, words stemmed", f"{stemmed / p50:.1f}", f"its p50 {stemmed:.1f} ms", "", None),
        ReportRow(
            "of the ten nearest, the dense leg finds", f"{statistics.mean(shares):.3f}", "all by numpy", "", None
        ),
    ]


def _verdict(size: int, *, met: bool) -> bool | None:
    """Targets of a size say nothing about a smaller one; a larger one may still reach them."""
    return met if size >= JUDGED else None
