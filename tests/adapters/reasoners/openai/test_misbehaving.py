"""When the endpoint misbehaves: every test ends in something honest, on real sockets."""

import asyncio
import json

import pytest

from adapters.reasoners.extractive.reasoner import ExtractiveReasoner
from adapters.reasoners.fallback import FallbackReasoner
from adapters.reasoners.openai.endpoint import ModelEndpoint
from adapters.reasoners.openai.reasoner import OpenAIReasoner
from adapters.reasoners.openai.request import ModelRequest
from adapters.reasoners.openai.tools import MOST_ACTIONS
from core.model.answer import Claim
from core.model.budget import NOBODY, Account, Meter, Prices
from core.model.errors import BudgetExhausted, ModelMisbehaved, ModelUnavailable
from core.model.inquiry import Insufficient, Investigate, ReadSection, Reply, SearchKnowledge, Sufficient
from core.ports.usage import DailyBudget
from tests.adapters.reasoners.harness import SECRET, inquiry, library, meter, opened, text_of, thread, turn
from tests.fakes.memory.clock import ManualClock
from tests.fakes.memory.encoder import HashingEncoder
from tests.fakes.model.endpoint import FEATURES, Fails, Garbles, Raw, RecordedRequest, Says, Scripted, ScriptedEndpoint

SEARCH = '{"action": "search", "question": "How long?", "queries": ["refund window"]}'


async def composed(reasoner: OpenAIReasoner, counted: Meter | None = None) -> str:
    parts = reasoner.compose(inquiry(), thread(), library(grade=8).items, counted or meter())
    return await text_of(parts)


# --- what it says ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        f"```json\n{SEARCH}\n```",
        f"Sure! Here is the plan:\n{SEARCH}\nLet me know if you need more.",
        SEARCH.replace("]}", ",],}"),
        f"<think>The user wants {{something}}.</think>\n{SEARCH}",
        SEARCH.replace('"action"', '"sources_first": False, "action"'),
        f"[{SEARCH}]",
    ],
)
async def test_json_in_fences_in_prose_or_slightly_broken_is_read(
    endpoint: ScriptedEndpoint, reasoner: OpenAIReasoner, text: str
) -> None:
    endpoint.says(text)
    plan = await reasoner.understand(inquiry(), thread(), meter())
    assert isinstance(plan, Investigate)
    assert plan.queries == ("refund window",)
    assert len(endpoint.requests) == 1


async def test_broken_json_is_asked_for_once_more(endpoint: ScriptedEndpoint, reasoner: OpenAIReasoner) -> None:
    endpoint.garbles_json()
    endpoint.says(SEARCH)
    plan = await reasoner.understand(inquiry(), thread(), counted := meter())
    assert isinstance(plan, Investigate)
    assert plan.queries == ("refund window",)
    assert counted.spent.calls == 2
    assert endpoint.requests[1].messages[-2]["role"] == "assistant", "the broken reply is shown again"


async def test_a_plan_that_cannot_be_read_is_asked_for_twice_and_left_to_whoever_stands_by(
    endpoint: ScriptedEndpoint, reasoner: OpenAIReasoner
) -> None:
    endpoint.answers_with(lambda _: "I think you should search, my friend.")
    with pytest.raises(ModelMisbehaved, match="plan cannot be read"):
        await reasoner.understand(inquiry("How long are refunds open?"), thread(), meter())
    assert len(endpoint.requests) == 2


async def test_a_follow_up_whose_plan_cannot_be_read_is_resolved_by_rules(
    endpoint: ScriptedEndpoint, reasoner: OpenAIReasoner
) -> None:
    endpoint.answers_with(lambda _: "I think you should search, my friend.")
    standby = ExtractiveReasoner(HashingEncoder())
    asked = inquiry("And how long does it take?")
    before = thread(turn("How do I ask for a refund?", "Write to Finance. [1]", 1))
    spent = meter()
    plan = await FallbackReasoner(reasoner, standby, clock=ManualClock()).understand(asked, before, spent)
    assert isinstance(plan, Investigate)
    assert "refund" in plan.question
    assert any("refund" in query for query in plan.queries)
    assert spent.causes[0].startswith("The model's plan cannot be read.")
    assert spent.notices, "one honest line for the person"


