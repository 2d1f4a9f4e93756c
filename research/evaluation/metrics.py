"""What ranking libraries do not count: intervals, all the evidence at once, answers, citations, verdicts.

The rankings' own metrics (nDCG, MRR, recall) are ranx's; see ``research.evaluation.retrieval``.
"""

import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from core.model.text import words

SHORT = 8  # words; a longer reference answer is prose, which no right answer contains word for word
# What a figure may fall below its baseline before it counts as worse. Vectors differ in their last digits between
# processors, so that a hit or an outcome near a threshold turns: one question may, two may not.
TOLERANCE = 0.02
TURNING = 1.5  # questions
_SEED = 7


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean and its 95 % interval."""

    mean: float
    low: float
    high: float


def bootstrap(values: Sequence[float], *, rounds: int = 2_000) -> Interval:
    """Return the mean and its percentile bootstrap interval (Efron, 1979), with a fixed seed."""
    import numpy as np

    if not values:
        return Interval(0.0, 0.0, 0.0)
    sample = np.asarray(values, dtype=np.float64)
    means = np.random.default_rng(_SEED).choice(sample, (rounds, len(sample))).mean(axis=1)
    low, high = np.quantile(means, (0.025, 0.975))
    return Interval(float(sample.mean()), float(low), float(high))


def paired_difference(ours: Sequence[float], theirs: Sequence[float]) -> Interval:
    """Return the mean difference per question and its interval. Raises ValueError for different questions."""
    return bootstrap([one - other for one, other in zip(ours, theirs, strict=True)])


def all_evidence(ranking: Sequence[str], relevant: Mapping[str, int], depth: int = 10) -> float:
    """1 when every relevant document is among the first ``depth``, else 0."""
    return float(set(relevant) <= set(ranking[:depth]))


def contains(text: str, answers: Sequence[str]) -> bool | None:
    """Whether the text contains one of the short answers, word for word; None when none of them is short."""
    short = [answer for answer in answers if 0 < len(words(answer)) <= SHORT]
    if not short:
        return None
    where = f" {_fold(text)} "
    return any(f" {_fold(answer)} " in where for answer in short)


@dataclass(frozen=True, slots=True)
class JudgedAnswer:
    """One question asked of the agent, and what came of it."""

    query: str
    expect: str
    outcome: str
    contains_gold: bool | None
    cites_gold: bool
    evidence_recall: float | None
    citations: int
    right_citations: int
    best_grade: int
    searches: int
    calls: int
    tokens: int
    seconds: float
    stages: Mapping[str, float] = field(default_factory=dict)  # seconds

    @property
    def wrong_refusal(self) -> bool:
        """No answer, where the documents have one."""
        return self.expect == "answered" and self.outcome != "answered"

    @property
    def wrong_answer(self) -> bool:
        """An answer where there is none, or one with neither the right words nor a right source."""
        if self.outcome != "answered" or self.expect in ("direct", "clarified"):
            return False
        right = self.contains_gold if self.contains_gold is not None else self.cites_gold
        return self.expect != "answered" or not right


@dataclass(frozen=True, slots=True)
class AgentFigures:
    """The agent over a whole set. Shares are in [0, 1]; None where no question could tell."""

    questions: int
    answerable: int
    outcomes: Mapping[str, int]
    contains_gold: float | None
    evidence_recall: float | None
    citation_precision: float | None
    wrong_refusals: float
    wrong_answers: float
    searches: float
    calls: float
    tokens: float
    seconds: float
    stages: Mapping[str, float]  # median milliseconds of the runs that have the stage


def agent_figures(judged: Sequence[JudgedAnswer]) -> AgentFigures:
    """Return the means over a set. Wrong refusals are of the answerable, wrong answers of all questions."""
    answerable = [one for one in judged if one.expect == "answered"]
    cited = sum(one.citations for one in judged)
    return AgentFigures(
        questions=len(judged),
        answerable=len(answerable),
        outcomes=dict(Counter(one.outcome for one in judged)),
        contains_gold=_mean([float(one.contains_gold) for one in answerable if one.contains_gold is not None]),
        evidence_recall=_mean([one.evidence_recall for one in judged if one.evidence_recall is not None]),
        citation_precision=sum(one.right_citations for one in judged) / cited if cited else None,
        wrong_refusals=_mean([float(one.wrong_refusal) for one in answerable]) or 0.0,
        wrong_answers=_mean([float(one.wrong_answer) for one in judged]) or 0.0,
        searches=_mean([float(one.searches) for one in judged]) or 0.0,
        calls=_mean([float(one.calls) for one in judged]) or 0.0,
        tokens=_mean([float(one.tokens) for one in judged]) or 0.0,
        seconds=_mean([one.seconds for one in judged]) or 0.0,
        stages=medians([one.stages for one in judged]),
    )


def medians(runs: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the median milliseconds of each stage, over the runs that have it, from seconds."""
    names = dict.fromkeys(name for run in runs for name in run)
    return {name: median([run[name] for run in runs if name in run]) * 1000 for name in names}


@dataclass(frozen=True, slots=True)
class AtThreshold:
    """What abstaining below a threshold would do to a set's own questions and to some that it cannot answer.

    ``precision`` is the share of the own questions kept that are right, ``refused`` the share not kept, and ``foreign``
    the share of the others that would be answered all the same. None where there is nothing to take a share of.
    """

    threshold: float
    precision: float | None
    refused: float | None
    foreign: float | None


def thresholds(
    scored: Sequence[tuple[float, bool]], steps: Sequence[float], foreign: Sequence[float] = ()
) -> tuple[AtThreshold, ...]:
    """For each threshold: (best score, whether what was found is right) of its own questions, scores of the others."""
    found: list[AtThreshold] = []
    for step in steps:
        kept = [right for score, right in scored if score >= step]
        found.append(
            AtThreshold(
                step,
                _mean([float(right) for right in kept]),
                _mean([float(score < step) for score, _ in scored]),
                _mean([float(score >= step) for score in foreign]),
            )
        )
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Figure:
    """A mean over so many questions that must not get worse; higher is better."""

    value: float
    questions: int

    @property
    def tolerance(self) -> float:
        """How far it may fall: ``TOLERANCE``, or what one question more or less makes of it."""
        return max(TOLERANCE, TURNING / self.questions) if self.questions else TOLERANCE


def regressions(now: Mapping[str, Figure], baseline: Mapping[str, float]) -> tuple[str, ...]:
    """One line for each figure that fell below its baseline by more than its tolerance, or is gone."""
    lines = []
    for name, before in baseline.items():
        figure = now.get(name)
        if figure is None:
            lines.append(f"{name} was {before:.3f} and is not measured any more.")
        elif figure.value < before - figure.tolerance:
            lines.append(f"{name} fell from {before:.3f} to {figure.value:.3f}.")
    return tuple(lines)


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _fold(text: str) -> str:
    return " ".join(word.casefold() for word in words(unicodedata.normalize("NFKC", text)))
