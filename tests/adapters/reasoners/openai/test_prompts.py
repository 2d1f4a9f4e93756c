"""What every step is sent: the same beginning, the day, reasons before numbers, examples that are what they ask for."""

import json
import re

import pytest

from adapters.reasoners.openai import prompts
from adapters.reasoners.openai import tools as schemas
from adapters.reasoners.openai.reasoner import OpenAIReasoner
from core.model.answer import Claim
from tests.adapters.reasoners.harness import inquiry, library, meter, opened, text_of, thread
from tests.fakes.model.endpoint import FEATURES, RecordedRequest, ScriptedEndpoint
from tests.fakes.model.obedient_model import ObedientModel

EVIDENCE = library(grade=8)


async def every_step(reasoner: OpenAIReasoner) -> None:
    asked = inquiry(library=EVIDENCE)
    await reasoner.understand(asked, thread(), meter())
    await reasoner.grade(asked, EVIDENCE.items, meter())
    await reasoner.decide(asked, thread(), meter())
    await text_of(reasoner.compose(asked, thread(), EVIDENCE.items, meter()))
    claims = [Claim("Refunds stay open for 30 days [1].", (1,))]
    verdicts = await reasoner.check(asked, claims, EVIDENCE.items, meter())
    await reasoner.repair(asked, "Thirty days.", verdicts, EVIDENCE.items, meter())
    await reasoner.critique(asked, "Thirty days.", meter())


async def test_all_steps_of_an_inquiry_begin_alike_so_that_a_prefix_cache_hits(
    endpoint: ScriptedEndpoint, reasoner: OpenAIReasoner
) -> None:
    endpoint.answers_with(ObedientModel())
    await every_step(reasoner)
    assert len(endpoint.requests) == 7
    assert len({request.system for request in endpoint.requests}) == 1
    reading = [request for request in endpoint.requests if not _begins(request, prompts.UNDERSTAND, prompts.CRITIQUE)]
    first = {re.match(r"<document-\w+ id=\"1\".*?</document-\w+>", request.user, re.DOTALL) for request in reading}
    assert None not in first, "the documents stand first"
    assert len({found.group() for found in first if found}) == 1, "in the same words"
    assert all(request.user.rindex("# Task") > request.user.rfind("</") for request in reading[:2]), "the task is last"


async def test_two_inquiries_have_marks_of_their_own(endpoint: ScriptedEndpoint, reasoner: OpenAIReasoner) -> None:
    endpoint.answers_with(ObedientModel())
    for name in ("one", "two"):
        await reasoner.grade(inquiry(id=name, library=EVIDENCE), EVIDENCE.items, meter())
    one, two = (re.search(r"<document-(\w+)", request.user) for request in endpoint.requests)
    assert one is not None
    assert two is not None
    assert one.group(1) != two.group(1)


async def test_every_step_knows_what_day_it_is(endpoint: ScriptedEndpoint, reasoner: OpenAIReasoner) -> None:
    endpoint.answers_with(ObedientModel())
    await every_step(reasoner)
    assert all("Today is Sunday, 01 March 2026." in request.system for request in endpoint.requests)


@pytest.mark.parametrize(
    ("schema", "before", "after"), [(schemas.GRADES, "summary", "score"), (schemas.VERDICTS, "words", "verdict")]
)
async def test_a_reason_is_asked_for_before_its_number(schema: schemas.Json, before: str, after: str) -> None:
    (entries,) = schema["schema"]["properties"].values()
    assert entries["items"]["required"].index(before) < entries["items"]["required"].index(after)


async def test_the_examples_of_a_plan_and_of_a_check_are_the_json_that_is_asked_for(
    endpoint: ScriptedEndpoint, reasoner: OpenAIReasoner
) -> None:
    endpoint.answers_with(ObedientModel())
    await every_step(reasoner)
    plan = next(request for request in endpoint.requests if _begins(request, prompts.UNDERSTAND))
    examples = [json.loads(found) for found in re.findall(r"\{\"reason\".*?\}", plan.task, re.DOTALL)]
    assert [example["action"] for example in examples] == ["search", "reply"]
    assert all(set(example) == set(schemas.PLAN["schema"]["required"]) for example in examples)
    check = next(request for request in endpoint.requests if _begins(request, prompts.CHECK))
    verdicts = json.loads(check.task[check.task.index('{"verdicts"') :])["verdicts"]
    assert [verdict["verdict"] for verdict in verdicts] == ["contradicted", "supported"]


async def test_what_is_cited_last_is_one_sentence_of_this_question(
    endpoint: ScriptedEndpoint, reasoner: OpenAIReasoner
) -> None:
    endpoint.answers_with(ObedientModel())
    await text_of(reasoner.compose(inquiry(), thread(), EVIDENCE.items, meter()))
    ending = endpoint.requests[-1].task.partition("The only numbers that exist here:")[2]
    assert ending.startswith(" [1] [2]")
    assert re.search(r"Refunds stay open for 30 days.* \[1\]\.", ending)


async def test_who_decides_reads_the_passages_themselves(endpoint: ScriptedEndpoint, reasoner: OpenAIReasoner) -> None:
    endpoint.answers_with(ObedientModel())
    await reasoner.decide(inquiry(library=EVIDENCE), thread(), meter())
    assert "Refunds stay open for 30 days after the purchase." in endpoint.requests[-1].user
    assert endpoint.requests[-1].body["tool_choice"] == "required"


async def test_a_schema_is_tried_before_an_object_and_an_object_before_words() -> None:
    sent: list[str] = []

    def reply(request: RecordedRequest) -> object:
        sent.append((request.body.get("response_format") or {}).get("type", "words"))
        return ObedientModel()(request)

    for refuses, formats in (
        (frozenset[str](), ["json_schema"]),
        (frozenset({"response_format"}), ["words"]),
    ):
        sent.clear()
        async with ScriptedEndpoint(supports=FEATURES - refuses) as endpoint, opened(endpoint) as reasoner:
            endpoint.answers_with(reply)  # type: ignore[arg-type]
            await reasoner.understand(inquiry(), thread(), meter())
        assert sent == formats


def _begins(request: RecordedRequest, *tasks: str) -> bool:
    return any(request.task.startswith(task) for task in tasks)
