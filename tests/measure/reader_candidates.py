"""What the reader of answers learns from our own sets: the units that the product finds for each question of theirs.

Each is set against the gold passages; words that lead to a list answer where one of its items does. Where a reader is
given, what it takes for the answer comes first, so that the next one learns from what this one confuses. Of a share of
the questions the same is kept with its gold passages removed, so that the reader sees what comes near where nothing
answers. A group drawn from the candidates differs each time: one or two that answer, most of those that come nearest by
what is counted, and a few of the others.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from adapters.reasoners.extractive import weights
from adapters.reasoners.extractive.evidence.reading import AnswerReader, text_of
from adapters.reasoners.extractive.evidence.scoring import ScoredUnit
from adapters.reasoners.extractive.reasoner import ExtractiveReasoner
from bot.container import Footnote
from bot.evaluation.dataset_loader import Dataset, read
from bot.evaluation.temp_index import fill, open_temporary
from bot.settings import Settings
from core.evaluation.question_sets import LabelledQuestion
from core.model.evidence import EvidenceLibrary, Hit
from core.model.passage_units import announced
from core.ports.index import Scope
from tests.measure.learning_sets import FILE, learning_set
from tests.measure.reader_groups import Group
from tests.measure.sentences import DEEPER, TOP_K, holds_gold, is_gold, questions_of

TEXTS, FAR, RIGHT = 7, 2, 2  # of a group; of them, those that need not come near, and those that answer
REMOVED_EVERY, REMOVED_WEIGHT = 4, 0.4
NEAREST_SHARE, WIDER = 0.7, 2
READ_ANEW = 24
REWORDED_SHARE = 0.15


@dataclass(frozen=True, slots=True)
class Candidates:
    """A question, the texts of the units found for it, the likeliest first, and which of them answer."""

    question: str
    texts: tuple[str, ...]
    answers: tuple[bool, ...]
    weight: float = 1.0

    def draw(self) -> Group:
        """A group of these; a question whose answer was not found counts as one that nothing answers."""
        told = list(zip(self.texts, self.answers, strict=True))
        right = [text for text, answers in told if answers]
        right = random.sample(right[: RIGHT + 1], min(RIGHT, len(right)))
        wrong = [text for text, answers in told if not answers][: weights.UNITS_READ]
        room = TEXTS - FAR - len(right)
        reach = wrong[:room] if random.random() < NEAREST_SHARE else wrong[: room * WIDER]
        near = random.sample(reach, min(room, len(reach)))
        rest = [text for text in wrong if text not in near]
        texts = (*right, *near, *random.sample(rest, min(FAR, len(rest))))
        question = self.question.lower().rstrip("?") if random.random() < REWORDED_SHARE else self.question
        return Group(question, texts, tuple(at < len(right) for at in range(len(texts))), self.weight)


async def candidates(folder: Path, reader: AnswerReader | None = None) -> list[Candidates]:
    """Of every question of a set that opens a conversation."""
    dataset = learning_set(folder) if (folder / FILE).is_file() else read(folder, None)
    async with open_temporary(Settings()) as footnote:
        await fill(footnote, dataset)
        return await _found(footnote, dataset, reader)


async def _as_read(reader: AnswerReader, question: str, best: Sequence[ScoredUnit]) -> list[ScoredUnit]:
    """The likeliest in the order in which the reader takes them for the answer, then the rest as they were."""
    first = best[:READ_ANEW]
    odds = await reader.read(question, [text_of(one) for one in first])
    order = sorted(range(len(first)), key=lambda at: -odds[at])
    return [*(first[at] for at in order), *best[READ_ANEW:]]


def _answers(question: LabelledQuestion, one: ScoredUnit, sources: Mapping[str, str]) -> bool:
    passage = one.evidence.passage
    source = sources.get(passage.document, "")
    led = announced(passage.text).get(one.unit, ())
    return any(is_gold(question, source, unit.text) for unit in (one.unit, *led))


async def _found(footnote: Footnote, dataset: Dataset, reader: AnswerReader | None) -> list[Candidates]:
    scope = Scope(frozenset({dataset.name}))
    sources = {one.id: one.source for one in await footnote.catalog.documents(scope.bases)}
    reasoner = ExtractiveReasoner(footnote.encoder)
    found: list[Candidates] = []

    async def add(question: LabelledQuestion, hits: Sequence[Hit], *, removed: bool) -> None:
        items = EvidenceLibrary().add(hits, question.text)[1]
        weighed = await reasoner.weigh(question.text, items, items)
        best = sorted((one for passage in weighed for one in passage.units), key=lambda one: -one.odds)
        best = await _as_read(reader, question.text, best) if reader else best
        gold = tuple(not question.unanswerable and _answers(question, one, sources) for one in best)
        nothing_found = not question.unanswerable and not any(gold)
        weight = REMOVED_WEIGHT if removed or nothing_found else 1.0
        if best:
            found.append(Candidates(question.text, tuple(map(text_of, best)), gold, weight))

    for number, question in enumerate(one for one in questions_of(dataset) if not one.follows):
        hits = (await footnote.retriever.search(question.text, scope, DEEPER)).hits
        await add(question, hits[:TOP_K], removed=False)
        if not question.unanswerable and number % REMOVED_EVERY == 0:
            others = [hit for hit in hits if not holds_gold(question, hit, sources)]
            await add(question, others[:TOP_K], removed=True)
    return found
