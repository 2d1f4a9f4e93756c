"""When to say that the documents don't say: wrong answers and wrong refusals, together, set by set.

Each question is asked three times: of its own corpus (an answer is there), of its own corpus without its gold passages
(near misses only) and of another set's corpus. It counts as answered when a passage is graded at the cutoff or above.
Weights are fitted on all sets but the one reported; ``--fit`` prints the weights over all of them, for ``grading.py``.

    python -m tests.measure.abstention [--fit] [--each 80]
"""

# ruff: noqa: T201 - a measurement is printed

import argparse
from dataclasses import astuple, dataclass, fields
from typing import TYPE_CHECKING, cast

import numpy as np
import numpy.typing as npt

from adapters.reasoners.extractive import weights as weights_in_use
from adapters.reasoners.extractive.evidence import grading
from adapters.reasoners.extractive.reasoner import ExtractiveReasoner
from adapters.reasoners.extractive.weights import Features
from core.model.evidence import EvidenceLibrary
from core.model.inquiry import CUTOFFS, Behaviour
from tests.measure.shelf import IndexedSet, PackagedEncoder, questions, run, shelf

if TYPE_CHECKING:
    from core.ports.encoder import Encoder

SETS = ("hotpotqa_train100", "twowiki_200", "anthropic_docs", "contextual_codebase", "scifact_train", "cranfield")
SEVERAL_HOPS = frozenset({"hotpotqa_train100", "twowiki_200"})
TOP_K = 8
_TRIED = range(2, 9)
HERE, REMOVED, ELSEWHERE = "here", "gold removed", "elsewhere"
Matrix = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Asked:
    """One question asked of one corpus: the features of its best passages."""

    set: str
    condition: str
    features: Matrix  # (passages, features)


async def features_of(encoder: PackagedEncoder, where: IndexedSet, text: str, without: frozenset[str]) -> Matrix:
    """The features of the passages that one search finds, as the reasoner's grading sees them."""
    items = EvidenceLibrary().add(where.search(text, TOP_K, without), text)[1]
    weighed = await ExtractiveReasoner(cast("Encoder", encoder)).weigh(text, items, items)
    found = [astuple(grading.measure_features(one.asked, one.evidence, one.units, one.cosine)) for one in weighed]
    return np.array(found, dtype=np.float64)


def collected(each: int) -> list[Asked]:
    """Every question of every set, at most ``each`` of one, under its conditions."""
    encoder = PackagedEncoder()
    shelves = {name: shelf(name, encoder) for name in SETS}
    found: list[Asked] = []
    for number, name in enumerate(SETS):
        other = shelves[SETS[(number + 2) % len(SETS)]]
        for question in questions(name)[:each]:
            own = shelves[name]
            found.append(Asked(name, HERE, run(features_of(encoder, own, question.text, frozenset()))))
            if name not in SEVERAL_HOPS:
                found.append(Asked(name, REMOVED, run(features_of(encoder, own, question.text, question.gold))))
            found.append(Asked(name, ELSEWHERE, run(features_of(encoder, other, question.text, frozenset()))))
    return found


def fitted(asked: list[Asked], rounds: int = 4) -> Matrix:
    """Weights and bias (last) of a logistic regression on the best passage of each question.

    Which passage is best depends on the weights: they are fitted in turns. The three conditions weigh alike.
    """
    weights = np.array([*astuple(weights_in_use.GRADING), weights_in_use.GRADING_BIAS])
    truth = np.array([one.condition == HERE for one in asked], dtype=np.float64)
    sizes = {c: sum(one.condition == c for one in asked) for c in (HERE, REMOVED, ELSEWHERE)}
    share = np.array([(2.0 if one.condition == HERE else 1.0) / sizes[one.condition] for one in asked])
    share /= share.sum()
    for _ in range(rounds):
        best = np.stack([one.features[np.argmax(one.features @ weights[:-1])] for one in asked])
        rows = np.hstack([best, np.ones((len(best), 1))])
        for _ in range(3000):
            slope = rows.T @ (share * (1 / (1 + np.exp(-rows @ weights)) - truth))
            slope[:-1] += 0.0005 * weights[:-1]
            weights = weights - 2.0 * slope
            weights[:-1] = np.maximum(weights[:-1], 0.0)  # more similarity never speaks against a passage
    return weights


