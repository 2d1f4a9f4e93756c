"""Whether the wording of a question changes its answer: 100 questions over the samples, each in ten dresses.

python -m research.dresses [--part open|judge] [--show] [--json FILE] [--id ID]
"""

# ruff: noqa: T201 - a measurement is printed

import argparse
import asyncio
import json
import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path

import structlog

from adapters.documents.folders import files_in
from bot.demo import SAMPLES
from bot.evaluation.asking import comparable, pursue_question, states
from bot.evaluation.temp_index import open_temporary
from bot.settings import Settings
from core.model.answer import Answer, Outcome
from core.model.conversation import Thread, ThreadKey
from research.evaluation.corpus import fill
from research.evaluation.dataset_loader import Dataset

QUESTIONS = Path(__file__).parent / "questions.jsonl"
PLAIN = "plain"
ENGLISH = ("lower", "capitals", "polite", "greeting", "one error", "two errors", "markup")
FOREIGN = ("de", "fr", "es")
PARTS = 3  # one of them is put aside


@dataclass(frozen=True, slots=True)
class DressedQuestion:
    """A question in its dresses, the documents that answer it and the ways to write the value it asks for."""

    id: str
    documents: tuple[str, ...]
    value: tuple[str, ...]
    dresses: Mapping[str, str]

    @property
    def put_aside(self) -> bool:
        """Whether it belongs to the third by which changes are judged; single answers of it are never printed."""
        return int.from_bytes(blake2b(self.id.encode(), digest_size=8).digest(), "big") % PARTS == 0

    def stated_by(self, text: str) -> bool:
        """Return whether a text has the value."""
        return any(states(text, one) for one in self.value)


@dataclass(frozen=True, slots=True)
class DressedAnswer:
    """What one dress was answered with. ``first`` is its first quote, in comparable form."""

    question: str
    dress: str
    text: str
    answer: str
    outcome: str
    cited: frozenset[str]
    first: str
    tentative: bool  # "This may answer it"
    right: bool  # answered, from one of the documents, with the value
    shows_value: bool

    @property
    def answered(self) -> bool:
        """Whether it claims an answer."""
        return self.outcome == Outcome.ANSWERED

    def same_as(self, plain: "DressedAnswer") -> bool:
        """Return whether both answer from one document, with the value or the same first quote, or both refuse."""
        if not (self.answered and plain.answered):
            return self.answered == plain.answered
        return bool(self.cited & plain.cited) and (self.right if plain.right else self.first == plain.first)

    def line(self, plain: "DressedAnswer") -> str:
        """Return the answer beside its question on one line."""
        mark = "same" if self.same_as(plain) else "OTHER"
        return f"{mark:5} {self.question} [{self.dress}] {self.text}\n      {self.outcome}: " + " ".join(
            self.answer.split()
        )


def read_questions(file: Path = QUESTIONS) -> list[DressedQuestion]:
    """Read the set."""
    listed = map(json.loads, file.read_text("utf-8").splitlines())
    return [DressedQuestion(one["id"], tuple(one["documents"]), tuple(one["value"]), one["dresses"]) for one in listed]


async def ask_all(questions: Sequence[DressedQuestion]) -> list[DressedAnswer]:
    """Ask every dress of every question of a fresh agent without a model, each in a thread of its own."""
    documents = Dataset("dresses", files=tuple(files_in([SAMPLES / "documents"])))
    async with open_temporary(Settings()) as footnote:
        await fill(footnote, documents)
        found: list[DressedAnswer] = []
        for question in questions:
            for dress, text in question.dresses.items():
                thread = Thread(ThreadKey("eval", documents.name, "", f"{question.id} {dress}"))
                answer, _ = await pursue_question(footnote, documents.name, text, thread)
                found.append(_as_dressed(question, dress, text, answer))
        return found


def _as_dressed(question: DressedQuestion, dress: str, text: str, answer: Answer | None) -> DressedAnswer:
    if answer is None:
        return DressedAnswer(question.id, dress, text, "", Outcome.FAILED, frozenset(), "", False, False, False)
    cited = frozenset(one.document for one in answer.citations)
    named = any(source.endswith(one) for source in cited for one in question.documents)
    states_value = question.stated_by(answer.text)
    right = answer.outcome is Outcome.ANSWERED and named and states_value
    first = comparable(answer.citations[0].quote) if answer.citations else ""
    shows = states_value and (named or not cited)
    return DressedAnswer(
        question.id, dress, text, answer.text, answer.outcome, cited, first, answer.is_tentative, right, shows
    )


def table_lines(answers: Sequence[DressedAnswer]) -> Iterator[str]:
    """Yield how each dress was answered, then the English and the foreign ones together.

    ``may`` says "This may answer it", with the value in ``of them``; ``refused`` says nothing was found, and ``shows``
    has the value all the same.
    """
    plain = {one.question: one for one in answers if one.dress == PLAIN}
    yield f"{'dress':12}{'asked':>7}{'same':>7}{'':8}{'right':>7}{'may':>6}{'of them':>9}{'refused':>9}{'shows':>7}"
    for name, dresses in (*((one, (one,)) for one in (PLAIN, *ENGLISH, *FOREIGN)), ("English", ENGLISH)):
        yield _row(name, [one for one in answers if one.dress in dresses], plain)
    yield _row("foreign", [one for one in answers if one.dress in FOREIGN], plain)


def _row(name: str, some: Sequence[DressedAnswer], plain: Mapping[str, DressedAnswer]) -> str:
    same = sum(one.same_as(plain[one.question]) for one in some)
    tentative = [one.shows_value for one in some if one.tentative]
    refused = [one.shows_value for one in some if not one.answered and not one.tentative]
    counts = f"{sum(one.right for one in some):7}{len(tentative):6}{sum(tentative):9}{len(refused):9}{sum(refused):7}"
    return f"{name:12}{len(some):7}{same:7}{same / max(len(some), 1):8.1%}{counts}"


def main() -> None:
    """Measure and print the table."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--part", choices=["open", "judge"], default="open")
    options.add_argument("--show", action="store_true", help="print the dresses of the open part answered otherwise")
    options.add_argument("--id", action="append", default=[], help="only this question of the open part")
    options.add_argument("--json", type=Path, metavar="FILE", help="write every answer of the open part")
    given = options.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    chosen = [one for one in read_questions() if one.put_aside is (given.part == "judge")]
    chosen = [one for one in chosen if not given.id or one.id in given.id]
    started = time.monotonic()
    answers = asyncio.run(ask_all(chosen))
    plain = {one.question: one for one in answers if one.dress == PLAIN}
    if given.part == "open" and (given.show or given.id):
        shown = [one for one in answers if given.id or not one.right or not one.same_as(plain[one.question])]
        print("\n".join(one.line(plain[one.question]) for one in shown))
    print("\n".join(table_lines(answers)))
    print(f"{len(chosen)} questions of the {given.part} part, {time.monotonic() - started:.0f} seconds")
    if given.json and given.part == "open":
        listed = [asdict(one) | {"cited": sorted(one.cited)} for one in answers]
        given.json.write_text(json.dumps(listed, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main()
