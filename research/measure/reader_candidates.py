"""What the reader of answers learns from our own sets: the units that the product finds for each question of theirs.

Each is set against the gold passages; words that lead to a list answer where one of its items does. Of a share of
the questions the same is kept with its gold passages removed, so that the reader sees what comes near where nothing
answers. A group drawn from the candidates differs each time: one or two that answer, and of the others mostly those
that come nearest by what is counted.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from adapters.reasoners.extractive.candidates import ScoredUnit
from adapters.reasoners.extractive.reasoner import ExtractiveReasoner
from adapters.reasoners.extractive.score.reading import text_of
from bot.container import Footnote
from bot.evaluation.temp_index import open_temporary
from bot.settings import Settings
from core.model.evidence import EvidenceLibrary, Hit
from core.model.passage_units import announced
from core.ports.index import Scope
from research.evaluation.corpus import fill
from research.evaluation.dataset_loader import Dataset, read
from research.evaluation.question_sets import LabelledQuestion
from research.measure.learning_sets import FILE, learning_set
from research.measure.reader_groups import Group
from research.measure.sentences import DEEPER, TOP_K, holds_gold, is_gold, questions_of

TEXTS, NEAREST, RIGHT = 10, 8, 2  # of a group; those nearest that are likelier drawn, and those that answer
LIKELIER = 0.7
REMOVED_EVERY, REMOVED_WEIGHT = 4, 0.4
KEPT = 24  # of what is found for a question
REWORDED_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class Candidate:
    """A unit as the reader reads it, and whether it answers."""

    text: str
    answers: bool
    counted: float  # its odds by what is counted


@dataclass(frozen=True, slots=True)
class Candidates:
    """A question and the units found for it, the likeliest first."""

    question: str
    found: tuple[Candidate, ...]
    weight: float = 1.0

    def draw(self) -> Group:
        """Return a group of these; a question whose answer was not found counts as one that nothing answers."""
        right = [one for one in self.found if one.answers]
        right = random.sample(right, min(RIGHT, len(right)))
        wrong = [one for one in self.found if not one.answers]
        chances = [random.random() + LIKELIER * (at < NEAREST) for at in range(len(wrong))]
        drawn = sorted(range(len(wrong)), key=lambda at: -chances[at])[: TEXTS - len(right)]
        told = [*right, *(wrong[at] for at in drawn)]
        question = self.question.rstrip("?") if random.random() < REWORDED_SHARE else self.question
        return Group(
            question,
            tuple(one.text for one in told),
            tuple(one.answers for one in told),
            self.weight,
            tuple(one.counted for one in told),
        )


async def candidates(folder: Path) -> list[Candidates]:
    """Of every question of a set that opens a conversation."""
    dataset = learning_set(folder) if (folder / FILE).is_file() else read(folder, None)
    async with open_temporary(Settings()) as footnote:
        await fill(footnote, dataset)
        return await _found(footnote, dataset)


def _answers(question: LabelledQuestion, one: ScoredUnit, sources: Mapping[str, str]) -> bool:
    passage = one.evidence.passage
    source = sources.get(passage.document, "")
    led = announced(passage.text).get(one.unit, ())
    return any(is_gold(question, source, unit.text) for unit in (one.unit, *led))


def _candidate(question: LabelledQuestion, one: ScoredUnit, sources: Mapping[str, str]) -> Candidate:
    answers = not question.unanswerable and _answers(question, one, sources)
    return Candidate(text_of(one), answers, one.odds)


async def _found(footnote: Footnote, dataset: Dataset) -> list[Candidates]:
    scope = Scope(frozenset({dataset.name}))
    sources = {one.id: one.source for one in await footnote.catalog.documents(scope.bases)}
    reasoner = ExtractiveReasoner(footnote.encoder)
    found: list[Candidates] = []

    async def add(question: LabelledQuestion, hits: Sequence[Hit], *, removed: bool) -> None:
        items = EvidenceLibrary().add(hits, question.text)[1]
        weighed = await reasoner.weigher.weigh(question.text, items, items)
        best = sorted((one for passage in weighed for one in passage.units), key=lambda one: -one.odds)[:KEPT]
        told = [_candidate(question, one, sources) for one in best]
        nothing_found = not question.unanswerable and not any(one.answers for one in told)
        if told:
            weight = REMOVED_WEIGHT if removed or nothing_found else 1.0
            found.append(Candidates(question.text, tuple(told), weight))

    for number, question in enumerate(one for one in questions_of(dataset) if not one.follows):
        hits = (await footnote.retriever.search(question.text, scope, DEEPER)).hits
        await add(question, hits[:TOP_K], removed=False)
        if not question.unanswerable and number % REMOVED_EVERY == 0:
            others = [hit for hit in hits if not holds_gold(question, hit, sources)]
            await add(question, others[:TOP_K], removed=True)
    return found
