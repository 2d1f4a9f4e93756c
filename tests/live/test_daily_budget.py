"""The day's budget: a hundred questions at once cannot overspend it."""

import asyncio
from datetime import UTC
from pathlib import Path

import pytest

from adapters.reasoners.fallback import FallbackReasoner
from adapters.reasoners.openai.reasoner import OpenAIReasoner
from adapters.redis.client import connect
from adapters.redis.embedded_server import EmbeddedValkey
from adapters.redis.usage import RedisDailyBudget
from core.model.budget import NOBODY, Account, Prices
from core.model.clock import Days
from core.model.errors import ModelFailure, ModelUnavailable
from tests.core.harness import Harness
from tests.fakes.memory.clock import ManualClock
from tests.fakes.memory.scripted_reasoner import ScriptedReasoner
from tests.fakes.model.endpoint import ScriptedEndpoint
from tests.fakes.model.obedient_model import ObedientModel

pytestmark = pytest.mark.live


async def test_of_many_at_once_only_what_the_budget_bears_is_reserved(tmp_path: Path) -> None:
    async with EmbeddedValkey(tmp_path) as server:
        client = connect(server.url)
        daily_budget = RedisDailyBudget(client, Days(ManualClock(), UTC), 10.0)
        granted = await asyncio.gather(*(_granted(daily_budget, 1.0) for _ in range(100)))
        assert sum(granted) == 10
        await daily_budget.settle(1.0, 0.25, day=Days(ManualClock(), UTC).today())
        assert not await _granted(daily_budget, 1.0)
        assert await _granted(daily_budget, 0.75)
        assert await daily_budget.spent_share() == 1.0
        await client.aclose()


async def test_a_new_day_has_a_new_budget(tmp_path: Path) -> None:
    async with EmbeddedValkey(tmp_path) as server:
        client, clock = connect(server.url), ManualClock()
        daily_budget = RedisDailyBudget(client, Days(clock, UTC), 1.0)
        assert await daily_budget.spent_share() == 0.0
        assert await _granted(daily_budget, 1.0)
        assert not await _granted(daily_budget, 0.1)
        clock.advance(24 * 3600)
        assert await _granted(daily_budget, 1.0)
        await client.aclose()


async def test_a_call_over_midnight_is_settled_on_the_day_of_its_reservation(tmp_path: Path) -> None:
    async with EmbeddedValkey(tmp_path) as server:
        client, clock = connect(server.url), ManualClock()
        daily_budget, channel = RedisDailyBudget(client, Days(clock, UTC), 1.0), Account("slack:channel:T/C1", 1.0)
        day = await daily_budget.reserve(1.0, channel)
        clock.advance(24 * 3600)
        assert await _granted(daily_budget, 1.0, channel)
        await daily_budget.settle(1.0, 0.25, channel, day=day)
        assert not await _granted(daily_budget, 0.5, channel), "the new day's budget is used up"
        assert await daily_budget.spent_share() == 1.0
        await client.aclose()


async def test_a_channels_budget_is_its_own_and_within_that_of_all(tmp_path: Path) -> None:
    async with EmbeddedValkey(tmp_path) as server:
        client = connect(server.url)
        daily_budget = RedisDailyBudget(client, Days(ManualClock(), UTC), 10.0)
        small, large, none = Account("slack:channel:T/C1", 2.0), Account("slack:channel:T/C2", 20.0), Account("slack")
        granted = await asyncio.gather(*(_granted(daily_budget, 1.0, small) for _ in range(20)))
        assert sum(granted) == 2
        with pytest.raises(ModelUnavailable, match=r"This channel's budget for the writing model .* until 00:00 UTC"):
            await daily_budget.reserve(1.0, small)
        await daily_budget.settle(1.0, 0.5, small, day=Days(ManualClock(), UTC).today())
        assert await _granted(daily_budget, 0.5, small)
        assert sum([await _granted(daily_budget, 1.0, large) for _ in range(20)]) == 8
        with pytest.raises(ModelUnavailable, match="The budget for the writing model"):
            await daily_budget.reserve(1.0, none)
        await client.aclose()


async def _granted(daily_budget: RedisDailyBudget, amount: float, account: Account = NOBODY) -> bool:
    try:
        await daily_budget.reserve(amount, account)
    except ModelUnavailable as error:
        return error.kind is not ModelFailure.BUDGET
    return True


async def test_when_the_budget_is_used_no_call_is_made_and_the_standby_answers(tmp_path: Path) -> None:
    async with EmbeddedValkey(tmp_path) as server, ScriptedEndpoint() as endpoint:
        endpoint.answers_with(ObedientModel())
        client, clock = connect(server.url), ManualClock()
        daily_budget = RedisDailyBudget(client, Days(clock, UTC), 0.02)
        model = OpenAIReasoner(endpoint.base_url, "sk-test", "m", daily_budget=daily_budget, prices=Prices(1.0, 2.0))
        harness = Harness(FallbackReasoner(model, ScriptedReasoner("quotes"), clock=clock))
        await harness.knows("Refunds are paid within 14 days.")
        answers = [await harness.asks("How long do refunds take?", thread=str(number)) for number in range(8)]
        spent = sum(Prices(1.0, 2.0).cost(a.answer.spent.tokens_in, a.answer.spent.tokens_out) for a in answers)
        while await _granted(daily_budget, 0.0002):  # others use what is left
            pass
        before = len(endpoint.requests)
        last = await harness.asks("How long do refunds take?", thread="last")
        assert last.answer.written_by == "quotes"
        used_up = "The budget for the writing model is used up for today, until 00:00 UTC, so I quote the documents"
        assert last.answer.notices == (f"{used_up} instead.",)
        assert len(endpoint.requests) == before
        assert 0 < spent <= 0.02
        await model.close()
        await client.aclose()
