# ruff: noqa: T201 - a script speaks to its caller
"""Every constant that decides how sure is sure enough, derived again from the measuring sets, beside the one in use.

    python -m research.measure.calibrate              all nine sets; minutes, once their vectors are cached
    python -m research.measure.calibrate --limit 60   at most 60 questions of each set
    python -m research.measure.calibrate --without-grades

The weight of the dense leg, the coefficients of the score, from which score one search is enough, how many passages
each leg and a reranker are given, and from which grade a passage is evidence. Whatever is fitted is fitted without the
set that it is then tried on. What neighbouring values cost stands beside each.
"""

import argparse
import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from adapters.encoders.text_encoder import SentenceTransformerEncoder
from adapters.reasoners.openai.reasoner import TOP_K
from bot.container import CONFIDENT
from core.model.evidence import Hit
from core.model.text import content_words
from core.ports.index import DenseAndBm25Hits, Scope
from core.retrieval import fusion
from core.retrieval.fusion import fuse
from core.retrieval.hybrid import POOL, RERANKED
from research.measure import fusion as retrieval
from research.measure.logistic import area, brier, chances, deviation, fitted
from research.measure.retrieval_sets import NAMES, Query, RetrievalSet, encoded, load

POOLS = (10, 20, 30, 50, 75, 100)
RERANK_POOLS = (10, 20, 30, 40, 50, 100)
THRESHOLDS = (0.02, 0.04, 0.06, 0.08, 0.1, 0.2, 0.4)
ALL_BUT = 0.01  # of a set's own questions may be asked the long way
COVERINGS = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
FITTED_ON = 10  # best hits of each question
FOREIGN_SHARE = 0.2  # of a set's weight: one question in five is asked in the wrong place
_TIMED = 60  # questions timed at each pool

Matrix = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and both legs' ``max(POOLS)`` best; a foreign one has nothing relevant."""

    query: Query
    legs: DenseAndBm25Hits


@dataclass(frozen=True, slots=True)
class Collected:
    """One set, asked its own questions and some of others'; ``seconds`` is the median of a search by pool."""

    found: RetrievalSet
    own: tuple[Asked, ...]
    foreign: tuple[Asked, ...]
    seconds: dict[int, float]


@dataclass(frozen=True, slots=True)
class Rows:
    """The best hits of a set's questions: features (n, 4) with a constant last, whether relevant, weight, rank."""

    features: Matrix
    relevant: Matrix
    weight: Matrix
    first: npt.NDArray[np.bool_]
    foreign: npt.NDArray[np.bool_]


async def main() -> None:
    """Print the tables."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--limit", type=int, help="questions of each set, at most")
    options.add_argument("--set", action="append", choices=NAMES, help="only this set; may be given again")
    options.add_argument("--without-grades", action="store_true", help="leave out the grades' cutoff")
    given = options.parse_args()
    sets = [load(name, given.limit) for name in given.set or NAMES]
    encoder = SentenceTransformerEncoder()
    collected = [await collect(found, sets, encoder) for found in sets]
    await encoder.close()
    weight_table(collected)
    pool_table(collected)
    rerank_table(collected)
    coefficients_table(collected)
    confident_table(collected)
    covering_table(collected)
    if not given.without_grades:
        from research.measure.abstention import cutoffs_table

        cutoffs_table(each=given.limit or 80)


async def collect(found: RetrievalSet, sets: Sequence[RetrievalSet], encoder: SentenceTransformerEncoder) -> Collected:
    """Ask an index of this set everything, at the largest pool; then some again at each, for the time."""
    asked = [*found.queries, *retrieval.foreign_to(found, sets)]
    vectors = await encoded([query.text for query in asked], encoder, kind="query")
    scope = Scope(frozenset({found.name}))
    seconds: dict[int, list[float]] = {pool: [] for pool in POOLS}
    async with retrieval.indexed(found, encoder) as index:
        legs = [await index.search(q.text, v, scope, max(POOLS)) for q, v in zip(asked, vectors, strict=True)]
        for query, vector in list(zip(found.queries, vectors, strict=False))[:_TIMED]:
            for pool in POOLS:  # in turns, so that all meet the same machine
                started = time.perf_counter()
                await index.search(query.text, vector, scope, pool)
                seconds[pool].append(time.perf_counter() - started)
    all_asked = [Asked(query, found_legs) for query, found_legs in zip(asked, legs, strict=True)]
    own = len(found.queries)
    medians = {pool: float(np.median(took)) for pool, took in seconds.items()}
    return Collected(found, tuple(all_asked[:own]), tuple(all_asked[own:]), medians)


def cut(legs: DenseAndBm25Hits, pool: int) -> DenseAndBm25Hits:
    """Return the legs as a smaller pool would have returned them."""
    return DenseAndBm25Hits(legs.dense[:pool], legs.bm25[:pool])


def hits_of(asked: Asked, pool: int = POOL) -> list[Hit]:
    """Return the fused hits, without documents that do not count."""
    return [
        hit
        for hit in fuse(asked.query.text, cut(asked.legs, pool), pool)
        if hit.passage.document not in asked.query.exclude
    ]


def ndcg_at(one: Collected, pool: int = POOL, weight: float = fusion.DENSE_WEIGHT) -> float:
    """nDCG@10 of the product's fusion."""
    rankings = [
        retrieval.by_document(retrieval.hybrid(asked.query, cut(asked.legs, pool), weight, pool)) for asked in one.own
    ]
    return retrieval.ndcg(one.found, rankings)


