"""Where the questions were lost that were not answered right: in the search, in the choice, or below the cutoff.

Each question of a set that opens a conversation is asked of the whole agent. Of those that are not right though the
documents answer, it is looked at what the first search found and what the reasoner without a model made of it.

    python -m research.measure.losses research/questions/unseen_2 research/questions/unseen_4 [--show]
"""

# ruff: noqa: T201 - a measurement is printed

import argparse
import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from adapters.encoders.answer_reader import LowRankAnswerReader
from adapters.reasoners.extractive import weights
from adapters.reasoners.extractive.candidates import ScoredUnit
from adapters.reasoners.extractive.reasoner import ExtractiveReasoner
from adapters.reasoners.extractive.score.answer_odds import chance, score_of
from bot.container import Footnote
from bot.evaluation.temp_index import open_temporary
from bot.settings import Settings
from core.model.evidence import EvidenceLibrary
from core.model.inquiry import CUTOFFS
from core.model.passage_units import units
from core.model.profile import Behaviour
from core.ports.index import Scope
from research.evaluation.answer_scoring import AnswerVerdict
from research.evaluation.corpus import fill
from research.evaluation.dataset_loader import read
from research.evaluation.question_runs import ScoredQuestion, ask_question_set
from research.evaluation.question_sets import LabelledQuestion
from research.measure.sentences import DEEPER, TOP_K, holds_gold, is_gold


class Stage(StrEnum):
    """Where an answer that stands in the documents was lost."""

    NOT_FOUND = "no gold passage among twenty"
    DEEP = "a gold passage, but further down than is looked"
    CUT_APART = "here, but no unit of it says what the gold passage says"
    NOT_WEIGHED = "here, its sentence never weighed"
    NOT_READ = "weighed, not among those that are read"
    NOT_FIRST = "read, another first"
    BELOW = "first, below the cutoff"
    LATER = "first and good enough, lost later"


@dataclass(frozen=True, slots=True)
class Loss:
    """A question that was not answered right, where it was lost, and its best unit beside the one that answers."""

    asked: ScoredQuestion
    stage: Stage
    best: str = ""
    best_odds: float = 0.0
    gold: str = ""
    gold_odds: float = 0.0


async def loss_of(
    footnote: Footnote, reasoner: ExtractiveReasoner, base: str, asked: ScoredQuestion, sources: dict[str, str]
) -> Loss:
    """Return what the first search found for a question, and what became of its gold passage; the reasoner reads."""
    question = asked.question
    hits = (await footnote.retriever.search(question.text, Scope(frozenset({base})), DEEPER)).hits
    here = [holds_gold(question, hit, sources) for hit in hits]
    if not any(here[:TOP_K]):
        return Loss(asked, Stage.DEEP if any(here) else Stage.NOT_FOUND)
    items = EvidenceLibrary().add(hits[:TOP_K], question.text)[1]
    counted = await ExtractiveReasoner(footnote.encoder).weigher.weigh(question.text, items, items)
    first = sorted((one for passage in counted for one in passage.units), key=lambda one: -one.odds)
    if not any(_says(question, one, sources) for one in first):
        whole = any(
            is_gold(question, sources.get(item.passage.document, ""), unit.text)
            for item in items
            for unit in units(item.passage.text)
        )
        return Loss(asked, Stage.NOT_WEIGHED if whole else Stage.CUT_APART)
    weighed = await reasoner.weigher.weigh(question.text, items, items)
    ranked = sorted((one for passage in weighed for one in passage.units), key=lambda one: -one.odds)
    gold = next(one for one in ranked if _says(question, one, sources))
    told = (_shown(ranked[0]), ranked[0].odds, _shown(gold), gold.odds)
    if not any(_says(question, one, sources) for one in first[: weights.UNITS_READ]):
        return Loss(asked, Stage.NOT_READ, *told)
    if gold is not ranked[0]:
        return Loss(asked, Stage.NOT_FIRST, *told)
    enough = score_of(chance([gold])) >= CUTOFFS[Behaviour.BALANCED]
    return Loss(asked, Stage.LATER if enough else Stage.BELOW, *told)


def _says(question: LabelledQuestion, one: ScoredUnit, sources: dict[str, str]) -> bool:
    return is_gold(question, sources.get(one.evidence.passage.document, ""), one.unit.text)


def _shown(one: ScoredUnit) -> str:
    return f"{one.evidence.passage.title}: {one.unit.text}".replace("\n", " ")[:160]


async def losses_of(folder: Path) -> tuple[list[ScoredQuestion], list[Loss]]:
    """Every question of a set as it was answered, and where those were lost that open a conversation."""
    dataset = read(folder, None)
    async with open_temporary(Settings()) as footnote:
        await fill(footnote, dataset)
        scored = list(await ask_question_set(footnote, dataset))
        found = await footnote.catalog.documents(frozenset({dataset.name}))
        sources = {one.id: one.source for one in found}
        lost = [one for one in scored if _is_lost(one)]
        reasoner = ExtractiveReasoner(footnote.encoder, LowRankAnswerReader())
        return scored, [await loss_of(footnote, reasoner, dataset.name, one, sources) for one in lost]


def _is_lost(one: ScoredQuestion) -> bool:
    asked = one.question
    opens = not asked.follows and asked.language == "en" and bool(asked.documents)
    return opens and not asked.unanswerable and one.scored.verdict is not AnswerVerdict.RIGHT


def table_lines(lost: Sequence[Loss]) -> list[str]:
    """How many were lost where, by what was answered instead."""
    verdicts = (AnswerVerdict.HALF, AnswerVerdict.REFUSED, AnswerVerdict.WRONG)
    counts = Counter((one.stage, one.asked.scored.verdict) for one in lost)
    head = f"{'':58}" + "".join(f"{verdict:>9}" for verdict in verdicts)
    return [head, *(f"{stage:58}" + "".join(f"{counts[stage, one]:9}" for one in verdicts) for stage in Stage)]


def loss_lines(one: Loss) -> list[str]:
    """Return a question, what stood first and what should have."""
    asked = one.asked
    head = f"{asked.question.id} [{asked.scored.verdict}] {one.stage}: {asked.question.text}"
    if not one.gold:
        return [head, f"    gold {'; '.join(asked.question.passages)[:160]}"]
    return [head, f"    first {one.best_odds:5.2f} {one.best}", f"    gold  {one.gold_odds:5.2f} {one.gold}"]


async def main() -> None:
    """Print the table of each set."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("folders", nargs="+", type=Path)
    arguments.add_argument("--show", action="store_true", help="each question that was lost, too")
    chosen = arguments.parse_args()
    for folder in chosen.folders:
        scored, lost = await losses_of(folder)
        right = sum(one.scored.verdict is AnswerVerdict.RIGHT for one in scored)
        print(f"{folder.name}: {right} of {len(scored)} right; {len(lost)} that open a conversation are not")
        print("\n".join(table_lines(lost)))
        if chosen.show:
            print("\n".join(line for one in lost for line in loss_lines(one)))


if __name__ == "__main__":
    asyncio.run(main())
