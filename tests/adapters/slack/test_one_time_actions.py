"""What a button stands for is taken by one press, however many there are and whatever dies meanwhile."""

import asyncio

import pytest

from adapters.slack.inbound.one_time_actions import PersonalActions, PressOutcome
from adapters.testing.clock import ManualClock
from adapters.testing.message_state import InProcessMessageStateStore
from core.service.kb.commands import KbCommand, KbVerb
from core.service.one_time_actions import LOST_SECONDS

ADA, EVE = "slack:T/ADA", "slack:T/EVE"


@pytest.fixture
def personal_actions() -> PersonalActions:
    return PersonalActions(InProcessMessageStateStore())


LISTED = KbCommand(KbVerb.LIST)


async def take(personal_actions: PersonalActions, offer: str, person: str = ADA) -> PressOutcome:
    return await personal_actions.take(await personal_actions.read(offer, person))


async def presses(personal_actions: PersonalActions, offer: str, many: int = 5) -> list[PressOutcome]:
    return sorted(await asyncio.gather(*(take(personal_actions, offer) for _ in range(many))))


async def test_of_many_presses_one_counts(personal_actions: PersonalActions) -> None:
    offer = await personal_actions.make(ADA, command=LISTED)
    assert await presses(personal_actions, offer) == [PressOutcome.EARLIER] * 4 + [PressOutcome.NOW]
    kept = await personal_actions.read(offer, ADA)
    assert kept is not None
    assert kept.command == LISTED


async def test_it_is_for_the_one_it_was_made_for(personal_actions: PersonalActions) -> None:
    offer = await personal_actions.make(ADA, command=LISTED)
    assert not await personal_actions.read(offer, EVE)
    assert await take(personal_actions, offer, EVE) is PressOutcome.GONE
    for unknown in ("never made", ""):
        assert await take(personal_actions, unknown, ADA) is PressOutcome.GONE
    assert await take(personal_actions, offer, ADA) is PressOutcome.NOW


async def test_what_was_not_done_can_be_opened_again(personal_actions: PersonalActions) -> None:
    offer = await personal_actions.make(ADA)
    assert await take(personal_actions, offer, ADA) is PressOutcome.NOW
    await personal_actions.reopen(offer, ADA)
    assert await presses(personal_actions, offer) == [PressOutcome.EARLIER] * 4 + [PressOutcome.NOW]


async def test_a_press_that_was_lost_with_its_worker_is_made_up_for_by_one_other() -> None:
    clock = ManualClock()
    personal_actions = PersonalActions(InProcessMessageStateStore(), lambda: clock.now().timestamp())
    offer = await personal_actions.make(ADA)
    assert await take(personal_actions, offer, ADA) is PressOutcome.NOW
    for _ in range(2):
        clock.advance(LOST_SECONDS)
        assert await presses(personal_actions, offer) == [PressOutcome.EARLIER] * 4 + [PressOutcome.NOW]
    await personal_actions.mark_done(offer, ADA)
    clock.advance(LOST_SECONDS)
    assert await presses(personal_actions, offer) == [PressOutcome.EARLIER] * 5
