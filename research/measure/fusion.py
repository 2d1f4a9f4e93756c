# ruff: noqa: T201 - a script speaks to its caller
"""How the fusion and the scores' calibration were chosen, through the index that serves people.

    python -m research.measure.fusion            every set, about ten minutes the first time, two afterwards
    python -m research.measure.fusion --limit 50 at most 50 questions of each set
    python -m research.measure.fusion --set docs_prometheus --set cranfield

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
from itertools import product

import numpy as np
from rank_bm25 import BM25Okapi
from ranx import Qrels, Run, evaluate

from adapters.encoders.text_encoder import SentenceTransformerEncoder
from adapters.milvus.index import MilvusIndex
from core.model.knowledge import Passage
from core.model.passage_units import texts_of_units
from core.model.text import content_words
from core.ports.index import DenseAndBm25Hits, PassageVectors, Scope, SentenceVectors
from core.retrieval import fusion
from core.retrieval.fusion import fuse
from core.retrieval.hybrid import POOL
from research.measure.retrieval_sets import NAMES, Query, RetrievalSet, chunked, encoded, load

WEIGHTS = (0.5, 0.55, 0.58, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9)
GRID = tuple(product((0.54, 0.58, 0.62, 0.66), (0.0, -0.07, -0.135, -0.2), (0.0, 0.1, 0.2, 0.3)))  # Constants
SENTENCE_WEIGHTS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
FOREIGN = 60  # questions of other sets asked of each set: nothing answers them

Ranking = Mapping[str, float]
Constants = tuple[float, float, float]  # the dense weight, what a longer question takes off it, the rank's share


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
    plain_table(searched)
    constants_table(searched)
    weights_table(searched)
    sentences_table(searched)
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
    """Yield the set's passages in an index of its own, which is removed after."""
    passages = await chunked(found, encoder)
    wholes = await encoded([p.searchable for p in passages], encoder, kind="passage")
    texts = [texts_of_units(passage) for passage in passages]
    rows = iter(await encoded([text for some in texts for text in some], encoder, kind="passage"))
    sentences = [SentenceVectors.of(some, np.array([next(rows) for _ in some])) for some in texts]
    vectors = [PassageVectors(*pair) for pair in zip(wholes, sentences, strict=True)]
    with tempfile.TemporaryDirectory(prefix="fusion-") as folder:
        async with MilvusIndex(f"{folder}/m.db", model=encoder.name, dimension=encoder.dimension) as index:
            await index.add(passages, vectors)
            yield index


def plain(found: RetrievalSet, vectors: np.ndarray, queries: np.ndarray) -> dict[str, tuple[Ranking, ...]]:
    """Return the baseline's rankings."""
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


def min_max(legs: DenseAndBm25Hits, weight: float) -> list[tuple[Passage, float]]:
    """Each leg's scores from 0 to 1 among those it returned, weighted; what it did not return has 0."""
    scores: dict[str, float] = {}
    passages = {}
    for leg, share in ((legs.dense, weight), (legs.bm25, 1 - weight)):
        low, high = min((s for _, s in leg), default=0.0), max((s for _, s in leg), default=1.0)
        for passage, score in leg:
            passages[passage.id] = passage
            scaled = (score - low) / ((high - low) or 1.0)
            scores[passage.id] = scores.get(passage.id, 0.0) + share * scaled
    return [(passages[name], score) for name, score in scores.items()]


PLAIN: Mapping[str, Callable[[DenseAndBm25Hits], Sequence[tuple[Passage, float]]]] = {
    "min-max .5": lambda legs: min_max(legs, 0.5),
    "min-max .7": lambda legs: min_max(legs, 0.7),
    "reciprocal": reciprocal,
}


def in_use() -> Constants:
    """Return the product's."""
    return fusion.DENSE_WEIGHT, fusion.PER_LENGTH, fusion.RANK_SHARE


def hybrid(
    query: Query,
    legs: DenseAndBm25Hits,
    weight: float | None = None,
    pool: int = POOL,
    constants: Constants | None = None,
) -> list[tuple[Passage, float]]:
    """Return the product's fusion, at another dense weight or with other constants."""
    kept = in_use()
    set_to = constants or (kept if weight is None else (weight, *kept[1:]))
    fusion.DENSE_WEIGHT, fusion.PER_LENGTH, fusion.RANK_SHARE = set_to
    try:
        return [(hit.passage, hit.score) for hit in fuse(query.text, legs, pool)]
    finally:
        fusion.DENSE_WEIGHT, fusion.PER_LENGTH, fusion.RANK_SHARE = kept


