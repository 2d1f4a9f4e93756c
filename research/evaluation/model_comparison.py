"""The configured model beside quotes alone, on the same questions with the same threads before them."""

import time
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from bot.container import Footnote
from bot.evaluation.asking import pursue_question, reply_of, turn_of
from bot.evaluation.temp_index import open_temporary
from bot.settings import Settings
from core.model.answer import Answer, Outcome, ResourceUsage
from core.model.conversation import Thread, ThreadKey
from core.model.errors import ConfigurationError
from research.evaluation.answer_scoring import AnswerVerdict, score_reply
from research.evaluation.corpus import fill
from research.evaluation.dataset_loader import Dataset
from research.evaluation.datasets import Query
from research.evaluation.metrics import contains
from research.evaluation.question_sets import LabelledQuestion

ACCEPTED = {
    "direct": {Outcome.ANSWERED},
    "clarified": {Outcome.CLARIFIED},
    "abstained": {Outcome.ABSTAINED, Outcome.PARKED},
}
Judge = Callable[[Answer | None], AnswerVerdict]


@dataclass(slots=True)
class Column:
    """What one way of answering came to over all questions."""

    name: str
    verdicts: Counter[AnswerVerdict] = field(default_factory=Counter)
    citations: int = 0
    spent: ResourceUsage = field(default_factory=ResourceUsage)

    def add(self, verdict: AnswerVerdict, answer: Answer | None, seconds: float) -> None:
        """Count one answer and what it cost."""
        self.verdicts[verdict] += 1
        self.citations += len(answer.citations) if answer else 0
        spent = answer.spent if answer else ResourceUsage()
        self.spent = ResourceUsage(
            searches=self.spent.searches + spent.searches,
            calls=self.spent.calls + spent.calls,
            tokens_in=self.spent.tokens_in + spent.tokens_in,
            tokens_out=self.spent.tokens_out + spent.tokens_out,
            seconds=self.spent.seconds + seconds,
            cost=self.spent.cost + spent.cost,
            tokens_cached=self.spent.tokens_cached + spent.tokens_cached,
        )


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question with the thread before it, and how an answer to it is judged."""

    text: str
    thread: Thread
    judge: Judge


async def compare_model(
    settings: Settings, datasets: Sequence[Dataset]
) -> AsyncGenerator[tuple[str, Column, Column], None]:
    """(name, quotes alone, the model) for each dataset. Raises ConfigurationError where no model is configured."""
    if not settings.has_llm:
        raise ConfigurationError("No model is configured to compare.", remedy="Set LLM_MODEL and LLM_BASE_URL.")
    for dataset in datasets:
        async with open_temporary(settings) as footnote:
            await fill(footnote, dataset)
            quoting = footnote.with_agent(footnote.agent.by_quotes())
            quotes, model = Column("quotes alone"), Column(settings.llm_model or "")
            async for one in _questions(quoting, dataset):
                for column, asked in ((quotes, quoting), (model, footnote)):
                    started = time.perf_counter()
                    answer, _ = await pursue_question(asked, dataset.name, one.text, one.thread)
                    column.add(one.judge(answer), answer, time.perf_counter() - started)
            yield dataset.name, quotes, model


async def _questions(quoting: Footnote, dataset: Dataset) -> AsyncIterator[_Asked]:
    """Every question; what its thread had before it was answered by quotes, for both columns."""
    for query in dataset.queries:
        thread = Thread(ThreadKey("eval", dataset.name, "", query.id))
        for earlier in query.thread:
            thread = await _continued(quoting, dataset, thread, earlier)
        yield _Asked(query.text, thread, partial(_verdict, query))
    if dataset.questions is None:
        return
    found = await quoting.catalog.documents(frozenset({dataset.name}))
    titles = {document.source: document.title for document in found}
    for conversation in dataset.questions.conversations:
        thread = Thread(ThreadKey("eval", dataset.name, "", conversation[0].id))
        for at, question in enumerate(conversation, 1):
            yield _Asked(question.text, thread, partial(_verdict_by_facts, question, titles))
            if at < len(conversation):
                thread = await _continued(quoting, dataset, thread, question.text)


async def _continued(quoting: Footnote, dataset: Dataset, thread: Thread, text: str) -> Thread:
    answer, inquiry = await pursue_question(quoting, dataset.name, text, thread)
    return replace(thread, turns=(*thread.turns, turn_of(quoting, inquiry, answer)))


def _verdict(query: Query, answer: Answer | None) -> AnswerVerdict:
    """Of a question with a gold answer, or with the way in which it should end."""
    outcome = answer.outcome if answer else Outcome.FAILED
    if query.expect != "answered" and outcome in ACCEPTED[query.expect]:
        return AnswerVerdict.RIGHT
    if answer is None or outcome is not Outcome.ANSWERED:
        return AnswerVerdict.REFUSED
    answers = query.expect == "answered" and contains(answer.text, query.answers) is not False
    return AnswerVerdict.RIGHT if answers else AnswerVerdict.WRONG


def _verdict_by_facts(question: LabelledQuestion, titles: Mapping[str, str], answer: Answer | None) -> AnswerVerdict:
    return score_reply(question, reply_of(answer), titles).verdict


def lines_of(name: str, columns: Sequence[Column]) -> list[str]:
    """Return the table of one dataset."""
    rows: list[tuple[str, list[str]]] = [
        *((verdict, [str(column.verdicts[verdict]) for column in columns]) for verdict in AnswerVerdict),
        ("citations", [str(column.citations) for column in columns]),
        ("calls", [str(column.spent.calls) for column in columns]),
        ("tokens in, out", [f"{column.spent.tokens_in:,}, {column.spent.tokens_out:,}" for column in columns]),
        ("tokens cached", [f"{column.spent.tokens_cached:,}" for column in columns]),
        ("cost", [f"{column.spent.cost:g}" for column in columns]),
        ("seconds", [f"{column.spent.seconds:.1f}" for column in columns]),
    ]
    head = f"{name:20}" + "".join(f"{column.name:>24}" for column in columns)
    return [head, *(f"{what:20}" + "".join(f"{value:>24}" for value in values) for what, values in rows)]
