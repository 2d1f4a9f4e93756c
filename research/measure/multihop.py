"""Is all the evidence of a multi-passage question among the ten best? The agent's gathering against one search.

Both search the same shelf with the same hybrid retriever in the same run. The agent's loop is the product's: search,
grade, decide, search on, at most five searches; the library is then in the order
in which whoever writes is given it.

    python -m research.measure.multihop [--searches 5] [--crude] [--half 0|1] [--sets NAME ...]

Where one passage answers, "searching on" should be rare and the difference nothing: try --sets anthropic_docs.
"""

# ruff: noqa: T201 - a measurement is printed

import argparse
import time
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, cast

import numpy as np

from adapters.reasoners.extractive.reasoner import ExtractiveReasoner
from core.model.conversation import Audience, Person, Thread, ThreadKey
from core.model.inquiry import Inquiry, Insufficient, Investigate, Search, SearchKnowledge
from core.model.knowledge import KnowledgeBase
from research.measure.shelf import IndexedSet, PackagedEncoder, Question, questions, run, shelf

if TYPE_CHECKING:
    from collections.abc import Callable

    from core.model.budget import Meter

SETS = ("hotpotqa_train100", "musique_train100", "twowiki_200")
BEST = 10
TOP_K = 8  # as the agent's gathering asks for
KEY = ThreadKey("measure", "", "", "")
NO_METER = cast("Meter", None)  # the extractive reasoner spends no tokens


def asked(text: str) -> Inquiry:
    """Return an inquiry that searches for exactly this."""
    return Inquiry(
        "measure",
        text,
        KEY,
        Person("measure"),
        Audience(unrestricted=True),
        datetime(2026, 1, 1, tzinfo=UTC),
        bases=(KnowledgeBase("measure"),),
        plan=Investigate(text, (text,)),
    )


async def gathered(reasoner: ExtractiveReasoner, where: IndexedSet, question: Question, searches: int) -> Inquiry:
    """Return the inquiry after the agent's loop of searching, grading and deciding."""
    inquiry = asked(question.text)
    actions: tuple[SearchKnowledge, ...] = (SearchKnowledge(question.text),)
    while actions:
        for action in actions[: searches - len(inquiry.searches)]:
            hits = where.search(action.query, TOP_K if inquiry.searches else BEST, question.exclude)
            library, added = inquiry.library.add(hits, action.query)
            made = Search(action, len(hits), len(added))
            inquiry = replace(inquiry, library=library, searches=(*inquiry.searches, made))
        fresh = inquiry.library.ungraded_items()
        grades = await reasoner.grade(inquiry, fresh, NO_METER)
        by_id = {item.id: grade for item, grade in zip(fresh, grades, strict=True)}
        inquiry = replace(inquiry, library=inquiry.library.with_grades(by_id))
        if len(inquiry.searches) >= searches:
            break
        decision = await reasoner.decide(inquiry, Thread(KEY), NO_METER)
        proposed = decision.actions if isinstance(decision, Insufficient) else ()
        actions = tuple(action for action in proposed if isinstance(action, SearchKnowledge))
    return inquiry


def crude(where: IndexedSet, question: Question) -> list[str]:
    """Return a second hop without thought: the question with each of the four best passages, the two scores added."""
    first = where.search(question.text, 60)
    scores = {hit.passage.id: [hit.score, 0.0] for hit in first}
    for hit in first[:4]:
        for found in where.search(f"{question.text} {hit.passage.text}", 60):
            known = scores.setdefault(found.passage.id, [0.0, 0.0])
            known[1] = max(known[1], found.score)
    return sorted(scores, key=lambda name: -sum(scores[name]))[:BEST]


def interval(differences: list[float], rounds: int = 5000) -> tuple[float, float]:
    """Return the 95 % interval of a mean of paired differences, by bootstrap with a fixed seed."""
    drawn = np.random.default_rng(7).choice(differences, (rounds, len(differences))).mean(axis=1)
    return float(np.quantile(drawn, 0.025)), float(np.quantile(drawn, 0.975))


def main() -> None:
    """Print one table."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--searches", type=int, default=5)
    arguments.add_argument("--crude", action="store_true")
    arguments.add_argument("--half", type=int, choices=(0, 1), help="every other question; half 0 chose the order")
    arguments.add_argument("--sets", nargs="+", default=SETS)
    chosen = arguments.parse_args()
    encoder = PackagedEncoder()
    reasoner = ExtractiveReasoner(encoder)
    pooled: list[float] = []
    for name in chosen.sets:
        where = shelf(name, encoder)
        rows: list[tuple[bool, bool, bool, int]] = []
        began = time.perf_counter()
        for question in questions(name) if chosen.half is None else questions(name)[chosen.half :: 2]:
            once = {hit.passage.id for hit in where.search(question.text, BEST)}
            inquiry = run(gathered(reasoner, where, question, chosen.searches))
            ours = {item.passage.id for item in inquiry.library.best_first()[:BEST]}
            blunt = set(crude(where, question)) if chosen.crude else set()
            rows.append((question.gold <= once, question.gold <= blunt, question.gold <= ours, len(inquiry.searches)))
        differences = [float(ours) - float(once) for once, _, ours, _ in rows]
        pooled.extend(differences)
        _report(name, rows, differences, (time.perf_counter() - began) / len(rows))
    low, high = interval(pooled)
    print(f"pooled difference {np.mean(pooled):+.3f}, 95 % interval {low:+.3f} to {high:+.3f}, n {len(pooled)}")


def _report(name: str, rows: list[tuple[bool, bool, bool, int]], differences: list[float], seconds: float) -> None:
    share: Callable[[int], float] = lambda column: float(np.mean([row[column] for row in rows]))  # noqa: E731
    low, high = interval(differences)
    print(
        f"{name:18} n {len(rows):3}  one search {share(0):.3f}  crude hop {share(1):.3f}  agent {share(2):.3f}  "
        f"difference {np.mean(differences):+.3f} [{low:+.3f}, {high:+.3f}]  searches {share(3):.2f}  "
        f"searching on {np.mean([row[3] > 1 for row in rows]):.2f}  {seconds:.2f} s"
    )


if __name__ == "__main__":
    main()
