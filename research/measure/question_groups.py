# ruff: noqa: T201 - a measurement is printed
"""Where groups of questions end, and how good they are: for ``core.service.gaps.question_groups``.

    python -m research.measure.question_groups

First the distances on ``research/questions/gaps/calibration.tsv``, from which the constants are taken,
then what they make of ``planted.tsv``, from which nothing was taken; then the time for 10,000 questions. A question
of no hole is a group of its own. Homogeneity: whether a group holds one hole alone; completeness: whether a hole is in
one group.
"""

import asyncio
import csv
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from adapters.encoders.text_encoder import SentenceTransformerEncoder
from core.service.gaps import question_groups
from core.service.gaps.question_groups import group_by_meaning

HERE = Path(__file__).parent.parent / "questions" / "gaps"
MANY = 10_000


def questions(name: str) -> list[dict[str, str]]:
    """Return the rows of one set: hole, where, question."""
    with (HERE / f"{name}.tsv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def holes(rows: list[dict[str, str]]) -> list[str]:
    """Return what each belongs to; what belongs nowhere is alone."""
    return [row["hole"] if row["hole"] != "-" else f"-{number}" for number, row in enumerate(rows)]


def purity(groups: list[int], wanted: list[str]) -> float:
    """Return the share of questions that stand in a group most of which is of their hole."""
    of = {group: Counter(w for g, w in zip(groups, wanted, strict=True) if g == group) for group in set(groups)}
    return sum(counts.most_common(1)[0][1] for counts in of.values()) / len(groups)


def _scores(groups: list[int], wanted: list[str]) -> str:
    from sklearn.metrics import adjusted_rand_score, homogeneity_completeness_v_measure

    same, whole, v = homogeneity_completeness_v_measure(wanted, groups)
    inside = {g for g, w in zip(groups, wanted, strict=True) if not w.startswith("-")}
    found = f"{len(set(groups)):3} groups, {len(inside):2} with holes; purity {purity(groups, wanted):.3f}"
    rand = adjusted_rand_score(wanted, groups)
    return f"{found} homogeneity {same:.3f} completeness {whole:.3f} V {v:.3f} Rand {rand:.3f}"


async def _measure() -> None:
    encoder = SentenceTransformerEncoder()
    sets: dict[str, tuple[Any, list[str]]] = {}
    for name in ("calibration", "planted"):
        rows = [row for row in questions(name) if row["hole"] != "+"]
        sets[name] = (await encoder.encode_queries([row["question"] for row in rows]), holes(rows))
    await encoder.close()
    vectors, wanted = sets["calibration"]
    chosen = (question_groups.DISTANCE, question_groups.DISTANCE_OF_FEW)
    for few in (True, False):
        question_groups.ENOUGH = 10_000 if few else 50
        print("calibration,", "as they are" if few else "without their mean")
        for distance in np.arange(0.5, 0.9, 0.02):
            question_groups.DISTANCE = question_groups.DISTANCE_OF_FEW = float(distance)
            print(f"  {distance:.2f}", _scores(list(group_by_meaning(vectors)), wanted))
    question_groups.DISTANCE, question_groups.DISTANCE_OF_FEW = chosen
    vectors, wanted = sets["planted"]
    print("planted", _scores(list(group_by_meaning(vectors)), wanted))
    rng = np.random.default_rng(1)
    many = vectors[rng.integers(0, len(vectors), MANY)] + 0.04 * rng.standard_normal((MANY, vectors.shape[1]))
    many = (many / np.linalg.norm(many, axis=1, keepdims=True)).astype(np.float32)
    started = time.perf_counter()
    count = len(set(group_by_meaning(many)))
    print(f"{MANY} questions: {count} groups in {time.perf_counter() - started:.1f} s")


if __name__ == "__main__":
    asyncio.run(_measure())
