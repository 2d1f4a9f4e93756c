"""When to say that the documents don't say: wrong answers and wrong refusals, together, set by set.

Each question is asked three times: of its own corpus (an answer is there), of its own corpus without its gold passages
(near misses only) and of another set's corpus. It counts as answered when a passage is graded at the cutoff or above.
The weights are fitted elsewhere (``research.measure.sentences``), on none of these sets.

    python -m research.measure.abstention [--each 80]
"""

# ruff: noqa: T201 - a measurement is printed

import argparse
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np

from adapters.reasoners.extractive.reasoner import ExtractiveReasoner
from adapters.reasoners.extractive.score import answer_odds
from core.model.evidence import EvidenceLibrary
from core.model.inquiry import CUTOFFS
from core.model.profile import Behaviour
from research.measure.shelf import IndexedSet, PackagedEncoder, questions, run, shelf

if TYPE_CHECKING:
    from core.ports.index import Encoder

SETS = ("hotpotqa_train100", "twowiki_200", "anthropic_docs", "contextual_codebase", "scifact_train", "cranfield")
SEVERAL_HOPS = frozenset({"hotpotqa_train100", "twowiki_200"})
TOP_K = 8
_TRIED = range(2, 9)
HERE, REMOVED, ELSEWHERE = "here", "gold removed", "elsewhere"


@dataclass(frozen=True, slots=True)
class Asked:
    """One question asked of one corpus: the chance that its best passage answers."""

    set: str
    condition: str
    chance: float


async def chance_of(encoder: PackagedEncoder, where: IndexedSet, text: str, without: frozenset[str]) -> float:
    """Return the chance of the best passage that one search finds, as the reasoner's grading sees it."""
    items = EvidenceLibrary().add(where.search(text, TOP_K, without), text)[1]
    weighed = await ExtractiveReasoner(cast("Encoder", encoder)).weigher.weigh(text, items, items)
    return max((answer_odds.chance(one.units) for one in weighed), default=0.0)


def collected(each: int) -> list[Asked]:
    """Every question of every set, at most ``each`` of one, under its conditions."""
    encoder = PackagedEncoder()
    shelves = {name: shelf(name, encoder) for name in SETS}
    found: list[Asked] = []
    for number, name in enumerate(SETS):
        other = shelves[SETS[(number + 2) % len(SETS)]]
        for question in questions(name)[:each]:
            own = shelves[name]
            found.append(Asked(name, HERE, run(chance_of(encoder, own, question.text, frozenset()))))
            if name not in SEVERAL_HOPS:
                found.append(Asked(name, REMOVED, run(chance_of(encoder, own, question.text, question.gold))))
            found.append(Asked(name, ELSEWHERE, run(chance_of(encoder, other, question.text, frozenset()))))
    return found


def answered(one: Asked, cutoff: int = CUTOFFS[Behaviour.BALANCED]) -> bool:
    """Whether some passage reaches the cutoff."""
    return answer_odds.score_of(one.chance) >= cutoff


def report(asked: list[Asked]) -> None:
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
            wrong = np.mean([answered(one) != (condition == HERE) for one in these])
            rates[condition].append(float(wrong))
            line += f"{wrong:>20.3f}"
        print(line)
    print(f"{'mean':22}" + "".join(f"{np.mean(rates[c]):>20.3f}" for c in rates))


def cutoffs_table(each: int) -> None:
    """Print what each grade would cost as the cutoff, and which costs least, by the worth of a near miss.

    A refusal of what is there and an answer to what belongs elsewhere are one mistake each. When only the gold passage
    was taken out, an answer quotes a neighbour, with its source: a mistake of 0 to 1, and the choice hangs on it.
    """
    asked = collected(each)
    print(f"\nGRADE FROM WHICH A PASSAGE IS EVIDENCE. In use: {CUTOFFS[Behaviour.BALANCED]}")
    print(f"{'':8}{'refused, though there':>24}{'answered, elsewhere':>24}{'answered, gold removed':>24}")
    for cutoff in _TRIED:
        rates = {condition: _rate(asked, condition, cutoff) for condition in (HERE, ELSEWHERE, REMOVED)}
        print(f"{cutoff:8}{1 - rates[HERE]:>24.3f}{rates[ELSEWHERE]:>24.3f}{rates[REMOVED]:>24.3f}")
    for near in (0.0, 0.25, 0.5, 0.75, 1.0):
        alone = [_cheapest([one for one in asked if one.set != name], near) for name in SETS]
        told = ", ".join(f"{name} {cutoff}" for name, cutoff in zip(SETS, alone, strict=True))
        print(f"derived, a near miss counting {near:.2f}: {_cheapest(asked, near)} (without the set: {told})")


def _cheapest(asked: list[Asked], near: float) -> int:
    """Return the cutoff with the fewest mistakes; the higher of two that cost the same."""

    def cost(cutoff: int) -> float:
        refused = 1 - _rate(asked, HERE, cutoff)
        return refused + _rate(asked, ELSEWHERE, cutoff) + near * _rate(asked, REMOVED, cutoff)

    return min(_TRIED, key=lambda cutoff: (round(cost(cutoff), 6), -cutoff))


def _rate(asked: list[Asked], condition: str, cutoff: int) -> float:
    """Return the share that is answered, each set weighing the same."""
    rates = []
    for name in SETS:
        these = [answered(one, cutoff) for one in asked if one.set == name and one.condition == condition]
        rates.extend([float(np.mean(these))] if these else [])
    return float(np.mean(rates)) if rates else 0.0


def main() -> None:
    """Print the table."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--each", type=int, default=80)
    report(collected(arguments.parse_args().each))


if __name__ == "__main__":
    main()
