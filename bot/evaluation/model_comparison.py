"""The configured model beside quotes alone, on the same questions with the same threads before them."""

import time
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field, replace

from bot.container import Footnote
from bot.evaluation.answers import pursue_question, turn_of
from bot.evaluation.dataset_loader import Dataset
from bot.evaluation.temp_index import fill, open_temporary
from bot.settings import Settings
from core.evaluation.datasets import Query
from core.evaluation.metrics import contains
from core.model.answer import Answer, Outcome, Spent
from core.model.conversation import Thread, ThreadKey
from core.model.errors import ConfigurationError

ACCEPTED = {
    "direct": {Outcome.ANSWERED},
    "clarified": {Outcome.CLARIFIED},
    "abstained": {Outcome.ABSTAINED, Outcome.PARKED},
}


@dataclass(slots=True)
class Column:
    """What one way of answering came to over all questions."""

    name: str
    right: int = 0
    wrong: int = 0
    refused: int = 0
    citations: int = 0
    spent: Spent = field(default_factory=Spent)

    def add(self, query: Query, answer: Answer | None, seconds: float) -> None:
        """Judge one answer and count what it cost."""
        outcome = answer.outcome if answer else Outcome.FAILED
        if query.expect == "answered":
            self.refused += outcome is not Outcome.ANSWERED
            right = (
                outcome is Outcome.ANSWERED and answer is not None and contains(answer.text, query.answers) is not False
            )
        else:
            right = outcome in ACCEPTED[query.expect]
        self.right += right
        self.wrong += outcome is Outcome.ANSWERED and not right
        self.citations += len(answer.citations) if answer else 0
        spent = answer.spent if answer else Spent()
        self.spent = Spent(
            searches=self.spent.searches + spent.searches,
            calls=self.spent.calls + spent.calls,
            tokens_in=self.spent.tokens_in + spent.tokens_in,
            tokens_out=self.spent.tokens_out + spent.tokens_out,
            seconds=self.spent.seconds + seconds,
            cost=self.spent.cost + spent.cost,
            tokens_cached=self.spent.tokens_cached + spent.tokens_cached,
        )


async def compare_model(
    settings: Settings, datasets: Sequence[Dataset]
) -> AsyncGenerator[tuple[str, Column, Column], None]:
    """(name, quotes alone, the model) for each dataset. Raises ConfigurationError where no model is configured."""
    if not settings.has_llm:
        raise ConfigurationError("No model is configured to compare.", remedy="Set LLM_MODEL and LLM_BASE_URL.")
    for dataset in datasets:
        async with open_temporary(settings) as footnote:
            await fill(footnote, dataset)
            quoting = replace(footnote, agent=footnote.agent.by_quotes())
            quotes, model = Column("quotes alone"), Column(settings.llm_model or "")
            for query in dataset.queries:
                thread = await _thread(quoting, dataset, query)
                for column, asked in ((quotes, quoting), (model, footnote)):
                    started = time.perf_counter()
                    answer, _ = await pursue_question(asked, dataset.name, query.text, thread)
                    column.add(query, answer, time.perf_counter() - started)
            yield dataset.name, quotes, model


async def _thread(footnote: Footnote, dataset: Dataset, query: Query) -> Thread:
    thread = Thread(ThreadKey("eval", dataset.name, "", query.id))
    for earlier in query.thread:
        answer, inquiry = await pursue_question(footnote, dataset.name, earlier, thread)
        thread = replace(thread, turns=(*thread.turns, turn_of(footnote, inquiry, answer)))
    return thread


def lines_of(name: str, columns: Sequence[Column]) -> list[str]:
    """The table of one dataset."""
    rows = [
        ("right", [str(column.right) for column in columns]),
        ("wrong", [str(column.wrong) for column in columns]),
        ("refused", [str(column.refused) for column in columns]),
        ("citations", [str(column.citations) for column in columns]),
        ("calls", [str(column.spent.calls) for column in columns]),
        ("tokens in, out", [f"{column.spent.tokens_in:,}, {column.spent.tokens_out:,}" for column in columns]),
        ("tokens cached", [f"{column.spent.tokens_cached:,}" for column in columns]),
        ("cost", [f"{column.spent.cost:g}" for column in columns]),
        ("seconds", [f"{column.spent.seconds:.1f}" for column in columns]),
    ]
    head = f"{name:20}" + "".join(f"{column.name:>24}" for column in columns)
    return [head, *(f"{what:20}" + "".join(f"{value:>24}" for value in values) for what, values in rows)]
