"""Asks the agent every question of a set, conversation by conversation, and scores what a person would read."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot.container import Footnote
from bot.evaluation.asking import Prediction, pursue_question, reply_of, states, turn_of
from core.model.conversation import Thread, ThreadKey
from research.evaluation.answer_scoring import AnswerVerdict, ScoredReply, score_reply
from research.evaluation.dataset_loader import Dataset
from research.evaluation.question_sets import DocumentKind, LabelledQuestion, QuestionSet

_COLUMNS = 16, 9  # characters of a row's name and of a count


@dataclass(frozen=True, slots=True)
class ScoredQuestion:
    """A question, the reply as it was read, and its verdict. ``after`` are the questions before it in its thread."""

    question: LabelledQuestion
    document_kind: DocumentKind | None
    after: tuple[str, ...]
    reply: Prediction
    scored: ScoredReply
    seconds: float

    @property
    def shows_answer(self) -> bool:
        """Whether a refusal shows all the same the sentence that holds every fact: no right answer, but in reach."""
        facts = self.question.facts
        refused = self.scored.verdict is AnswerVerdict.REFUSED and bool(facts)
        return refused and all(any(states(self.reply.text, one) for one in alternatives) for alternatives in facts)

    def as_json(self) -> dict[str, Any]:
        """Return what a person needs to judge the verdict."""
        question, reply = self.question, self.reply
        return {
            "id": question.id,
            "kind": question.kind,
            "document_kind": self.document_kind,
            "language": question.language,
            "after": list(self.after),
            "text": question.text,
            "verdict": self.scored.verdict,
            "reason": self.scored.reason,
            "missing": list(self.scored.missing),
            "wrong": list(self.scored.wrong),
            "outcome": reply.outcome,
            "answer": reply.text,
            "cited": sorted(reply.cited),
            "documents": list(question.documents),
            "shows_answer": self.shows_answer,
            "cites_gold": bool(reply.cited & {*question.documents, *question.names}),
            "seconds": round(self.seconds, 3),
        }


async def ask_question_set(footnote: Footnote, dataset: Dataset) -> tuple[ScoredQuestion, ...]:
    """Every question in its thread, one after another. Raises ValueError when the dataset has none."""
    if dataset.questions is None:
        raise ValueError(f"{dataset.name} has no questions with facts.")
    found = await footnote.catalog.documents(frozenset({dataset.name}))
    titles = {document.source: document.title for document in found}
    scored: list[ScoredQuestion] = []
    for conversation in dataset.questions.conversations:
        scored += await _ask_conversation(footnote, dataset.name, dataset.questions, conversation, titles)
    return tuple(scored)


async def _ask_conversation(
    footnote: Footnote,
    base: str,
    questions: QuestionSet,
    conversation: Sequence[LabelledQuestion],
    titles: Mapping[str, str],
) -> list[ScoredQuestion]:
    thread = Thread(ThreadKey("eval", base, "", conversation[0].id))
    scored = []
    for question in conversation:
        started = time.perf_counter()
        answer, inquiry = await pursue_question(footnote, base, question.text, thread)
        took = time.perf_counter() - started
        reply = reply_of(answer)
        kind = questions.document_kinds[question.documents[0]] if question.documents else None
        after = tuple(turn.question for turn in thread.turns)
        scored.append(ScoredQuestion(question, kind, after, reply, score_reply(question, reply, titles), took))
        thread = Thread(thread.key, (*thread.turns, turn_of(footnote, inquiry, answer)))
    return scored


def count_verdicts(scored: Sequence[ScoredQuestion]) -> dict[str, Any]:
    """How many questions had which verdict: of all, of each kind and of each kind of document, in their order."""
    by_kind: dict[str, list[ScoredQuestion]] = {}
    by_document: dict[str, list[ScoredQuestion]] = {}
    for one in scored:
        by_kind.setdefault(one.question.kind, []).append(one)
        if one.document_kind and not one.question.unanswerable:
            by_document.setdefault(one.document_kind, []).append(one)
    return {
        "all": _counts(scored),
        "shown": sum(one.shows_answer for one in scored),
        "by_kind": {name: _counts(some) for name, some in sorted(by_kind.items())},
        "by_document_kind": {name: _counts(some) for name, some in sorted(by_document.items())},
    }


def _counts(scored: Sequence[ScoredQuestion]) -> dict[str, int]:
    return {str(verdict): sum(one.scored.verdict is verdict for one in scored) for verdict in AnswerVerdict}


def verdict_lines(counts: Mapping[str, Any]) -> Iterator[str]:
    """Yield the table: a row a kind, then a row a kind of document, then all of them with their shares."""
    first, width = _COLUMNS
    yield f"  {'questions':{first}}{'asked':>{width}}" + "".join(f"{verdict:>{width}}" for verdict in AnswerVerdict)
    for name, row in counts["by_kind"].items():
        yield _row(name, row, str)
    yield "  by document"
    for name, row in counts["by_document_kind"].items():
        yield _row(name, row, str)
    total = sum(counts["all"].values()) or 1
    yield _row("all", counts["all"], str)
    yield _row("share", counts["all"], lambda count: f"{count / total:.1%}")
    refused = counts["all"][AnswerVerdict.REFUSED]
    yield f"  {counts['shown']} of the {refused} refused show the sentence that holds the answer"


def _row(name: str, row: Mapping[str, int], shown: Callable[[int], str]) -> str:
    first, width = _COLUMNS
    return f"  {name:{first}}{sum(row.values()):>{width}}" + "".join(f"{shown(n):>{width}}" for n in row.values())


def question_lines(each: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Each question with its answer and its verdict, to be read, from what ``as_json`` wrote."""
    for one in each:
        yield f"\n{one['id']} [{one['verdict'].upper()}: {one['reason'] or 'all facts'}] {one['seconds']:.2f} s"
        if one["after"]:
            yield "  after: " + " / ".join(one["after"])
        yield f"  Q: {one['text']}"
        yield "  A: " + one["answer"].replace("\n", "\n     ")
        if one["missing"]:
            yield "  missing: " + "; ".join(one["missing"])
        if one["wrong"]:
            yield "  wrong: " + "; ".join(one["wrong"])
