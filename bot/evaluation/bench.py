"""How fast, each row beside its baseline in the same run.

Texts are sentences of the sample documents put together anew with a fixed seed. Vectors of the searched corpus are
random and of unit length, because a search costs the same whatever they mean; encoding is measured on its own.
"""

import asyncio
import os
import random
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bot.config import Settings
from bot.wiring import open_footnote
from core.knowledge import Document, Passage
from core.language import content_words, sentences
from core.ports import Scope
from core.retrieval.fusion import fuse
from core.retrieval.hybrid import POOL

if TYPE_CHECKING:
    from core.ports import Vectors

SAMPLES = Path(__file__).parents[1] / "samples" / "documents"
BASE = "bench"
QUERIES = 60
BASELINE_QUERIES = 10  # the plain retriever is slow, and steady
ENCODED = 256
_SEED = 7
_PER_DOCUMENT = 50
_JUDGED = 100_000  # passages; the targets of memory and start are for this many


@dataclass(frozen=True, slots=True)
class Row:
    """One figure, its baseline, and whether the target is reached: None where there is none at this size."""

    what: str
    value: str
    against: str
    target: str
    met: bool | None


def texts(count: int) -> list[str]:
    """Passages of three to six sentences of the samples."""
    draw = random.Random(_SEED)  # noqa: S311 - not a secret
    pool = [s for path in sorted(SAMPLES.rglob("*.md")) for s in sentences(path.read_text(encoding="utf-8"))]
    return [f"Record {n}. " + " ".join(draw.choices(pool, k=draw.randint(3, 6))) for n in range(count)]


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which this share lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


async def measure(settings: Settings, passages: int) -> list[Row]:
    """All rows, on embedded stores in a temporary home."""
    import numpy as np

    corpus = await asyncio.to_thread(texts, passages)
    draw = np.random.default_rng(_SEED)
    vectors = draw.standard_normal((passages, 384), dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="footnote-bench-") as home:
        apart = settings.model_copy(
            update={"footnote_home": Path(home), "redis_url": None, "milvus_uri": None, "milvus_token": None}
        )
        async with open_footnote(apart) as footnote:
            await _fill(footnote, corpus, vectors)
            rows += await _search(footnote, corpus, vectors)
            rows += await _encoding(footnote, corpus)
            rows.append(_memory(passages))
        started = time.perf_counter()
        async with open_footnote(apart) as footnote:
            await footnote.index.count()
            ready = time.perf_counter() - started
        met = ready < 8 if passages == _JUDGED else None
        rows.append(Row("start to ready", f"{ready:.1f} s", "modules already imported", "under 8 s", met))
    return rows


async def _fill(footnote: Any, corpus: Sequence[str], vectors: "Vectors") -> None:
    made = [
        Passage(f"p{n}", BASE, f"d{n // _PER_DOCUMENT}", "1", f"s{n // _PER_DOCUMENT}", n % _PER_DOCUMENT, "", text)
        for n, text in enumerate(corpus)
    ]
    for start in range(0, len(made), 1_000):
        await footnote.index.add(made[start : start + 1_000], vectors[start : start + 1_000])
    for n in range(0, len(made), _PER_DOCUMENT):
        name = f"d{n // _PER_DOCUMENT}"
        await footnote.catalogue.publish(Document(name, BASE, name, name, "1", "text/plain", _PER_DOCUMENT))


async def _search(footnote: Any, corpus: Sequence[str], vectors: "Vectors") -> list[Row]:
    draw = random.Random(_SEED + 1)  # noqa: S311 - not a secret
    asked = [" ".join(draw.sample(content_words(draw.choice(corpus)), 5)) for _ in range(QUERIES)]
    scope = Scope(frozenset({BASE}))
    ours: list[float] = []
    for n, query in enumerate(asked):
        started = time.perf_counter()
        legs = await footnote.index.search(query, vectors[n], scope, POOL)
        await footnote.catalogue.visible_versions(sorted({p.document for p, _ in (*legs.dense, *legs.bm25)}))
        fuse(query, legs, POOL)
        ours.append((time.perf_counter() - started) * 1000)
    plain = await asyncio.to_thread(_plain, corpus, vectors, asked[:BASELINE_QUERIES])
    p50, p95, base = percentile(ours, 0.5), percentile(ours, 0.95), percentile(plain, 0.5)
    return [
        Row(
            "hybrid search p50",
            f"{p50:.1f} ms",
            f"plain retriever {base:.1f} ms",
            "under 10 ms",
            _judged(len(corpus), met=p50 < 10),
        ),
        Row("hybrid search p95", f"{p95:.1f} ms", "", "under 25 ms", _judged(len(corpus), met=p95 < 25)),
        Row(
            "times faster than the plain retriever",
            f"{base / p50:.1f}",
            "1",
            "50 at 100,000",
            _judged(len(corpus), met=base / p50 >= 50),
        ),
    ]


