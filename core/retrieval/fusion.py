"""How the scores of the two legs become one: an order, and a number that means the same in every corpus.

The order is a convex combination (Bruch, Gai and Ingber, "An Analysis of Fusion Functions for Hybrid Retrieval", 2022)
of each leg's score divided by that leg's best. Measured by tests/measure/fusion.py on nine sets, nDCG@10 of the best
passage of each document: it is at or above the better leg on every one of them, for every dense weight from 0.55 to
0.85, so that 2/3 is tuned to none. Reciprocal ranks fell 0.014 below the better leg (on MuSiQue, whose dense leg is far
ahead), equal weights 0.005.

A passage that one leg did not return is not at zero there: it is somewhere below the last one returned, and gets that
one's score. Taking zero instead cost up to 0.02; asking the index for the exact score gained nothing worth a call.
"""

import math
from collections.abc import Callable, Mapping

from core.model.evidence import Hit
from core.model.knowledge import Passage
from core.model.text import content_words, words
from core.ports.index import DenseAndBm25Hits

Fusion = Callable[[str, DenseAndBm25Hits, int], tuple[Hit, ...]]

DENSE_WEIGHT = 2 / 3

# A logistic regression over the nine sets and questions that belong to other sets: is this hit relevant? Fitted on
# eight sets and tried on the ninth, its mean error of calibration is 0.05 and its AUC 0.86 (tests/measure/fusion.py).
_INTERCEPT = -11.8
_PER_COSINE = 5.7  # of the best hit
_PER_COVERAGE = 1.75  # share of the question's words in the best hit
_PER_RELATIVE = 7.4  # this hit's fused score as a share of the best hit's


def fuse(query: str, legs: DenseAndBm25Hits, asked: int) -> tuple[Hit, ...]:
    """All hits of both legs, best first. ``asked`` is how many each leg was asked for.

    ``score`` estimates the probability that the passage helps to answer: a good match in one corpus has about the same
    score as an equally good one in another, and a question that nothing answers has low scores throughout.
    """
    dense = {passage.id: score for passage, score in legs.dense}
    bm25 = {passage.id: score for passage, score in legs.bm25}
    relative = {
        name: DENSE_WEIGHT * dense_part + (1 - DENSE_WEIGHT) * bm25_part
        for name, dense_part, bm25_part in _parts(dense, bm25, asked)
    }
    passages = {passage.id: passage for passage, _ in (*legs.dense, *legs.bm25)}
    order = sorted(relative, key=lambda name: (-relative[name], name))
    if not order:
        return ()
    level = _level(query, passages[order[0]], max((dense[name] for name in order[:3] if name in dense), default=0.0))
    slope = _PER_RELATIVE / (relative[order[0]] or 1.0)
    return tuple(
        Hit(passages[name], _logistic(level + slope * relative[name]), dense.get(name), bm25.get(name))
        for name in order
    )


def _level(query: str, best: Passage, cosine: float) -> float:
    """How good the best hits are at all."""
    asked = set(content_words(query))
    coverage = len(asked & _words_like(asked, best.searchable)) / len(asked) if asked else 0.0
    return _INTERCEPT + _PER_COSINE * cosine + _PER_COVERAGE * coverage


def _words_like(asked: set[str], text: str) -> set[str]:
    """Of the text's stems at least those that are asked for.

    A word not seen before takes 30 µs to stem, and a passage of a large corpus has twenty of them. A stem begins as its
    word does, so that most need not be stemmed: 0.55 ms instead of 0.85 for the whole fusion.
    """
    initials = {stem[0] for stem in asked}
    return set(content_words(" ".join(word for word in words(text) if word[0].casefold()[0] in initials)))


def _parts(dense: Mapping[str, float], bm25: Mapping[str, float], asked: int) -> list[tuple[str, float, float]]:
    dense_best, dense_floor = _range(dense, asked)
    bm25_best, bm25_floor = _range(bm25, asked)
    return [
        (name, max(0.0, dense.get(name, dense_floor)) / dense_best, bm25.get(name, bm25_floor) / bm25_best)
        for name in {**dense, **bm25}
    ]


def _range(leg: Mapping[str, float], asked: int) -> tuple[float, float]:
    """The best score, and what an absent passage can have at most: nothing, when the leg had no more to return."""
    best = max(leg.values(), default=0.0)
    floor = min(leg.values()) if leg and len(leg) >= asked else 0.0
    return (best if best > 0 else 1.0), max(0.0, floor)


def _logistic(value: float) -> float:
    return 1 / (1 + math.exp(-value))
