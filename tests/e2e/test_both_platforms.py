"""Conversations, played on every platform: say this, expect that."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from core.model.answer import Outcome
from core.model.inquiry import AskBack
from tests.e2e.driver import PlatformDriver
from tests.e2e.inprocess import REFUNDS, Bot
from tests.e2e.slack_driver import SlackDriver
from tests.fakes.slack import FakeSlack, specs_are_here

CARDS = (
    "Refunds to credit cards are booked to the card that was charged, and we take no fee for that.",
    "Refunds to gift cards are paid as a voucher, which can be used for twelve months.",
    "Refunds to lost cards are paid by bank transfer, once the card has been reported as lost.",
)

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
    await bot.harness.knows(REFUNDS, title="Refund policy")
    async with bot.running():
        yield bot
    assert driver.broken_rules == []


async def test_a_mention_is_answered_in_its_thread_with_its_source(bot: Bot, driver: PlatformDriver) -> None:
    said = await driver.says("alice", "how long do refunds take?")
    answer = await driver.reply(said, containing=REFUNDS)
    text, _, below = answer.text.partition(f"{REFUNDS} [1]")
    assert text.strip() == ""
    assert "[1]" in below
    assert "Refund policy" in below
    assert "Show quotes" in answer.buttons
    assert len(await driver.replies(said)) == 1


async def test_a_sign_comes_before_the_answer_and_text_while_it_is_written(bot: Bot, driver: PlatformDriver) -> None:
    bot.reasoner.hold()
    bot.reasoner.enqueue("compose", ["Refunds are paid. ", "Within 14 days [1]."])
    said = await driver.says("alice", "how long do refunds take?")
    await driver.sign(said)
    await bot.reasoner.writing.wait()
    seen = await driver.showing(said, "Refunds are")
    assert "14 days" not in seen.text
    bot.reasoner.go_on()
    answer = await driver.reply(said, containing="14 days")
    assert answer.text.count("Refunds are paid.") == 1
    assert len(await driver.replies(said)) == 1


async def test_a_follow_up_needs_no_mention_and_chatter_is_left_alone(bot: Bot, driver: PlatformDriver) -> None:
    said = await driver.says("alice", "how long do refunds take?")
    await driver.reply(said, containing=REFUNDS)
    chatter = await driver.says("bob", "lunch at noon, everybody.", mention=False, thread=said)
    other = await driver.says("alice", "<@bob> can you look into this?", mention=False, thread=said)
    follow_up = await driver.says("alice", "and how long do they take for annual plans?", mention=False, thread=said)
    await driver.reply(follow_up, containing=REFUNDS)
    await bot.settled()
    assert len(await driver.replies(said)) == 2
    assert [call.given[0].question for call in bot.reasoner.calls_of("understand")] == [
        "how long do refunds take?",
        "and how long do they take for annual plans?",
    ]
    assert chatter is not other


async def test_another_persons_question_gets_no_refusal_and_no_card_unless_we_are_named(
    bot: Bot, driver: PlatformDriver
) -> None:
    said = await driver.says("alice", "how long do refunds take?")
    await driver.reply(said, containing=REFUNDS)
    bot.reasoner.always("grade", 1)
    await driver.says("bob", "how many customers were paid late?", mention=False, thread=said)
    await bot.seen("how many customers were paid late?")
    await driver.says("bob", "can you send me the customer's address?", mention=False, thread=said)
    await bot.settled()
    assert len(bot.reasoner.calls_of("understand")) == 2  # what is put to a person is not even tried
    assert len(await driver.replies(said)) == 1


async def test_what_nobody_asked_it_in_a_channel_is_not_even_kept(bot: Bot, driver: PlatformDriver) -> None:
    await driver.says("alice", "how long do refunds take?", mention=False)
    said = await driver.says("bob", "how long do refunds take?")
    await driver.reply(said, containing=REFUNDS)
    assert len(bot.reasoner.calls_of("understand")) == 1


async def test_a_muted_thread_is_quiet_until_it_is_unmuted(bot: Bot, driver: PlatformDriver) -> None:
    said = await driver.says("alice", "how long do refunds take?")
    await driver.reply(said, containing=REFUNDS)
    await driver.says("alice", "mute", mention=False, thread=said)
    assert "silent" in (await driver.private("alice")).text
    await driver.says("alice", "how long does it take?", mention=False, thread=said)
    await bot.settled()
    assert len(await driver.replies(said)) == 1
    await driver.says("alice", "unmute", mention=False, thread=said)
    assert "answer in this thread again" in (await driver.private("alice")).text
    again = await driver.says("alice", "how long does it take?", mention=False, thread=said)
    await driver.reply(again, containing=REFUNDS)


async def test_a_mention_with_why_tells_its_writer_how_the_last_answer_came_about(
    bot: Bot, driver: PlatformDriver
) -> None:
    said = await driver.says("alice", "how long do refunds take?")
    await driver.reply(said, containing=REFUNDS)
    await driver.says("bob", "why", thread=said)
    told = (await driver.private("bob")).text
    assert "how long do refunds take?" in told
    assert "I searched" in told
    await bot.settled()
    assert len(await driver.replies(said)) == 1


async def test_a_suggested_question_is_asked_once_by_the_person_who_presses_it(
    bot: Bot, driver: PlatformDriver
) -> None:
    await bot.harness.knows(*CARDS, title="Cards", headings=("Credit cards", "Gift cards", "Lost cards"))
    await driver.configure(bot.user_actions, follow_ups="yes")
    bot.reasoner.enqueue("compose", "Refunds are paid within 14 days [1].")
    said = await driver.says("alice", "how long do refunds to cards take?")
    answer = await driver.reply(said, containing="14 days")
    suggested = [label for label in answer.buttons if label.startswith("More on: ")]
    assert len(suggested) == 2
    await driver.presses("bob", answer, suggested[0])
    second = await driver.showing(said, "bank transfer")
    topic = suggested[0].removeprefix("More on: ")
    assert f"What does “Cards” say about “{topic}”?" in second.text
    questions = [call.given[0] for call in bot.reasoner.calls_of("understand")]
    assert questions[1].question == f"What does “Cards” say about “{topic}”?"
    assert questions[1].asker.name.casefold() == "bob"
    await driver.presses("alice", answer, suggested[0])
    assert "already asked" in (await driver.private("alice")).text
    await bot.settled()
    assert len(bot.reasoner.calls_of("understand")) == 2


async def test_what_is_suggested_below_a_private_answer_is_answered_as_privately(
    bot: Bot, driver: PlatformDriver
) -> None:
    await bot.harness.knows(*CARDS, title="Cards", headings=("Credit cards", "Gift cards", "Lost cards"))
    await driver.configure(bot.user_actions, follow_ups="yes", reply_style="private")
    bot.reasoner.enqueue("compose", "Refunds are paid within 14 days [1].")
    said = await driver.says("alice", "how long do refunds to cards take?")
    answer = await driver.private("alice")
    while "14 days" not in answer.text:
        answer = await driver.private("alice")
    suggested = [label for label in answer.buttons if label.startswith("More on: ")]
    await driver.presses("alice", answer, suggested[0])
    second = await driver.private("alice")
    while "bank transfer" not in second.text:
        second = await driver.private("alice")
    await bot.settled()
    assert await driver.replies(said) == []


async def test_a_direct_message_is_answered_without_a_mention(bot: Bot, driver: PlatformDriver) -> None:
    said = await driver.says_directly("alice", "how long do refunds take?")
    await driver.reply(said, containing=REFUNDS)


async def test_an_edited_question_is_answered_as_edited_and_once(bot: Bot, driver: PlatformDriver) -> None:
    bot.reasoner.hold()
    said = await driver.says("alice", "how long do refunds tkae?")
    await bot.reasoner.writing.wait()
    await driver.edits("alice", said, "how long do refunds take?")
    await bot.seen("how long do refunds take?")
    bot.reasoner.go_on()
    await driver.reply(said, containing=REFUNDS)
    assert len(await driver.replies(said)) == 1
    questions = [call.given[0].question for call in bot.reasoner.calls_of("understand")]
    assert questions == ["how long do refunds tkae?", "how long do refunds take?"]


async def test_a_question_edited_while_it_waits_is_answered_as_edited(bot: Bot, driver: PlatformDriver) -> None:
    bot.reasoner.hold()
    first = await driver.says("alice", "how long do refunds take?")
    await bot.reasoner.writing.wait()
    waiting = await driver.says("alice", "and for annaul plans?", thread=first)
    await bot.waits(2)
    await driver.edits("alice", waiting, "and for annual plans?")
    await bot.waits(3)
    bot.reasoner.go_on()
    await driver.reply(waiting, containing=REFUNDS)
    await bot.settled()
    questions = [call.given[0].question for call in bot.reasoner.calls_of("understand")]
    assert questions == ["how long do refunds take?", "and for annual plans?"]


async def test_an_edit_after_the_answer_changes_nothing(bot: Bot, driver: PlatformDriver) -> None:
    said = await driver.says("alice", "how long do refunds take?")
    await driver.reply(said, containing=REFUNDS)
    await bot.settled()
    await driver.edits("alice", said, "how long do refunds take, roughly?")
    await asyncio.sleep(0.3)
    await bot.settled()
    assert len(bot.reasoner.calls_of("understand")) == 1


async def test_a_deleted_question_takes_its_answer_along(bot: Bot, driver: PlatformDriver) -> None:
    bot.reasoner.hold()
    said = await driver.says("alice", "how long do refunds take?")
    await bot.reasoner.writing.wait()
    await driver.deletes("alice", said)
    await bot.settled()
    assert await driver.replies(said) == []


async def test_stop_offers_what_was_found(bot: Bot, driver: PlatformDriver) -> None:
    bot.reasoner.hold()
    said = await driver.says("alice", "how long do refunds take?")
    await bot.reasoner.writing.wait()
    await driver.stops("alice", said)
    card = await driver.reply(said, containing="Stopped")
    assert "Answer from that" in card.buttons
    bot.reasoner.go_on()
    await driver.presses("alice", card, "Answer from that")
    await driver.reply(said, containing=REFUNDS)


async def test_nobody_else_stops_it(bot: Bot, driver: PlatformDriver) -> None:
    """Slack ends its stream whoever presses its own button there; the work goes on, and the try is on record."""
    bot.reasoner.hold()
    said = await driver.says("alice", "how long do refunds take?")
    await bot.reasoner.writing.wait()
    await driver.stops("bob", said)
    async with asyncio.timeout(30):
        while not [one for one in await bot.user_actions.audit.recent() if one.action == "stop" and not one.allowed]:
            await asyncio.sleep(0.05)
    bot.reasoner.go_on()
    await driver.reply(said, containing=REFUNDS)


async def test_quotes_are_shown_to_the_one_who_asks_for_them(bot: Bot, driver: PlatformDriver) -> None:
    said = await driver.says("alice", "how long do refunds take?")
    answer = await driver.reply(said, containing=REFUNDS)
    await driver.presses("bob", answer, "Show quotes")
    form = await driver.form("bob")
    assert f"“{REFUNDS}”" in form.text


async def test_quotes_of_knowledge_that_was_closed_since_are_withheld(bot: Bot, driver: PlatformDriver) -> None:
    said = await driver.says("alice", "how long do refunds take?")
    answer = await driver.reply(said, containing=REFUNDS)
    await bot.close_knowledge()
    await driver.presses("alice", answer, "Show quotes")
    form = await driver.form("alice")
    assert REFUNDS not in form.text
    assert "don't have permission" in form.text


async def test_a_checkpoint_waits_for_its_asker_and_goes_on_after_a_restart(driver: PlatformDriver) -> None:
    bot = Bot(driver)
    await bot.harness.knows(REFUNDS, title="Refund policy")
    bot.reasoner.enqueue("understand", AskBack("Which refunds?", ("How long do refunds take?", "Who pays refunds?")))
    async with bot.running():
        said = await driver.says("alice", "refunds?")
        card = await driver.reply(said, containing="Which refunds?")
        assert "How long do refunds take?" in card.buttons
        await driver.presses("bob", card, "How long do refunds take?")
        assert "Only the person who asked" in (await driver.private("bob")).text
    async with bot.running():
        await driver.presses("alice", card, "How long do refunds take?")
        await driver.reply(said, containing=REFUNDS)
        seen = await driver.replies(said)
        assert "chose" in seen[0].text
        assert "How long do refunds take?" not in seen[0].buttons
        await driver.presses("alice", card, "How long do refunds take?", stale=True)
        assert "already been made" in (await driver.private("alice")).text
        await bot.settled()
        assert len(await driver.replies(said)) == len(seen)
    assert any(not entry.allowed for entry in await bot.audit.recent())
    assert driver.broken_rules == []


async def test_an_admin_may_choose_for_the_asker(bot: Bot, driver: PlatformDriver) -> None:
    bot.reasoner.enqueue("understand", AskBack("Which refunds?", ("How long do refunds take?",)))
    said = await driver.says("alice", "refunds?")
    card = await driver.reply(said, containing="Which refunds?")
    await driver.presses("ada", card, "How long do refunds take?")
    await driver.reply(said, containing=REFUNDS)


async def test_something_else_is_typed_into_a_field(bot: Bot, driver: PlatformDriver) -> None:
    bot.reasoner.enqueue("understand", AskBack("Which refunds?", ("Who pays refunds?",)))
    said = await driver.says("alice", "refunds?")
    card = await driver.reply(said, containing="Which refunds?")
    await driver.presses("alice", card, "Something else")
    form = await driver.form("alice")
    assert "Something else" in f"{form.text} {form.raw.title}"
    assert "What exactly do you want to know?" in form.text
    assert "You asked: “refunds?”" in form.text
    await driver.submits("alice", form, {"text": "how long do refunds take?"})
    await driver.reply(said, containing=REFUNDS)
    assert "how long do refunds take?" in bot.reasoner.calls_of("compose")[-1].given[0].standalone


async def test_a_checkpoint_is_answered_in_words_too(bot: Bot, driver: PlatformDriver) -> None:
    bot.reasoner.enqueue("understand", AskBack("Which refunds?", ("How long do refunds take?", "Who pays refunds?")))
    said = await driver.says("alice", "refunds?")
    await driver.reply(said, containing="Which refunds?")
    typed = await driver.says("alice", "1", thread=said)
    await driver.reply(typed, containing=REFUNDS)


async def test_a_checkpoint_nobody_answers_ends_by_itself(bot: Bot, driver: PlatformDriver) -> None:
    await driver.configure(bot.user_actions, sources_first="yes", checkpoints="sources_first")
    said = await driver.says("alice", "how long do refunds take?")
    await driver.reply(said, containing="sources first")
    bot.harness.clock.advance(3_600)
    await driver.reply(said, containing="Nobody chose")
    assert len(await driver.replies(said)) == 1
    assert bot.reasoner.calls_of("compose") == []


async def test_a_number_out_of_range_and_an_aside_keep_the_card(bot: Bot, driver: PlatformDriver) -> None:
    bot.reasoner.enqueue("understand", AskBack("Which refunds?", ("How long do refunds take?", "Who pays refunds?")))
    said = await driver.says("alice", "refunds?")
    await driver.reply(said, containing="Which refunds?")
    await driver.says("alice", "sure, after lunch", mention=False, thread=said)
    await driver.says("alice", "9", mention=False, thread=said)
    assert "no choice 9" in (await driver.private("alice")).text
    typed = await driver.says("alice", "the first one", mention=False, thread=said)
    await driver.reply(typed, containing=REFUNDS)
    assert len(bot.reasoner.calls_of("understand")) == 1


async def test_the_words_of_the_help_work_when_they_are_typed(bot: Bot, driver: PlatformDriver) -> None:
    said = await driver.says("alice", "how long do refunds take?")
    await driver.reply(said, containing=REFUNDS)
    await driver.says("alice", "help", thread=said)
    assert "mention me in a channel" in (await driver.private("alice")).text
    await driver.says("alice", "forget", thread=said)
    assert "I have deleted everything I stored about this thread." in (await driver.private("alice")).text
    assert len(bot.reasoner.calls_of("understand")) == 1


async def test_feedback_is_kept_with_question_answer_and_evidence(bot: Bot, driver: PlatformDriver) -> None:
    said = await driver.says("alice", "how long do refunds take?")
    answer = await driver.reply(said, containing=REFUNDS)
    await driver.presses("bob", answer, driver.rating(helpful=True))
    await driver.presses("alice", answer, driver.rating(helpful=False))
    form = await driver.form("alice")
    await driver.submits("alice", form, {"text": "It is 30 days now."})
    await bot.rated(2)
    words = {one.person.id: one async for one in bot.feedback.all()}
    assert {one.helpful for one in words.values()} == {True, False}
    (unhelpful,) = [one for one in words.values() if not one.helpful]
    assert unhelpful.reason == "It is 30 days now."
    assert unhelpful.question == "how long do refunds take?"
    assert unhelpful.answer == f"{REFUNDS} [1]"
    assert unhelpful.citations[0].quote == REFUNDS
    assert unhelpful.trace_id


async def test_a_private_answer_is_seen_by_the_asker_until_they_share_it(bot: Bot, driver: PlatformDriver) -> None:
    await driver.configure(bot.user_actions, reply_style="private")
    said = await driver.says("alice", "how long do refunds take?")
    first = await driver.private("alice")
    assert "visible to you only" in first.text
    answer = await driver.private("alice")
    assert REFUNDS in answer.text
    assert await driver.replies(said) == []
    await driver.presses("alice", answer, "Share with channel")
    shared = await driver.reply(said, containing=REFUNDS)
    assert "alice asked" in shared.text.casefold()
    assert len(await driver.replies(said)) == 1


async def test_the_same_event_four_times_at_once_is_one_answer(bot: Bot, driver: PlatformDriver) -> None:
    said = await driver.says("alice", "how long do refunds take?")
    await driver.redelivers(said)
    await driver.reply(said, containing=REFUNDS)
    await bot.settled()
    assert len(await driver.replies(said)) == 1
    assert len(bot.reasoner.calls_of("understand")) == 1


async def test_a_question_outlives_the_process_that_heard_it(driver: PlatformDriver) -> None:
    bot = Bot(driver)
    await bot.harness.knows(REFUNDS, title="Refund policy")
    bot.reasoner.hold()
    async with bot.crashing():
        said = await driver.says("alice", "how long do refunds take?")
        await bot.reasoner.writing.wait()
        await driver.sign(said)
    bot.reasoner.go_on()
    async with bot.running():
        await driver.reply(said, containing=REFUNDS)
        assert len(await driver.replies(said)) == 1
    assert driver.broken_rules == []


async def test_earlier_messages_of_a_thread_are_context_by_name(bot: Bot, driver: PlatformDriver) -> None:
    root = await driver.says("bob", "Our customer in Lyon wants their money back.", mention=False)
    said = await driver.says("alice", "how long do refunds take?", thread=root)
    await driver.reply(said, containing=REFUNDS)
    thread = bot.reasoner.calls_of("understand")[0].given[1]
    assert [(one.author.casefold(), one.text) for one in thread.context] == [
        ("bob", "Our customer in Lyon wants their money back.")
    ]


async def test_a_file_on_the_question_is_read_for_this_thread(bot: Bot, driver: PlatformDriver) -> None:
    said = await driver.says("alice", "what does this say of refunds?", files=[("note.txt", b"Pay Lyon by Friday.")])
    await driver.reply(said, containing=REFUNDS)
    follow_up = await driver.says("alice", "and whom does it say to pay?", mention=False, thread=said)
    await driver.reply(follow_up, containing=REFUNDS)
    await bot.settled()
    for call in bot.reasoner.calls_of("understand"):
        assert [(one.author, one.text) for one in call.given[1].attachments] == [("note.txt", "Pay Lyon by Friday.")]


async def test_a_file_that_cannot_be_read_is_named_above_the_answer(bot: Bot, driver: PlatformDriver) -> None:
    files = [("note.txt", b"Pay Lyon by Friday."), ("scan.pdf", b"%PDF-1.7 \xff")]
    said = await driver.says("alice", "how long do refunds take?", files=files)
    answer = await driver.reply(said, containing=REFUNDS)
    assert "I could not read" in answer.text
    assert "scan.pdf" in answer.text
    assert "note.txt" not in answer.text


async def test_where_the_file_that_is_asked_about_cannot_be_read_nothing_else_is_searched(
    bot: Bot, driver: PlatformDriver
) -> None:
    said = await driver.says("alice", "can you read this one?", files=[("scan.pdf", b"%PDF-1.7 \xff")])
    answer = await driver.reply(said, containing="because I couldn't read the file")
    assert "scan.pdf" in answer.text
    assert "This file is damaged." in answer.text
    assert bot.reasoner.calls_of("understand") == []


async def test_a_correction_and_an_objection_of_the_asker_need_no_mention(bot: Bot, driver: PlatformDriver) -> None:
    said = await driver.says("alice", "how long do refunds take?")
    await driver.reply(said, containing=REFUNDS)
    corrected = await driver.says("alice", "no, I meant the monthly plan", mention=False, thread=said)
    await driver.reply(corrected, containing=REFUNDS)
    await driver.says("alice", "that is wrong", mention=False, thread=said)
    await bot.seen("that is wrong")
    await bot.settled()
    await driver.says("bob", "that is wrong", mention=False, thread=said)
    await bot.settled()
    asked = [call.given[0].question for call in bot.reasoner.calls_of("understand")]
    assert asked[1:] == ["no, I meant the monthly plan", "that is wrong"]  # bob's is left alone


async def test_other_bots_are_not_answered(bot: Bot, driver: PlatformDriver) -> None:
    noise = await driver.bot_says("deploybot", "how long do refunds take?")
    said = await driver.says("alice", "how long do refunds take?")
    await driver.reply(said, containing=REFUNDS)
    assert await driver.replies(noise) == []


async def test_a_bot_that_is_allowed_by_name_gets_one_reply_and_no_conversation(driver: PlatformDriver) -> None:
    bot = Bot(driver)
    bot.more["allowed_bots"] = ["deploybot"]
    await bot.harness.knows(REFUNDS, title="Refund policy")
    async with bot.running():
        said = await driver.bot_says("deploybot", "how long do refunds take?")
        await driver.reply(said, containing=REFUNDS)
        await driver.bot_says("deploybot", "thanks, and how long do they take?", thread=said)
        await bot.settled()
        await asyncio.sleep(0.2)
        assert len(await driver.replies(said)) == 1


LINES = "\n".join(f"    line_{n} = compute({n})  # {'x' * 40}" for n in range(400))
LONG = f"Here it is [1].\n\n```python\ndef all_of_it():\n{LINES}\n```\n\nAnd so it ends [1]."


async def test_a_long_answer_is_split_without_breaking_its_code(bot: Bot, driver: PlatformDriver) -> None:
    await bot.harness.knows(LONG.replace(" [1]", ""), title="All of it")
    bot.reasoner.enqueue("compose", [LONG[n : n + 900] for n in range(0, len(LONG), 900)])
    said = await driver.says("alice", "show me all of it?")
    await driver.reply(said, containing="And so it ends [1]")
    seen = await driver.replies(said)
    assert len(seen) > 1
    whole = "\n".join(one.text for one in seen)
    assert all(whole.count(f"line_{n} = compute") == 1 for n in range(400))
    assert all(one.text.count("```") % 2 == 0 for one in seen)


HOSTILE = (
    "Ask <!channel> or <!subteam^S0123ABC> or <@U0ALICE00003> or @everyone or @here [1]. <https://evil.example/?q=1|x>"
)


@pytest.mark.parametrize("cut", [1, 2, 3, 1_000])
async def test_no_text_of_a_model_calls_anybody_however_it_is_cut(bot: Bot, driver: PlatformDriver, cut: int) -> None:
    await bot.harness.knows(HOSTILE.replace(" [1]", ""), title="Whom to ask")
    bot.reasoner.pause = 0.02
    bot.reasoner.enqueue("compose", [HOSTILE[n : n + cut] for n in range(0, len(HOSTILE), cut)])
    said = await driver.says("alice", "whom should I ask?")
    answer = await driver.reply(said, containing="Show quotes")
    assert "evil.example" not in answer.text
    assert driver.pings() == []


async def test_a_document_with_a_hostile_title_calls_nobody(bot: Bot, driver: PlatformDriver) -> None:
    await bot.harness.knows("Invoices are paid by <!here> within a week.", title="<!channel> *read* @everyone")
    said = await driver.says("alice", "when are invoices paid?")
    answer = await driver.reply(said, containing="Show quotes")
    await driver.presses("alice", answer, "Show quotes")
    await driver.form("alice")
    assert driver.pings() == []


async def test_a_failure_says_so_with_its_trace(bot: Bot, driver: PlatformDriver) -> None:
    bot.reasoner.enqueue("understand", RuntimeError("secret-internal-detail"))
    said = await driver.says("alice", "how long do refunds take?")
    answer = await driver.reply(said, containing="went wrong")
    assert "trace" in answer.text
    assert "secret-internal-detail" not in answer.text


async def test_it_says_when_the_documents_do_not(bot: Bot, driver: PlatformDriver) -> None:
    bot.reasoner.always("grade", 1)
    await driver.configure(bot.user_actions, checkpoints="")
    said = await driver.says("alice", "who won the cup?")
    await driver.reply(said, containing="I couldn't find this")
    turns = [turn for record in bot.harness.state.threads.values() for turn in record.turns]
    assert [turn.outcome for turn in turns] == [Outcome.ABSTAINED]


async def test_why_tells_how_the_last_answer_came_about(bot: Bot, driver: PlatformDriver) -> None:
    said = await driver.says("alice", "how long do refunds take?")
    await driver.reply(said, containing=REFUNDS)
    told = await driver.commands("alice", "why")
    assert told is not None
    assert "I searched" in told.text


async def test_a_button_tells_why_to_the_one_who_presses(bot: Bot, driver: PlatformDriver) -> None:
    said = await driver.says("alice", "how long do refunds take?")
    answer = await driver.reply(said, containing=REFUNDS)
    assert "trace" not in answer.text.casefold()
    await driver.presses("bob", answer, "Why")
    assert "I searched" in (await driver.form("bob")).text


async def test_forgetting_a_thread_is_for_its_asker(bot: Bot, driver: PlatformDriver) -> None:
    said = await driver.says("alice", "how long do refunds take?")
    await driver.reply(said, containing=REFUNDS)
    await bot.settled()
    denied = await driver.commands("bob", "forget")
    assert denied is not None
    assert "only an admin" in denied.text
    done = await driver.commands("alice", "forget")
    assert done is not None
    assert "deleted" in done.text
    assert "&lt;" not in done.text  # a link to the thread, not its source
    assert not any(record.turns for record in bot.harness.state.threads.values())


async def test_help_says_how_to_ask(bot: Bot, driver: PlatformDriver) -> None:
    told = await driver.commands("alice", "help")
    assert told is not None
    assert "mention me" in told.text


async def test_settings_are_for_admins_and_hold_from_the_next_question(bot: Bot, driver: PlatformDriver) -> None:
    denied = await driver.commands("alice", "settings")
    assert denied is not None
    assert "Only an admin" in denied.text
    assert await driver.commands("ada", "settings") is None
    form = await driver.form("ada")
    await driver.submits("ada", form, {"profile": "quick", "reply_style": "private"})
    said = await driver.says("alice", "how long do refunds take?")
    assert "visible to you only" in (await driver.private("alice")).text
    assert REFUNDS in (await driver.private("alice")).text
    assert await driver.replies(said) == []
    assert bot.reasoner.calls_of("understand")[0].given[0].policy.profile == "quick"
    assert {(entry.action, entry.allowed) for entry in await bot.audit.recent()} == {
        ("settings", True),
        ("settings", False),
    }


async def test_evidence_is_bounded_by_who_can_read_the_channel(bot: Bot, driver: PlatformDriver) -> None:
    await bot.harness.knows("The canary sings at dawn.", title="Secret", base="secret", grants=frozenset({"nobody"}))
    said = await driver.says("alice", "when does the canary sing?")
    answer = await driver.reply(said, containing="Show quotes")
    assert "dawn" not in answer.text


async def test_many_ask_at_once_and_every_text_is_whole(bot: Bot, driver: PlatformDriver) -> None:
    bot.reasoner.pause = 0.01
    text = " ".join(f"word{n}" for n in range(200)) + " [1]."
    bot.reasoner.always("compose", [text[n : n + 50] for n in range(0, len(text), 50)])
    asked = [await driver.says("alice" if n % 2 else "bob", f"question {n}?") for n in range(20)]
    for said in asked:
        answer = await driver.reply(said, containing="Show quotes", within=60)
        assert f" {text.rsplit(' ', 2)[0]}" in f" {answer.text}"
        assert len(await driver.replies(said)) == 1
