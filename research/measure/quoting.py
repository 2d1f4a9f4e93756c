"""Do the quotes say what the reference answer says, and how much else? The sentences chosen, apart from the search.

Each question is answered by the reasoner that quotes from one search over the set, and again from its gold passages
alone. What counts is the words of the reference answer that the question does not have: how many of them are quoted
(recall), how many of the quoted ones are of it (precision). Where the reference is a few words, whether it is there.

    python -m research.measure.quoting [--each 60] [--show anthropic_docs]
"""

# ruff: noqa: T201 - a measurement is printed

import argparse
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

import numpy as np

from adapters.reasoners.extractive.reasoner import ExtractiveReasoner
from core.model.conversation import Thread
from core.model.evidence import EvidenceLibrary
from core.model.text import content_words
from research.evaluation.metrics import contains
from research.measure.multihop import KEY, NO_METER, asked
from research.measure.shelf import DATA, IndexedSet, PackagedEncoder, Question, questions, rows, run, shelf

if TYPE_CHECKING:
    from core.model.knowledge import Passage
    from core.ports.index import Encoder


SETS = ("anthropic_docs", "contextual_codebase", "hotpotqa_train100", "musique_train100", "twowiki_200")
TOP_K = 8
_FRAME = re.compile(r"^(?:From \*.*:|The documents .*|Mind what .*|I found nothing .*)$|\[\d+\]", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Quoted:
    """What was quoted for one question, against its reference; shares in [0, 1]."""

    question: str
    text: str
    recall: float
    precision: float
    held: bool | None  # the short reference is there, word for word

    @property
    def f1(self) -> float:
        """Their harmonic mean."""
        both = self.recall + self.precision
        return 2 * self.recall * self.precision / both if both else 0.0


async def quoted(reasoner: ExtractiveReasoner, question: Question, passages: EvidenceLibrary) -> str:
    """Return the quotes for one question from these passages, the good ones of them."""
    inquiry = replace(asked(question.text), library=passages)
    items = tuple(passages)
    grades = await reasoner.grade(inquiry, items, NO_METER)
    inquiry = replace(inquiry, library=passages.with_grades({i.id: g for i, g in zip(items, grades, strict=True)}))
    good = inquiry.library.relevant(inquiry.cutoff) or inquiry.library.relevant(1)[:1]
    return "".join([part async for part in reasoner.compose(inquiry, Thread(KEY), good[:10], NO_METER)])


def judged(question: str, text: str, answers: list[str]) -> Quoted:
    """One answer against its references."""
    plain = _FRAME.sub(" ", text)
    wanted = set(content_words(" ".join(answers))) - set(content_words(question))
    said = set(content_words(plain)) - set(content_words(question))
    both = len(wanted & said)
    return Quoted(
        question,
        text,
        both / len(wanted) if wanted else 1.0,
        both / len(said) if said else 0.0,
        contains(plain, answers),
    )


async def measured(
    name: str, where: IndexedSet, encoder: PackagedEncoder, each: int, *, gold_only: bool
) -> list[Quoted]:
    """Evenly spread questions of one set; yes and no are not counted as references, since nothing quotes them."""
    reasoner = ExtractiveReasoner(cast("Encoder", encoder))
    references = {row["_id"]: row.get("answers", []) for row in rows(DATA / name / "queries.jsonl")}
    known = [q for q in questions(name) if references[q.id] and references[q.id][0].casefold() not in {"yes", "no"}]
    kept: dict[str, Passage] = {passage.id: passage for passage in where.passages}
    found: list[Quoted] = []
    for question in known[:: max(1, len(known) // each)][:each]:
        others = frozenset(kept) - question.gold if gold_only else question.exclude
        library, _ = EvidenceLibrary().add(where.search(question.text, TOP_K, frozenset(others)), question.text)
        if gold_only:
            library = EvidenceLibrary(tuple(item for item in library if item.passage.id in question.gold))
        text = await quoted(reasoner, question, library)
        found.append(judged(question.text, text, references[question.id]))
    return found


def main() -> None:
    """Print one line a set and way, and every answer of a set that is to be shown."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--each", type=int, default=60)
    arguments.add_argument("--show", choices=SETS)
    arguments.add_argument("--set", action="append", choices=SETS)
    chosen = arguments.parse_args()
    encoder = PackagedEncoder()
    print(f"{'':36}{'recall':>9}{'precision':>11}{'F1':>9}{'held':>9}{'words':>9}")
    for name in chosen.set or SETS:
        where = shelf(name, encoder)
        for told, gold_only in (("one search", False), ("gold passages", True)):
            found = run(measured(name, where, encoder, chosen.each, gold_only=gold_only))
            print(f"{name:22}{told:14}{_figures(found)}", flush=True)
            if chosen.show == name:
                for one in found:
                    print(f"\n## {one.question}  (recall {one.recall:.2f}, precision {one.precision:.2f})\n{one.text}")


def _figures(found: list[Quoted]) -> str:
    held = [float(one.held) for one in found if one.held is not None]
    length = np.mean([len(one.text.split()) for one in found])
    means = [np.mean([one.recall for one in found]), np.mean([one.precision for one in found])]
    return (
        f"{means[0]:9.3f}{means[1]:11.3f}{np.mean([one.f1 for one in found]):9.3f}"
        f"{np.mean(held) if held else float('nan'):9.3f}{length:9.1f}"
    )


if __name__ == "__main__":
    main()
