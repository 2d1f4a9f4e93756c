"""What each leg finds for each question, through the index that serves people, and what that is worth.

The metrics of rankings are ranx's. Documents are ranked by their best passage.
"""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from bot.container import Footnote
from core.model.knowledge import Passage
from core.ports.index import Scope
from core.retrieval.hybrid import POOL, Retriever
from research.evaluation.dataset_loader import Dataset
from research.evaluation.datasets import Query
from research.evaluation.metrics import all_evidence, bootstrap, medians, paired_difference

RETRIEVAL_LEGS = ("bm25", "dense", "hybrid", "rerank")
SINGLE_LEGS = ("bm25", "dense")
ONE_SEARCH = "hybrid"  # what several searches are compared with
METRICS = {
    "nDCG@10": "ndcg@10",
    "MRR@10": "mrr@10",
    "Recall@5": "recall@5",
    "Recall@10": "recall@10",
    "Recall@20": "recall@20",
}
ALL_EVIDENCE = "all evidence@10"
_RIGHT_WITHIN = 5  # documents: what was found counts as right where a relevant one is among so many

Rankings = dict[str, dict[str, list[str]]]  # by leg, then by query
PerQuestion = dict[str, list[float]]  # metric: one value for each question, in order


@dataclass(slots=True)
class SearchedSet:
    """All rankings of a set, and what else its searches showed."""

    rankings: Rankings
    scored: list[tuple[float, bool]] = field(default_factory=list)  # the best hit's score; whether a right one is near
    foreign: list[float] = field(default_factory=list)  # the best hit's score for questions of another set
    stages: dict[str, float] = field(default_factory=dict)  # median milliseconds
    tops: dict[str, list[Passage]] = field(default_factory=dict)  # the first few passages for each question
    notes: list[str] = field(default_factory=list)


def scope_of(dataset: Dataset) -> Scope:
    """Return the base that the dataset was brought into."""
    return Scope(frozenset({dataset.name}))


def plain_retriever(footnote: Footnote) -> Retriever:
    """Return the product's hybrid search without its reranker."""
    return Retriever(footnote.index, footnote.encoder, None, footnote.catalog)


async def search_all(
    footnote: Footnote, dataset: Dataset, legs: Sequence[str], foreign: Sequence[Query] = ()
) -> SearchedSet:
    """Ask every leg every question that has an answer or is known to have none; and the hybrid the foreign ones."""
    searched = SearchedSet({leg: {} for leg in legs if leg in RETRIEVAL_LEGS})
    if "rerank" in searched.rankings:
        await footnote.reranker.open()
        if not footnote.reranker.available:
            del searched.rankings["rerank"]
            searched.notes.append(f"Not reranked: {footnote.reranker.reason}")
    scope = scope_of(dataset)
    plain = plain_retriever(footnote)
    runs: list[Mapping[str, float]] = []
    for query in dataset.queries:
        if not query.relevant and query.expect != "abstained":
            continue
        retrieval = await plain.search(query.text, scope, POOL)
        runs.append(retrieval.seconds)
        hits = retrieval.hits
        ranking = documents_of([hit.passage for hit in hits], query)
        best = hits[0].score if hits else 0.0
        if query.relevant:
            searched.scored.append((best, bool(set(ranking[:_RIGHT_WITHIN]) & set(query.relevant))))
        else:
            searched.foreign.append(best)
        searched.tops[query.id] = [hit.passage for hit in hits if hit.passage.source not in query.exclude][:3]
        await _other_legs(footnote, scope, query, searched.rankings)
        if "hybrid" in searched.rankings:
            searched.rankings["hybrid"][query.id] = ranking
    for query in foreign:
        hits = (await plain.search(query.text, scope, 1)).hits
        searched.foreign.append(hits[0].score if hits else 0.0)
    searched.stages = medians(runs)
    return searched


async def _other_legs(footnote: Footnote, scope: Scope, query: Query, rankings: Rankings) -> None:
    if set(SINGLE_LEGS) & set(rankings):
        vector = (await footnote.encoder.encode_queries([query.text]))[0]
        both = await footnote.index.search(query.text, vector, scope, POOL)
        for name, leg in (("bm25", both.bm25), ("dense", both.dense)):
            if name in rankings:
                rankings[name][query.id] = documents_of([passage for passage, _ in leg], query)
    if "rerank" in rankings:
        reranked = await footnote.retriever.search(query.text, scope, POOL)
        rankings["rerank"][query.id] = documents_of([hit.passage for hit in reranked.hits], query)


def documents_of(passages: Sequence[Passage], query: Query) -> list[str]:
    """Return the documents in the order of their best passages, without those that do not count."""
    return [name for name in dict.fromkeys(p.source for p in passages) if name not in query.exclude]


def per_question(queries: Sequence[Query], rankings: Mapping[str, list[str]]) -> PerQuestion:
    """Each metric for each query, in order. A query that found nothing counts as 0."""
    ranx = _ranx()
    qrels = ranx.Qrels({query.id: dict(query.relevant) for query in queries})
    order = {q.id: {name: 1.0 / n for n, name in enumerate(rankings.get(q.id) or ["nothing"], 1)} for q in queries}
    run = ranx.Run(order)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numba, about a cast inside ranx
        ranx.evaluate(qrels, run, list(METRICS.values()), make_comparable=True)
    figures = {name: [float(run.scores[key][query.id]) for query in queries] for name, key in METRICS.items()}
    figures[ALL_EVIDENCE] = [all_evidence(rankings.get(query.id, []), query.relevant) for query in queries]
    return figures


def _ranx() -> Any:
    """Return the library of metrics, run as plain Python.

    Compiling it takes 20 s of a processor in every process, for sets that the plain form goes through in a tenth of a
    second; the figures are the same.
    """
    import numba

    numba.config.DISABLE_JIT = True  # before ranx is imported
    import ranx

    return ranx


def compare_legs(each: Mapping[str, PerQuestion]) -> dict[str, dict[str, Any]]:
    """Each leg's means with their intervals, and its paired differences: over the better single leg, over one search.

    A difference is of the same questions: {"against": leg, "difference": interval of nDCG@10} and, for legs that are
    more than one search, {"over_one_search": {metric: interval}}.
    """
    single = [leg for leg in SINGLE_LEGS if leg in each]
    best = max(single, key=lambda leg: sum(each[leg]["nDCG@10"]), default=None)
    found: dict[str, dict[str, Any]] = {}
    for leg, figures in each.items():
        kept: dict[str, Any] = {"metrics": {name: asdict(bootstrap(values)) for name, values in figures.items()}}
        if best and leg not in single:
            kept["against"] = best
            kept["difference"] = asdict(paired_difference(figures["nDCG@10"], each[best]["nDCG@10"]))
        if ONE_SEARCH in each and leg not in (*single, ONE_SEARCH):
            kept["over_one_search"] = {
                name: asdict(paired_difference(figures[name], each[ONE_SEARCH][name]))
                for name in ("nDCG@10", ALL_EVIDENCE)
            }
        found[leg] = kept
    return found
