"""Which sentence is quoted, and is it there at all: the two decisions of the reasoner without a model, apart.

Each question of the sets for choosing is searched for as the product does it, and every unit of what was found is set
against the gold passages. Sentence P@1: how often the best unit is one of theirs. AUC: how often the best odds of a
question whose answer is there are above those of the same question with its gold passages removed, and of a question
that nothing answers. ``--fit`` fits the weights on all sets but one and measures on that, then on all of them.

    python -m research.measure.sentences research/questions/tune research/questions/tune_2 bot/samples/eval [--fit]
"""

# ruff: noqa: T201 - a measurement is printed

import argparse
import asyncio
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path

import numpy as np
import numpy.typing as npt

from adapters.encoders.answer_reader import LowRankAnswerReader
from adapters.reasoners.extractive import weights
from adapters.reasoners.extractive.reasoner import ExtractiveReasoner
from bot.container import Footnote
from bot.evaluation.asking import comparable, states
from bot.evaluation.temp_index import open_temporary
from bot.settings import Settings
from core.model.evidence import EvidenceLibrary, Hit
from core.model.passage_units import units
from core.ports.index import Scope
from research.evaluation.corpus import fill
from research.evaluation.dataset_loader import Dataset, read
from research.evaluation.question_sets import LabelledQuestion, QuestionKind
from research.measure.logistic import area

TOP_K, DEEPER = weights.PASSAGES_SEARCHED, 20
HERE, REMOVED, NOWHERE = "here", "gold removed", "nowhere"
RIDGE, ROUNDS, PACE = 1.0, 1500, 0.02
ALIKE = 0.6  # of the words of a unit and a gold passage together
Matrix = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Case:
    """One question under one condition: its units' features (n, k) and odds (n), and which of them are gold."""

    set: str
    condition: str
    features: Matrix
    odds: Matrix
    gold: npt.NDArray[np.bool_]


def is_gold(question: LabelledQuestion, source: str, text: str) -> bool:
    """Whether a unit says what one of the gold passages says."""
    if source not in question.documents:
        return False
    if not question.passages:
        return any(states(text, one) for alternatives in question.facts for one in alternatives)
    said = comparable(text)
    bare, words = "".join(said.split()), set(said.split())
    for passage in map(comparable, question.passages):
        whole, those = "".join(passage.split()), set(passage.split())
        if bare and (bare in whole or whole in bare or len(words & those) > ALIKE * len(words | those)):
            return True
    return False


async def case_of(
    reasoner: ExtractiveReasoner,
    name: str,
    condition: str,
    question: LabelledQuestion,
    hits: Sequence[Hit],
    sources: dict[str, str],
) -> Case | None:
    """Return the units of these hits."""
    items = EvidenceLibrary().add(hits, question.text)[1]
    weighed = await reasoner.weigher.weigh(question.text, items, items)
    found = [one for passage in weighed for one in passage.units]
    if not found:
        return None
    gold = [is_gold(question, sources.get(one.evidence.passage.document, ""), one.unit.text) for one in found]
    return Case(
        name,
        condition,
        np.array([astuple(one.features) for one in found if one.features]),
        np.array([one.odds for one in found]),
        np.array(gold) if condition == HERE else np.zeros(len(found), bool),
    )


def questions_of(dataset: Dataset) -> tuple[LabelledQuestion, ...]:
    """Return the questions with facts; else those with short answers, told by them (the samples')."""
    if dataset.questions:
        return dataset.questions.questions
    return tuple(
        LabelledQuestion(
            one.id,
            one.text,
            QuestionKind.FACT,
            documents=tuple(one.relevant),
            facts=(tuple(one.answers),),
            unanswerable=one.expect == "abstained",
        )
        for one in dataset.queries
        if one.expect in {"answered", "abstained"} and not one.thread
    )


