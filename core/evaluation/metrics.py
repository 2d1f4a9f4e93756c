"""What ranking libraries do not count: intervals, all the evidence at once, answers, citations, verdicts.

The rankings' own metrics (nDCG, MRR, recall) are ranx's; see ``bot.evaluation.retrieval``.
"""

import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.language import words

SHORT = 8  # words; a longer reference answer is prose, which no right answer contains word for word
_SEED = 7


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean and its 95 % interval."""

    mean: float
    low: float
    high: float


def bootstrap(values: Sequence[float], *, rounds: int = 2_000) -> Interval:
    """The mean and its percentile bootstrap interval (Efron, 1979), with a fixed seed. For differences: paired."""
    import numpy as np

    if not values:
        return Interval(0.0, 0.0, 0.0)
    sample = np.asarray(values, dtype=np.float64)
    means = np.random.default_rng(_SEED).choice(sample, (rounds, len(sample))).mean(axis=1)
    low, high = np.quantile(means, (0.025, 0.975))
    return Interval(float(sample.mean()), float(low), float(high))


def paired(ours: Sequence[float], theirs: Sequence[float]) -> Interval:
    """The mean difference per question and its interval. Raises ValueError when they are not of the same questions."""
    return bootstrap([one - other for one, other in zip(ours, theirs, strict=True)])


def all_evidence(ranking: Sequence[str], relevant: Mapping[str, int], depth: int = 10) -> float:
    """1 when every relevant document is among the first ``depth``, else 0."""
    return float(set(relevant) <= set(ranking[:depth]))


def contains(text: str, answers: Sequence[str]) -> bool | None:
    """Whether the text contains one of the short answers, word for word; None when none of them is short."""
    short = [answer for answer in answers if 0 < len(words(answer)) <= SHORT]
    if not short:
        return None
    where = f" {_folded(text)} "
    return any(f" {_folded(answer)} " in where for answer in short)


@dataclass(frozen=True, slots=True)
class Judged:
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


def agent_figures(judged: Sequence[Judged]) -> AgentFigures:
    """The means over a set. Wrong refusals are of the answerable, wrong answers of all questions."""
    answerable = [one for one in judged if one.expect == "answered"]
    cited = sum(one.citations for one in judged)
    return AgentFigures(
        questions=len(judged),
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
    )


@dataclass(frozen=True, slots=True)
class AtThreshold:
    """What abstaining below a threshold would do: how many are refused, how many of the rest are right."""

    threshold: float
    precision: float | None
    refused: float


def thresholds(scored: Sequence[tuple[float, bool]], steps: Sequence[float]) -> tuple[AtThreshold, ...]:
    """For each threshold, over (best score, whether what was found is right) of every question."""
    found: list[AtThreshold] = []
    for step in steps:
        kept = [right for score, right in scored if score >= step]
        refused = 1 - len(kept) / len(scored) if scored else 0.0
        found.append(AtThreshold(step, _mean([float(right) for right in kept]), refused))
    return tuple(found)


def regressions(now: Mapping[str, float], baseline: Mapping[str, float], *, tolerance: float = 0.02) -> tuple[str, ...]:
    """One line for each figure that fell below its baseline by more than the tolerance, or is gone."""
    lines = []
    for name, before in baseline.items():
        value = now.get(name)
        if value is None:
            lines.append(f"{name} was {before:.3f} and is not measured any more.")
        elif value < before - tolerance:
            lines.append(f"{name} fell from {before:.3f} to {value:.3f}.")
    return tuple(lines)


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _folded(text: str) -> str:
    return " ".join(word.casefold() for word in words(unicodedata.normalize("NFKC", text)))
