"""Two different buttons of one card, pressed at once over real sockets: one counts, and all that is shown names it."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from core.model.inquiry import AskBack
from tests.e2e.discord_driver import DiscordDriver
from tests.e2e.driver import PlatformDriver
from tests.e2e.inprocess import REFUNDS, Bot
from tests.e2e.slack_driver import SlackDriver
from tests.fakes.discord import SPECIFICATION, FakeDiscord
from tests.fakes.slack import FakeSlack, specs_are_here

READINGS = ("How long do refunds take?", "Who pays refunds?")
ROUNDS = 6  # cards; each button is the first to be pressed on every other one

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(not SPECIFICATION.exists(), reason="the shared discord-openapi.json is not beside the checkout"),
    pytest.mark.skipif(not specs_are_here(), reason="Slack's method descriptions are not beside this checkout"),
]


@pytest.fixture(params=["slack-socket", "slack-http", "discord"])
async def driver(request: pytest.FixtureRequest) -> AsyncIterator[PlatformDriver]:
    if request.param == "discord":
        async with FakeDiscord() as discord:
            yield DiscordDriver(discord)
        return
    async with FakeSlack() as slack:
        yield SlackDriver(slack, "socket" if request.param == "slack-socket" else "http")


async def test_of_two_buttons_at_once_card_and_answer_name_the_same(driver: PlatformDriver) -> None:
    bot = Bot(driver)
    await bot.harness.knows(REFUNDS, title="Refund policy")
    async with bot.running():
        for first in range(ROUNDS):
            bot.reasoner.enqueue("understand", AskBack("Which refunds?", READINGS))
            said = await driver.says("alice", "refunds?")
            card = await driver.reply(said, containing="Which refunds?")
            pressed = (READINGS[first % 2], READINGS[1 - first % 2])
            await asyncio.gather(*(driver.presses("alice", card, label, stale=True) for label in pressed))
            await driver.showing(said, REFUNDS)
            assert "already" in (await driver.private("alice")).text
            await bot.settled()
            answered = [call.given[0].standalone for call in bot.reasoner.calls_of("compose")]
            assert len(answered) == first + 1
            shown = " ".join(one.text for one in await driver.replies(said))
            assert [one for one in READINGS if f"chose {one}" in shown.replace("*", "")] == [answered[-1]]
    assert driver.broken_rules == []
