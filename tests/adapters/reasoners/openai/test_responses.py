"""A model that is to be had by the Responses API alone: found out by its refusal, and asked there from then on."""

from dataclasses import replace

import pytest

from adapters.reasoners.extractive.reasoner import ExtractiveReasoner
from adapters.reasoners.fallback import FallbackReasoner
from adapters.reasoners.openai import prompts
from core.model.answer import Outcome
from core.model.errors import ModelUnavailable
from core.model.inquiry import Investigate, Sufficient
from core.model.profile import Profile
from tests.adapters.reasoners.harness import inquiry, library, meter, opened, text_of, thread
from tests.adapters.reasoners.openai.dialects import FILE, QUESTION, RIGHT
from tests.core.harness import Harness, Told
from tests.fakes.memory.clock import ManualClock
from tests.fakes.memory.encoder import HashingEncoder
from tests.fakes.model.endpoint import Fails, RecordedRequest, Says
from tests.fakes.model.obedient_model import ObedientModel
from tests.fakes.model.responses_endpoint import ResponsesEndpoint

MODEL = ObedientModel()


async def asked(endpoint: ResponsesEndpoint) -> Told:
    quoting = ExtractiveReasoner(HashingEncoder())
    async with opened(endpoint) as reasoner:
        harness = Harness(FallbackReasoner(reasoner, quoting, clock=ManualClock()), floor=quoting)
        await harness.knows(FILE, title="Refund policy")
        await harness.knows("The planner's timeout is 90 seconds.", title="Timeouts")
        return await harness.asks(QUESTION)


async def test_a_question_is_answered_by_the_model_with_citations() -> None:
    async with ResponsesEndpoint() as endpoint:
        endpoint.answers_with(MODEL)
        said = await asked(endpoint)
    assert said.outcome is Outcome.ANSWERED
    assert RIGHT in said.text.replace("**", "")
    assert said.answer.written_by == "scripted"
    assert [source.title for source in said.answer.citations] == ["Refund policy"]
    assert endpoint.asked_elsewhere == 1, "asked in vain once, and then where it is to be had"
    assert said.answer.spent.calls == 1 + len(endpoint.requests)
    assert said.answer.spent.tokens_cached > 0


async def test_a_plan_a_decision_and_an_answer_have_the_forms_of_that_api() -> None:
    async with ResponsesEndpoint() as endpoint, opened(endpoint) as reasoner:
        endpoint.answers_with(MODEL)
        assert isinstance(await reasoner.understand(inquiry(), thread(), meter()), Investigate)
        found = replace(inquiry(), library=library(grade=9))
        assert isinstance(await reasoner.decide(found, thread(), meter()), Sufficient)
        text = await text_of(reasoner.compose(found, thread(), tuple(found.library), meter()))
        assert "[1]" in text
    plan, decision, answer = endpoint.requests
    assert plan.body["response_format"]["type"] == "json_schema"
    assert "answer_now" in decision.tools
    search = next(tool["function"] for tool in decision.body["tools"] if tool["function"]["name"] == decision.tools[0])
    assert search["parameters"]["required"] == ["query"], "what may be left out may be left out there too"
    assert answer.stream


@pytest.mark.parametrize(
    ("finish", "cause"), [("error", "reported an error of its own"), ("length", "")], ids=["it fails", "it is cut off"]
)
async def test_what_goes_wrong_in_the_middle_leaves_quotes_or_a_line(finish: str, cause: str) -> None:
    def reply(request: RecordedRequest) -> Says:
        said = MODEL(request)
        return replace(said, finish=finish) if request.task.startswith(prompts.COMPOSE) else said

    async with ResponsesEndpoint() as endpoint:
        endpoint.answers_with(reply)
        said = await asked(endpoint)
    assert said.outcome is Outcome.ANSWERED
    assert RIGHT in said.text.replace("**", "")
    assert said.answer.notices, "one honest line for the person"
    assert cause in "; ".join(said.answer.causes)


async def test_a_refused_key_is_said_as_anywhere() -> None:
    async with ResponsesEndpoint() as endpoint, opened(endpoint) as reasoner:
        endpoint.answers_with(lambda _: Fails(401, "Incorrect API key provided."))
        with pytest.raises(ModelUnavailable, match="does not accept our key"):
            await reasoner.understand(inquiry(), thread(), meter())


async def test_thorough_grading_and_checking_go_the_same_way() -> None:
    async with ResponsesEndpoint() as endpoint, opened(endpoint) as reasoner:
        endpoint.answers_with(MODEL)
        asking = inquiry()
        asking = replace(asking, policy=replace(asking.policy, profile=Profile.THOROUGH))
        grades = await reasoner.grade(asking, tuple(library()), meter())
    assert [grade.score > 0 for grade in grades] == [True, True]
