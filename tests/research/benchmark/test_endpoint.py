"""The scripted endpoint of the benchmark: whose call it was, how long it took, and what counts as an answer."""

import json
import math

import pytest

from adapters.reasoners.openai import prompts
from core.agent.verification.claims import verbatim_in
from core.model.answer import Answer, Outcome
from core.model.conversation import Person, ThreadKey
from core.model.incoming_events import IncomingMessage
from core.model.knowledge import Passage
from core.ports.platform import MessageState
from core.values import value_faults
from research.benchmark.endpoint import NOT_VERBATIM, CaseModel, Cases, case_of, covered_seconds, numbered_question
from research.benchmark.stopwatch import StopwatchAnswerView, StopwatchPlatform, Times
from tests.fakes.memory.message_state import InProcessMessageStateStore
from tests.fakes.memory.platform import RecordedQuestionState
from tests.fakes.model.endpoint import RecordedRequest, ScriptedEndpoint


def asked_of_the_model(step: str, material: str) -> RecordedRequest:
    return RecordedRequest({"messages": [{"role": "user", "content": f"{material}\n\n{prompts.TASK}{step}"}]})


def stopwatch(question: str) -> tuple[StopwatchPlatform, StopwatchAnswerView]:
    platform = StopwatchPlatform(Times(9), "scripted")
    thread = ThreadKey("paper", "", "load", "t")
    message = IncomingMessage("m", thread, question, Person("p"))
    state = MessageState(InProcessMessageStateStore(), RecordedQuestionState(thread=thread, message="m"))
    return platform, platform.answer_view(message, state, "trace")


def test_calls_made_side_by_side_count_once() -> None:
    assert covered_seconds([(3.0, 4.0), (0.0, 1.0), (0.5, 1.5)]) == 2.5


def test_a_call_within_another_adds_nothing() -> None:
    assert covered_seconds([(0.0, 3.0), (1.0, 2.0)]) == 3.0


def test_no_call_took_no_time() -> None:
    assert covered_seconds([]) == 0.0


def test_a_question_keeps_its_case_on_the_way_through_the_model() -> None:
    model = CaseModel()
    asked = numbered_question(7, "How long do refunds take?")
    plan = json.loads(
        model(asked_of_the_model(prompts.UNDERSTAND, f"<message-0a0a0a0a>\n{asked}\n</message-0a0a0a0a>")).text
    )
    assert case_of(plan["question"]) == 7
    assert [case_of(query) for query in plan["queries"]] == [7]
    document = '<document-0a0a0a0a id="3">\nRefunds take ten days.\n</document-0a0a0a0a>'
    draft = model(asked_of_the_model(prompts.COMPOSE, f"{document}\n\nQuestion: {plan['question']}")).text
    assert draft == "That is to say, Refunds take ten days. [3]"


def test_a_call_that_shows_no_question_belongs_to_the_case_whose_material_it_shows() -> None:
    whose = Cases()

    def sentence(token: str) -> RecordedRequest:
        return asked_of_the_model(prompts.CHECK, f'<sentence-{token} n="1">\nTen days. [3]\n</sentence-{token}>')

    for case, token in ((7, "0a0a0a0a"), (8, "0b0b0b0b")):
        material = f"<message-{token}>\n{numbered_question(case, 'How long?')}\n</message-{token}>"
        assert whose(asked_of_the_model(prompts.UNDERSTAND, material)) == case
    assert [whose(sentence(token)) for token in ("0b0b0b0b", "0a0a0a0a", "0c0c0c0c")] == [8, 7, 0]


def test_a_sentence_of_the_model_is_a_claim_that_is_checked_and_holds() -> None:
    """As a quote it would cost no call; with a word or number of its own it would be struck, and quoted instead."""
    text = "The refunds take ten days. [3]"
    passage = Passage("p", "base", "d", "v", section="s", ordinal=0, title="Refunds", text="The refunds take ten days.")
    said = f"{NOT_VERBATIM}{text}"
    assert verbatim_in(said, [passage.text]) is None
    assert value_faults(said, [passage.searchable], numbered_question(7, "How long do refunds take?")) == ()


def test_a_text_without_a_case_belongs_to_none() -> None:
    assert case_of("How long do refunds take?") == 0


async def test_an_endpoint_that_is_timed_keeps_no_requests() -> None:
    from openai import AsyncOpenAI

    calls: list[tuple[str, bool]] = []

    def timed(request: RecordedRequest, came: float, answered: float) -> None:
        calls.append((request.user, answered >= came))

    async with ScriptedEndpoint(timed=timed) as endpoint:
        endpoint.says("Hello.")
        async with AsyncOpenAI(base_url=endpoint.base_url, api_key="none") as client:
            await client.chat.completions.create(model="m", messages=[{"role": "user", "content": "Hi"}])
        assert endpoint.requests == []
    assert calls == [("Hi", True)]


async def test_an_answer_of_the_model_is_timed_from_its_first_sign_to_its_end() -> None:
    platform, view = stopwatch(numbered_question(4, "How long?"))
    await view.open()
    assert math.isnan(platform.times.ended[4])
    await view.conclude(Answer(Outcome.ANSWERED, "Ten days.", written_by="scripted"), "trace")
    assert platform.times.shown[4] <= platform.times.ended[4]
    assert platform.times.wrong == {}


@pytest.mark.parametrize(
    "answer",
    [
        Answer(Outcome.ANSWERED, "Ten days.", written_by="extractive"),
        Answer(Outcome.ABSTAINED, "The documents don't say.", written_by="scripted"),
    ],
    ids=["written by whoever stood in", "abstained"],
)
async def test_what_the_model_did_not_answer_is_no_answer(answer: Answer) -> None:
    platform, view = stopwatch(numbered_question(4, "How long?"))
    await view.conclude(answer, "trace")
    assert list(platform.times.wrong) == [4]


async def test_a_failure_is_no_answer() -> None:
    platform, view = stopwatch(numbered_question(4, "How long?"))
    await view.fail("Something went wrong.", "trace")
    assert platform.times.wrong == {4: "Something went wrong."}
