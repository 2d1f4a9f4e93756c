"""What a model of 1.5 billion parameters did with real questions: nobody is worse off for it than with quotes."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from adapters.reasoners.extractive.reasoner import ExtractiveReasoner
from adapters.reasoners.fallback import FallbackReasoner
from adapters.reasoners.openai import prompts
from core.model.answer import Outcome
from core.model.events import RetrievalStarted
from core.model.inquiry import AnswerPolicy, Insufficient, Investigate, SearchKnowledge, Sufficient
from core.model.profile import Profile
from tests.adapters.reasoners.harness import Unasked, opened
from tests.core.harness import Harness
from tests.fakes.memory.clock import ManualClock
from tests.fakes.memory.encoder import HashingEncoder
from tests.fakes.memory.scripted_reasoner import ScriptedReasoner
from tests.fakes.model.endpoint import RecordedRequest, Says, ScriptedEndpoint
from tests.fakes.model.obedient_model import ObedientModel, blocks_in

TRIAL = "The trial of the planner lasts 21 days and asks for no card. After it, the account is read-only."
FAQ = "Does a reset delete the readings?\nYes, a reset deletes the readings of the hub for good."


class WeakModel(ObedientModel):
    """Writes what it is given, plans a search for anything in the asker's words, and calls everything supported."""

    def __init__(self, draft: str = "") -> None:
        super().__init__()
        self._draft = draft

    def __call__(self, request: RecordedRequest) -> Says:
        if request.task.startswith(prompts.COMPOSE) and self._draft:
            return Says(self._draft)
        return super().__call__(request)

    def _understand(self, request: RecordedRequest) -> Says:
        message = next(block.text for block in blocks_in(request.user) if block.kind == "message")
        return Says(json.dumps({"action": "search", "question": message, "queries": [message], "reason": "a fact"}))

    def _check(self, request: RecordedRequest) -> Says:
        asked = [block for block in blocks_in(request.user) if block.kind == "sentence"]
        words = next(block.text for block in blocks_in(request.user) if block.kind == "document")
        verdicts = [{"n": n, "words": words, "verdict": "supported"} for n in range(1, len(asked) + 1)]
        return Says(json.dumps({"verdicts": verdicts}))


@asynccontextmanager
async def office(model: ObedientModel, *texts: str) -> AsyncIterator[Harness]:
    async with ScriptedEndpoint() as endpoint, opened(endpoint, seconds=20.0, records=Unasked()) as reasoner:
        endpoint.answers_with(model)
        quoting = ExtractiveReasoner(HashingEncoder())
        harness = Harness(FallbackReasoner(reasoner, quoting, clock=ManualClock()), floor=quoting)
        for number, text in enumerate(texts, 1):
            await harness.knows(text, title=f"Document {number}")
        yield harness


@pytest.mark.parametrize("profile", list(Profile))
async def test_a_figure_of_something_else_is_not_said_of_what_was_asked_for(profile: Profile) -> None:
    weak = WeakModel("The trial period for new colleagues lasts 21 days [1].")
    async with office(weak, TRIAL) as harness:
        said = await harness.asks("How long is the trial period for new colleagues?", policy=AnswerPolicy(profile))
    assert "colleagues lasts" not in said.text


async def test_a_check_that_calls_nonsense_supported_is_named_for_whoever_runs_the_model() -> None:
    async with office(
        WeakModel("The trial of every planner lasts about 21 days and costs nothing [1]."), TRIAL
    ) as harness:
        said = await harness.asks("How long does the trial of the planner last?")
    assert said.outcome is Outcome.ANSWERED
    assert "costs nothing" not in said.text
    assert any("failed control claims" in cause for cause in said.answer.causes)


@pytest.mark.parametrize(
    "draft", ["Does a reset delete the readings? [1]", "Does a reset delete the readings? [1]\n\nReset [1]."]
)
async def test_a_question_with_a_mark_is_no_answer(draft: str) -> None:
    async with office(WeakModel(draft), FAQ) as harness:
        said = await harness.asks("does a reset delete the readings?")
    assert said.answer.written_by == "quotes from the documents"
    assert "Yes, a reset deletes the readings of the hub for good." in said.text


@pytest.mark.parametrize("message", ["hi there, how are you?", "thanks a lot!", "good morning"])
async def test_small_talk_that_it_would_search_for_gets_a_reply(message: str) -> None:
    async with office(WeakModel("Our customers deliver most in two periods [1]."), TRIAL) as harness:
        said = await harness.asks(message)
        assert said.outcome is Outcome.ANSWERED
        assert said.answer.spent.searches == 0
        assert said.answer.written_by == "quotes from the documents"
        assert not said.answer.citations


async def test_a_follow_up_that_it_leaves_as_it_is_is_resolved_by_rules() -> None:
    async with office(WeakModel(), TRIAL, "Refunds above 2,000 euros are approved by Finance.") as harness:
        await harness.asks("How long does the trial of the planner last?")
        said = await harness.asks("does it ask for a card?")
    asked = [event.query for event in said.all(RetrievalStarted)]
    assert any("trial" in query and "card" in query for query in asked), asked
    assert "no card" in said.text


