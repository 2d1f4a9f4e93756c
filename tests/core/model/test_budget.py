"""The budget of an inquiry."""

import pytest

from core.model.answer import ResourceUsage
from core.model.budget import Meter, Prices
from core.model.errors import BudgetExhausted
from core.model.inquiry import PROFILE_LIMITS, Limits
from core.model.profile import Profile
from tests.fakes.memory.clock import ManualClock

DEAR = Prices(per_million_in=1_000, per_million_out=10_000)  # a thousand tokens in cost 1, out 10


def meter(before: ResourceUsage | None = None, **limits: float) -> Meter:
    settings = {"searches": 3, "tokens": 10_000, "seconds": 60.0} | limits
    return Meter(Limits(**settings), ManualClock(), before=before or ResourceUsage(), prices=DEAR)  # type: ignore[arg-type]


def test_each_profile_has_the_searches_that_were_agreed() -> None:
    assert [PROFILE_LIMITS[profile].searches for profile in Profile] == [3, 5, 10]


def test_the_last_search_is_admitted_and_the_next_is_not() -> None:
    counted = meter()
    for _ in range(3):
        counted.count_search()
    assert counted.searches_left == 0
    with pytest.raises(BudgetExhausted, match="All 3 searches"):
        counted.count_search()


def test_tokens_are_capped_to_the_last_one() -> None:
    counted = meter(tokens=1_000)
    counted.count_call(600, 100)
    counted.admit(200, 100)
    with pytest.raises(BudgetExhausted, match="1,000 tokens"):
        counted.admit(200, 101)


def test_money_is_capped_where_it_is_and_what_is_written_has_its_own_price() -> None:
    counted = meter(cost=5.0)
    counted.count_call(2_000, 100)
    assert counted.spent.cost == pytest.approx(3.0)
    counted.admit(1_000, 100)
    with pytest.raises(BudgetExhausted, match="5 that one answer may cost"):
        counted.admit(1_000, 101)
    free = meter()
    free.count_call(9_000, 0)
    free.admit(1_000)


def test_what_is_held_back_is_refused_now_and_there_later() -> None:
    counted = meter(tokens=1_000, cost=1.0)
    counted.reserved_share = 0.25
    counted.admit(750)
    with pytest.raises(BudgetExhausted, match="tokens"):
        counted.admit(751)
    with pytest.raises(BudgetExhausted, match="cost"):
        counted.admit(500, 26)
    counted.reserved_share = 0.0
    counted.admit(500, 50)
    assert counted.room == 1_000


def test_no_call_is_admitted_when_the_time_is_over() -> None:
    counted = meter(seconds=10.0)
    assert isinstance(counted.clock, ManualClock)
    counted.clock.advance(10)
    assert counted.remaining_seconds == 0
    with pytest.raises(BudgetExhausted, match="10 seconds"):
        counted.admit(1)


def test_what_was_spent_before_it_was_parked_counts_but_for_the_time() -> None:
    counted = meter(ResourceUsage(searches=3, tokens_in=9_000, seconds=50.0, cost=1.0), seconds=60.0)
    assert counted.searches_left == 0
    assert counted.room == 1_000
    assert counted.remaining_seconds == 60.0
    counted.count_call(10, 20)
    assert counted.spent == ResourceUsage(3, 1, 9_010, 20, 50.0, 1.0 + 0.01 + 0.2)