async def test_the_repair_is_not_made_when_the_budget_does_not_allow_it(
    endpoint: ScriptedEndpoint, reasoner: OpenAIReasoner
) -> None:
    endpoint.says("no json", usage=(5_000, 4_500))
    with pytest.raises(BudgetExhausted):
        await reasoner.understand(inquiry(), thread(), meter(tokens=10_000))
    assert len(endpoint.requests) == 1


async def test_an_empty_reply_leads_to_grades_from_the_retrieval(
    endpoint: ScriptedEndpoint, reasoner: OpenAIReasoner
) -> None:
    endpoint.empty()
    grades = await reasoner.grade(inquiry(), library(score=0.7).items, meter())
    assert [grade.score for grade in grades] == [7, 7]


async def test_an_empty_answer_is_misbehaviour(endpoint: ScriptedEndpoint, reasoner: OpenAIReasoner) -> None:
    endpoint.empty()
    with pytest.raises(ModelMisbehaved):
        await composed(reasoner)


async def test_an_answer_that_is_only_a_thought_is_misbehaviour(
    endpoint: ScriptedEndpoint, reasoner: OpenAIReasoner
) -> None:
    endpoint.streams("<thi", "nk>What do they", " want?")
    with pytest.raises(ModelMisbehaved):
        await composed(reasoner)


async def test_thoughts_before_an_answer_are_not_shown(endpoint: ScriptedEndpoint, reasoner: OpenAIReasoner) -> None:
    endpoint.streams("<th", "ink>Hm [1]. </thi", "nk>\n\nThirty ", "days [1].")
    assert await composed(reasoner) == "Thirty days [1]."


@pytest.mark.parametrize(("grade", "expected"), [(8, Sufficient), (2, Insufficient)])
async def test_plain_text_instead_of_tools_goes_on_with_what_there_is(
    endpoint: ScriptedEndpoint, reasoner: OpenAIReasoner, grade: int, expected: type
) -> None:
    endpoint.says("I would say that refunds stay open for a while.")
    decision = await reasoner.decide(inquiry(library=library(grade=grade)), thread(), meter())
    assert isinstance(decision, expected)
    assert not getattr(decision, "actions", ())


async def test_a_tool_call_written_into_the_text_is_read(endpoint: ScriptedEndpoint, reasoner: OpenAIReasoner) -> None:
    endpoint.says('I call: {"name": "search_knowledge_base", "arguments": {"query": "refund share"}}')
    decision = await reasoner.decide(inquiry(), thread(), meter())
    assert isinstance(decision, Insufficient)
    assert decision.actions == (SearchKnowledge("refund share"),)


async def test_an_unknown_tool_is_no_move(endpoint: ScriptedEndpoint, reasoner: OpenAIReasoner) -> None:
    endpoint.calls("delete_everything", query="now")
    assert isinstance(await reasoner.decide(inquiry(library=library(grade=8)), thread(), meter()), Sufficient)
    endpoint.calls_all(("run_shell", "{}"), ("search_knowledge_base", '{"query": "refund share"}'))
    decision = await reasoner.decide(inquiry(library=library(grade=8)), thread(), meter())
    assert isinstance(decision, Insufficient)
    assert decision.actions == (SearchKnowledge("refund share"),)


