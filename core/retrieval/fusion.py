"""How the scores of the two legs become one: an order, and a number that means the same in every corpus.

The order is a convex combination (Bruch, Gai and Ingber, "An Analysis of Fusion Functions for Hybrid Retrieval", 2022)
of what each leg says of a passage: its score divided by that leg's best, and a tenth of its reciprocal rank (k = 60,
Cormack et al. 2009), which holds where a leg's scores lie close together. A long question gives the lexical leg more to
match, so that the dense leg weighs less there. What the legs found is weighed by its nearest sentence too (MaxP: Dai
and Callan, "Deeper Text Understanding for IR with Contextual Neural Language Modeling", 2019): the
vector of a whole passage hides the one that answers. ``research/measure/fusion.py`` derives the
constants: on each of nine sets nDCG@10 is at or above min-max halves, min-max .7 to .3 and reciprocal ranks alone, and
on eight of them where the constants come from the other eight. How sharply either leg's scores fall, the best cosine,
how many hits both legs have in common, and how many of the question's words the best hit has, said nothing more about
a set left out.

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

DENSE_WEIGHT = 0.58  # for a question of seven words that carry meaning
PER_LENGTH = -0.135  # for each unit of the natural logarithm of their number
SENTENCE_WEIGHT = 0.2  # of the nearest sentence, beside both legs together
RANK_SHARE = 0.1  # what the first rank of a leg counts beside the leg's best score
_TYPICAL_LENGTH = 2.03  # ln(1 + 6.6)
_RANK_CONSTANT = 60
_LEAST, _MOST = 0.2, 0.8  # of the dense weight, however long the question

# A logistic regression over the nine sets and questions that belong to other sets: is this hit relevant? Fitted on
# eight sets and tried on the ninth, before the nearest sentence counted, its mean error of calibration is 0.05 and its
# AUC 0.86 (research/measure/fusion.py).
_INTERCEPT = -11.8
_PER_COSINE = 5.7  # of the best hit
_PER_COVERAGE = 1.75  # share of the question's words in the best hit
_PER_RELATIVE = 7.4  # this hit's fused score as a share of the best hit's


def fuse(query: str, legs: DenseAndBm25Hits, asked: int) -> tuple[Hit, ...]:
    """Return all hits of both legs, best first. ``asked`` is how many each leg was asked for.

    ``score`` estimates the probability that the passage helps to answer: a good match in one corpus has about the same
    score as an equally good one in another, and a question that nothing answers has low scores throughout.
    """
    dense = {passage.id: score for passage, score in legs.dense}
    bm25 = {passage.id: score for passage, score in legs.bm25}
    weight = dense_weight(query)
    dense_worth, bm25_worth = _worth(dense, asked), _worth(bm25, asked)
    relative = {name: weight * dense_worth(name) + (1 - weight) * bm25_worth(name) for name in {**dense, **bm25}}
    if legs.nearest:
        relative = _with_sentences(relative, {**dense, **legs.nearest})
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


def _with_sentences(relative: Mapping[str, float], cosines: Mapping[str, float]) -> dict[str, float]:
    """Weigh the nearest sentence with the legs; a passage without sentence vectors counts with its own."""
    there = {name: cosines[name] for name in relative if name in cosines}
    worth = _worth(there, len(there))
    return {name: (1 - SENTENCE_WEIGHT) * legs + SENTENCE_WEIGHT * worth(name) for name, legs in relative.items()}


def dense_weight(query: str) -> float:
    """Return how far the dense leg is trusted, in [0, 1]; the rest goes to the lexical leg."""
    length = math.log(1 + len(set(content_words(query))))
    return min(_MOST, max(_LEAST, DENSE_WEIGHT + PER_LENGTH * (length - _TYPICAL_LENGTH)))


def _level(query: str, best: Passage, cosine: float) -> float:
    """Return how good the best hits are at all."""
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


def _worth(leg: Mapping[str, float], asked: int) -> Callable[[str], float]:
    """Return what a leg says of a passage, by id: its score as a share of the best, and something for its rank."""
    best, floor = _range(leg, asked)
    ranks: dict[float, int] = {}  # equal scores have one rank
    for rank, score in enumerate(sorted(leg.values(), reverse=True), 1):
        ranks.setdefault(score, rank)

    def worth(name: str) -> float:
        share = max(0.0, leg.get(name, floor)) / best
        rank = (_RANK_CONSTANT + 1) / (_RANK_CONSTANT + ranks[leg[name]]) if name in leg else 0.0
        return share + RANK_SHARE * rank

    return worth


def _range(leg: Mapping[str, float], asked: int) -> tuple[float, float]:
    """Return the best score, and the most an absent passage can have: nothing if the leg had no more."""
    best = max(leg.values(), default=0.0)
    floor = min(leg.values()) if leg and len(leg) >= asked else 0.0
    return (best if best > 0 else 1.0), max(0.0, floor)


def _logistic(value: float) -> float:
    return 1 / (1 + math.exp(-value))
