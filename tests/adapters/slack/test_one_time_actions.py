"""What a button stands for is taken by one press, however many there are and whatever dies meanwhile."""

import asyncio

import pytest

from adapters.slack.inbound.one_time_actions import LOST_SECONDS, PersonalActions, Taken
from adapters.testing.clock import ManualClock
from adapters.testing.message_state import InProcessMessageStateStore

ADA, EVE = "slack:T/ADA", "slack:T/EVE"


@pytest.fixture
def offers() -> PersonalActions:
    return PersonalActions(InProcessMessageStateStore())


async def presses(offers: PersonalActions, offer: str, many: int = 5) -> list[Taken]:
    return sorted(await asyncio.gather(*(offers.take(offer, ADA) for _ in range(many))))


async def test_of_many_presses_one_counts(offers: PersonalActions) -> None:
    offer = await offers.make(ADA, {"command": "x"})
    assert await presses(offers, offer) == [Taken.EARLIER] * 4 + [Taken.NOW]
    assert (await offers.read(offer, ADA))["command"] == "x"


async def test_it_is_for_the_one_it_was_made_for(offers: PersonalActions) -> None:
    offer = await offers.make(ADA, {"command": "x"})
    assert not await offers.read(offer, EVE)
    assert await offers.take(offer, EVE) is Taken.GONE
    for unknown in ("never made", ""):
        assert await offers.take(unknown, ADA) is Taken.GONE
    assert await offers.take(offer, ADA) is Taken.NOW


async def test_what_was_not_done_can_be_opened_again(offers: PersonalActions) -> None:
    offer = await offers.make(ADA, {})
    assert await offers.take(offer, ADA) is Taken.NOW
    await offers.again(offer, ADA)
    assert await presses(offers, offer) == [Taken.EARLIER] * 4 + [Taken.NOW]


async def test_a_press_that_was_lost_with_its_worker_is_made_up_for_by_one_other() -> None:
    clock = ManualClock()
    offers = PersonalActions(InProcessMessageStateStore(), lambda: clock.now().timestamp())
    offer = await offers.make(ADA, {})
    assert await offers.take(offer, ADA) is Taken.NOW
    for _ in range(2):
        clock.advance(LOST_SECONDS)
        assert await presses(offers, offer) == [Taken.EARLIER] * 4 + [Taken.NOW]
    await offers.done(offer, ADA)
    clock.advance(LOST_SECONDS)
    assert await presses(offers, offer) == [Taken.EARLIER] * 5
