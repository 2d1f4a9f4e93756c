"""Questions in Slack without a mention: answered if an admin allows it and the evidence is strong."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.e2e.inprocess import REFUNDS, Bot
from tests.e2e.slack_driver import SlackDriver
from tests.fakes.slack import FakeSlack, specs_are_here

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(not specs_are_here(), reason="Slack's method descriptions are not beside this checkout"),
]

ASKED = "how long do refunds take?"


@pytest.fixture
async def slack() -> AsyncIterator[FakeSlack]:
    async with FakeSlack(retry_delays=(0.2, 0.4, 0.8, 1.6)) as workspace:
        yield workspace
        assert workspace.violations == []
        assert workspace.pings() == []


@pytest.fixture
async def bot(slack: FakeSlack) -> AsyncIterator[Bot]:
    bot = Bot(SlackDriver(slack, "socket"))
    await bot.harness.knows(REFUNDS, title="Refund policy")
    async with bot.running():
        yield bot


async def worked_off(slack: FakeSlack, bot: Bot) -> None:
    """All that was said is heard and done with: what a colleague says after it directly is answered."""
    marker = await slack.person("ada").says(f"{ASKED}")
    await slack.reply_to(marker)
    async with asyncio.timeout(60):
        while await bot.inbox.count_waiting():
            await asyncio.sleep(0.01)


async def choose(slack: FakeSlack, threshold: str, channel: str = "general") -> None:
    ada = slack.person("ada", admin=True)
    await ada.slash("/footnote", "settings", channel)
    form = await ada.next_modal()
    assert "In the channel, as a reply" not in form.markdown  # Slack answers in threads
    await ada.submits(form, {"auto_answer": threshold})
    await ada.next_private()


async def test_a_question_that_names_nobody_is_answered_in_its_thread(slack: FakeSlack, bot: Bot) -> None:
    await choose(slack, "medium")
    alice = slack.person("alice")
    asked = await alice.says(ASKED, channel="general")
    answer = await slack.reply_to(asked, until=lambda one: "Show quotes" in one.buttons())
    assert answer.thread_ts == asked.ts
    assert REFUNDS in answer.markdown
    follow_up = await alice.says("and for annual plans?", thread=asked)
    assert REFUNDS in (await slack.reply_to(follow_up)).markdown


async def test_without_the_setting_and_below_the_threshold_there_is_no_sign_at_all(slack: FakeSlack, bot: Bot) -> None:
    alice = slack.person("alice")
    before = await alice.says(ASKED, channel="general")
    await choose(slack, "high")  # the scripted reader gives all it finds 8 of 10
    after = await alice.says(ASKED, channel="general")
    lunch = await alice.says("Lunch is at noon.", channel="general")
    await worked_off(slack, bot)
    assert [slack.answers_to(one) for one in (before, after, lunch)] == [[], [], []]
    assert len(bot.reasoner.calls_of("grade")) == 2  # of the question in the channel, and of the one asked directly
    assert len(bot.reasoner.calls_of("compose")) == 1


async def test_an_answer_that_nobody_asked_for_goes_with_its_question(slack: FakeSlack, bot: Bot) -> None:
    await choose(slack, "0.6")
    alice = slack.person("alice")
    asked = await alice.says(ASKED, channel="general")
    await slack.reply_to(asked, until=lambda one: "Show quotes" in one.buttons())
    await alice.edits(asked, "how long do refunds take, please?")
    await worked_off(slack, bot)
    assert len(slack.answers_to(asked)) == 1
    await alice.deletes(asked)
    await slack.until(lambda: not slack.answers_to(asked), what="the answer gone")


async def test_where_answers_are_private_nobody_is_answered_unasked(slack: FakeSlack, bot: Bot) -> None:
    await bot.driver.configure(bot.user_actions, reply_style="private", auto_answer="low")
    asked = await slack.person("alice").says(ASKED, channel="general")
    await worked_off(slack, bot)
    assert slack.answers_to(asked) == []
    assert len(bot.reasoner.calls_of("understand")) == 1