def weight_table(collected: Sequence[Collected]) -> None:
    """Print each set's nDCG@10 for each weight of the dense leg, and what the other sets would choose."""
    print(f"\nWEIGHT OF THE DENSE LEG: nDCG@10. In use: {fusion.DENSE_WEIGHT:.2f}")
    table = np.array([[ndcg_at(one, weight=weight) for weight in retrieval.WEIGHTS] for one in collected])
    print(f"{'':22}" + "".join(f"{weight:8.2f}" for weight in retrieval.WEIGHTS) + "   chosen by the others")
    for row, one in enumerate(collected):
        others = np.delete(table, row, axis=0)
        chosen = int(others.mean(axis=0).argmax()) if len(others) else 0
        told = f"   {retrieval.WEIGHTS[chosen]:.2f} ({table[row, chosen]:.4f})"
        print(f"{one.found.name:22}" + "".join(f"{value:8.4f}" for value in table[row]) + told)
    means = table.mean(axis=0)
    print(f"{'mean':22}" + "".join(f"{value:8.4f}" for value in means))
    print(f"derived: {retrieval.WEIGHTS[int(means.argmax())]:.2f}")


def pool_table(collected: Sequence[Collected]) -> None:
    """How many passages each leg is asked for: quality against time."""
    print(f"\nPASSAGES ASKED OF EACH LEG: nDCG@10, and the index's median milliseconds. In use: {POOL}")
    print(f"{'':22}" + "".join(f"{pool:16}" for pool in POOLS))
    table = np.array([[ndcg_at(one, pool) for pool in POOLS] for one in collected])
    times = np.array([[one.seconds[pool] * 1000 for pool in POOLS] for one in collected])
    for one, quality, took in zip(collected, table, times, strict=True):
        print(f"{one.found.name:22}" + "".join(f"{q:9.4f} {t:4.1f}ms" for q, t in zip(quality, took, strict=True)))
    line = "".join(f"{q:9.4f} {t:4.1f}ms" for q, t in zip(table.mean(axis=0), times.mean(axis=0), strict=True))
    print(f"{'mean':22}{line}")
    lost = (table.max(axis=1, keepdims=True) - table).max(axis=0)
    print(f"{'most lost on a set':22}" + "".join(f"{value:16.4f}" for value in lost))
    smallest = next(pool for pool, value in zip(POOLS, lost, strict=True) if value <= 0.005)
    print(f"derived: {smallest}, the smallest that costs no set more than 0.005")


