"""What a threshold means: of questions that name nobody, how many are answered, and how many of those are right.

Every question that begins a conversation in the question sets is asked as in a channel with auto-answer on, once; the
confidence of what came of it says at which thresholds it would have been shown.

    python -m research.measure.unasked [FOLDER …]
"""

# ruff: noqa: T201 - a measurement is printed

import argparse
import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bot.evaluation.asking import reply_of
from bot.evaluation.temp_index import open_temporary
from bot.settings import Settings
from core.model.conversation import Audience, Person, ThreadKey
from core.model.events import AgentCompleted
from core.model.message_text import is_question
from core.service.question_service import Question
from research.evaluation.answer_scoring import AnswerVerdict, score_reply
from research.evaluation.corpus import fill
from research.evaluation.dataset_loader import Dataset, read

if TYPE_CHECKING:
    from core.model.answer import Answer

SETS = tuple(Path(__file__).parents[1] / "questions" / name for name in ("tune", "tune_2", "check"))
THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


@dataclass(frozen=True, slots=True)
class Unasked:
    """What came of one question: its confidence, whether it is right, and whether anything answers it at all."""

    confidence: float
    verdict: AnswerVerdict
    answerable: bool


async def measure(dataset: Dataset, settings: Settings) -> list[Unasked]:
    """Every question of a set that begins a conversation and has the form of a question."""
    assert dataset.questions is not None
    found: list[Unasked] = []
    async with open_temporary(settings) as footnote:
        await fill(footnote, dataset)
        documents = await footnote.catalog.documents(frozenset({dataset.name}))
        titles = {document.source: document.title for document in documents}
        for asked in dataset.questions.questions:
            if asked.follows or not is_question(asked.text):
                continue
            question = Question(
                asked.text, ThreadKey("eval", dataset.name, "", asked.id), Person("eval"), Audience(unrestricted=True)
            )
            answer: Answer | None = None
            async for event in footnote.question_service.answer_if_certain(question, confidence=0.0):
                answer = event.answer if isinstance(event, AgentCompleted) else answer
            verdict = score_reply(asked, reply_of(answer), titles).verdict
            found.append(Unasked(answer.confidence if answer else 0.0, verdict, not asked.unanswerable))
    return found


def report(found: Sequence[Unasked]) -> None:
    """One line a threshold."""
    answerable = sum(one.answerable for one in found)
    print(f"{len(found)} questions, {answerable} of them answered by the documents")
    columns = f"{'threshold':>9}{'shown':>8}{'right':>8}{'half':>8}{'wrong':>8}"
    print(f"{columns}{'of shown, right':>18}{'nothing answers it':>20}")
    for threshold in THRESHOLDS:
        shown = [one for one in found if one.confidence >= threshold]
        counts = {verdict: sum(one.verdict is verdict for one in shown) for verdict in AnswerVerdict}
        right, half, wrong = (counts[name] for name in (AnswerVerdict.RIGHT, AnswerVerdict.HALF, AnswerVerdict.WRONG))
        share = right / len(shown) if shown else 0.0
        nowhere = sum(not one.answerable for one in shown)
        print(f"{threshold:>9.1f}{len(shown):>8}{right:>8}{half:>8}{wrong:>8}{share:>18.2f}{nowhere:>20}")


async def main(folders: Sequence[Path]) -> None:
    """Measure these sets, one after another."""
    settings = Settings(_env_file=None)  # type: ignore[call-arg]
    everything: list[Unasked] = []
    for folder in folders:
        found = await measure(read(folder, None), settings)
        print(f"\n{folder.name}")
        report(found)
        everything += found
    if len(folders) > 1:
        print("\nall")
        report(everything)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path, default=SETS)
    asyncio.run(main(parser.parse_args().folders))
