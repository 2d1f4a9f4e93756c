"""Whatever an endpoint does, the answer is at least what quotes alone would give: a test for each known behaviour."""

import time

import pytest

from adapters.reasoners.extractive.reasoner import ExtractiveReasoner
from adapters.reasoners.fallback import FallbackReasoner
from core.model.answer import Outcome, Support
from tests.adapters.reasoners.harness import opened
from tests.adapters.reasoners.openai.dialects import FILE, QUESTION, RIGHT, ROWS, SECRETS
from tests.core.harness import Harness, Told
from tests.fakes.memory.clock import ManualClock
from tests.fakes.memory.encoder import HashingEncoder
from tests.fakes.model.endpoint import RecordedRequest, Scripted, ScriptedEndpoint
from tests.fakes.model.obedient_model import ObedientModel

MODEL = ObedientModel()
IMPATIENT = {"hangs", "keep-alives alone", "empty chunks alone", "one character at a time, without end"}


async def played(name: str) -> tuple[Told, int]:
    """The test of one row, and how many requests it took."""
    row = ROWS[name]

    def reply(request: RecordedRequest) -> Scripted:
        return row.reply(request, MODEL(request))

    server = ScriptedEndpoint(supports=row.supports, names_refusals=row.names_refusals)
    seconds = 1.5 if name in IMPATIENT else 20.0
    async with server as endpoint, opened(endpoint, seconds=seconds) as reasoner:
        endpoint.answers_with(reply)
        quoting = ExtractiveReasoner(HashingEncoder())
        harness = Harness(FallbackReasoner(reasoner, quoting, clock=ManualClock()), floor=quoting)
        await harness.knows(FILE, title="Refund policy")
        await harness.knows("The planner's timeout is 90 seconds.", title="Timeouts")
        return await harness.asks(QUESTION), len(endpoint.requests)


@pytest.mark.parametrize("name", list(ROWS))
async def test_no_endpoint_makes_an_answer_worse_than_quotes(name: str) -> None:
    row = ROWS[name]
    said, requests = await played(name)
    assert said.outcome is Outcome.ANSWERED
    assert RIGHT in said.text.replace("**", "")
    assert [source.title for source in said.answer.citations] == ["Refund policy"]
    assert not [secret for secret in SECRETS if secret in said.text + said.streamed]
    assert "45" not in said.text + " ".join(source.quote for source in said.answer.citations)
    shown = said.answer.verdict.claims if said.answer.verdict else ()
    assert all(verdict.support is Support.SUPPORTED for verdict in shown if verdict.claim.text in said.text)
    assert said.text.encode(), "nothing that cannot be written"
    assert requests <= 45
    assert said.answer.spent.calls == requests, "the calls that were sent are the calls that are counted"
    by_quotes = said.answer.written_by != "scripted"
    assert by_quotes is not row.written
    if by_quotes:
        assert said.answer.notices, "one honest line for the person"
        assert all("127.0.0.1" not in notice for notice in said.answer.notices)


async def main() -> None:
    """Print the table: outcome, seconds, calls, and the line for whoever runs the endpoint."""
    for name in ROWS:
        started = time.perf_counter()
        said, requests = await played(name)
        line = "; ".join(said.answer.causes) or "; ".join(said.answer.notices)
        who = "model" if said.answer.written_by == "scripted" else "quotes"
        print(f"| {name} | {who} | {time.perf_counter() - started:.1f} | {requests} | {line} |")  # noqa: T201


if __name__ == "__main__":
    import asyncio

    asyncio.run(main())
