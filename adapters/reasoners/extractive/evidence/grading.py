"""Grades evidence from 1 to 10 by what can be counted: similarity, coverage of the question, the kind of answer.

The weights are set by hand. Logistic regressions over questions whose answer is and is not in a corpus found others,
which answered less when only the gold passage was missing (.59 against .79) but refused three times as often where it
was there (.19 against .05, and .60 on code): ``tests/measure/abstention.py`` prints both. A quote is shown with its
source, and a wrong refusal shows nothing. 5 and above counts as evidence.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import astuple

from adapters.reasoners.extractive.evidence.numbered import contradicts
from adapters.reasoners.extractive.evidence.units import (
    NOTHING_NEAR,
    Near,
    Unit,
    befores,
    coverage,
    inverse_frequency,
    topic_words,
    units,
)
from adapters.reasoners.extractive.question.answer_type import fits, is_strict, lacks
from adapters.reasoners.extractive.weights import (
    GRADING,
    GRADING_BIAS,
    KIND_OF_ANSWER,
    OWN_WORDS,
    WORDS_IN_PLACE,
    Features,
)
from core.model.evidence import Evidence, Grade
from core.model.knowledge import Passage
from core.model.text import content_words

NEAR = 2  # not evidence, but enough to know which meanings of a word the documents have
_SUMMARY = 400  # characters


def measured(
    question: str,
    item: Evidence,
    ranked: Sequence[tuple[float, Unit]],
    rarity: Mapping[str, float],
    cosine: float,
    sentence_cosine: float,
    near: Near = NOTHING_NEAR,
    *,
    layered: bool = False,
) -> Features:
    """The features of a passage whose units are ranked and whose cosines are known.

    ``layered``: the answer is reached through something else, so that a passage on the way need not hold its kind.
    """
    best = [unit.text for _, unit in ranked[:3]]
    wanted = topic_words(question)
    return Features(
        cosine=cosine,
        sentence_cosine=sentence_cosine,
        covered=coverage(wanted, content_words(item.passage.searchable), rarity, near),
        sentence_covered=max((coverage(wanted, content_words(text), rarity, near) for text in best), default=0.0),
        fits=max((fits(question, text) for text in best), default=0.0),
        held=float(_holds(question, item.passage, ranked, layered=layered)),
    )


def _holds(question: str, passage: Passage, ranked: Sequence[tuple[float, Unit]], *, layered: bool) -> bool:
    """Whether the passage has the kind of thing that is asked for, and not only its namesakes of another number."""
    if contradicts(question, passage.searchable):
        return False
    return layered or not is_strict(question) or not all(lacks(question, unit.text) for _, unit in ranked)


def chance(features: Features, weights: Features = GRADING, bias: float = GRADING_BIAS) -> float:
    """The probability in [0, 1] that the passage answers the question."""
    total = bias + sum(weight * value for weight, value in zip(astuple(weights), astuple(features), strict=True))
    return 1 / (1 + math.exp(-total))


def score_of(value: float) -> int:
    """A chance as a grade from 1 to 10: ten times it, rounded down, so that 5 begins at even odds."""
    return max(1, min(10, int(value * 10)))


def grade_of(features: Features, ranked: Sequence[tuple[float, Unit]], rerank: float | None) -> Grade:
    """The grade: ten times the chance, at least 1. A cross-encoder's word counts half where there is one."""
    value = chance(features)
    if rerank is not None:
        value = (value + rerank) / 2
    return Grade(score_of(value), _summary(ranked))


def _summary(ranked: Sequence[tuple[float, Unit]]) -> str:
    best = [unit.text for _, unit in ranked[:2]]
    joined = " ".join(best)
    return joined if len(joined) <= _SUMMARY else best[0][:_SUMMARY]


def rarity_of(evidence: Sequence[Evidence]) -> Mapping[str, float]:
    """How rare each word is in this pool."""
    return inverse_frequency(item.passage.searchable for item in evidence)


def ranked_units(
    question: str, passage: Passage, rarity: Mapping[str, float], near: Near = NOTHING_NEAR
) -> list[tuple[float, Unit]]:
    """The units of a passage by how much of the question they cover under their headings, best first."""
    wanted = topic_words(question)
    above = content_words(" ".join((passage.title, *passage.heading)))
    everything = units(passage.text)
    before = befores(everything)
    scored: list[tuple[float, Unit]] = []
    for unit in everything:
        said = before[unit].text if unit in before else ""
        own = content_words(" ".join((unit.under, said, *unit.head[:1], unit.text)))
        score = OWN_WORDS * coverage(wanted, own, rarity, near) + WORDS_IN_PLACE * coverage(
            wanted, (*own, *above), rarity, near
        )
        scored.append((score + KIND_OF_ANSWER * fits(question, unit.text), unit))
    return sorted(scored, key=lambda pair: -pair[0])