@pytest.mark.parametrize(
    ("arguments", "action"),
    [
        ('{"query": ["refund", "share"], "top_k": "many"}', SearchKnowledge("refund share")),
        ('{"query": "refund", "top_k": -3, "knowledge_base": null}', SearchKnowledge("refund", None, 1)),
        ('{"query": "refund", "knowledge_base": "Handbook"}', SearchKnowledge("refund", "handbook")),
        ('{"query": "refund", "knowledge_base": "wiki"}', SearchKnowledge("refund", "wiki")),
        ('{"query": "refund",}', SearchKnowledge("refund")),
    ],
)
async def test_arguments_of_the_wrong_type_are_understood(
    endpoint: ScriptedEndpoint, reasoner: OpenAIReasoner, arguments: str, action: SearchKnowledge
) -> None:
    endpoint.calls_all(("search_knowledge_base", arguments))
    decision = await reasoner.decide(inquiry(), thread(), meter())
    assert isinstance(decision, Insufficient)
    assert decision.actions == (action,)


@pytest.mark.parametrize("arguments", ['{"query": ""}', '{"query": {}}', "refund", "[1, 2]", '{"query": "ref'])
async def test_arguments_without_a_query_are_no_move(
    endpoint: ScriptedEndpoint, reasoner: OpenAIReasoner, arguments: str
) -> None:
    endpoint.calls_all(("search_knowledge_base", arguments), ("read_section", '{"id": "the second"}'))
    decision = await reasoner.decide(inquiry(), thread(), meter())
    assert isinstance(decision, Insufficient)
    assert decision.actions == ()


async def test_a_flood_of_calls_is_bounded(endpoint: ScriptedEndpoint, reasoner: OpenAIReasoner) -> None:
    endpoint.calls_all(*(("read_section", f'{{"id": {n}}}') for n in range(1, 50)))
    decision = await reasoner.decide(inquiry(), thread(), meter())
    assert isinstance(decision, Insufficient)
    assert decision.actions == tuple(ReadSection(n) for n in range(1, MOST_ACTIONS + 1))


async def test_verdicts_that_cannot_be_read_are_left_to_the_standby(
    endpoint: ScriptedEndpoint, reasoner: OpenAIReasoner
) -> None:
    endpoint.says("All good!")
    endpoint.says({"verdicts": [{"n": 1, "verdict": "supported"}]})
    with pytest.raises(ModelMisbehaved):
        await reasoner.check(inquiry(library=library()), [Claim("A [1].", (1,)), Claim("B [2].", (2,))], (), meter())


async def test_a_critique_that_cannot_be_read_means_complete(
    endpoint: ScriptedEndpoint, reasoner: OpenAIReasoner
) -> None:
    endpoint.says("Looks fine to me.")
    assert await reasoner.critique(inquiry(), "30 days.", meter()) == ""


async def test_an_answer_cut_at_its_length_says_so(endpoint: ScriptedEndpoint, reasoner: OpenAIReasoner) -> None:
    endpoint.streams("Refunds stay open [1]. Annual", finish="length")
    text = await composed(reasoner, counted := meter())
    assert text.endswith("Annual …")
    assert any("cut" in notice for notice in counted.notices)


async def test_an_endpoint_that_knows_no_length_is_cut_by_us(endpoint: ScriptedEndpoint) -> None:
    endpoint.answers_with(lambda _: Says(pieces=("and so on " * 100,) * 100))
    async with opened(endpoint, seconds=60) as reasoner:
        text = await composed(reasoner, counted := meter())
    assert text.endswith(" …")
    assert len(text) < 20_000
    assert any("cut" in notice for notice in counted.notices)


# --- what it refuses ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("names_refusals", [True, False])
async def test_remembers_that_an_endpoint_does_not_support_response_format(*, names_refusals: bool) -> None:
    server = ScriptedEndpoint(supports=FEATURES - {"response_format"}, names_refusals=names_refusals)
    async with server as endpoint, opened(endpoint) as reasoner:
        endpoint.answers_with(lambda _: SEARCH)
        await reasoner.understand(inquiry(), thread(), counted := meter())
        tried = [("response_format" in request.body) for request in endpoint.requests]
        assert tried == ([True, False] if names_refusals else [True, True, True, False])
        assert counted.spent.calls == len(tried), "the calls that were sent"
        await reasoner.understand(inquiry(), thread(), meter())
        assert len(endpoint.requests) == len(tried) + 1
        assert reasoner.endpoint.refused_features == {"json_schema", "response_format"}


