"""The day's budget: a hundred questions at once cannot overspend it."""

import asyncio
from pathlib import Path

import pytest

from adapters.reasoners.fallback import FallbackReasoner
from adapters.reasoners.openai.reasoner import OpenAIReasoner
from adapters.redis.client import connect
from adapters.redis.daily_budget import RedisDailyBudget
from adapters.redis.embedded_server import EmbeddedValkey
from core.model.budget import Prices
from tests.core.scene import Scene
from tests.fakes.memory.clock import ManualClock
from tests.fakes.memory.scripted_reasoner import ScriptedReasoner
from tests.fakes.model.endpoint import ScriptedEndpoint
from tests.fakes.model.obedient_model import ObedientModel

pytestmark = pytest.mark.live


async def test_of_many_at_once_only_what_the_budget_bears_is_reserved(tmp_path: Path) -> None:
    async with EmbeddedValkey(tmp_path) as server:
        client = connect(server.url)
        daily_budget = RedisDailyBudget(client, ManualClock(), 10.0)
        granted = await asyncio.gather(*(daily_budget.reserve(1.0) for _ in range(100)))
        assert sum(granted) == 10
        await daily_budget.settle(1.0, 0.25)
        assert not await daily_budget.reserve(1.0)
        assert await daily_budget.reserve(0.75)
        assert await daily_budget.spent_share() == 1.0
        await client.aclose()


async def test_a_new_day_has_a_new_budget(tmp_path: Path) -> None:
    async with EmbeddedValkey(tmp_path) as server:
        client, clock = connect(server.url), ManualClock()
        daily_budget = RedisDailyBudget(client, clock, 1.0)
        assert await daily_budget.spent_share() == 0.0
        assert await daily_budget.reserve(1.0)
        assert not await daily_budget.reserve(0.1)
        clock.advance(24 * 3600)
        assert await daily_budget.reserve(1.0)
        await client.aclose()


async def test_when_the_budget_is_used_no_call_is_made_and_the_standby_answers(tmp_path: Path) -> None:
    async with EmbeddedValkey(tmp_path) as server, ScriptedEndpoint() as endpoint:
        endpoint.answers_with(ObedientModel())
        client, clock = connect(server.url), ManualClock()
        daily_budget = RedisDailyBudget(client, clock, 0.02)
        model = OpenAIReasoner(endpoint.base_url, "sk-test", "m", daily_budget=daily_budget, prices=Prices(1.0, 2.0))
        scene = Scene(FallbackReasoner(model, ScriptedReasoner("quotes"), clock=clock))
        await scene.knows("Refunds are paid within 14 days.")
        answers = [await scene.asks("How long do refunds take?", thread=str(number)) for number in range(8)]
        spent = sum(Prices(1.0, 2.0).cost(a.answer.spent.tokens_in, a.answer.spent.tokens_out) for a in answers)
        while await daily_budget.reserve(0.0002):  # others use what is left
            pass
        before = len(endpoint.requests)
        last = await scene.asks("How long do refunds take?", thread="last")
        assert last.answer.written_by == "quotes"
        assert last.answer.notices
        assert len(endpoint.requests) == before
        assert 0 < spent <= 0.02
        await model.close()
        await client.aclose()
