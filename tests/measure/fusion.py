# ruff: noqa: T201 - a script speaks to its caller
"""How the fusion and the scores' calibration were chosen, through the index that serves people.

    python -m tests.measure.fusion            every set, about ten minutes the first time, two afterwards
    python -m tests.measure.fusion --limit 50 at most 50 questions of each set
    python -m tests.measure.fusion --set docs_prometheus --set cranfield

Documents are cut into passages by ingestion's own chunker and scored by their best passage. Documents that a set's
metadata excludes are dropped before scoring. The baseline is the plain retriever of the literature: whole documents
(cut off at the encoder's window), ``rank_bm25.BM25Okapi`` and numpy, fused half and half after min-max scaling.
"""

import argparse
import asyncio
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

import numpy as np
from rank_bm25 import BM25Okapi
from ranx import Qrels, Run, evaluate

from adapters.encoders.text_encoder import SentenceTransformerEncoder
from adapters.milvus.index import MilvusIndex
from core.model.knowledge import Passage
from core.model.text import content_words
from core.ports.index import DenseAndBm25Hits, Scope
from core.retrieval import fusion
from core.retrieval.fusion import fuse
from core.retrieval.hybrid import POOL
from tests.measure.retrieval_sets import NAMES, Query, RetrievalSet, chunked, encoded, load

WEIGHTS = (0.5, 0.55, 0.6, 0.65, 2 / 3, 0.7, 0.75, 0.8, 0.85, 0.9)
FOREIGN = 60  # questions of other sets asked of each set: nothing answers them

Ranking = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Searched:
    """A set with both legs' answers to its questions, and to some that belong elsewhere."""

    found: RetrievalSet
    legs: tuple[DenseAndBm25Hits, ...]
    foreign: tuple[tuple[Query, DenseAndBm25Hits], ...]
    baseline: Mapping[str, tuple[Ranking, ...]]


async def main() -> None:
    """Print the tables."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--limit", type=int, help="questions of each set, at most")
    options.add_argument("--set", action="append", choices=NAMES, help="only this set; may be given again")
    given = options.parse_args()
    encoder = SentenceTransformerEncoder()
    sets = [load(name, given.limit) for name in given.set or NAMES]
    searched = [await search(found, sets, encoder) for found in sets]
    await encoder.close()
    legs_table(searched)
    weights_table(searched)
    calibration_table(searched)


async def search(found: RetrievalSet, sets: Sequence[RetrievalSet], encoder: SentenceTransformerEncoder) -> Searched:
    """Index a set and ask it everything."""
    asked = [*found.queries, *foreign_to(found, sets)]
    queries = await encoded([query.text for query in asked], encoder, kind="query")
    async with indexed(found, encoder) as index:
        scope = Scope(frozenset({found.name}))
        legs = [await index.search(q.text, v, scope, POOL) for q, v in zip(asked, queries, strict=True)]
    own = len(found.queries)
    whole = await encoded([f"{t}\n{x}" if t else x for t, x in found.documents.values()], encoder, kind="passage")
    return Searched(
        found, tuple(legs[:own]), tuple(zip(asked[own:], legs[own:], strict=True)), plain(found, whole, queries[:own])
    )


def foreign_to(found: RetrievalSet, sets: Sequence[RetrievalSet]) -> list[Query]:
    """Questions of the other sets, drawn with a fixed seed: nothing in this one answers them."""
    others = [query for other in sets if other.name != found.name for query in other.queries]
    if not others:
        return []
    picked = np.random.default_rng(7).choice(len(others), min(FOREIGN, len(others)), replace=False).tolist()
    return [Query(others[n].id, others[n].text, {}) for n in picked]


@asynccontextmanager
async def indexed(found: RetrievalSet, encoder: SentenceTransformerEncoder) -> AsyncIterator[MilvusIndex]:
    """The set's passages in an index of its own, which is removed after."""
    passages = await chunked(found, encoder)
    vectors = await encoded([p.searchable for p in passages], encoder, kind="passage")
    with tempfile.TemporaryDirectory(prefix="fusion-") as folder:
        async with MilvusIndex(f"{folder}/m.db", model=encoder.name, dimension=encoder.dimension) as index:
            await index.add(passages, vectors)
            yield index


def plain(found: RetrievalSet, vectors: np.ndarray, queries: np.ndarray) -> dict[str, tuple[Ranking, ...]]:
    """The baseline's rankings."""
    ids = list(found.documents)
    okapi = BM25Okapi([list(content_words(f"{title} {text}")) for title, text in found.documents.values()])
    kept: dict[str, list[Ranking]] = {"plain dense": [], "plain BM25": [], "plain half and half": []}
    for query, vector in zip(found.queries, queries, strict=True):
        dense, bm25 = vectors @ vector, okapi.get_scores(list(content_words(query.text)))
        for name, scores in zip(kept, (dense, bm25, _scaled(dense) + _scaled(bm25)), strict=True):
            kept[name].append({ids[n]: float(scores[n]) for n in np.argsort(-scores, kind="stable")[:100]})
    return {name: tuple(rankings) for name, rankings in kept.items()}


def _scaled(scores: np.ndarray) -> np.ndarray:
    scaled: np.ndarray = (scores - scores.min()) / max(float(scores.max() - scores.min()), 1e-9)
    return scaled