@pytest.mark.parametrize("names_refusals", [True, False])
async def test_an_endpoint_without_tools_is_told_of_them_in_words(*, names_refusals: bool) -> None:
    server = ScriptedEndpoint(supports=FEATURES - {"tools", "response_format"}, names_refusals=names_refusals)
    written = {"missing": "the share", "calls": [{"name": "search_knowledge_base", "arguments": {"query": "share"}}]}
    async with server as endpoint, opened(endpoint) as reasoner:
        endpoint.answers_with(lambda _: json.dumps(written))
        decision = await reasoner.decide(inquiry(), thread(), meter())
        assert decision == Insufficient("the share", (SearchKnowledge("share"),))
        assert "search_by_source(query, source)" in endpoint.requests[-1].task
        await reasoner.decide(inquiry(), thread(), meter())
        assert "tools" not in endpoint.requests[-1].body


# Errors of one moment that mention what a request has: none of it is refused by them.
PASSING = {
    "LiteLLM: the stream is lost": Fails(400, "litellm.BadRequestError: stream disconnected before completion"),
    "Go: the stream is lost": Fails(500, "stream error: stream ID 5; INTERNAL_ERROR; received from peer"),
    "Go: a server that would not stream on": Fails(500, "http2: server must not send a stream after GOAWAY"),
    "FastAPI: the request is repeated": Raw(
        (
            json.dumps(
                {
                    "detail": [
                        {
                            "type": "string_type",
                            "loc": ["body", "messages", 1, "content"],
                            "msg": "Input should be a valid string",
                            "input": {"temperature": 0, "stream": True, "response_format": {"type": "json_schema"}},
                        }
                    ]
                }
            ).encode(),
        ),
        status=422,
        content_type="application/json",
    ),
    "one that names nothing": Fails(400, "bad request"),
}


@pytest.mark.parametrize("passing", PASSING.values(), ids=PASSING.keys())
async def test_an_error_that_passes_takes_nothing_away_for_good(
    endpoint: ScriptedEndpoint, reasoner: OpenAIReasoner, passing: Scripted
) -> None:
    failing = iter([passing, None, passing])
    endpoint.answers_with(
        lambda request: next(failing, None) or ("Refunds stay open [1]." if request.stream else SEARCH)
    )
    await reasoner.understand(inquiry(), thread(), meter())
    assert await composed(reasoner) == "Refunds stay open [1]."
    assert not reasoner.endpoint.refused_features


async def test_without_stream_options_or_usage_the_tokens_are_estimated() -> None:
    server = ScriptedEndpoint(supports=FEATURES - {"stream_options"})
    async with server as endpoint, opened(endpoint) as reasoner:
        endpoint.answers_with(lambda _: "Refunds stay open for thirty days [1].")
        await composed(reasoner, counted := meter())
        sent = len(endpoint.requests[-1].text)
        assert counted.spent.calls == len(endpoint.requests) == 2
        assert sent / 5 < counted.spent.tokens_in < sent / 3
        assert counted.spent.tokens_out == len("Refunds stay open for thirty days [1].") // 4


async def test_a_model_with_its_own_ideas_of_temperature_and_length_is_humoured() -> None:
    server = ScriptedEndpoint(supports=FEATURES - {"temperature", "max_tokens"})
    async with server as endpoint, opened(endpoint) as reasoner:
        endpoint.answers_with(lambda _: SEARCH)
        assert isinstance(await reasoner.understand(inquiry(), thread(), meter()), Investigate)
        assert "max_completion_tokens" in endpoint.requests[-1].body
        assert "temperature" not in endpoint.requests[-1].body


async def test_a_request_refused_without_any_feature_marks_no_feature_as_unsupported(
    endpoint: ScriptedEndpoint, reasoner: OpenAIReasoner
) -> None:
    endpoint.answers_with(lambda _: Fails(400, "no"))
    with pytest.raises(ModelUnavailable, match="400"):
        await reasoner.understand(inquiry(), thread(), meter())
    assert not reasoner.endpoint.refused_features


