"""Models that think before they write (o-series, gpt-5, R1, Qwen3), and what is set for one model."""

import json
from collections.abc import Callable

import pytest

from adapters.reasoners.openai.dialect import REASONING_ROOM, SUSPECTS
from adapters.reasoners.openai.reasoner import OpenAIReasoner
from core.model.budget import Meter, Prices
from core.model.errors import ModelMisbehaved, ModelUnavailable
from core.model.inquiry import Limits
from tests.adapters.reasoners.harness import SECRET, Believed, inquiry, library, meter, text_of, thread
from tests.fakes.model.endpoint import Fails, Raw, RecordedRequest, Says, Scripted, ScriptedEndpoint
from tests.fakes.model.obedient_model import ObedientModel

PLAN = '{"action": "search", "question": "How long?", "queries": ["refund window"]}'
CACHED = (
    b'{"choices": [{"message": {"content": "{\\"ready\\": true}"}, "finish_reason": "stop"}], "usage": {'
    b'"prompt_tokens": 1000, "completion_tokens": 10, "prompt_tokens_details": {"cached_tokens": 800}}}'
)


def named(endpoint: ScriptedEndpoint, model: str, **options: object) -> OpenAIReasoner:
    return OpenAIReasoner(endpoint.base_url, SECRET, model, backoff_seconds=0.001, records=Believed(), **options)  # type: ignore[arg-type]


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


# As the first vendor and Azure answer where thinking spent the cap (openai-python#2886).
SPENT = "Could not finish the message because max_tokens or model output limit was reached. Please try again with higher max_tokens."  # noqa: E501


async def test_a_model_that_thinks_under_any_name_is_known_by_the_cap_that_it_spent(
    endpoint: ScriptedEndpoint,
) -> None:
    model = ObedientModel()
    endpoint.answers_with(
        lambda request: model(request) if request.body["max_tokens"] >= REASONING_ROOM else Fails(400, SPENT)
    )
    reasoner = named(endpoint, "prod-chat")
    evidence = library(grade=8)
    assert "[1]" in await text_of(reasoner.compose(inquiry(), thread(), evidence.items, meter()))
    assert len(endpoint.requests) == 2, "asked once in vain"
    await reasoner.understand(inquiry(), thread(), meter())
    assert len(endpoint.requests) == 3, "that is remembered"
    assert not reasoner.endpoint.refused_features
    await reasoner.close()


async def test_a_cap_that_is_spent_again_is_said_as_that(endpoint: ScriptedEndpoint) -> None:
    endpoint.answers_with(lambda _: Fails(400, SPENT))
    reasoner = named(endpoint, "prod-chat")
    with pytest.raises(ModelMisbehaved, match="used up its length with thinking"):
        await reasoner.understand(inquiry(), thread(), meter())
    assert len(endpoint.requests) == 2
    await reasoner.close()


def cut_by_thinking(request: RecordedRequest) -> Scripted:
    """As Gemini: what it thinks counts towards the cap, and what is left of it is the beginning of a reply."""
    if request.body["max_tokens"] >= REASONING_ROOM:
        return Says("Refunds stay open [1]." if request.stream else PLAN)
    usage = {"prompt_tokens": 100, "completion_tokens": 90, "completion_tokens_details": {"reasoning_tokens": 80}}
    if request.stream:
        chunks = [
            {"choices": [{"delta": {"content": "Refunds [1]."}, "finish_reason": "length"}]},
            {"choices": [], "usage": usage},
        ]
        return Raw((*(f"data: {json.dumps(one)}\n\n".encode() for one in chunks), b"data: [DONE]\n\n"))
    reply = {"choices": [{"message": {"content": PLAN[:40]}, "finish_reason": "length"}], "usage": usage}
    return Raw((json.dumps(reply).encode(),), content_type="application/json")


