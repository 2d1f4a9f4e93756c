"""Refused calls, missing events and late edits in Slack: each question still has one outcome."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from adapters.slack.inbound import event_listener
from core.model.inquiry import AskBack
from core.service.actions.wording import ANSWER_AGAIN, YOU_EDITED
from core.service.incoming import BackfillCursor
from tests.e2e.inprocess import REFUNDS, Bot
from tests.e2e.slack_driver import SlackDriver
from tests.fakes.slack import FakeSlack, Message, specs_are_here

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.timeout(300),
    pytest.mark.skipif(not specs_are_here(), reason="Slack's method descriptions are not beside this checkout"),
]
PATIENCE = 60.0  # seconds for what takes a moment


@pytest.fixture
async def slack() -> AsyncIterator[FakeSlack]:
    async with FakeSlack(retry_delays=(0.1, 0.2)) as workspace:
        yield workspace


@pytest.fixture
async def bot(slack: FakeSlack) -> Bot:
    bot = Bot(SlackDriver(slack, "socket"))
    await bot.harness.knows(REFUNDS, title="Refund policy")
    return bot


async def ask(slack: FakeSlack, text: str = "how long do refunds take?", place: str = "general") -> Message:
    return await slack.person("alice").says(f"<@bot> {text}", place)


async def finished(slack: FakeSlack, question: Message) -> Message:
    return await slack.reply_to(question, PATIENCE, until=lambda one: "Show quotes" in one.buttons())


async def direct(slack: FakeSlack, person: str = "alice") -> Message:
    room = slack.person(person).dm
    await slack.until(lambda: slack.visible(room), PATIENCE, what="a direct message")
    (message,) = slack.visible(room)
    return message


def readiness_problem(bot: Bot) -> str:
    assert bot.platform is not None
    return bot.platform.readiness_problem()


# --- nowhere to post, nothing to edit


async def test_sends_a_direct_message_if_slack_refuses_the_ephemeral_answer(slack: FakeSlack, bot: Bot) -> None:
    slack.faults.fail("chat.postEphemeral", "user_not_in_channel", None)
    await SlackDriver(slack, "socket").configure(bot.user_actions, reply_style="private")
    slack.channel("other")
    async with bot.running():
        await ask(slack)
        said = await direct(slack)
        assert REFUNDS in said.markdown
        assert said.markdown.startswith(
            "I could not answer in the place where you asked: Slack does not show you a private"
        )
        assert said.buttons() == []
        await bot.settled(PATIENCE)
        await finished(slack, await ask(slack, "and who pays them?", "other"))
    assert slack.violations == []


async def test_a_private_answer_stands_in_the_thread_only_where_that_has_begun(slack: FakeSlack, bot: Bot) -> None:
    await SlackDriver(slack, "socket").configure(bot.user_actions, reply_style="private")
    alice = slack.person("alice")
    async with bot.running():
        question = await ask(slack)
        await slack.until(lambda: any(REFUNDS in one.markdown for one in alice.private), PATIENCE, what="an answer")
        assert {one.thread_ts for one in alice.private} == {None}
        await bot.settled(PATIENCE)
        shown = len(alice.private)
        await alice.says("<@bot> and who pays them?", thread=question)
        await slack.until(lambda: len(alice.private) == shown + 2, PATIENCE, what="an answer in the thread")
        assert {one.thread_ts for one in alice.private[shown:]} == {question.ts}
    assert slack.violations == []


@pytest.mark.parametrize(
    ("error", "why"),
    [
        ("is_archived", "that channel is archived"),
        ("not_in_channel", "I am not in that channel"),
        ("restricted_action_thread_locked", "an admin has restricted who may post there"),
        ("a_word_of_tomorrow", "Slack refuses it, and my log says why"),
    ],
)
async def test_where_nothing_may_be_posted_the_asker_has_it_directly_and_once(
    slack: FakeSlack, bot: Bot, error: str, why: str
) -> None:
    channel = slack.channel("closed")
    for method in ("chat.startStream", "chat.postMessage"):
        slack.faults.fail(method, error, None, channel=channel.id)
    async with bot.running():
        question = await ask(slack, place="closed")
        said = await direct(slack)
        await bot.settled(PATIENCE)
    assert REFUNDS in said.markdown
    assert said.markdown.startswith(f"I could not answer in the place where you asked: {why}. You asked: “how long")
    assert error not in said.markdown
    assert slack.answers_to(question) == []
    assert slack.visible(slack.person("alice").dm) == [said]


@pytest.mark.parametrize("error", ["edit_window_closed", "cant_update_message", "message_not_found"])
async def test_a_message_that_may_not_be_edited_gives_way_to_the_answer(slack: FakeSlack, bot: Bot, error: str) -> None:
    slack.faults.refuse_streaming()
    slack.faults.fail("chat.update", error, None)
    async with bot.running():
        question = await ask(slack)
        answer = await finished(slack, question)
        await bot.settled(PATIENCE)
    assert slack.answers_to(question) == [answer]


async def test_an_answer_whose_layout_is_refused_is_shown_in_plain_text(slack: FakeSlack, bot: Bot) -> None:
    slack.faults.refuse_streaming()
    async with bot.running():
        bot.reasoner.hold()
        question = await ask(slack)
        await bot.reasoner.writing.wait()
        slack.faults.fail("chat.update", "invalid_blocks", 1)
        bot.reasoner.go_on()
        await bot.settled(PATIENCE)
        (answer,) = slack.answers_to(question)
    assert REFUNDS in answer.markdown


async def test_a_token_that_is_revoked_keeps_the_questions_and_is_said(slack: FakeSlack, bot: Bot) -> None:
    async with bot.running():
        slack.faults.fail("*", "token_revoked", None)
        question = await ask(slack)
        await slack.until(lambda: "token_revoked" in readiness_problem(bot), PATIENCE, what="a word about it")
        assert await bot.inbox.count_waiting() == 1
        slack.faults.clear()
    bot.harness.clock.advance(60)
    async with bot.running():
        await finished(slack, question)
        assert readiness_problem(bot) == ""


# --- what one place says is true of that place


async def test_a_channel_that_takes_no_agents_says_nothing_about_the_others(slack: FakeSlack, bot: Bot) -> None:
    shared = slack.channel("shared")
    slack.faults.fail("agents.sessions.setStatus", "not_authorized", None, channel=shared.id)
    async with bot.running():
        await finished(slack, await ask(slack, place="shared"))
        question = await ask(slack)
        await finished(slack, question)
    assert slack.world.session_titles[question.channel.id, question.ts] == "how long do refunds take?"


async def test_the_first_task_of_a_stream_is_over_only_when_there_is_another(slack: FakeSlack, bot: Bot) -> None:
    async with bot.running():
        bot.reasoner.hold()
        question = await ask(slack)
        await slack.until(lambda: slack.answers_to(question), PATIENCE)
        (answer,) = slack.answers_to(question)
        assert answer.tasks["start"]["status"] == "in_progress"
        bot.reasoner.go_on()
        await finished(slack, question)


# --- edits and deletions


async def test_a_question_deleted_after_its_answer_takes_the_answer_along(slack: FakeSlack, bot: Bot) -> None:
    async with bot.running():
        question = await ask(slack)
        await finished(slack, question)
        await bot.settled(PATIENCE)
        await slack.person("alice").deletes(question)
        await slack.until(lambda: slack.answers_to(question) == [], PATIENCE, what="an answer that is gone")


async def test_a_question_deleted_while_its_card_waits_takes_the_card_along(slack: FakeSlack, bot: Bot) -> None:
    bot.reasoner.enqueue("understand", AskBack("Which?", ("How long do refunds take?",)))
    async with bot.running():
        question = await ask(slack, "refunds?")
        await slack.reply_to(question, PATIENCE, until=lambda one: "Which?" in one.markdown)
        await bot.settled(PATIENCE)
        await slack.person("alice").deletes(question)
        await slack.until(lambda: slack.answers_to(question) == [], PATIENCE, what="a card that is gone")
        await bot.settled(PATIENCE)
        bot.harness.clock.advance(31 * 60)
        assert await bot.harness.checkpoints.due(bot.harness.clock.now()) == []


async def test_a_question_edited_while_its_card_waits_is_answered_as_edited(slack: FakeSlack, bot: Bot) -> None:
    bot.reasoner.enqueue("understand", AskBack("Which?", ("How long do refunds take?",)))
    async with bot.running():
        question = await ask(slack, "refunds?")
        await slack.reply_to(question, PATIENCE, until=lambda one: "Which?" in one.markdown)
        await bot.settled(PATIENCE)
        await slack.person("alice").edits(question, "<@bot> who pays the refunds, and when?")
        answer = await finished(slack, question)
    assert REFUNDS in answer.markdown


async def test_offers_once_and_privately_to_answer_an_edited_question_again(slack: FakeSlack, bot: Bot) -> None:
    alice = slack.person("alice")
    async with bot.running():
        question = await ask(slack)
        answer = await finished(slack, question)
        await bot.settled(PATIENCE)
        await alice.edits(question, "<@bot> how long do refunds take, roughly?")
        offer = await alice.next_private(PATIENCE)
        assert offer.markdown.startswith(YOU_EDITED)
        await alice.edits(question, "<@bot> how long do <@bob>'s refunds take :pray:")
        await slack.acknowledged(question)
        await bot.settled(PATIENCE)
        assert slack.answers_to(question) == [answer]
        await alice.clicks(offer, ANSWER_AGAIN)
        await slack.until(lambda: len(slack.answers_to(question)) == 2, PATIENCE, what="another answer")
        again = await finished(slack, question)
        await bot.settled(PATIENCE)
        assert alice.private == []  # the offer goes, and no second one came
    assert again.markdown.replace("\u2060", "").startswith("alice asked: how long do @bob's refunds take")
    assert len(slack.answers_to(question)) == 2


async def test_does_not_answer_the_edit_of_a_forgotten_question(
    slack: FakeSlack, bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_listener, "KEPT_FOR", timedelta(0))
    async with bot.running():
        question = await ask(slack)
        answer = await finished(slack, question)
        await bot.settled(PATIENCE)
        bot.harness.state.records.clear()
        await slack.person("alice").edits(question, "<@bot> how long do refunds take, roughly?")
        await slack.acknowledged(question)
        await finished(slack, await ask(slack, "how long do refunds take, in days?"))
        await bot.settled(PATIENCE)
    assert slack.answers_to(question) == [answer]


async def test_answers_a_message_that_mentions_the_bot_only_after_an_edit(slack: FakeSlack, bot: Bot) -> None:
    alice = slack.person("alice")
    async with bot.running():
        said = await alice.says("how long do refunds take?", "general")
        await slack.acknowledged(said)
        await alice.edits(said, "<@bot> how long do refunds take?")
        answer = await finished(slack, said)
        await slack.acknowledged(said)
        await bot.settled(PATIENCE)
    assert slack.answers_to(said) == [answer]
    assert alice.private == []


# --- what was said while nobody listened


async def silent(slack: FakeSlack, question: Message) -> None:
    """Let Slack give up delivering this event."""
    deliveries = slack.deliveries_of(question)
    await slack.until(lambda: all(one.finished.is_set() for one in deliveries), PATIENCE, what="Slack giving up")


async def noted(bot: Bot) -> None:
    """Wait until the connection time is recorded, from which it may have missed something."""
    async with asyncio.timeout(PATIENCE):
        while not await bot.message_states.read(BackfillCursor(platform="slack")):
            await asyncio.sleep(0.05)


async def test_what_was_asked_while_no_process_ran_is_answered_once(slack: FakeSlack, bot: Bot) -> None:
    slack.courier.deadline = 0.2
    async with bot.running():
        first = await ask(slack)
        await finished(slack, first)
        await noted(bot)
    missed = await ask(slack, "who pays them?")
    follow_up = await slack.person("alice").says("and how long do they take?", "general", thread=first)
    elsewhere = await slack.person("bob").says("only talking", "general")
    for said in (missed, follow_up, elsewhere):
        await silent(slack, said)
    for _ in range(2):
        async with bot.running():
            await finished(slack, missed)
            await slack.until(lambda: len(slack.answers_to(first)) == 2, PATIENCE, what="an answer to the follow-up")
            await bot.settled(PATIENCE)
    assert len(slack.answers_to(missed)) == 1
    assert len(slack.answers_to(first)) == 2
    assert slack.answers_to(elsewhere) == []


async def test_what_was_asked_while_the_socket_was_away_is_answered(slack: FakeSlack, bot: Bot) -> None:
    slack.courier.deadline = 0.2
    async with bot.running():
        await finished(slack, await ask(slack))
        slack.faults.fail("apps.connections.open", "internal_error", None)
        slack.sockets.drop()
        await slack.until(lambda: not slack.sockets.connections, PATIENCE, what="no connection")
        missed = await ask(slack, "who pays them?")
        await silent(slack, missed)
        slack.faults.clear()
        await finished(slack, missed)
    assert len(slack.answers_to(missed)) == 1


async def test_what_was_asked_in_the_thread_of_a_direct_message_meanwhile_is_answered(
    slack: FakeSlack, bot: Bot
) -> None:
    slack.courier.deadline = 0.2
    alice = slack.person("alice")
    async with bot.running():
        first = await alice.says("how long do refunds take?")
        await finished(slack, first)
        await noted(bot)
    missed = await alice.says("and who pays them?", thread=first)
    await silent(slack, missed)
    async with bot.running():
        await finished(slack, missed)


async def test_a_place_that_cannot_be_read_just_then_is_read_again(slack: FakeSlack, bot: Bot) -> None:
    slack.courier.deadline = 0.2
    async with bot.running():
        await finished(slack, await ask(slack))
        await noted(bot)
    missed = await ask(slack, "who pays them?")
    await silent(slack, missed)
    slack.faults.server_error("conversations.history", times=6)
    async with bot.running():
        await finished(slack, missed)
    assert len(slack.answers_to(missed)) == 1


async def test_however_much_was_said_meanwhile_all_of_it_is_looked_through(slack: FakeSlack, bot: Bot) -> None:
    slack.courier.deadline = 0.2
    async with bot.running():
        await finished(slack, await ask(slack))
        await noted(bot)
    slack.courier.retry_delays = ()
    missed = await ask(slack, "who pays them?")
    for number in range(220):
        room, bob = slack.channel("general"), slack.person("bob")
        room.add(Message(room, slack.world.new_ts(), bob.id, text=f"only talking, {number}"))
    await silent(slack, missed)
    async with bot.running():
        await finished(slack, missed)
