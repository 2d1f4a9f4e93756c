"""Many simultaneous questions begin a few at a time, and none blocks the others."""

import asyncio
from contextlib import aclosing

from core.model.answer import Outcome
from core.model.conversation import Audience
from core.service.question_service import BEGINNING, Question
from tests.core.harness import ALICE, Harness


async def test_more_questions_than_may_begin_together_all_get_their_outcome() -> None:
    harness = Harness()
    await harness.knows("Refunds are paid within 14 days.")
    asked = [harness.asks("How long do refunds take?", thread=f"t{n}") for n in range(4 * BEGINNING)]
    assert {told.outcome for told in await asyncio.gather(*asked)} == {Outcome.ANSWERED}


async def test_questions_that_are_given_up_after_their_first_step_leave_room_for_others() -> None:
    harness = Harness()
    await harness.knows("Refunds are paid within 14 days.")
    for n in range(2 * BEGINNING):
        given_up = Question("How long?", harness.key(f"given-up-{n}"), ALICE, Audience())
        async with aclosing(harness.question_service.ask(given_up)) as events:
            await anext(events)
    assert (await harness.asks("How long do refunds take?")).outcome is Outcome.ANSWERED