def _judged(passages: int, *, met: bool) -> bool | None:
    """Targets of a size say nothing about a smaller one; a larger one may still reach them."""
    return met if passages >= _JUDGED else None


def _plain(corpus: Sequence[str], vectors: "Vectors", asked: Sequence[str]) -> list[float]:
    """The plain retriever of the literature: BM25Okapi over all, numpy, half and half after min-max scaling."""
    import numpy as np
    from rank_bm25 import BM25Okapi

    index = BM25Okapi([list(content_words(text)) for text in corpus])
    took: list[float] = []
    for n, query in enumerate(asked):
        started = time.perf_counter()
        parts = (vectors @ vectors[n], np.asarray(index.get_scores(list(content_words(query)))))
        fused = sum((part - part.min()) / (np.ptp(part) or 1.0) for part in parts)
        np.argsort(-np.asarray(fused))[:10]
        took.append((time.perf_counter() - started) * 1000)
    return took


async def _encoding(footnote: Any, corpus: Sequence[str]) -> list[Row]:
    """Queries one by one and passages together, against ``encode`` with its defaults."""
    from adapters.encoders.model_files import find_model, load

    bare = await asyncio.to_thread(lambda: load(find_model(""), _sentence_transformer()))
    queries = [f"{text[:60]} {n}" for n, text in enumerate(corpus[:30])]
    await footnote.encoder.encode_queries(["warm up"])
    await asyncio.to_thread(bare.encode, ["warm up"])
    ours: list[float] = []
    theirs: list[float] = []
    for query in queries:  # in turns, so that both meet the same machine
        started = time.perf_counter()
        await footnote.encoder.encode_queries([query])
        ours.append((time.perf_counter() - started) * 1000)
        theirs.append(await asyncio.to_thread(_milliseconds, partial(bare.encode, [query])))
    started = time.perf_counter()
    await footnote.encoder.encode_queries(queries)
    repeated = (time.perf_counter() - started) * 1000 / len(queries)
    some = list(corpus[:ENCODED])
    await footnote.encoder.encode_passages(some[:8])
    started = time.perf_counter()
    await footnote.encoder.encode_passages(some)
    rate = len(some) / (time.perf_counter() - started)
    plain = len(some) / (await asyncio.to_thread(_milliseconds, lambda: bare.encode(some)) / 1000)
    mine, other = percentile(ours, 0.5), percentile(theirs, 0.5)
    return [
        Row("a query's encoding p50", f"{mine:.1f} ms", f"bare encode {other:.1f} ms", "not slower", mine <= other),
        Row("a repeated query's encoding", f"{repeated:.3f} ms", "", "from a cache", repeated < mine / 10),
        Row(
            "passages encoded per second",
            f"{rate:.0f} ({rate / plain:.2f} times)",
            f"bare encode {plain:.0f}",
            "1.8 times",
            rate / plain >= 1.8,
        ),
    ]


def _sentence_transformer() -> Any:
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer


def _milliseconds(do: Callable[[], object]) -> float:
    started = time.perf_counter()
    do()
    return (time.perf_counter() - started) * 1000


def _memory(passages: int) -> Row:
    """Proportional memory of this process and its children, Linux only; the bench's own corpus is in it."""
    total = sum(_proportional(pid) for pid in _family(os.getpid()))
    known = total > 0
    return Row(
        f"memory at {passages:,} passages",
        f"{total / 1e9:.2f} GB" if known else "not known here",
        "the bench's own copies included",
        "under 1.5 GB",
        total < 1.5e9 if known and passages == _JUDGED else None,
    )


def _family(pid: int) -> list[int]:
    found = [pid]
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in children.read_text().split():
            found += _family(int(child))
    return found


def _proportional(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))
