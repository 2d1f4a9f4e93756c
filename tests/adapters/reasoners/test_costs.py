"""What an answer costs a language model: requests that arrive at a real socket, by kind of question and profile.

The table in docs/calls.md says the same; ``confident`` is the product's, and so are the caps.
"""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from adapters.reasoners.openai import prompts
from core.model.answer import Outcome
from core.model.inquiry import AnswerPolicy
from core.model.profile import Profile
from tests.adapters.reasoners.harness import opened
from tests.core.harness import Harness
from tests.fakes.model.endpoint import RecordedRequest, Says, ScriptedEndpoint
from tests.fakes.model.obedient_model import ObedientModel

CONFIDENT = 0.06
SIMPLE = "How many days until refunds are paid?"
CLOSE = "What is the timeout?"  # two sections are about equally good
TWO = "How many days until refunds are paid? How much annual leave is there?"
UNKNOWN = "On which days are refunds paid by the mayor of Oslo and the tooth fairy of Rome?"
STEPS = (prompts.UNDERSTAND, prompts.GRADE, prompts.DECIDE, prompts.COMPOSE, prompts.CHECK, prompts.CRITIQUE)
NAMES = dict(zip(STEPS, ("understand", "grade", "decide", "compose", "check", "critique"), strict=True))


class InItsOwnWords(ObedientModel):
    """Never repeats a sentence as it stands, so that each has to be checked."""

    def __call__(self, request: RecordedRequest) -> Says:
        said = super().__call__(request)
        return replace(said, text=f"As it says: {said.text}") if request.stream and "[" in said.text else said


@pytest.fixture
async def harness(endpoint: ScriptedEndpoint) -> AsyncIterator[Harness]:
    async with opened(endpoint) as reasoner:
        harness = Harness(reasoner, confident=CONFIDENT)
        await harness.knows("Refunds are paid within 14 days.", title="Refund policy")
        await harness.knows("Everyone has 27 days of annual leave.", title="Leave")
        await harness.knows("The timeout of a planner is 90 seconds.", title="Planner")
        await harness.knows("The timeout of a webhook is 30 seconds.", title="Webhook")
        yield harness


def steps(endpoint: ScriptedEndpoint) -> list[str]:
    return [NAMES[next(step for step in STEPS if request.task.startswith(step))] for request in endpoint.requests]


@pytest.mark.parametrize("profile", list(Profile))
async def test_a_greeting_costs_one_call(endpoint: ScriptedEndpoint, harness: Harness, profile: Profile) -> None:
    endpoint.answers_with(InItsOwnWords())
    told = await harness.asks("Hi there!", policy=AnswerPolicy(profile=profile))
    assert told.outcome is Outcome.ANSWERED
    assert steps(endpoint) == ["understand"]


LONG_WAY = ["understand", "grade", "compose"]
THOROUGHLY = ["understand", "grade", "decide", "compose", "check", "critique"]
COSTS = {
    (SIMPLE, Profile.QUICK): ["understand", "compose"],
    (SIMPLE, Profile.BALANCED): ["understand", "compose", "check"],
    (SIMPLE, Profile.THOROUGH): THOROUGHLY,
    (CLOSE, Profile.QUICK): ["understand", "compose"],
    (CLOSE, Profile.BALANCED): ["understand", "compose", "check"],
    (CLOSE, Profile.THOROUGH): THOROUGHLY,
    (TWO, Profile.QUICK): LONG_WAY,
    (TWO, Profile.BALANCED): [*LONG_WAY, "check"],
    (TWO, Profile.THOROUGH): THOROUGHLY,
}


@pytest.mark.parametrize(("question", "profile"), list(COSTS))
async def test_an_answer_costs_no_more_than_the_table_says(
    endpoint: ScriptedEndpoint, harness: Harness, question: str, profile: Profile
) -> None:
    endpoint.answers_with(InItsOwnWords())
    told = await harness.asks(question, policy=AnswerPolicy(profile=profile))
    assert told.outcome is Outcome.ANSWERED
    assert steps(endpoint) == COSTS[question, profile]
    assert told.answer.spent.calls == len(endpoint.requests)


async def test_an_answer_in_the_documents_words_is_checked_without_a_call(
    endpoint: ScriptedEndpoint, harness: Harness
) -> None:
    endpoint.answers_with(ObedientModel())
    told = await harness.asks(SIMPLE)
    assert told.answer.verdict is not None
    assert told.answer.verdict.grounding == 1.0
    assert steps(endpoint) == ["understand", "compose"]


async def test_a_question_that_nothing_answers_costs_one_call_more_where_it_was_tried(
    endpoint: ScriptedEndpoint, harness: Harness
) -> None:
    endpoint.answers_with(InItsOwnWords())
    told = await harness.asks(UNKNOWN)
    assert told.outcome is Outcome.ABSTAINED
    assert steps(endpoint) == ["understand", "compose", "grade", "decide"]
