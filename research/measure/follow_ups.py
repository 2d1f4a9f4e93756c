"""Whether what is suggested below answers is answered, on the sample documents and without a model.

Every sample question is asked, and every suggestion below its answer pressed, in the same thread. It counts how many
were answered at all, and how many from the section that was suggested.

    python -m research.measure.follow_ups [--verbose]
"""

# ruff: noqa: T201 - a measurement is printed

import argparse
import asyncio
import json
import tempfile
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from adapters.documents.folders import files_in
from adapters.terminal.ingest_view import ingest_files
from bot.container import Footnote, open_footnote
from bot.demo import SAMPLES
from core.model.answer import Answer, Outcome
from core.model.conversation import Audience, Person, ThreadKey
from core.model.events import AgentCompleted, CheckpointReached
from core.model.inquiry import AnswerPolicy
from core.service.question_service import Question
from tests.live.conftest import settings_for

SOMEBODY = Person("measure:somebody")


@dataclass
class Counted:
    """What came of the suggestions."""

    answers: int = 0
    with_suggestions: int = 0
    pressed: int = 0
    answered: int = 0
    from_there: int = 0


async def ask(footnote: Footnote, question: str, thread: str) -> Answer | None:
    """Return the answer to a question in a thread; None where there was none."""
    asked = Question(
        question,
        ThreadKey("measure", "", "", thread),
        SOMEBODY,
        Audience(unrestricted=True),
        policy=AnswerPolicy(follow_ups=True),
        bases=frozenset({"samples"}),  # whatever else was brought into this installation
    )
    last = [event async for event in footnote.question_service.ask(asked)][-1]
    return last.answer if isinstance(last, AgentCompleted | CheckpointReached) else None


async def press_all(footnote: Footnote, questions: list[str], *, verbose: bool) -> Counted:
    """Ask, and press whatever is suggested."""
    counted = Counted()
    for number, question in enumerate(questions):
        answer = await ask(footnote, question, str(number))
        if answer is None or answer.outcome is not Outcome.ANSWERED:
            continue
        counted.answers += 1
        counted.with_suggestions += bool(answer.follow_ups)
        for suggested in answer.follow_ups:
            pressed = await ask(footnote, suggested.question, str(number))
            counted.pressed += 1
            held = pressed is not None and pressed.outcome is Outcome.ANSWERED
            there = held and pressed is not None and is_from(pressed, suggested.question)
            counted.answered += held
            counted.from_there += there
            if verbose or not there:
                places = "; ".join(f"{one.title} › {one.place}" for one in pressed.citations) if pressed else ""
                print(f"{question} → {suggested.label} → {pressed.outcome if pressed else 'nothing'}: {places}")
    return counted


def names_document(answer: Answer, question: str) -> bool:
    """Whether an answer cites the document that the question names."""
    title = question.partition("“")[2].partition("”")[0]
    return any(one.title == title for one in answer.citations)


def is_from(answer: Answer, question: str) -> bool:
    """Whether an answer cites a section that the question names."""
    topic = question.rpartition("“")[2].partition("”")[0]
    return any(topic in one.place for one in answer.citations)


async def main() -> None:
    """Print one line of counts, and above it each suggestion that was not answered from its section."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--verbose", action="store_true")
    verbose = arguments.parse_args().verbose
    lines = (SAMPLES / "eval" / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    with tempfile.TemporaryDirectory() as home:
        async with open_footnote(settings_for(Path(home))) as footnote:
            files = [(path, source) for path, source in files_in([SAMPLES / "documents"])]
            await ingest_files(Console(quiet=True), footnote.knowledge_stack.ingest_client(), files, "samples")
            counted = await press_all(footnote, [json.loads(line)["text"] for line in lines], verbose=verbose)
    print(
        f"{counted.answers} answers, {counted.with_suggestions} with suggestions; {counted.pressed} pressed, "
        f"{counted.answered} answered, {counted.from_there} from the section that was suggested"
    )


if __name__ == "__main__":
    asyncio.run(main())