def ndcg(found: RetrievalSet, rankings: Sequence[Ranking]) -> float:
    """nDCG@10 by ranx."""
    run = {
        query.id: {name: score for name, score in ranking.items() if name not in query.exclude} or {"": 0.0}
        for query, ranking in zip(found.queries, rankings, strict=True)
    }
    return float(evaluate(Qrels({q.id: q.relevant for q in found.queries}), Run(run), "ndcg@10"))


def by_document(scored: Sequence[tuple[Passage, float]]) -> Ranking:
    """Each document's best passage."""
    best: dict[str, float] = {}
    for passage, score in scored:
        best[passage.document] = max(score, best.get(passage.document, -1e9))
    return best


def reciprocal(legs: DenseAndBm25Hits) -> list[tuple[Passage, float]]:
    """Reciprocal rank fusion, k = 60 (Cormack et al. 2009), for comparison."""
    scores: dict[str, float] = {}
    passages = {}
    for leg in (legs.dense, legs.bm25):
        for rank, (passage, _) in enumerate(leg, 1):
            passages[passage.id] = passage
            scores[passage.id] = scores.get(passage.id, 0.0) + 1 / (60 + rank)
    return [(passages[name], score) for name, score in scores.items()]


def hybrid(
    query: Query, legs: DenseAndBm25Hits, weight: float = fusion.DENSE_WEIGHT, pool: int = POOL
) -> list[tuple[Passage, float]]:
    """The product's fusion, at a dense weight."""
    kept, fusion.DENSE_WEIGHT = fusion.DENSE_WEIGHT, weight
    try:
        return [(hit.passage, hit.score) for hit in fuse(query.text, legs, pool)]
    finally:
        fusion.DENSE_WEIGHT = kept


def measured(one: Searched, rank: Callable[[Query, DenseAndBm25Hits], Sequence[tuple[Passage, float]]]) -> float:
    """A ranking's nDCG@10 on a set."""
    return ndcg(one.found, [by_document(rank(q, legs)) for q, legs in zip(one.found.queries, one.legs, strict=True)])


def legs_table(searched: Sequence[Searched]) -> None:
    """Each leg and each fusion on each set."""
    print("\nnDCG@10 of the best passage of each document")
    columns = ["dense", "BM25", "hybrid", "reciprocal", *searched[0].baseline]
    print(f"{'set':22}" + "".join(f"{name:>21}" for name in columns) + f"{'hybrid - best leg':>20}")
    for one in searched:
        values = [
            measured(one, lambda _, legs: legs.dense),
            measured(one, lambda _, legs: legs.bm25),
            measured(one, hybrid),
            measured(one, lambda _, legs: reciprocal(legs)),
            *(ndcg(one.found, rankings) for rankings in one.baseline.values()),
        ]
        best = max(values[0], values[1], values[4], values[5])
        print(f"{one.found.name:22}" + "".join(f"{v:21.4f}" for v in values) + f"{values[2] - best:+20.4f}")


def weights_table(searched: Sequence[Searched]) -> None:
    """Dense weights on each set, and the weight that the other sets would have chosen for it."""
    print("\nnDCG@10 of the hybrid at each dense weight, less the better leg's")
    gains = []
    for one in searched:
        best = max(measured(one, lambda _, legs: legs.dense), measured(one, lambda _, legs: legs.bm25))
        gains.append([measured(one, lambda q, legs, w=w: hybrid(q, legs, w)) - best for w in WEIGHTS])  # type: ignore[misc]
    print(f"{'set':22}" + "".join(f"{weight:9.2f}" for weight in WEIGHTS) + "   chosen by the others: gain")
    table = np.array(gains)
    for row, one in enumerate(searched):
        others = np.delete(table, row, axis=0)
        chosen = int(others.mean(axis=0).argmax()) if len(others) else 0
        told = f"{WEIGHTS[chosen]:14.2f}: {table[row, chosen]:+.4f}"
        print(f"{one.found.name:22}" + "".join(f"{gain:+9.4f}" for gain in table[row]) + told)
    print(f"{'smallest gain':22}" + "".join(f"{gain:+9.4f}" for gain in table.min(axis=0)))


def calibration_table(searched: Sequence[Searched]) -> None:
    """Whether a score means the same on every set, and what a threshold on the best score costs."""
    print("\nThe best hit's score: is it relevant? And what a threshold lets through")
    print(f"{'set':22}{'said':>8}{'true':>8}" + "".join(f"{f'own>={t:.1f}':>10}{'foreign':>9}" for t in THRESHOLDS))
    for one in searched:
        own = [fuse(q.text, legs, POOL)[:1] for q, legs in zip(one.found.queries, one.legs, strict=True)]
        foreign = [fuse(q.text, legs, POOL)[:1] for q, legs in one.foreign]
        scores = np.array([hits[0].score if hits else 0.0 for hits in own])
        right = [
            bool(hits) and hits[0].passage.document in query.relevant
            for hits, query in zip(own, one.found.queries, strict=True)
            if not hits or hits[0].passage.document not in query.exclude
        ]
        wrong = np.array([hits[0].score if hits else 0.0 for hits in foreign] or [0.0])
        print(
            f"{one.found.name:22}{scores.mean():8.2f}{np.mean(right):8.2f}"
            + "".join(f"{(scores >= t).mean():10.2f}{(wrong >= t).mean():9.2f}" for t in THRESHOLDS)
        )


THRESHOLDS = (0.1, 0.2, 0.3, 0.5, 0.7, 0.8)

if __name__ == "__main__":
    asyncio.run(main())
