# ruff: noqa: T201 - a measurement is printed
"""Can anything that is counted tell an answer from its neighbours, when the very passage that answers is missing?

Each question is asked of its own corpus with its gold passages and without them. Every candidate is a number of the
question's best passage or of the ranking around it; its AUC is how often it is higher where the answer is there. Then
regressions over growing groups of candidates, fitted without the set that they are tried on.

    python -m tests.measure.separation [--each 60]
"""

import argparse
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, cast

import numpy as np
import numpy.typing as npt

from adapters.reasoners.extractive.evidence import grading
from adapters.reasoners.extractive.evidence.sufficiency import open_names
from adapters.reasoners.extractive.evidence.units import inverse_frequency
from adapters.reasoners.extractive.reasoner import ExtractiveReasoner
from core.model.evidence import EvidenceLibrary
from core.model.text import content_words
from tests.measure.logistic import area, fitted
from tests.measure.shelf import IndexedSet, PackagedEncoder, questions, run, shelf

if TYPE_CHECKING:
    from core.ports.encoder import Encoder

SETS = (
    "anthropic_docs",
    "contextual_codebase",
    "scifact_train",
    "cranfield",
    "docs_18f_handbook",
    "hotpotqa_train100",
    "twowiki_200",
    "musique_train100",
)
TOP_K = 8
GRADE = ("the grade's chance",)
GRADED = ("cosine", "sentence cosine", "covered", "covered by a sentence", "fits the question word", "kind held")
RARE = ("covered, by rarity in the corpus", "rarest word missing", "names missing")
MARGINS = ("chance over the runner-up", "cosine over the runner-up", "cosine over the mean", "runner-up's BM25 share")
GROUPS = {
    "the grade in use": GRADE,
    "its features, weighed anew": GRADED,
    "and rare words": (*GRADED, *RARE),
    "and margins": (*GRADED, *MARGINS),
    "all": (*GRADED, *RARE, *MARGINS),
}
Matrix = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with or without its gold passages, and what is counted of what was found."""

    set: str
    there: bool
    candidates: dict[str, float]


async def counted(
    encoder: PackagedEncoder, where: IndexedSet, text: str, without: frozenset[str], rarity: dict[str, float]
) -> dict[str, float]:
    """All candidates of one question."""
    items = EvidenceLibrary().add(where.search(text, TOP_K, without), text)[1]
    weighed = await ExtractiveReasoner(cast("Encoder", encoder)).weigh(text, items, items)
    features = [grading.measure_features(one.asked, one.evidence, one.units, one.cosine) for one in weighed]
    chances = np.array([grading.chance(one) for one in features])
    order = np.argsort(-chances)
    best = int(order[0])
    there = set(content_words(items[best].passage.searchable))
    wanted = {word: rarity.get(word, max(rarity.values())) for word in content_words(text)}
    missing = [weight for word, weight in wanted.items() if word not in there]
    total = sum(wanted.values()) or 1.0
    dense = sorted((item.hit.dense or 0.0 for item in items), reverse=True)
    lexical = sorted((item.hit.bm25 or 0.0 for item in items), reverse=True)
    return {
        GRADE[0]: float(chances[best]),
        **dict(zip(GRADED, astuple(features[best]), strict=True)),
        RARE[0]: (total - sum(missing)) / total,
        RARE[1]: -max(missing, default=0.0),
        RARE[2]: -float(len(open_names(text, [items[best]]))),
        MARGINS[0]: float(chances[best] - chances[order[1]]),
        MARGINS[1]: dense[0] - dense[1],
        MARGINS[2]: dense[0] - float(np.mean(dense)),
        MARGINS[3]: -lexical[1] / lexical[0] if lexical[0] else -1.0,
    }


def collected(each: int) -> list[Asked]:
    """At most ``each`` questions of every set, evenly spread, asked twice."""
    encoder = PackagedEncoder()
    found: list[Asked] = []
    for name in SETS:
        where = shelf(name, encoder)
        rarity = dict(inverse_frequency(passage.searchable for passage in where.passages))
        asked = questions(name)
        for question in [asked[n * len(asked) // each] for n in range(each)] if len(asked) > each else asked:
            for there in (True, False):
                without = question.exclude if there else question.exclude | question.gold
                found.append(Asked(name, there, run(counted(encoder, where, question.text, without, rarity))))
    return found


def matrix(asked: list[Asked], names: tuple[str, ...]) -> tuple[Matrix, Matrix]:
    """(n, candidates + 1), the last being 1; and whether the answer was there."""
    rows = [[*(one.candidates[name] for name in names), 1.0] for one in asked]
    return np.array(rows), np.array([float(one.there) for one in asked])


def alone(asked: list[Asked], name: str) -> float:
    """The AUC of one candidate."""
    rows, truth = matrix(asked, (name,))
    return area(rows[:, 0], truth, np.ones(len(truth)))


def without_it(asked: list[Asked], names: tuple[str, ...], held: str) -> float:
    """The AUC on one set of a regression fitted on the others, candidates scaled to unit deviation there."""
    rows, truth = matrix([one for one in asked if one.set != held], names)
    tried, right = matrix([one for one in asked if one.set == held], names)
    middle, spread = rows.mean(axis=0), rows.std(axis=0)
    middle[-1], spread[-1] = 0.0, 1.0
    scale = np.maximum(spread, 1e-9)
    weights = fitted((rows - middle) / scale, truth, np.ones(len(truth)), ridge=1e-2)
    return area(((tried - middle) / scale) @ weights, right, np.ones(len(right)))


def main() -> None:
    """Print both tables."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--each", type=int, default=60)
    asked = collected(arguments.parse_args().each)
    print(f"{'AUC of one':34}" + "".join(f"{name[:12]:>14}" for name in SETS) + f"{'mean':>8}")
    for candidate in (*GRADE, *GRADED, *RARE, *MARGINS):
        _line(candidate, [alone([one for one in asked if one.set == name], candidate) for name in SETS])
    print("AUC of several, fitted without the set")
    for told, names in GROUPS.items():
        _line(told, [without_it(asked, names, held) for held in SETS])


def _line(told: str, areas: list[float]) -> None:
    print(f"{told:34}" + "".join(f"{value:14.3f}" for value in areas) + f"{np.mean(areas):8.3f}")


if __name__ == "__main__":
    main()
