"""Measures whole datasets, one after another, and what several that need all their evidence have in common.

Each part is measured by the module beside this one that is named for it.
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from bot.container import Footnote
from bot.demo import SAMPLES
from bot.evaluation.temp_index import open_temporary
from bot.settings import Settings
from core.model.knowledge import Passage
from core.retrieval.hybrid import POOL
from research.evaluation.answers import ask_all
from research.evaluation.case_report import SNIPPET, Excerpts, case, excerpts
from research.evaluation.corpus import fill
from research.evaluation.dataset_loader import Dataset, read
from research.evaluation.datasets import Query, needs_several, spread
from research.evaluation.metrics import Figure, thresholds
from research.evaluation.question_runs import ask_question_set, count_verdicts
from research.evaluation.retrieval import (
    METRICS,
    RETRIEVAL_LEGS,
    PerQuestion,
    compare_legs,
    per_question,
    scope_of,
    search_all,
)

LEGS = (*RETRIEVAL_LEGS, "agent")
FOREIGN = 60  # questions of other sets asked of each
FOREIGN_TO_AGENT = 20
SCORES = tuple(step / 20 for step in range(20))
WORST = 8


@dataclass(slots=True)
class DatasetFigures:
    """Everything measured on one dataset."""

    name: str
    passages: int
    questions: int
    several: bool = False  # every question needs all of at least two documents
    legs: dict[str, dict[str, Any]] = field(default_factory=dict)
    agent: dict[str, Any] | None = None
    verdicts: dict[str, Any] | None = None  # of questions with expected facts: how many of which kind, and each
    curve: list[dict[str, Any]] = field(default_factory=list)
    foreign: int = 0  # questions of the curve that nothing here answers
    stages: dict[str, float] = field(default_factory=dict)  # of a search, median milliseconds
    worst: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    each: dict[str, PerQuestion] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Everything but the figures of each single question."""
        return {name: value for name, value in asdict(self).items() if name != "each"}

    def figures(self) -> dict[str, Figure]:
        """One number for each thing that must not get worse."""
        answerable = max((len(each["nDCG@10"]) for each in self.each.values()), default=0)
        found = {
            f"{leg} {name}": Figure(kept["metrics"][name]["mean"], answerable)
            for leg, kept in self.legs.items()
            for name in METRICS
        }
        if self.agent:
            found["agent right refusals"] = Figure(1 - self.agent["wrong_refusals"], self.agent["answerable"])
            found["agent right answers"] = Figure(1 - self.agent["wrong_answers"], self.agent["questions"])
        if self.verdicts:
            counts = self.verdicts["counts"]["all"]
            asked = sum(counts.values())
            found["verdicts right"] = Figure(counts["right"] / asked, asked)
            found["verdicts not wrong"] = Figure(1 - counts["wrong"] / asked, asked)
        return found


async def measure_all(
    settings: Settings, sets: Sequence[Dataset], legs: Sequence[str], vectors: Path | None = None
) -> AsyncGenerator[DatasetFigures, None]:
    """Each dataset in a temporary Footnote of its own, removed before the next begins."""
    for found in sets:
        async with open_temporary(settings) as footnote:
            if found.has_corpus:
                await fill(footnote, found, vectors)
            yield await measure(footnote, found, legs, foreign_to(found, sets))


def foreign_to(dataset: Dataset, sets: Sequence[Dataset]) -> tuple[Query, ...]:
    """Questions that nothing in this dataset answers: of the other sets, evenly spread, or else of the samples."""
    others = [query for other in sets if other.name != dataset.name for query in other.queries]
    if not others and {path for path, _ in dataset.files} != {path for path, _ in _samples().files}:
        others = list(_samples().queries)
    return spread([query for query in others if query.relevant and not query.thread], FOREIGN)


def _samples() -> Dataset:
    return read(SAMPLES / "eval", None)


async def measure(
    footnote: Footnote, dataset: Dataset, legs: Sequence[str], foreign: Sequence[Query] = ()
) -> DatasetFigures:
    """Measure these legs of a dataset whose corpus is in the index."""
    measured = DatasetFigures(
        dataset.name,
        await footnote.index.count(scope_of(dataset)),
        len(dataset.queries),
        several=needs_several(dataset.queries),
    )
    if dataset.queries:
        await _measure_questions(footnote, dataset, legs, foreign, measured)
    if dataset.questions and "agent" in legs:
        scored = await ask_question_set(footnote, dataset)
        measured.questions += len(scored)
        measured.verdicts = {"counts": count_verdicts(scored), "each": [one.as_json() for one in scored]}
    return measured


async def _measure_questions(
    footnote: Footnote, dataset: Dataset, legs: Sequence[str], foreign: Sequence[Query], measured: DatasetFigures
) -> None:
    searched = await search_all(footnote, dataset, legs, foreign)
    rankings: dict[str, dict[str, list[str]]] = dict(searched.rankings)
    measured.notes += searched.notes
    measured.stages = searched.stages
    measured.curve = [asdict(point) for point in thresholds(searched.scored, SCORES, searched.foreign)]
    measured.foreign = len(searched.foreign)
    if "agent" in legs:
        asked = await ask_all(footnote, dataset, spread(foreign, FOREIGN_TO_AGENT))
        measured.agent = asked.figures()
        rankings["agent"] = asked.rankings
    judged = [query for query in dataset.queries if query.relevant]
    if judged:
        measured.each = {leg: per_question(judged, found) for leg, found in rankings.items()}
        measured.legs = compare_legs(measured.each)
    measured.worst = _worst(dataset, rankings.get("hybrid", {}), searched.tops, await excerpts(footnote, dataset))


def pool_sets(results: Sequence[DatasetFigures]) -> DatasetFigures | None:
    """Several sets as one, question by question, where all their questions need all their evidence; else None."""
    together = [one for one in results if one.each]
    if len(together) < 2 or not all(one.several for one in together):
        return None
    legs = [leg for leg in LEGS if all(leg in one.each for one in together)]
    each = {
        leg: {name: [value for one in together for value in one.each[leg][name]] for name in together[0].each[leg]}
        for leg in legs
    }
    return DatasetFigures(
        "pooled: " + ", ".join(one.name for one in together),
        sum(one.passages for one in together),
        sum(one.questions for one in together),
        several=True,
        legs=compare_legs(each),
        each=each,
    )


def _worst(
    dataset: Dataset, ranking: Mapping[str, list[str]], tops: Mapping[str, list[Passage]], parts: Excerpts
) -> list[dict[str, Any]]:
    """Return the questions whose first relevant document stands furthest down, with what stood above it."""

    def place(query: Query) -> int:
        return next((n for n, name in enumerate(ranking.get(query.id, []), 1) if name in query.relevant), POOL + 1)

    answerable = [query for query in dataset.queries if query.relevant and ranking and place(query) > 1]
    return [
        case(
            query.text,
            f"first at {place(query)}" if place(query) <= POOL else "not found",
            parts.reference(query),
            [{"id": p.source, "text": p.searchable[:SNIPPET]} for p in tops.get(query.id, [])[:2]],
            query.thread,
        )
        for query in sorted(answerable, key=lambda q: -place(q))[:WORST]
    ]