async def test_a_prompt_that_is_too_long_is_not_taken_for_a_missing_feature(
    endpoint: ScriptedEndpoint, reasoner: OpenAIReasoner
) -> None:
    said = "This model's maximum context length is 4096 tokens, max_tokens included."
    endpoint.answers_with(lambda _: Fails(400, said))
    with pytest.raises(ModelUnavailable, match="too long"):
        await reasoner.understand(inquiry(), thread(), meter())
    assert len(endpoint.requests) <= 6
    assert not reasoner.endpoint.refused_features
    assert reasoner.endpoint.dialect.context == 4096


async def test_what_is_too_long_is_asked_again_with_less_evidence_the_weakest_left_out(
    endpoint: ScriptedEndpoint, reasoner: OpenAIReasoner
) -> None:
    said = "This model's maximum context length is 2048 tokens."

    def small(request: RecordedRequest) -> Fails | Says:
        return Fails(400, said) if len(request.text) > 7_000 else Says("Refunds stay open [1].")

    endpoint.answers_with(small)
    known = library(*(f"Text {n}. {'More words. ' * 150}" for n in range(1, 9)), grade=8)
    parts = reasoner.compose(inquiry(library=known), thread(), known.items, meter())
    assert await text_of(parts) == "Refunds stay open [1]."
    assert "Text 1." in endpoint.requests[-1].user
    assert "Text 8." not in endpoint.requests[-1].user
    before = len(endpoint.requests)
    await text_of(reasoner.compose(inquiry(library=known), thread(), known.items, meter()))
    assert len(endpoint.requests) == before + 1, "what fits is remembered"


# --- how it fails ---------------------------------------------------------------------------------------------------


async def test_a_rate_limit_is_waited_for_as_long_as_it_asks(
    endpoint: ScriptedEndpoint, reasoner: OpenAIReasoner
) -> None:
    endpoint.fails(429, times=2, retry_after="0.01")
    endpoint.says({"action": "reply", "reply": "Hello!"})
    assert await reasoner.understand(inquiry("hi"), thread(), counted := meter()) == Reply("Hello!")
    assert len(endpoint.requests) == 3
    assert counted.spent.calls == 3, "the calls that were sent"


async def test_a_rate_limit_that_asks_for_too_long_is_not_waited_for(
    endpoint: ScriptedEndpoint, reasoner: OpenAIReasoner
) -> None:
    endpoint.fails(429, retry_after="3600")
    with pytest.raises(ModelUnavailable, match="429"):
        await reasoner.understand(inquiry(), thread(), meter())
    assert len(endpoint.requests) == 1


async def test_a_server_error_is_tried_again_and_then_reported(
    endpoint: ScriptedEndpoint, reasoner: OpenAIReasoner
) -> None:
    endpoint.fails(500)
    endpoint.says(SEARCH)
    assert isinstance(await reasoner.understand(inquiry(), thread(), meter()), Investigate)
    endpoint.fails(500, times=3)
    with pytest.raises(ModelUnavailable, match="internal error"):
        await reasoner.understand(inquiry(), thread(), meter())
    assert len(endpoint.requests) == 5


async def test_a_stream_that_cannot_begin_is_tried_again(endpoint: ScriptedEndpoint, reasoner: OpenAIReasoner) -> None:
    endpoint.fails(503)
    endpoint.streams("Thirty days [1].")
    assert await composed(reasoner) == "Thirty days [1]."


async def test_a_hanging_endpoint_is_given_up(endpoint: ScriptedEndpoint, hasty: OpenAIReasoner) -> None:
    endpoint.hangs(times=2)
    with pytest.raises(ModelUnavailable, match="in time"):
        await hasty.understand(inquiry(), thread(), counted := meter())
    assert counted.spent.calls == 1, "it was sent, so it is counted"
    with pytest.raises(ModelUnavailable, match="in time"):
        await composed(hasty)


