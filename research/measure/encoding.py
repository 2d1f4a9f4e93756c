# ruff: noqa: T201 - a script speaks to its caller
"""What the encoder gains over bare sentence-transformers, and what that costs in quality.

    python -m research.measure.encoding [--passages 400]

Passages a second against ``SentenceTransformer.encode`` in float32 with its default settings, on the same texts in the
same run; nDCG@10 of the dense leg with the vectors of either; and the time of one query.
"""

import argparse
import asyncio
import statistics
from collections.abc import Awaitable, Callable
from time import perf_counter
from typing import Any

import numpy as np

from adapters.encoders.model_files import find_model
from adapters.encoders.text_encoder import SentenceTransformerEncoder, computes_in_bfloat16
from core.ports.index import Vectors
from research.measure.fusion import ndcg
from research.measure.retrieval_sets import RetrievalSet, load

QUALITY_SET = "anthropic_docs"


async def main() -> None:
    """Print the figures."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--passages", type=int, default=400)
    count = options.parse_args().passages
    from sentence_transformers import SentenceTransformer

    bare: Any = SentenceTransformer(find_model("").location, local_files_only=True)
    ours = SentenceTransformerEncoder()
    found = load("scifact_train")
    texts = [f"{title}\n{text}" for title, text in found.documents.values()][:count]
    await asyncio.gather(ours.encode_queries(["warm"]), ours.encode_passages(texts[:16]))
    bare.encode(texts[:16])

    started = perf_counter()
    plain = bare.encode(texts)
    bare_rate = count / (perf_counter() - started)
    started = perf_counter()
    vectors = await ours.encode_passages(texts)
    our_rate = count / (perf_counter() - started)
    print(f"bfloat16 in this processor: {computes_in_bfloat16()}")
    print(f"passages a second: bare {bare_rate:.1f}, ours {our_rate:.1f}, {our_rate / bare_rate:.2f} times")
    print(f"mean cosine to bare: {float((_unit(plain) * vectors).sum(axis=1).mean()):.5f}")

    queries = [query.text for query in found.queries[:100]]

    async def bare_query(text: str) -> None:
        bare.encode(text)

    async def our_query(text: str) -> None:
        await ours.encode_queries([text])

    bare_ms, our_ms = await _median(bare_query, queries), await _median(our_query, queries)
    print(f"one query, median ms: bare {bare_ms:.2f}, ours {our_ms:.2f}")
    print(f"the same again, from the cache: {await _median(our_query, queries):.3f} ms")

    quality = load(QUALITY_SET)
    whole = [f"{title}\n{text}" for title, text in quality.documents.values()]
    asked = [query.text for query in quality.queries]
    bare_ndcg = _dense(quality, _unit(bare.encode(whole)), _unit(bare.encode(asked)))
    our_ndcg = _dense(quality, await ours.encode_passages(whole), await ours.encode_queries(asked))
    print(f"nDCG@10 on {QUALITY_SET}: bare {bare_ndcg:.4f}, ours {our_ndcg:.4f}, {our_ndcg - bare_ndcg:+.4f}")
    await ours.close()


async def _median(encode: Callable[[str], Awaitable[None]], texts: list[str]) -> float:
    taken = []
    for text in texts:
        started = perf_counter()
        await encode(text)
        taken.append((perf_counter() - started) * 1_000)
    return statistics.median(taken)


def _dense(found: RetrievalSet, documents: Vectors, queries: Vectors) -> float:
    ids = list(found.documents)
    rankings = [
        {ids[n]: float(scores[n]) for n in np.argsort(-scores)[:50]}
        for scores in (documents @ vector for vector in queries)
    ]
    return ndcg(found, rankings)


def _unit(vectors: Any) -> Vectors:
    unit: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit


if __name__ == "__main__":
    asyncio.run(main())