def measured(one: Searched, rank: Callable[[Query, DenseAndBm25Hits], Sequence[tuple[Passage, float]]]) -> float:
    """Return a ranking's nDCG@10 on a set."""
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


def each_ndcg(one: Searched, rank: Callable[[Query, DenseAndBm25Hits], Sequence[tuple[Passage, float]]]) -> np.ndarray:
    """nDCG@10 of each question of a set."""
    run = {
        query.id: {name: s for name, s in by_document(rank(query, legs)).items() if name not in query.exclude}
        or {"": 0}
        for query, legs in zip(one.found.queries, one.legs, strict=True)
    }
    qrels = Qrels({q.id: q.relevant for q in one.found.queries})
    scores = evaluate(qrels, Run(run), "ndcg@10", return_mean=False)
    return np.asarray(scores)


def plain_table(searched: Sequence[Searched]) -> None:
    """Print the product's fusion and the plain ones over the same legs, and its interval over the best."""
    print("\nnDCG@10 of the product's fusion and of plain ones over the same legs; over the best of those, with 95 %")
    print(f"{'set':22}{'product':>12}" + "".join(f"{name:>12}" for name in PLAIN) + "   over the best")
    draw = np.random.default_rng(7)
    for one in searched:
        ours = each_ndcg(one, hybrid)
        plain_ones = [each_ndcg(one, lambda _, legs, rank=rank: rank(legs)) for rank in PLAIN.values()]  # type: ignore[misc]
        gain = ours - max(plain_ones, key=lambda scores: float(scores.mean()))
        low, high = np.quantile(draw.choice(gain, (4000, len(gain))).mean(axis=1), [0.025, 0.975])
        values = "".join(f"{scores.mean():12.4f}" for scores in (ours, *plain_ones))
        print(f"{one.found.name:22}{values}   {gain.mean():+.4f} [{low:+.3f}, {high:+.3f}]")


def constants_table(searched: Sequence[Searched]) -> None:
    """All three constants, derived again: those with the highest mean gain over the best plain fusion of each set.

    And, for each set, what the other sets would have chosen, judged on this one.
    """
    print(
        f"\nTHE FUSION'S CONSTANTS (weight, per length, rank's share): gain over the best plain one. In use: {in_use()}"
    )
    best = [
        max(measured(one, lambda _, legs, rank=rank: rank(legs)) for rank in PLAIN.values())  # type: ignore[misc]
        for one in searched
    ]
    table = np.array(
        [
            [measured(one, lambda q, legs, c=c: hybrid(q, legs, constants=c)) - plain for c in GRID]  # type: ignore[misc]
            for one, plain in zip(searched, best, strict=True)
        ]
    )
    for row, one in enumerate(searched):
        others = np.delete(table, row, axis=0) if len(searched) > 1 else table
        chosen = int(others.mean(axis=0).argmax())
        print(f"{one.found.name:22}chosen by the others: {GRID[chosen]}: {table[row, chosen]:+.4f}")
    derived = int(table.mean(axis=0).argmax())
    print(
        f"derived: {GRID[derived]}, mean gain {table[:, derived].mean():+.4f}, smallest {table[:, derived].min():+.4f}"
    )


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


def sentences_table(searched: Sequence[Searched]) -> None:
    """Print nDCG@10 for each weight of the nearest sentence, and the best plain fusion's beside it."""
    print(f"\nnDCG@10 with the nearest sentence at each weight; in use: {fusion.SENTENCE_WEIGHT}")
    print(f"{'set':22}" + "".join(f"{weight:9.1f}" for weight in SENTENCE_WEIGHTS) + "   best plain")
    kept = fusion.SENTENCE_WEIGHT
    for one in searched:
        values = []
        for fusion.SENTENCE_WEIGHT in SENTENCE_WEIGHTS:
            values.append(measured(one, hybrid))
        best = max(measured(one, lambda _, legs, rank=rank: rank(legs)) for rank in PLAIN.values())  # type: ignore[misc]
        print(f"{one.found.name:22}" + "".join(f"{value:9.4f}" for value in values) + f"{best:13.4f}")
        fusion.SENTENCE_WEIGHT = kept


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