def answered(one: Asked, weights: Matrix, cutoff: int = CUTOFFS[Behaviour.BALANCED]) -> bool:
    """Whether some passage reaches the cutoff."""
    chances = [grading.chance(Features(*row), Features(*weights[:-1]), float(weights[-1])) for row in one.features]
    return max((grading.score_of(chance) for chance in chances), default=0) >= cutoff


def report(asked: list[Asked], weights: dict[str, Matrix]) -> None:
    """One line a set."""
    print(f"{'set':22} refused, though there   answered, gold removed   answered, elsewhere")
    rates: dict[str, list[float]] = {HERE: [], REMOVED: [], ELSEWHERE: []}
    for name in SETS:
        line = f"{name:22}"
        for condition in (HERE, REMOVED, ELSEWHERE):
            these = [one for one in asked if one.set == name and one.condition == condition]
            if not these:
                line += f"{'—':>20}"
                continue
            wrong = np.mean([answered(one, weights[name]) != (condition == HERE) for one in these])
            rates[condition].append(float(wrong))
            line += f"{wrong:>20.3f}"
        print(line)
    print(f"{'mean':22}" + "".join(f"{np.mean(rates[c]):>20.3f}" for c in rates))


def cutoffs_table(each: int) -> None:
    """What each grade would cost as the cutoff, and which costs least, by what an answer from a near miss is worth.

    A refusal of what is there and an answer to what belongs elsewhere are one mistake each. When only the gold passage
    was taken out, an answer quotes a neighbour, with its source: a mistake of 0 to 1, and the choice hangs on it.
    """
    asked = collected(each)
    weights = np.array([*astuple(weights_in_use.GRADING), weights_in_use.GRADING_BIAS])
    print(f"\nGRADE FROM WHICH A PASSAGE IS EVIDENCE. In use: {CUTOFFS[Behaviour.BALANCED]}")
    print(f"{'':8}{'refused, though there':>24}{'answered, elsewhere':>24}{'answered, gold removed':>24}")
    for cutoff in _TRIED:
        rates = {condition: _rate(asked, condition, weights, cutoff) for condition in (HERE, ELSEWHERE, REMOVED)}
        print(f"{cutoff:8}{1 - rates[HERE]:>24.3f}{rates[ELSEWHERE]:>24.3f}{rates[REMOVED]:>24.3f}")
    for near in (0.0, 0.25, 0.5, 0.75, 1.0):
        alone = [_cheapest([one for one in asked if one.set != name], weights, near) for name in SETS]
        told = ", ".join(f"{name} {cutoff}" for name, cutoff in zip(SETS, alone, strict=True))
        print(f"derived, a near miss counting {near:.2f}: {_cheapest(asked, weights, near)} (without the set: {told})")


def _cheapest(asked: list[Asked], weights: Matrix, near: float) -> int:
    """The cutoff with the fewest mistakes; the higher of two that cost the same."""

    def cost(cutoff: int) -> float:
        refused = 1 - _rate(asked, HERE, weights, cutoff)
        return refused + _rate(asked, ELSEWHERE, weights, cutoff) + near * _rate(asked, REMOVED, weights, cutoff)

    return min(_TRIED, key=lambda cutoff: (round(cost(cutoff), 6), -cutoff))


def _rate(asked: list[Asked], condition: str, weights: Matrix, cutoff: int) -> float:
    """The share that is answered, each set weighing the same."""
    rates = []
    for name in SETS:
        these = [answered(one, weights, cutoff) for one in asked if one.set == name and one.condition == condition]
        rates.extend([float(np.mean(these))] if these else [])
    return float(np.mean(rates)) if rates else 0.0


def main() -> None:
    """Print the table of the weights in the code, then of weights that never saw the set."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--fit", action="store_true")
    arguments.add_argument("--each", type=int, default=80)
    chosen = arguments.parse_args()
    asked = collected(chosen.each)
    stated = np.array([*astuple(weights_in_use.GRADING), weights_in_use.GRADING_BIAS])
    print("weights as in grading.py")
    report(asked, dict.fromkeys(SETS, stated))
    print("\nweights fitted without the set")
    report(asked, {name: fitted([one for one in asked if one.set != name]) for name in SETS})
    if chosen.fit:
        names = [*(field.name for field in fields(Features)), "bias"]
        print("\nover all:", ", ".join(f"{n}={v:.2f}" for n, v in zip(names, fitted(asked), strict=True)))


if __name__ == "__main__":
    main()
