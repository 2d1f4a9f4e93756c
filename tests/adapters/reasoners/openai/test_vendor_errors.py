"""Each vendor's documented errors over a real socket: the person gets quotes, whoever runs it gets the cause."""

import pytest

from adapters.reasoners.extractive.reasoner import ExtractiveReasoner
from adapters.reasoners.fallback import FallbackReasoner
from core.model.answer import Outcome
from core.model.errors import ModelFailure
from core.model.inquiry import AnswerPolicy
from core.model.profile import Profile
from tests.adapters.reasoners.harness import opened
from tests.adapters.reasoners.openai.dialects import FILE, QUESTION, RIGHT
from tests.adapters.reasoners.openai.vendor_errors import ERRORS
from tests.core.harness import Harness, Told
from tests.fakes.memory.clock import ManualClock
from tests.fakes.memory.encoder import HashingEncoder
from tests.fakes.model.endpoint import RecordedRequest, Scripted, ScriptedEndpoint
from tests.fakes.model.obedient_model import ObedientModel

MODEL = ObedientModel()


async def played(name: str) -> tuple[Told, list[ModelFailure], int]:
    """The test of one error, the kinds that were counted, and how many requests it took."""
    row = ERRORS[name]
    kinds: list[ModelFailure] = []

    def reply(request: RecordedRequest) -> Scripted:
        return row.raw if row.when(request) else MODEL(request)

    async with ScriptedEndpoint() as endpoint, opened(endpoint, seconds=20.0) as reasoner:
        endpoint.answers_with(reply)
        quoting = ExtractiveReasoner(HashingEncoder())
        both = FallbackReasoner(reasoner, quoting, clock=ManualClock(), on_failure=kinds.append)
        harness = Harness(both, floor=quoting)
        await harness.knows(FILE, title="Refund policy")
        await harness.knows("The planner's timeout is 90 seconds.", title="Timeouts")
        thorough = AnswerPolicy(Profile.THOROUGH)  # all steps, the one with tools among them
        return await harness.asks(QUESTION, policy=thorough), kinds, len(endpoint.requests)


@pytest.mark.parametrize("name", list(ERRORS))
async def test_a_vendors_error_is_named_and_quoted_around(name: str) -> None:
    said, kinds, requests = await played(name)
    kind = ERRORS[name].kind
    assert said.outcome is Outcome.ANSWERED
    assert RIGHT in said.text.replace("**", "")
    assert requests <= 45
    if kind is None:
        assert said.answer.written_by == "scripted", said.answer.causes
        assert not kinds
        return
    assert said.answer.written_by == "quotes from the documents"
    assert set(kinds) == {kind}, said.answer.causes
    assert said.answer.causes
    assert all("sk-" not in cause for cause in said.answer.causes)


async def main() -> None:
    """Print the table: who answered, calls, the kind that is counted, and the line for whoever runs the endpoint."""
    for name in ERRORS:
        said, kinds, requests = await played(name)
        who = "model" if said.answer.written_by == "scripted" else "quotes"
        kind = ", ".join(dict.fromkeys(map(str, kinds)))
        print(f"| {name} | {who} | {requests} | {kind} | {'; '.join(said.answer.causes)} |")  # noqa: T201


if __name__ == "__main__":
    import asyncio

    asyncio.run(main())
