"""Asks the agent the questions of a dataset, each in a thread of its own, and judges what came of it."""

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from bot.container import Footnote
from bot.evaluation.asking import pursue_question, turn_of
from core.model.answer import Answer, Citation, Outcome
from core.model.conversation import Thread, ThreadKey, Turn
from core.model.evidence import EvidenceLibrary
from core.model.inquiry import Inquiry
from core.model.knowledge import Passage
from research.evaluation.case_report import SNIPPET, Excerpts, case, excerpts
from research.evaluation.dataset_loader import Dataset
from research.evaluation.datasets import Query
from research.evaluation.metrics import JudgedAnswer, agent_figures, contains, thresholds
from research.evaluation.retrieval import documents_of

GRADES = range(1, 11)
WORST = 6  # wrong answers, and as many wrong refusals


@dataclass(slots=True)
class AnswersOfSet:
    """What came of all questions; ``rankings`` are the documents in reach, best first, by query."""

    rankings: dict[str, list[str]] = field(default_factory=dict)
    judged: list[JudgedAnswer] = field(default_factory=list)
    foreign: list[JudgedAnswer] = field(default_factory=list)  # questions of another set
    worst: list[dict[str, Any]] = field(default_factory=list)

    def figures(self) -> dict[str, Any]:
        """Return the agent's figures, and what abstaining below each grade would do."""
        found: dict[str, Any] = asdict(agent_figures(self.judged))
        own = [(float(one.best_grade), one.cites_gold) for one in self.judged if one.expect == "answered"]
        nowhere = [float(one.best_grade) for one in self.judged if one.expect == "abstained"]
        foreign = [float(one.best_grade) for one in self.foreign]
        found["by_grade"] = [asdict(point) for point in thresholds(own, GRADES, [*nowhere, *foreign])]
        if self.foreign:
            found["foreign_questions"] = len(self.foreign)
            found["foreign_answered"] = sum(one.outcome == "answered" for one in self.foreign) / len(self.foreign)
        found["nowhere_answered"] = len(nowhere) + len(foreign)  # questions of the curve that nothing answers
        found["worst"] = self.worst
        return found


async def ask_all(footnote: Footnote, dataset: Dataset, foreign: Sequence[Query] = ()) -> AnswersOfSet:
    """Every question, one after another, so that the seconds are those of one asker; then the foreign ones."""
    asked = AnswersOfSet()
    parts = await excerpts(footnote, dataset)
    wrong: dict[str, list[dict[str, Any]]] = {"answer": [], "refusal": []}
    for query in dataset.queries:
        one, in_reach, answer = await _ask(footnote, dataset, query)
        asked.judged.append(one)
        asked.rankings[query.id] = in_reach
        if one.wrong_refusal or one.wrong_answer:
            wrong["refusal" if one.wrong_refusal else "answer"].append(_case(query, one, answer, parts))
    asked.worst = [*wrong["answer"][:WORST], *wrong["refusal"][:WORST]]
    for query in foreign:
        one, _, _ = await _ask(footnote, dataset, query)
        asked.foreign.append(one)
    return asked


async def _ask(footnote: Footnote, dataset: Dataset, query: Query) -> tuple[JudgedAnswer, list[str], Answer | None]:
    """One question, after the ones its thread had before it, and the documents in reach, best first."""
    thread = await _thread(footnote, dataset, query)
    started = time.perf_counter()
    answer, inquiry = await pursue_question(footnote, dataset.name, query.text, thread)
    took = time.perf_counter() - started
    looked_at = documents_of([item.passage for item in inquiry.library], query)
    in_reach = documents_of(passages_in_reach(inquiry.library), query)
    return _judge(query, answer, inquiry, looked_at, took), in_reach, answer


def passages_in_reach(library: EvidenceLibrary) -> list[Passage]:
    """Return what was looked at, best first, then what else the searches found and whoever asks for more is told of."""
    return [*(item.passage for item in library.best_first()), *(hit.passage for hit in library.further)]


async def _thread(footnote: Footnote, dataset: Dataset, query: Query) -> Thread:
    key = ThreadKey("eval", dataset.name, "", query.id)
    turns: list[Turn] = []
    for earlier in query.thread:
        answer, inquiry = await pursue_question(footnote, dataset.name, earlier, Thread(key, tuple(turns)))
        turns.append(turn_of(footnote, inquiry, answer))
    return Thread(key, tuple(turns))


def _judge(
    query: Query, answer: Answer | None, inquiry: Inquiry, looked_at: Sequence[str], took: float
) -> JudgedAnswer:
    claims = answer if answer and answer.outcome is Outcome.ANSWERED else None  # a refusal's nearest sentence is none
    citations = claims.citations if claims else ()
    passages = {item.passage.id: item.passage for item in inquiry.library}

    def right(citation: Citation) -> bool:
        source = passages.get(citation.passage)
        return citation.document in query.relevant or bool(source and contains(source.text, query.answers))

    grades = [item.grade.score for item in inquiry.library if item.grade is not None]
    gold = set(query.relevant)
    return JudgedAnswer(
        query=query.text,
        expect=query.expect,
        outcome=str(answer.outcome) if answer else "failed",
        contains_gold=contains(claims.text if claims else "", query.answers) if answer else None,
        cites_gold=any(citation.document in query.relevant for citation in citations),
        evidence_recall=len(gold & set(looked_at)) / len(gold) if gold else None,
        citations=len(citations),
        right_citations=sum(right(citation) for citation in citations),
        best_grade=max(grades, default=0),
        searches=answer.spent.searches if answer else 0,
        calls=answer.spent.calls if answer else 0,
        tokens=answer.spent.tokens if answer else 0,
        seconds=took,
        stages=dict(answer.timings) if answer else {},
    )


def _case(query: Query, one: JudgedAnswer, answer: Answer | None, parts: Excerpts) -> dict[str, Any]:
    """Return a wrong refusal or a wrong answer, to be read beside what was wanted."""
    said = answer.text[: 2 * SNIPPET] if answer else "It failed."
    what = f"wrong {'refusal' if one.wrong_refusal else 'answer'}"
    return case(query.text, what, parts.reference(query), [{"id": one.outcome, "text": said}], query.thread)