class Ledger(DailyBudget):
    """What a day's budget is told."""

    def __init__(self) -> None:
        self.spent = 0.0

    async def reserve(self, amount: float, account: Account = NOBODY) -> str:
        return ""

    async def settle(self, reserved: float, spent: float, account: Account = NOBODY, *, day: str) -> None:
        self.spent += spent

    async def spent_share(self) -> float:
        return 0.0


@pytest.mark.parametrize("given_up", [True, False])
async def test_an_abandoned_call_counts_towards_the_daily_budget_a_refused_one_does_not(
    endpoint: ScriptedEndpoint, *, given_up: bool
) -> None:
    endpoint.hangs() if given_up else endpoint.fails(401)
    ledger, seconds = Ledger(), 0.2 if given_up else 5.0
    model = ModelEndpoint(
        endpoint.base_url, SECRET, "m", timeout_seconds=seconds, daily_budget=ledger, prices=Prices(1_000.0, 1_000.0)
    )
    request = ModelRequest("Be brief.", "word " * 400, 100)
    with pytest.raises(ModelUnavailable):
        await model.complete(request, counted := meter())
    await model.close()
    expected = request.tokens if given_up else 0
    assert ledger.spent == pytest.approx(expected / 1_000)
    assert counted.spent.tokens_in == expected


async def test_a_call_never_outlasts_what_remains_of_the_answer(
    endpoint: ScriptedEndpoint, reasoner: OpenAIReasoner
) -> None:
    endpoint.hangs()
    with pytest.raises(ModelUnavailable, match="in time"):
        await reasoner.understand(inquiry(), thread(), meter(seconds=0.2))


async def test_a_dripping_answer_ends_at_the_total_deadline(endpoint: ScriptedEndpoint, hasty: OpenAIReasoner) -> None:
    endpoint.drips(every_seconds=0.01)
    with pytest.raises(ModelUnavailable, match="in time"):
        await composed(hasty)


async def test_a_dripping_reply_ends_at_the_deadline_of_its_call(
    endpoint: ScriptedEndpoint, hasty: OpenAIReasoner
) -> None:
    endpoint.drips(every_seconds=0.01)
    with pytest.raises(ModelUnavailable, match="in time"):
        await hasty.understand(inquiry(), thread(), meter())


@pytest.mark.parametrize("cleanly", [True, False])
async def test_a_truncated_stream_is_no_answer(
    endpoint: ScriptedEndpoint, reasoner: OpenAIReasoner, *, cleanly: bool
) -> None:
    endpoint.truncates("Thirty days [1]. Refunds stay", cleanly=cleanly)
    counted = meter()
    parts = reasoner.compose(inquiry(), thread(), library().items, counted)
    assert await anext(parts) == "Thirty days [1]. Refunds stay"
    with pytest.raises(ModelUnavailable):
        await anext(parts)
    assert counted.spent.calls == 1


async def test_a_reply_cut_in_its_body_is_an_error_of_the_connection(
    endpoint: ScriptedEndpoint, reasoner: OpenAIReasoner
) -> None:
    for _ in range(3):
        endpoint.truncates()
    with pytest.raises(ModelUnavailable):
        await reasoner.understand(inquiry(), thread(), meter())


async def test_a_page_of_html_is_no_completion(endpoint: ScriptedEndpoint, reasoner: OpenAIReasoner) -> None:
    endpoint.garbles_body()
    with pytest.raises(ModelMisbehaved, match="no chat completion"):
        await reasoner.understand(inquiry(), thread(), meter())
    endpoint.garbles_body()
    with pytest.raises(ModelUnavailable):
        await composed(reasoner)


