"""Waits and cleanup of a run."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

import pytest

from core.agent.run import Run
from core.model.budget import Meter
from core.model.conversation import Audience, Thread
from core.model.errors import BudgetExhausted
from core.model.events import GenerationCompleted
from core.model.evidence import Evidence
from core.model.inquiry import Inquiry
from core.ports.reasoner import DraftDeclined, DraftPart
from core.service.question_service import Question
from tests.core.harness import ALICE, Harness, within
from tests.fakes.memory.scripted_reasoner import ScriptedReasoner


@pytest.fixture
def run() -> Run:
    harness = Harness(limits=within(seconds=0.1))
    asked = Inquiry("trace", "refunds?", harness.key(), ALICE, Audience(), harness.clock.now())
    return harness.question_service.agent.run(asked, Thread(harness.key()))


async def never() -> None:
    await asyncio.Event().wait()


async def late() -> None:
    raise TimeoutError("the store's own")


async def test_what_takes_too_long_is_given_up(run: Run) -> None:
    with pytest.raises(BudgetExhausted, match="seconds of this profile"):
        await run.within(never())


async def test_what_is_kept_back_for_later_is_not_waited_for() -> None:
    harness = Harness(limits=within(seconds=60.0))
    asked = Inquiry("trace", "refunds?", harness.key(), ALICE, Audience(), harness.clock.now())
    patient = harness.question_service.agent.run(asked, Thread(harness.key()))
    async with asyncio.timeout(60):
        with pytest.raises(BudgetExhausted):
            await patient.within(never(), reserve=59.9)


async def test_somebody_elses_timeout_is_not_taken_for_ours(run: Run) -> None:
    with pytest.raises(TimeoutError, match="the store's own"):
        await run.within(late())


async def test_with_nothing_left_a_step_still_gets_a_moment(run: Run) -> None:
    assert await run.within(asyncio.sleep(0, "done"), reserve=60.0) == "done"


class Tidy(ScriptedReasoner):
    """Notices that it can stop writing."""

    closed = False

    async def compose(
        self, inquiry: Inquiry, thread: Thread, evidence: Sequence[Evidence], meter: Meter
    ) -> AsyncGenerator[DraftPart, None]:
        try:
            yield DraftDeclined("refund policy")
            yield "never"
        finally:
            self.closed = True


async def test_a_draft_that_is_not_read_on_is_closed_at_once() -> None:
    reasoner = Tidy()
    harness = Harness(reasoner, confident=0.0)
    await harness.knows("Refunds are paid within 14 days.")
    question = Question("How many days until refunds are paid?", harness.key(), ALICE, Audience())
    async with aclosing(harness.question_service.ask(question)) as events:
        async for event in events:
            if isinstance(event, GenerationCompleted):
                assert reasoner.closed
                return
    raise AssertionError