def rerank_table(collected: Sequence[Collected]) -> None:
    """How far down the fused order a reranker should look: the recall it could reach at most."""
    print(f"\nPASSAGES GIVEN TO A RERANKER: share of the relevant documents among them. In use: {RERANKED}")
    print("(A perfect reranker's Recall@10 where at most ten are relevant. None is packaged, so none was timed.)")
    print(f"{'':22}" + "".join(f"{depth:9}" for depth in RERANK_POOLS))
    table = []
    for one in collected:
        shares = np.zeros(len(RERANK_POOLS))
        for asked in one.own:
            documents = [hit.passage.document for hit in hits_of(asked)]
            wanted = set(asked.query.relevant)
            shares += [len(wanted & set(documents[:depth])) / len(wanted) for depth in RERANK_POOLS]
        table.append(shares / len(one.own))
        print(f"{one.found.name:22}" + "".join(f"{share:9.3f}" for share in table[-1]))
    print(f"{'mean':22}" + "".join(f"{share:9.3f}" for share in np.mean(table, axis=0)))


def rows_of(one: Collected) -> Rows:
    """Return the features that the score is computed from, of the best hits of each question."""
    features, relevant, first, foreign = [], [], [], []
    for asked in (*one.own, *one.foreign):
        hits = hits_of(asked)[:FITTED_ON]
        cosine, coverage = level_of(asked.query.text, hits)
        # The fused score before calibration is the score's logit less what all hits of the question share.
        logits = np.array([np.log(hit.score / (1 - hit.score)) for hit in hits])
        shares = 1 + (logits - logits[:1]) / fusion._PER_RELATIVE
        for rank, (hit, share) in enumerate(zip(hits, shares, strict=True)):
            features.append([cosine, coverage, float(share), 1.0])
            relevant.append(float(hit.passage.document in asked.query.relevant))
            first.append(rank == 0)
            foreign.append(not asked.query.relevant)
    other = np.array(foreign)
    weight = np.where(other, FOREIGN_SHARE / max(1, other.sum()), (1 - FOREIGN_SHARE) / max(1, (~other).sum())).astype(
        np.float64
    )
    return Rows(np.array(features), np.array(relevant), weight, np.array(first), other)


def level_of(query: str, hits: Sequence[Hit]) -> tuple[float, float]:
    """Return what all hits of a question share: the best cosine, and the best hit's word coverage."""
    asked = set(content_words(query))
    covered = asked & set(content_words(hits[0].passage.searchable)) if hits else set()
    cosine = max((hit.dense for hit in hits[:3] if hit.dense is not None), default=0.0)
    return cosine, len(covered) / len(asked) if asked else 0.0


def stated() -> Matrix:
    """Return the coefficients in use, in the order of the features."""
    return np.array([fusion._PER_COSINE, fusion._PER_COVERAGE, fusion._PER_RELATIVE, fusion._INTERCEPT])


def joined(rows: Sequence[Rows]) -> tuple[Matrix, Matrix, Matrix]:
    """Features, truth and weights of several sets, each set weighing the same."""
    return (
        np.vstack([one.features for one in rows]),
        np.concatenate([one.relevant for one in rows]),
        np.concatenate([one.weight for one in rows]),
    )


def coefficients_table(collected: Sequence[Collected]) -> None:
    """Print the score as a probability: coefficients in use, and fitted without the set, on the set."""
    print("\nTHE SCORE'S COEFFICIENTS: is this hit relevant? Fitted without the set it is tried on")
    print(f"{'':22}{'AUC of ten':>22}{'AUC of the best':>22}{'Brier of the best':>22}{'said - true':>22}")
    print(f"{'':22}" + f"{'in use':>11}{'fitted':>11}" * 4)
    rows = [rows_of(one) for one in collected]
    table = []
    for number, (one, own) in enumerate(zip(collected, rows, strict=True)):
        others = [other for at, other in enumerate(rows) if at != number] or rows
        line = []
        for coefficients in (stated(), fitted(*joined(others))):
            said, best = chances(own.features, coefficients), own.first
            line.append(
                [
                    area(said, own.relevant, own.weight),
                    area(said[best], own.relevant[best], own.weight[best]),
                    brier(said[best], own.relevant[best], own.weight[best]),
                    deviation(said[best], own.relevant[best], own.weight[best]),
                ]
            )
        table.append(np.array(line).T.flatten())
        print(f"{one.found.name:22}" + "".join(f"{value:11.3f}" for value in table[-1]))
    print(f"{'mean':22}" + "".join(f"{value:11.3f}" for value in np.mean(table, axis=0)))
    names = ("per cosine", "per coverage", "per relative", "intercept")
    print("in use:  " + ", ".join(f"{name} {value:.2f}" for name, value in zip(names, stated(), strict=True)))
    derived = fitted(*joined(rows))
    print("derived: " + ", ".join(f"{name} {value:.2f}" for name, value in zip(names, derived, strict=True)))


