"""Grades evidence from 1 to 10 by what can be counted: similarity, coverage of the question, the kind of answer.

The weights are a logistic regression over questions whose answer is and is not in a corpus
(``tests/measure/abstention.py`` fits and tests them); 5 and above means more likely answering than not.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from adapters.reasoners.extractive.selection import Unit, coverage, fits, inverse_frequency, units
from core.evidence import Evidence, Grade
from core.language import content_words

CUTOFF = 5
_SUMMARY = 400  # characters


@dataclass(frozen=True, slots=True)
class Features:
    """What is counted of one passage against one question, each in [0, 1] but for cosines in [-1, 1]."""

    cosine: float
    sentence_cosine: float
    covered: float
    sentence_covered: float
    fits: float


# Fitted on all sets but the one tested in turn; the spread of the weights over the folds is small.
_WEIGHTS = Features(cosine=5.0, sentence_cosine=3.0, covered=3.0, sentence_covered=1.0, fits=0.3)
_BIAS = -6.0


@dataclass(frozen=True, slots=True)
class Judged:
    """A passage's best units for a question, best first, and its features."""

    features: Features
    best: tuple[Unit, ...]


def chance(features: Features) -> float:
    """The probability in [0, 1] that the passage answers the question."""
    total = _BIAS + sum(getattr(_WEIGHTS, name) * getattr(features, name) for name in Features.__slots__)
    return 1 / (1 + math.exp(-total))


def grade_of(features: Features, best: Sequence[Unit], rerank: float | None) -> Grade:
    """The grade: 10 times the chance, rounded up to at least 1. A cross-encoder's word counts half where there is one."""
    value = chance(features)
    if rerank is not None:
        value = (value + rerank) / 2
    return Grade(max(1, min(10, math.ceil(value * 10 - 0.5))), _summary(best))


def _summary(best: Sequence[Unit]) -> str:
    chosen = sorted(best[:2], key=lambda unit: unit.block)
    joined = " ".join(unit.text for unit in chosen)
    return joined if len(joined) <= _SUMMARY else best[0].text[:_SUMMARY]


def rarity_of(evidence: Sequence[Evidence]) -> Mapping[str, float]:
    """How rare each word is in this pool."""
    return inverse_frequency(item.passage.searchable for item in evidence)


def ranked_units(question: str, text: str, rarity: Mapping[str, float]) -> list[tuple[float, Unit]]:
    """The units of a passage by how much of the question they cover, best first."""
    wanted = content_words(question)
    scored = [
        (coverage(wanted, content_words(" ".join((*unit.head, unit.text))), rarity) + 0.15 * fits(question, unit.text), unit)
        for unit in units(text)
    ]
    return sorted(scored, key=lambda pair: -pair[0])
