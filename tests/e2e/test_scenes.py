"""Conversations, played on every platform: say this, expect that."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from core.answer import Outcome
from core.inquiry import AskBack, CheckpointKind
from tests.e2e.driver import PlatformDriver
from tests.e2e.fake_slack import FakeSlack, specs_are_here
from tests.e2e.inprocess import REFUNDS, Bot
from tests.e2e.slack_driver import SlackDriver

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(not specs_are_here(), reason="The platforms' descriptions are not beside this checkout"),
]


@pytest.fixture(params=["slack-socket", "slack-http"])
async def driver(request: pytest.FixtureRequest) -> AsyncIterator[PlatformDriver]:
    async with FakeSlack(retry_delays=(0.1, 0.2, 0.3)) as slack:
        yield SlackDriver(slack, "socket" if request.param.endswith("socket") else "http")


@pytest.fixture
async def bot(driver: PlatformDriver) -> AsyncIterator[Bot]:
    bot = Bot(driver)
    await bot.scene.knows(REFUNDS, "Annual plans are refunded in part.", title="Refund policy")
    async with bot.running():
        yield bot
    assert driver.broken_rules == []


async def test_a_mention_is_answered_in_its_thread_with_its_source(bot: Bot, driver: PlatformDriver) -> None:
    said = await driver.says("alice", "how long do refunds take?")
    answer = await driver.reply(said, containing=REFUNDS)
    assert f"{REFUNDS} [1]" in answer.text
    assert "[1]" in answer.text.replace(f"{REFUNDS} [1]", "")  # and the source list
    assert "Refund policy" in answer.text
    assert "Show quotes" in answer.buttons
    assert len(await driver.replies(said)) == 1