async def test_a_reply_that_thinking_has_cut_is_asked_for_once_more_with_room(endpoint: ScriptedEndpoint) -> None:
    endpoint.answers_with(cut_by_thinking)
    reasoner = named(endpoint, "house-model")
    plan = await reasoner.understand(inquiry(), thread(), meter())
    assert getattr(plan, "queries", ()) == ("refund window",)
    assert [request.body["max_tokens"] >= REASONING_ROOM for request in endpoint.requests] == [False, True]
    await reasoner.close()


async def test_an_answer_that_thinking_has_cut_leaves_room_for_the_next_one(endpoint: ScriptedEndpoint) -> None:
    endpoint.answers_with(cut_by_thinking)
    reasoner = named(endpoint, "house-model")
    evidence = library(grade=8)
    cut = await text_of(reasoner.compose(inquiry(), thread(), evidence.items, meter()))
    assert cut.startswith("Refunds [1].")
    assert await text_of(reasoner.compose(inquiry(), thread(), evidence.items, meter())) == "Refunds stay open [1]."
    await reasoner.close()


def within(context: int) -> Callable[[RecordedRequest], Scripted]:
    """As vLLM: a prompt and the cap of its reply have to fit together, and half of the cap is thought away."""
    model = ObedientModel()

    def reply(request: RecordedRequest) -> Scripted:
        read, cap = len(request.text) // 4, request.body["max_tokens"]
        if read + cap > context:
            return Fails(
                400,
                f"This model's maximum context length is {context} tokens. However, you requested {cap} output tokens"
                f" and your prompt contains at least {read} input tokens, for a total of at least {read + cap} tokens."
                " Please reduce the length of the input prompt or the number of requested output tokens.",
            )
        return model(request) if cap >= 1_200 else Says("", finish="length")

    return reply


@pytest.mark.parametrize("told", [True, False], ids=["its context is set", "its context is learned"])
async def test_reasoning_tokens_come_from_unused_context_and_not_from_the_evidence(
    endpoint: ScriptedEndpoint, *, told: bool
) -> None:
    endpoint.answers_with(within(8_192))
    reasoner = named(endpoint, "qwen3-8b", context_tokens=8_192 if told else 0)
    evidence = library(*(f"Refund {n} stays open for {n} days. " * 20 for n in range(1, 9)), grade=8)
    assert await text_of(reasoner.compose(inquiry(), thread(), evidence.items, meter()))
    await reasoner.close()
    assert len(endpoint.requests) == (1 if told else 2)
    assert all(item.passage.text.strip() in endpoint.requests[-1].text for item in evidence), "all of it is shown"


async def test_a_model_that_thinks_in_a_small_context_answers_from_less(endpoint: ScriptedEndpoint) -> None:
    endpoint.answers_with(within(4_096))
    reasoner = named(endpoint, "qwen3-8b", context_tokens=4_096)
    evidence = library(*(f"Refund {n} stays open for {n} days. " * 60 for n in range(1, 9)), grade=8)
    assert "[1]" in await text_of(reasoner.compose(inquiry(), thread(), evidence.items, meter()))
    await reasoner.close()


@pytest.mark.parametrize(
    "said",
    [
        "<400> InternalError.Algo.InvalidParameter: Range of max_tokens should be [1, 2000]",
        "Invalid max_tokens value, the valid range of max_tokens is [1, 2000]",
        "max_tokens: 7000 > 2000, which is the maximum allowed number of output tokens for this model",
    ],
    ids=["DashScope", "DeepSeek", "Anthropic"],
)
async def test_a_model_that_lets_a_reply_have_less_is_asked_for_less(endpoint: ScriptedEndpoint, said: str) -> None:
    endpoint.answers_with(lambda request: Fails(400, said) if request.body.get("max_tokens", 9_999) > 2_000 else PLAN)
    reasoner = named(endpoint, "qwen3-8b")
    await reasoner.understand(inquiry(), thread(), meter())
    await reasoner.close()
    assert [request.body["max_tokens"] <= 2_000 for request in endpoint.requests] == [False, True]
    assert not reasoner.endpoint.refused_features


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
