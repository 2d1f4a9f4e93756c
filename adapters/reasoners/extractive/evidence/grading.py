"""Grades a passage from 1 to 10 by what can be counted: similarity, coverage of the question, the kind of answer.

A logistic function of a few features, fitted over questions whose answer is and is not in a corpus
(``docs/extractive.md``). From the loop's cutoff on a passage counts as evidence.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import astuple

from adapters.reasoners.extractive.evidence.numbered import contradicts
from adapters.reasoners.extractive.evidence.scoring import ScoredUnit, Words
from adapters.reasoners.extractive.question.answer_type import fits, is_strict, lacks
from adapters.reasoners.extractive.question.phrases import names
from adapters.reasoners.extractive.weights import GRADING, GRADING_BIAS, Features
from core.model.evidence import Evidence, Grade
from core.model.knowledge import Passage
from core.model.text import content_words, words

NEAR = 2  # not evidence, but enough to know which meanings of a word the documents have
_SUMMARY = 400  # characters
_BEST = 3  # units looked at


def measure_features(
    asked: Words, item: Evidence, ranked: Sequence[ScoredUnit], cosine: float, *, layered: bool = False
) -> Features:
    """The features of a passage whose units are scored, best first.

    ``layered``: the answer is reached through something else, so that a passage on the way need not hold its kind.
    """
    best = ranked[:_BEST]
    question = asked.question
    return Features(
        cosine=cosine,
        sentence_cosine=max((one.cosine for one in ranked), default=0.0),
        covered=asked.share(content_words(item.passage.searchable)),
        sentence_covered=max((one.covered for one in best), default=0.0),
        fits=max((fits(question, one.text_with_context) for one in best), default=0.0),
        held=float(_holds(question, item.passage, ranked, layered=layered)),
        named=_named_share(question, item.passage),
    )


def _holds(question: str, passage: Passage, ranked: Sequence[ScoredUnit], *, layered: bool) -> bool:
    """Whether the passage has the kind of thing that is asked for, and not only its namesakes of another number."""
    if contradicts(question, passage.searchable):
        return False
    return layered or not is_strict(question) or not all(lacks(question, one.text_with_context) for one in ranked)


# A number that tells one thing from another: of a version or an error, after a name, with letters in it, a year. Not an
# amount, which lies in a range or is counted.
_NUMBERED = re.compile(
    r"\b(?:[A-Z]\w+|version|release|code|error|port|step|tier|level|severity|section|clause|article|generation|model|exit)"
    r"[ -]#?(\d[\d.]*)\b|\b((?:19|20)\d\d)\b|\b((?=\w*\d)(?=\w*[^\W\d_])\w{2,})\b"
)
_ACRONYM = re.compile(r"[A-Z]{1,4}s?$")


def _named_share(question: str, passage: Passage) -> float:
    """The share of the question's names and telling numbers that the passage has, in [0, 1]; 1 where it has none."""
    said = {part for name in names(question) for part in words(name) if not _ACRONYM.match(part)}
    said |= {number for found in _NUMBERED.findall(question) for number in found if number}
    wanted = {found for word in said for found in content_words(word)}
    return len(wanted & set(content_words(passage.searchable))) / len(wanted) if wanted else 1.0


def chance(features: Features, weights: Features = GRADING, bias: float = GRADING_BIAS) -> float:
    """The probability in [0, 1] that the passage answers the question."""
    total = bias + sum(weight * value for weight, value in zip(astuple(weights), astuple(features), strict=True))
    return 1 / (1 + math.exp(-total))


def score_of(value: float) -> int:
    """A chance as a grade from 1 to 10: ten times it, rounded down, so that 5 begins at even odds."""
    return max(1, min(10, int(value * 10)))


def grade_of(features: Features, ranked: Sequence[ScoredUnit], rerank: float | None) -> Grade:
    """The grade: ten times the chance, at least 1. A cross-encoder's word counts half where there is one."""
    value = chance(features)
    if rerank is not None:
        value = (value + rerank) / 2
    return Grade(score_of(value), _summary(ranked))


def _summary(ranked: Sequence[ScoredUnit]) -> str:
    best = [one.unit.text for one in ranked[:2]]
    joined = " ".join(best)
    return joined if len(joined) <= _SUMMARY else best[0][:_SUMMARY]