def confident_table(collected: Sequence[Collected]) -> None:
    """From which score of the first search a model writes at once: how often, how rightly, and for whom not.

    The writer may withhold, so that a try in vain costs one call; a question that is kept from it costs one more, too.
    """
    print(f"\nONE SEARCH IS ENOUGH from this score of the best hit. In use: {CONFIDENT}")
    print("(quick: own questions that take the path; right: of these, the best hit is relevant; all: of these, all")
    print(f" the evidence is among the {TOP_K} found; foreign: questions of other sets that take it)")
    print(f"{'':22}" + "".join(f"{f'>= {t:.2f}':>27}" for t in THRESHOLDS))
    print(f"{'':22}" + f"{'quick':>9}{'right':>6}{'all':>6}{'for.':>6}" * len(THRESHOLDS))
    sums: list[list[tuple[float, float, float, float]]] = []
    for one in collected:
        line = [_quick(one, threshold) for threshold in THRESHOLDS]
        sums.append(line)
        print(f"{one.found.name:22}" + "".join(f"{a:9.2f}{b:6.2f}{c:6.2f}{d:6.2f}" for a, b, c, d in line))
    middle = np.nanmedian(np.array(sums), axis=0)
    print(f"{'median':22}" + "".join(f"{a:9.2f}{b:6.2f}{c:6.2f}{d:6.2f}" for a, b, c, d in middle))
    fewest = np.array(sums)[:, :, 0].min(axis=0)
    enough = [threshold for threshold, share in zip(THRESHOLDS, fewest, strict=True) if share >= 1 - ALL_BUT]
    print(
        f"derived: {enough[-1] if enough else 'none'}, the highest that all but {ALL_BUT:.0%} of every set's own reach"
    )
    print("(Cranfield judges each question's own source paper irrelevant; Prometheus' questions are link texts.)")


def covering_table(collected: Sequence[Collected]) -> None:
    """Print the same for the score in use, if the best hit also has this share of the question's words."""
    print(f"\nONE SEARCH IS ENOUGH from {CONFIDENT}, and only where the best hit has this share of the words asked.")
    print("In use: no such condition. (Columns as above)")
    print(f"{'':22}" + "".join(f"{f'>= {share:.1f}':>27}" for share in COVERINGS))
    print(f"{'':22}" + f"{'quick':>9}{'right':>6}{'all':>6}{'for.':>6}" * len(COVERINGS))
    sums = []
    for one in collected:
        sums.append([_quick(one, CONFIDENT, share) for share in COVERINGS])
        print(f"{one.found.name:22}" + "".join(f"{a:9.2f}{b:6.2f}{c:6.2f}{d:6.2f}" for a, b, c, d in sums[-1]))
    middle = np.nanmedian(np.array(sums), axis=0)
    print(f"{'median':22}" + "".join(f"{a:9.2f}{b:6.2f}{c:6.2f}{d:6.2f}" for a, b, c, d in middle))


def _quick(one: Collected, threshold: float, covering: float = 0.0) -> tuple[float, float, float, float]:
    right, complete = [], []
    for asked in one.own:
        hits = hits_of(asked)[:TOP_K]
        if _taken(hits, threshold) and level_of(asked.query.text, hits)[1] >= covering:
            right.append(hits[0].passage.document in asked.query.relevant)
            complete.append(set(asked.query.relevant) <= {hit.passage.document for hit in hits})
    foreign = [
        _taken(hits, threshold) and level_of(asked.query.text, hits)[1] >= covering
        for asked in one.foreign
        if (hits := hits_of(asked)[:TOP_K])
    ]
    return (
        len(right) / len(one.own),
        float(np.mean(right)) if right else float("nan"),
        float(np.mean(complete)) if complete else float("nan"),
        float(np.mean(foreign)) if foreign else 0.0,
    )


def _taken(hits: Sequence[Hit], threshold: float) -> bool:
    """As the agent's gathering decides."""
    return bool(hits) and hits[0].score >= threshold


if __name__ == "__main__":
    asyncio.run(main())
