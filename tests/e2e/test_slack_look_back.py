"""Slack after an outage: the bot reads all its channels, and reports questions that it cannot take."""

import time
from collections.abc import AsyncIterator

import pytest
from structlog.testing import capture_logs

from core.model.conversation import ThreadKey
from core.service.incoming import MOST_PLACES, ActivePlace, BackfillCursor
from tests.e2e.inprocess import REFUNDS, Bot
from tests.e2e.slack_driver import SlackDriver
from tests.fakes.memory.inbox import InProcessInbox
from tests.fakes.slack import FakeSlack, Message, specs_are_here
from tests.fakes.slack import events as slack_events

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.timeout(120),
    pytest.mark.skipif(not specs_are_here(), reason="Slack's method descriptions are not beside this checkout"),
]
QUESTION = "how long do refunds take?"
OUTAGE = 300.0  # seconds


@pytest.fixture
async def slack() -> AsyncIterator[FakeSlack]:
    async with FakeSlack() as workspace:
        yield workspace
        assert workspace.violations == []


@pytest.fixture
async def bot(slack: FakeSlack) -> Bot:
    """A bot that was connected until the outage began."""
    bot = Bot(SlackDriver(slack, "socket"))
    await bot.harness.knows(REFUNDS, title="Refund policy")
    await bot.message_states.save(BackfillCursor(platform="slack", at=time.time() - OUTAGE))
    return bot


def missed(slack: FakeSlack, text: str, place: str, *, ago: float = 60.0, thread: Message | None = None) -> Message:
    """A message without an event."""
    room, alice = slack.channel(place), slack.person("alice")
    ts = f"{time.time() - ago:.6f}"
    said = Message(room, ts, alice.id, slack_events.written(slack.world, text), thread.ts if thread else None)
    room.add(said)
    return said


async def test_mentions_in_channels_and_threads_that_are_new_to_the_bot_are_answered(
    slack: FakeSlack, bot: Bot
) -> None:
    slack.channel("plans", private=True, members=["alice"])
    newer = [
        ActivePlace(platform="slack", name=f"{slack.channel('random').id}/{n}.0", at=time.time(), thread=_thread(n))
        for n in range(1, MOST_PLACES + 20)
    ]  # threads that it was asked in since: they push no channel out
    await bot.message_states.save(*newer)
    before = missed(slack, "good morning", "general", ago=OUTAGE + 3_600)
    questions = [
        missed(slack, f"<@bot> {QUESTION}", "general"),
        missed(slack, f"<@bot> {QUESTION}", "plans"),
        missed(slack, f"<@bot> {QUESTION}", "general", thread=before),
    ]
    direct = Message(slack.person("bob").dm, slack.world.new_ts(), slack.person("bob").id, QUESTION)
    direct.channel.add(direct)
    async with bot.running():
        for question in (*questions, direct):
            await slack.reply_to(question, until=lambda one: REFUNDS in one.markdown)
        await bot.settled()
    for question in (*questions, direct):
        assert len([one for one in slack.answers_to(question) if float(one.ts) > float(question.ts)]) == 1


async def test_who_has_too_many_questions_waiting_is_told_after_an_outage_too(slack: FakeSlack, bot: Bot) -> None:
    bot.inbox = InProcessInbox(bot.harness.state, most_waiting_each=1)
    bot.reasoner.hold()
    for number in range(3):
        missed(slack, f"<@bot> {QUESTION}", "general", ago=60.0 - number)
    async with bot.running():
        told = await slack.person("alice").next_private()
        assert "questions waiting" in told.markdown
        bot.reasoner.go_on()
        await bot.settled()


async def test_a_mention_without_a_time_is_acknowledged_and_logged(slack: FakeSlack, bot: Bot) -> None:
    async with bot.running():
        mention = {"type": "app_mention", "user": slack.person("alice").id, "text": f"<@{slack.bot_user_id}> hello"}
        event = slack_events.wrap(slack.world, mention | {"channel": slack.channel("general").id})
        with capture_logs() as logged:
            delivery = slack.courier.send("events_api", event)
            await delivery.finished.wait()
        assert delivery.acknowledged
        assert [one["kind"] for one in logged if one["event"] == "event_without_place"] == ["app_mention"]


def _thread(number: int) -> ThreadKey:
    return ThreadKey("slack", "T0FOOTNOTE", "C0RANDOM", f"{number}.0")