async def collected(folder: Path, footnote: Footnote) -> list[Case]:
    """Every question of a set that opens a conversation, under its conditions."""
    dataset = read(folder, None)
    await fill(footnote, dataset)
    scope = Scope(frozenset({dataset.name}))
    sources = {one.id: one.source for one in await footnote.catalog.documents(scope.bases)}
    reasoner = ExtractiveReasoner(footnote.encoder, LowRankAnswerReader())
    cases: list[Case | None] = []
    for question in questions_of(dataset):
        if question.follows:
            continue
        hits = (await footnote.retriever.search(question.text, scope, DEEPER)).hits
        condition = NOWHERE if question.unanswerable else HERE
        cases.append(await case_of(reasoner, folder.name, condition, question, hits[:TOP_K], sources))
        if not question.unanswerable:
            others = [hit for hit in hits if not holds_gold(question, hit, sources)][:TOP_K]
            cases.append(await case_of(reasoner, folder.name, REMOVED, question, others, sources))
    return [one for one in cases if one is not None]


def holds_gold(question: LabelledQuestion, hit: Hit, sources: dict[str, str]) -> bool:
    source = sources.get(hit.passage.document, "")
    return any(is_gold(question, source, unit.text) for unit in units(hit.passage.text))


def fitted(cases: Sequence[Case]) -> tuple[Matrix, float]:
    """Weights (k) and constant of a choice among all units and none of them (a conditional logit), by gradient."""
    spread = np.vstack([one.features for one in cases]).std(0) + 1e-9
    known = [one for one in cases if one.condition != HERE or one.gold.any()]
    by, constant = np.zeros(len(spread)), 0.0
    first, second = np.zeros(len(spread) + 1), np.zeros(len(spread) + 1)
    for step in range(1, ROUNDS + 1):
        slope = np.concatenate([2 * RIDGE * by, [0.0]])
        for one in known:
            scaled = one.features / spread
            odds = scaled @ by + constant
            high = max(float(odds.max()), 0.0)
            raised = np.exp(odds - high)
            said = raised / (raised.sum() + np.exp(-high))
            right = np.where(one.gold, raised, 0) / raised[one.gold].sum() if one.gold.any() else np.zeros(len(odds))
            share = 0.25 if one.condition == REMOVED else 1.0
            slope += share * np.concatenate([scaled.T @ (said - right), [float((said - right).sum())]])
        first, second = 0.9 * first + 0.1 * slope, 0.999 * second + 0.001 * slope**2  # Adam (Kingma and Ba, 2015)
        move = PACE * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.999**step)) + 1e-9)
        by, constant = by - move[:-1], constant - float(move[-1])
    return by / spread, constant


def figures(cases: Sequence[Case], by: tuple[Matrix, float] | None = None) -> str:
    """P@1 and the two AUCs; with other weights where some are given."""
    best: dict[str, list[float]] = {HERE: [], REMOVED: [], NOWHERE: []}
    first: list[bool] = []
    for one in cases:
        odds = one.odds if by is None else one.features @ by[0] + by[1]
        best[one.condition].append(float(odds.max()))
        if one.condition == HERE and one.gold.any():
            first.append(bool(one.gold[int(odds.argmax())]))
    told = [f"P@1 {np.mean(first):.3f} of {len(first)}"]
    for other in (REMOVED, NOWHERE):
        said = np.array([*best[HERE], *best[other]])
        truth = np.array([1.0] * len(best[HERE]) + [0.0] * len(best[other]))
        told.append(f"AUC against {other} {area(said, truth, np.ones(len(said))):.3f}")
    return ", ".join(told)


async def main() -> None:
    """Print the figures of the weights in use, then of weights that never saw the set."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("folders", nargs="+", type=Path)
    arguments.add_argument("--fit", action="store_true")
    chosen = arguments.parse_args()
    cases: list[Case] = []
    for folder in chosen.folders:
        async with open_temporary(Settings()) as footnote:
            cases += await collected(folder, footnote)
    names = sorted({one.set for one in cases})
    for name in names:
        these = [one for one in cases if one.set == name]
        print(f"{name:12} in use:     {figures(these)}")
        if chosen.fit and len(names) > 1:
            print(f"{'':12} not seen:   {figures(these, fitted([one for one in cases if one.set != name]))}")
    if chosen.fit:
        by, constant = fitted(cases)
        said = ", ".join(f"{one.name}={value:.2f}" for one, value in zip(fields(weights.Features), by, strict=True))
        print(f"over all: {said}, constant {constant:.2f}")


if __name__ == "__main__":
    asyncio.run(main())
