"""Grades a passage from 1 to 10: ten times the chance that its best sentence answers (``answer_odds``).

From the loop's cutoff on a passage counts as evidence.
"""

import math
from collections.abc import Sequence

from adapters.reasoners.extractive.evidence.scoring import ScoredUnit
from core.model.evidence import Grade

NEAR = 1  # not evidence, but enough to know which meanings of a word the documents have
_SUMMARY = 400  # characters


def chance(units: Sequence[ScoredUnit]) -> float:
    """The probability in [0, 1] that the best of these units answers the question."""
    odds = max((one.odds for one in units), default=-math.inf)
    return 1 / (1 + math.exp(-max(odds, -_SURE)))


_SURE = 50.0


def score_of(value: float) -> int:
    """A chance as a grade from 1 to 10: ten times it, rounded down, so that 5 begins at even odds."""
    return max(1, min(10, int(value * 10)))


def grade_of(units: Sequence[ScoredUnit], rerank: float | None) -> Grade:
    """The grade: ten times the chance, at least 1. A cross-encoder's word counts half where there is one."""
    value = chance(units)
    if rerank is not None:
        value = (value + rerank) / 2
    return Grade(score_of(value), _summary(units), round(value, 3))


def _summary(ranked: Sequence[ScoredUnit]) -> str:
    """The sentence that the grade rests on."""
    return ranked[0].unit.text[:_SUMMARY] if ranked else ""
