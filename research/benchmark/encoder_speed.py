"""Queries one by one and passages together, against ``SentenceTransformer.encode`` in float32 with its defaults."""

import asyncio
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from core.ports.index import Encoder
from research.benchmark.rows import ReportRow, percentile
from research.benchmark.texts import Texts
from research.benchmark.yardstick import Yardstick

PASSAGES = 256
QUERIES = 60
TURN = 32  # passages before the other has its turn, so that both meet the same machine


async def encoding_rows(encoder: Encoder, texts: Texts, model: str, yardstick: Yardstick) -> list[ReportRow]:
    """Return the table's rows on encoding speed."""
    from adapters.encoders.model_files import find_model, load

    bare = await asyncio.to_thread(lambda: load(find_model(model), _sentence_transformer()))
    return [
        *await _queries(
            encoder, bare, [f"{text} {n}" for n, text in enumerate(texts.some_questions(QUERIES))], yardstick
        ),
        *await _passages(encoder, bare, [texts.passage(n) for n in range(PASSAGES)], yardstick),
    ]


async def _queries(encoder: Encoder, bare: Any, queries: Sequence[str], yardstick: Yardstick) -> list[ReportRow]:
    await encoder.encode_queries(["warm up"])
    await asyncio.to_thread(bare.encode, ["warm up"])
    ours: list[float] = []
    theirs: list[float] = []
    for query in queries:
        started = time.perf_counter()
        await encoder.encode_queries([query])
        ours.append((time.perf_counter() - started) * 1000)
        theirs.append(await asyncio.to_thread(_milliseconds, partial(bare.encode, [query])))
    started = time.perf_counter()
    for query in queries:
        await encoder.encode_queries([query])
    repeated = (time.perf_counter() - started) * 1000 / len(queries)
    mine, other = percentile(ours, 0.5), percentile(theirs, 0.5)
    return [
        ReportRow(
            "a query's encoding p50", f"{mine:.1f} ms", f"bare encode {other:.1f} ms", "not slower", mine <= other
        ),
        ReportRow("a query's encoding p50 in scans", f"{mine / yardstick.scan:.2f}", yardstick.scan_note, "", None),
        ReportRow("a repeated query's encoding", f"{repeated:.3f} ms", "", "from a cache", repeated < mine / 10),
    ]


async def _passages(encoder: Encoder, bare: Any, passages: Sequence[str], yardstick: Yardstick) -> list[ReportRow]:
    await encoder.encode_passages(passages[:8])
    ours = theirs = 0.0
    for start in range(0, len(passages), TURN):
        some = list(passages[start : start + TURN])
        started = time.perf_counter()
        await encoder.encode_passages(some)
        ours += time.perf_counter() - started
        theirs += await asyncio.to_thread(_milliseconds, partial(bare.encode, some)) / 1000
    each = 1000 * ours / len(passages)
    return [
        ReportRow(
            "passages encoded per second",
            f"{len(passages) / ours:.0f} ({theirs / ours:.2f} times)",
            f"bare encode {len(passages) / theirs:.0f}",
            "1.8 times",
            theirs / ours >= 1.8,
        ),
        ReportRow("a passage's encoding in scans", f"{each / yardstick.scan:.2f}", yardstick.scan_note, "", None),
    ]


def _sentence_transformer() -> Any:
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer


def _milliseconds(do: Callable[[], object]) -> float:
    started = time.perf_counter()
    do()
    return (time.perf_counter() - started) * 1000