async def test_an_endpoint_that_is_not_there_is_named_without_its_secrets() -> None:
    async with ScriptedEndpoint() as endpoint:
        address = endpoint.base_url.replace("http://", "http://user:hunter2@")
    async with opened(address) as reasoner:
        with pytest.raises(ModelUnavailable) as caught:
            await reasoner.understand(inquiry(), thread(), meter())
    assert "127.0.0.1" in str(caught.value)
    assert "hunter2" not in repr(caught.value)
    assert "LLM_BASE_URL" in str(caught.value)


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 422, 429, 500, 503])
async def test_no_error_repeats_what_the_endpoint_said_about_the_key(
    endpoint: ScriptedEndpoint, reasoner: OpenAIReasoner, status: int
) -> None:
    endpoint.fails(status, times=9, message=f"Incorrect API key provided: {SECRET}")
    with pytest.raises(ModelUnavailable) as caught:
        await reasoner.understand(inquiry(), thread(), meter())
    assert SECRET not in str(caught.value)
    assert caught.value.remedy
    assert caught.value.__suppress_context__, "a logged traceback would repeat it"


async def test_a_cap_refuses_before_anything_is_sent(endpoint: ScriptedEndpoint, reasoner: OpenAIReasoner) -> None:
    with pytest.raises(BudgetExhausted):
        await reasoner.grade(inquiry(), library().items, meter(tokens=300))
    with pytest.raises(BudgetExhausted):
        await composed(reasoner, meter(tokens=300))
    assert not endpoint.requests


async def test_grading_in_parallel_cannot_overspend_together(
    endpoint: ScriptedEndpoint, reasoner: OpenAIReasoner
) -> None:
    found = library(*("A long passage. " * 70 for _ in range(24)))
    with pytest.raises(BudgetExhausted):
        await reasoner.grade(inquiry(), found.items, meter(tokens=4_000))
    assert not endpoint.requests


async def test_one_failed_batch_fails_the_grading_with_one_plain_error(
    endpoint: ScriptedEndpoint, reasoner: OpenAIReasoner
) -> None:
    endpoint.fails(401, times=3)
    with pytest.raises(ModelUnavailable, match="LLM_API_KEY"):
        await reasoner.grade(inquiry(), library(*("Text." for _ in range(20))).items, meter())


async def test_an_answer_that_nobody_reads_on_is_closed_and_counted(
    endpoint: ScriptedEndpoint, reasoner: OpenAIReasoner
) -> None:
    endpoint.drips(every_seconds=0.01, begins="Thirty days [1]. Then")
    counted = meter()
    parts = reasoner.compose(inquiry(), thread(), library().items, counted)
    assert str(await anext(parts)).startswith("Thirty days [1]. Then")
    await parts.aclose()
    assert counted.spent.calls == 1


async def test_an_endpoint_that_does_not_stream_is_read_at_once(
    endpoint: ScriptedEndpoint, reasoner: OpenAIReasoner
) -> None:
    body = '{"choices": [{"message": {"content": "Thirty days [1]."}}], "usage": {"prompt_tokens": 9}}'
    endpoint.answers_with(lambda _: Garbles(body))
    assert await composed(reasoner, counted := meter()) == "Thirty days [1]."
    assert counted.spent.tokens_in == 9


async def test_a_diagnosis_says_what_is_wrong(endpoint: ScriptedEndpoint, reasoner: OpenAIReasoner) -> None:
    for ready, lacks in (('{"ready": true}', []), ("ready, of course", ["JSON on request"])):
        for text in (ready, "Ready."):
            endpoint.says(text)
        assert await reasoner.probe(meter()) == lacks
    endpoint.fails(401)
    with pytest.raises(ModelUnavailable, match="LLM_API_KEY"):
        await reasoner.probe(meter())


async def test_a_hundred_questions_at_once_each_keep_their_own_count(
    endpoint: ScriptedEndpoint, reasoner: OpenAIReasoner
) -> None:
    endpoint.answers_with(lambda _: SEARCH)
    meters = [meter() for _ in range(100)]
    await asyncio.gather(*(reasoner.understand(inquiry(), thread(), counted) for counted in meters))
    assert {counted.spent.calls for counted in meters} == {1}
