"""The finished answer stays, over real sockets, when progress edits are slow, overtaken or given up."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from core.service.delivery.pacing import PacingLimits
from tests.e2e.discord_driver import DiscordDriver
from tests.e2e.driver import PlatformDriver
from tests.e2e.inprocess import Bot
from tests.e2e.slack_driver import SlackDriver
from tests.fakes.discord import SPECIFICATION, FakeDiscord
from tests.fakes.slack import FakeSlack, specs_are_here

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(not SPECIFICATION.exists(), reason="the shared discord-openapi.json is not beside the checkout"),
    pytest.mark.skipif(not specs_are_here(), reason="Slack's method descriptions are not beside this checkout"),
]

BEGINNING, END = "Refunds are paid ", "within 14 days"
QUESTION = "how long do refunds take?"
MESSAGE = "/channels/{channel_id}/messages/{message_id}"
HELD = 2.5  # seconds for which Slack holds an edit
LATE = (0.2, 2 * HELD)
AT_THE_END = PacingLimits(edit=30.0, in_flight=0.1, late=LATE)  # an edit is given up because the answer is ready
BEFORE = PacingLimits(edit=0.2, in_flight=0.1, late=LATE)  # or earlier, for having no response


@asynccontextmanager
async def working(driver: PlatformDriver, limits: PacingLimits) -> AsyncIterator[Bot]:
    bot = Bot(driver)
    await bot.harness.knows(f"{BEGINNING}{END}.", title="Refund policy")
    bot.reasoner.always("compose", [BEGINNING, f"{END} [1]."])
    bot.more["pacing_limits"] = limits
    async with bot.running():
        yield bot
    assert driver.broken_rules == []


async def states(driver: PlatformDriver, said: Any) -> list[str]:
    """Everything that the one message in answer to this has shown, in order."""
    (answer,) = await driver.replies(said)
    return [state.text if driver.name == "discord" else state.markdown for state in answer.raw.history]


async def answer_overtaken(driver: PlatformDriver, bot: Bot, said: Any, let_go: Callable[[], None]) -> list[str]:
    """End the answer while an edit is held, let that go, and return what was shown once nothing waits any more."""
    bot.reasoner.go_on()
    await driver.showing(said, END)
    let_go()
    await bot.settled()
    return await states(driver, said)


def assert_final_after_late_edit(shown: list[str]) -> None:
    final = [END in text for text in shown]
    assert False in final[final.index(True) :], "no late edit was applied after the final one"
    assert final[-1]


@pytest.mark.parametrize("limits", [AT_THE_END, BEFORE])
async def test_discord_answer_stays_after_a_held_edit_is_applied(limits: PacingLimits) -> None:
    async with FakeDiscord() as discord:
        driver = DiscordDriver(discord)
        async with working(driver, limits) as bot:
            held = discord.hold("PATCH", MESSAGE)
            bot.reasoner.hold()
            said = await driver.says("alice", QUESTION)
            await held.reached()
            await bot.reasoner.writing.wait()
            shown = await answer_overtaken(driver, bot, said, held.release)
    assert_final_after_late_edit(shown)


@pytest.mark.parametrize("limits", [AT_THE_END, BEFORE])
async def test_slack_answer_stays_after_a_held_edit_is_applied(limits: PacingLimits) -> None:
    async with FakeSlack() as slack:
        driver = SlackDriver(slack, "socket")
        slack.faults.refuse_streaming()
        async with working(driver, limits) as bot:
            slack.faults.slow("chat.update", HELD)
            bot.reasoner.hold()
            said = await driver.says("alice", QUESTION)
            await slack.until(lambda: slack.calls_of("chat.update"), what="a progress edit")
            slack.faults.slow("chat.update", 0)
            shown = await answer_overtaken(driver, bot, said, lambda: None)
    assert_final_after_late_edit(shown)


@pytest.mark.parametrize("limits", [AT_THE_END, BEFORE])
async def test_slack_answer_has_its_text_once_after_a_held_piece_of_a_stream(limits: PacingLimits) -> None:
    async with FakeSlack() as slack:
        driver = SlackDriver(slack, "socket")
        async with working(driver, limits) as bot:
            slack.faults.slow("chat.appendStream", HELD)
            bot.reasoner.hold()
            said = await driver.says("alice", QUESTION)
            await slack.until(lambda: slack.calls_of("chat.appendStream"), what="a piece of the stream")
            shown = await answer_overtaken(driver, bot, said, lambda: None)
            await slack.until(lambda: all(call.status for call in slack.calls), what="an answer to every call")
    assert shown[-1].count(BEGINNING.strip()) == 1
    assert END in shown[-1]


async def last_states(driver: PlatformDriver, bot: Bot, count: int) -> list[bool]:
    """Ask so many questions at once; whether each message shows the whole answer once nothing waits any more."""
    asked = [await driver.says("alice", QUESTION) for _ in range(count)]
    for said in asked:
        await driver.sign(said)
    await bot.settled(120)
    return [END in (await states(driver, said))[-1] for said in asked]


async def test_discord_answers_stay_under_random_delays() -> None:
    rng = random.Random(39)
    async with FakeDiscord() as discord:
        driver = DiscordDriver(discord)
        async with working(driver, PacingLimits(in_flight=0.1, late=(0.3, 1.5))) as bot:
            for _ in range(60):
                discord.slow_down("PATCH", MESSAGE, seconds=rng.uniform(0, 0.6))
            assert await last_states(driver, bot, 12) == [True] * 12


@pytest.mark.parametrize("streams", [True, False])
async def test_slack_answers_stay_under_random_delays(streams: bool) -> None:
    rng = random.Random(39)
    async with FakeSlack() as slack:
        driver = SlackDriver(slack, "socket")
        if not streams:
            slack.faults.refuse_streaming()

        async def vary() -> None:
            while True:
                slack.faults.slow("chat.update", rng.uniform(0, 1.5))
                slack.faults.slow("chat.appendStream", rng.uniform(0, 1.5))
                await asyncio.sleep(0.02)

        async with working(driver, PacingLimits(in_flight=0.1, late=(0.3, 3.0))) as bot:
            bot.reasoner.pause = 1.0
            varying = asyncio.create_task(vary())
            final = await last_states(driver, bot, 12)
            varying.cancel()
            assert final == [True] * 12
