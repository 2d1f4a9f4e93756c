"""Models that think before they write (o-series, gpt-5, R1, Qwen3), and what is set for one model."""

import pytest

from adapters.reasoners.openai.dialect import REASONING_ROOM, SUSPECTS
from adapters.reasoners.openai.reasoner import OpenAIReasoner
from adapters.testing.endpoint import Fails, Raw, RecordedRequest, Says, Scripted, ScriptedEndpoint
from adapters.testing.obedient_model import ObedientModel
from core.model.budget import Meter, Prices
from core.model.errors import ModelMisbehaved, ModelUnavailable
from core.model.inquiry import Limits
from tests.adapters.reasoners.scene import SECRET, inquiry, library, meter, text_of, thread

PLAN = '{"action": "search", "question": "How long?", "queries": ["refund window"]}'
CACHED = (
    b'{"choices": [{"message": {"content": "{\\"ready\\": true}"}, "finish_reason": "stop"}], "usage": {'
    b'"prompt_tokens": 1000, "completion_tokens": 10, "prompt_tokens_details": {"cached_tokens": 800}}}'
)


def named(endpoint: ScriptedEndpoint, model: str, **options: object) -> OpenAIReasoner:
    return OpenAIReasoner(endpoint.base_url, SECRET, model, backoff_seconds=0.001, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("model", ["o3-mini", "gpt-5", "deepseek-r1:8b", "qwen3-8b", "openai/gpt-oss-20b"])
async def test_a_model_that_thinks_has_room_for_it(endpoint: ScriptedEndpoint, model: str) -> None:
    endpoint.answers_with(lambda _: PLAN)
    reasoner = named(endpoint, model)
    await reasoner.understand(inquiry(), thread(), meter())
    await reasoner.close()
    assert endpoint.requests[-1].body["max_tokens"] >= REASONING_ROOM


async def test_a_model_that_writes_at_once_has_none(endpoint: ScriptedEndpoint) -> None:
    endpoint.answers_with(lambda _: PLAN)
    reasoner = named(endpoint, "qwen2.5-7b-instruct")
    await reasoner.understand(inquiry(), thread(), meter())
    await reasoner.close()
    assert endpoint.requests[-1].body["max_tokens"] < REASONING_ROOM


async def test_a_reply_that_was_all_thinking_is_asked_for_once_more_with_room(endpoint: ScriptedEndpoint) -> None:
    endpoint.answers_with(
        lambda request: Says(PLAN) if request.body["max_tokens"] >= REASONING_ROOM else Says("", finish="length")
    )
    reasoner = named(endpoint, "house-model")
    await reasoner.understand(inquiry(), thread(), meter())
    assert [request.body["max_tokens"] >= REASONING_ROOM for request in endpoint.requests] == [False, True]
    await reasoner.understand(inquiry(), thread(), meter())
    assert len(endpoint.requests) == 3, "that is remembered"
    await reasoner.close()


async def test_an_answer_that_is_all_thinking_is_no_text(endpoint: ScriptedEndpoint) -> None:
    endpoint.answers_with(lambda _: Says("", finish="length"))
    reasoner = named(endpoint, "o3-mini")
    with pytest.raises(ModelMisbehaved, match="used up its length with thinking"):
        await text_of(reasoner.compose(inquiry(), thread(), library(grade=8).items, meter()))
    await reasoner.close()


async def test_effort_and_temperature_are_settings_and_left_out_where_they_are_refused(
    endpoint: ScriptedEndpoint,
) -> None:
    def reply(request: RecordedRequest) -> Scripted | str:
        return Fails(400, "Unsupported parameter: 'reasoning_effort'") if "reasoning_effort" in request.body else PLAN

    endpoint.answers_with(reply)
    reasoner = named(endpoint, "house-model", reasoning_effort="low", temperature=0.7)
    for _ in range(2):
        await reasoner.understand(inquiry(), thread(), meter())
    await reasoner.close()
    first, second, third = (request.body for request in endpoint.requests)
    assert (first["reasoning_effort"], first["temperature"]) == ("low", 0.7)
    assert "reasoning_effort" not in second
    assert "reasoning_effort" not in third


async def test_a_refused_system_message_is_remembered(endpoint: ScriptedEndpoint) -> None:
    def reply(request: RecordedRequest) -> Scripted | str:
        return Fails(400, "System role not supported") if request.system else PLAN

    endpoint.answers_with(reply)
    reasoner = named(endpoint, "gemma-2-9b")
    for _ in range(2):
        await reasoner.understand(inquiry(), thread(), meter())
    await reasoner.close()
    assert [bool(request.system) for request in endpoint.requests] == [True, False, False]
    assert "Footnote" in endpoint.requests[-1].user, "what it said is said by the person"


async def test_refusals_that_name_nothing_cost_a_bounded_number_of_tries_in_a_process(
    endpoint: ScriptedEndpoint,
) -> None:
    endpoint.answers_with(lambda _: Fails(400, "bad request"))
    reasoner = named(endpoint, "house-model")
    for _ in range(30):
        with pytest.raises(ModelUnavailable):
            await reasoner.understand(inquiry(), thread(), meter())
    await reasoner.close()
    assert len(endpoint.requests) <= 30 + len(SUSPECTS)


async def test_a_fast_model_plans_and_grades_and_the_other_writes_and_checks(endpoint: ScriptedEndpoint) -> None:
    endpoint.answers_with(ObedientModel())
    reasoner = named(endpoint, "large", fast_model="small")
    evidence = library(grade=8)
    await reasoner.understand(inquiry(), thread(), meter())
    await reasoner.grade(inquiry(), evidence.items, meter())
    await reasoner.decide(inquiry(library=evidence), thread(), meter())
    await text_of(reasoner.compose(inquiry(), thread(), evidence.items, meter()))
    await reasoner.close()
    assert [request.body["model"] for request in endpoint.requests] == ["small", "small", "large", "large"]


async def test_cached_tokens_are_counted_and_cost_their_own_price(endpoint: ScriptedEndpoint) -> None:
    endpoint.answers_with(lambda _: Raw((CACHED,), content_type="application/json"))
    prices = Prices(10.0, 20.0, 1.0)
    counted = Meter(Limits(searches=5, tokens=40_000, seconds=60), meter().clock, prices=prices)
    reasoner = named(endpoint, "house-model")
    await reasoner.critique(inquiry(), "Thirty days.", counted)
    await reasoner.close()
    assert (counted.spent.tokens_in, counted.spent.tokens_cached) == (1000, 800)
    assert counted.spent.cost == pytest.approx((200 * 10 + 800 * 1 + 10 * 20) / 1_000_000)