async def test_whoever_quotes_in_its_place_is_not_asked_to_pay_for_its_searches() -> None:
    model, quoting = ScriptedReasoner("model"), ScriptedReasoner("quotes")
    model.always("grade", 2)
    model.enqueue("decide", *(Insufficient("more", (SearchKnowledge(f"planner {n}"),)) for n in range(2)))
    model.always("decide", Sufficient())
    quoting.enqueue("decide", Insufficient("its card", (SearchKnowledge("trial card"),)))
    harness = Harness(model, floor=quoting)
    await harness.knows(TRIAL)
    said = await harness.asks("How long does the trial of the planner last?")
    assert said.outcome is Outcome.ANSWERED, "no question back after its own first search"
    assert said.answer.written_by == "quotes"


class InParts(WeakModel):
    """Plans a query for each part of a question."""

    def _understand(self, request: RecordedRequest) -> Says:
        queries = ["planner trial", "refund approval"]
        plan = {"action": "search", "question": "How long is the trial, and who approves refunds?", "queries": queries}
        return Says(json.dumps(plan))


async def test_an_answer_of_which_less_than_half_holds_is_quoted_whole() -> None:
    director = "The director of sales approves all refunds in person [2]. He signs each of them by hand [2]."
    draft = f"The trial of the planner lasts 21 days [1]. {director}"
    async with office(InParts(draft), TRIAL, "Refunds above 2,000 euros are approved by Finance.") as harness:
        said = await harness.asks("How long is the trial, and who approves refunds?")
    assert "director" not in said.text
    assert "21 days" in said.text
    assert "Finance" in said.text


async def test_who_searches_on_after_a_passage_graded_as_the_whole_answer_writes_it_first() -> None:
    model, quoting = ScriptedReasoner("model"), ScriptedReasoner("quotes")
    model.enqueue("understand", Investigate("How long is the trial?", ("trial", "planner", "21 days")))
    model.always("grade", 9)
    model.always("decide", Insufficient("the department", (SearchKnowledge("department"),)))
    harness = Harness(model, floor=quoting)
    await harness.knows(TRIAL)
    said = await harness.asks("How long is the trial?")
    assert said.outcome is Outcome.ANSWERED, "nobody is asked whether to go on"
    assert "21 days" in said.text


async def test_who_searches_on_after_parts_of_an_answer_asks() -> None:
    model, quoting = ScriptedReasoner("model"), ScriptedReasoner("quotes")
    model.enqueue("understand", Investigate("How long is the trial?", ("trial", "planner", "21 days")))
    model.always("grade", 7)
    model.always("decide", Insufficient("the department", (SearchKnowledge("department"),)))
    harness = Harness(model, floor=quoting)
    await harness.knows(TRIAL)
    assert (await harness.asks("How long is the trial?")).outcome is Outcome.PARKED


RATES = "| Box | Litres | Day rate GBP |\n|---|---|---|\n| Gull | 40 | 9 |\n| Skua | 150 | 22 |"


async def test_a_cell_of_a_table_alone_is_no_answer() -> None:
    async with office(WeakModel("40 [1]."), RATES) as harness:
        said = await harness.asks("What is the day rate of a Gull in GBP?")
    assert said.answer.written_by == "quotes from the documents"
    assert "| Gull | 40 | 9" in said.text


class Forgetful(WeakModel):
    """Repeats the question before, whatever is asked after it."""

    def _understand(self, request: RecordedRequest) -> Says:
        question = "What is the day rate of a Gull in GBP?"
        return Says(json.dumps({"action": "search", "question": question, "queries": ["Gull day rate"]}))


async def test_a_follow_up_of_which_nothing_is_left_in_the_plan_is_resolved_by_rules() -> None:
    async with office(Forgetful(), RATES) as harness:
        await harness.asks("What is the day rate of a Gull in GBP?")
        said = await harness.asks("and the Skua?")
    assert any("Skua" in event.query for event in said.all(RetrievalStarted))


async def test_what_stands_under_another_version_is_no_answer() -> None:
    older = "What changed in Frostgate 4.0: the Windows installer is removed in Frostgate 4.0."
    newer = "What changed in Frostgate 4.1: alarms are sent to Signal in Frostgate 4.1."
    draft = "What changed in Frostgate 4.1: alarms are sent to Signal in Frostgate 4.1 [2]."
    async with office(WeakModel(draft), older, newer) as harness:
        said = await harness.asks("What changed in Frostgate 4.0?")
    assert said.answer.written_by == "quotes from the documents"
    assert "Windows installer is removed" in said.text


async def test_what_is_said_of_another_code_is_no_answer_on_one_that_stands_nowhere() -> None:
    history = "Firmware F14 was released on 12 November 2024, when the first series ended."
    draft = f"{history.rstrip('.')} [1].\n\nThe documents do not say when firmware F12 was released."
    async with office(WeakModel(draft), history) as harness:
        said = await harness.asks("When was firmware F12 released?")
    assert said.answer.written_by == "quotes from the documents"
