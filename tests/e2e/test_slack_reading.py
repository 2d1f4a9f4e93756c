"""On Slack, a question is read as people see it: names for ids, alerts and forwards as text, and what it points at."""

from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest

from core.model.conversation import ContextMessage
from core.service.attached_files import ABOUT_FILES
from tests.e2e.inprocess import REFUNDS, Bot
from tests.e2e.slack_driver import SlackDriver
from tests.fakes.slack import FakeSlack, Message, specs_are_here

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(not specs_are_here(), reason="Slack's method descriptions are not beside this checkout"),
]

QUESTION = "how long do refunds take?"
PREVIEW = {"title": "Refund law", "text": "Pay at once.", "service_name": "Lawbook", "from_url": "https://law.example"}
ALERT_BLOCKS: list[dict[str, Any]] = [
    {"type": "header", "text": {"type": "plain_text", "text": "Refund queue is stuck"}},
    {"type": "section", "text": {"type": "mrkdwn", "text": "No refund since *12:00*."}},
    {"type": "section", "fields": [{"type": "mrkdwn", "text": "Region: Lyon"}]},
    {"type": "actions", "elements": [{"type": "button", "text": {"type": "plain_text", "text": "Snooze"}}]},
]
ALERT_ATTACHMENT: dict[str, Any] = {
    "title": "Disk full on db-7", "text": "92 % used.", "fields": [{"title": "Runbook", "value": "RB-12"}],
    "fallback": "Disk full on db-7",
}  # fmt: skip


@pytest.fixture
async def slack() -> AsyncIterator[FakeSlack]:
    async with FakeSlack() as workspace:
        yield workspace
        assert workspace.violations == []
        assert workspace.pings() == []


@pytest.fixture
async def bot(slack: FakeSlack) -> AsyncIterator[Bot]:
    bot = Bot(SlackDriver(slack, "socket"))
    await bot.harness.knows(REFUNDS, title="Refund policy")
    async with bot.running():
        yield bot


async def read_question(slack: FakeSlack, bot: Bot, asked: Message) -> tuple[str, Sequence[ContextMessage]]:
    """What was understood as the question, and what as its context."""
    await slack.reply_to(asked)
    inquiry, thread = bot.reasoner.calls_of("understand")[-1].given[:2]
    return inquiry.question, thread.context


def said(context: Sequence[ContextMessage]) -> list[tuple[str, str]]:
    return [(one.author, one.text) for one in context]


async def test_reads_markup_as_names_and_drops_decoration(slack: FakeSlack, bot: Bot) -> None:
    group, secret = slack.usergroup("ops", ["bob"]), slack.channel("secret", private=True, members=["alice"])
    alice = slack.person("alice")
    slack.person("bob")
    wanted = {
        "how long do refunds take? :pray:": QUESTION,
        ":wave::skin-tone-3: how long do `refunds` *take*?": QUESTION,
        "what does this mean?\n```raise RateLimited(3)```": "what does this mean?\nraise RateLimited(3)",
        "does <@bob> open on <!date^1790000000^{date}|Monday>?": "does @bob open on Monday?",
        "is support open at <!date^1790000000^{date}^>?": "is support open at 21 September 2026 14:13 UTC?",
        f"does <!subteam^{group.id}> see <#{slack.channel('random').id}>?": "does @ops see #random?",
        f"may <@U0NOBODY> see <#{secret.id}|>?": "may @someone see #a channel?",
    }
    for raw, read in wanted.items():
        asked = await alice.says(f"<@bot> {raw}", "general")
        question, _ = await read_question(slack, bot, asked)
        assert question == read
        title = slack.world.session_titles.get((asked.channel.id, asked.root), read)
        assert title.replace("\u2060", "").startswith(read.split("\n")[0])


async def test_alerts_of_apps_are_text_with_their_author_named(slack: FakeSlack, bot: Bot) -> None:
    alice, grafana = slack.person("alice"), slack.bot("grafana")
    blocks = await grafana.says("", "general", blocks=ALERT_BLOCKS)
    asked = await alice.says("<@bot> what should I do about this?", thread=blocks)
    _, context = await read_question(slack, bot, asked)
    assert said(context) == [("grafana", "Refund queue is stuck\nNo refund since 12:00.\nRegion: Lyon")]
    attached = await grafana.says("", "general", attachments=[ALERT_ATTACHMENT])
    _, context = await read_question(slack, bot, await alice.says("<@bot> how do we fix that?", thread=attached))
    assert said(context) == [("grafana", "Disk full on db-7\n92 % used.\nRunbook: RB-12")]
    repeated = await grafana.says("Disk full on db-7", "general", attachments=[ALERT_ATTACHMENT])
    _, context = await read_question(slack, bot, await alice.says("<@bot> how do we fix that?", thread=repeated))
    assert said(context) == [("grafana", "Disk full on db-7\n92 % used.\nRunbook: RB-12")]


async def test_a_forward_is_text_with_its_author_named(slack: FakeSlack, bot: Bot) -> None:
    alice, bob, carol = slack.person("alice"), slack.person("bob"), slack.person("carol")
    original = await carol.says("Customers in Lyon want <@bob> to pay.", "random")
    forwarded = ("alice, forwarding carol", "Customers in Lyon want @bob to pay.")
    direct = await alice.forwards(original, text="what is our rule for this?")
    question, context = await read_question(slack, bot, direct)
    assert (question, said(context)) == ("what is our rule for this?", [forwarded])
    _, context = await read_question(slack, bot, await alice.says("how do we handle what I forwarded?"))
    assert forwarded in said(context)
    in_thread = await bob.forwards(original, "general", "fyi")
    _, context = await read_question(slack, bot, await alice.says("<@bot> how do we handle that?", thread=in_thread))
    assert said(context) == [("bob", "fyi"), ("bob, forwarding carol", forwarded[1])]
    asking = await carol.says(QUESTION, "random")
    for channel, text in (("general", "<@bot> can you answer this please?"), (None, "")):
        question, _ = await read_question(slack, bot, await alice.forwards(asking, channel, text))
        assert question == QUESTION


async def test_a_link_preview_is_never_the_askers_words(slack: FakeSlack, bot: Bot) -> None:
    alice, bob = slack.person("alice"), slack.person("bob")
    asked = await alice.says(f"<@bot> {QUESTION} <https://law.example>", "general", attachments=[PREVIEW])
    question, context = await read_question(slack, bot, asked)
    assert question == f"{QUESTION} https://law.example"
    assert said(context) == [("preview of a link", "Lawbook\nRefund law\nPay at once.")]
    linked = await bob.says("see <https://law.example>", "general", attachments=[PREVIEW])
    _, context = await read_question(slack, bot, await alice.says("<@bot> what must we pay then?", thread=linked))
    assert said(context) == [
        ("bob", "see https://law.example"),
        ("preview of a link", "Lawbook\nRefund law\nPay at once."),
    ]


@pytest.mark.parametrize(
    "text", ["<@bot>", "<@bot> ^", "<@bot> please help Bob with that", "<@bot> can you answer <@bob>'s question?"]
)
async def test_a_mention_that_only_points_asks_the_message_above(slack: FakeSlack, bot: Bot, text: str) -> None:
    alice, bob = slack.person("alice"), slack.person("bob")
    root = await bob.says("good morning", "general")
    await bob.says(QUESTION, thread=root)
    await slack.person("carol").says("no idea", thread=root)
    question, _ = await read_question(slack, bot, await alice.says(text, thread=root))
    assert question == QUESTION
    await bob.says(QUESTION, "general")
    question, _ = await read_question(slack, bot, await alice.says(text, "general"))
    assert question == (QUESTION if text != "<@bot>" else "Hello")
    await bob.says("good morning", "general")
    question, _ = await read_question(slack, bot, await alice.says(text, "general"))
    assert (question == "good morning") == (text == "<@bot> ^")


async def test_the_newest_messages_of_a_long_thread_are_its_context(slack: FakeSlack, bot: Bot) -> None:
    alice, bob = slack.person("alice"), slack.person("bob")
    root = await bob.says("Refunds in Lyon.", "general")
    for number in range(1_100):  # told to nobody: it is only what the history holds
        root.channel.add(Message(root.channel, slack.world.new_ts(), bob.id, f"chatter {number}", root.ts))
    _, context = await read_question(slack, bot, await alice.says("<@bot> what is our rule?", thread=root))
    assert [one.text for one in context] == ["Refunds in Lyon.", *(f"chatter {n}" for n in range(1_051, 1_100))]


async def test_in_a_busy_thread_the_answer_names_its_question(slack: FakeSlack, bot: Bot) -> None:
    alice, bob = slack.person("alice"), slack.person("bob")
    root = await alice.says(f"<@bot> {QUESTION}", "general")
    assert "asked:" not in (await slack.reply_to(root)).markdown
    alone = await alice.says("<@bot> and for annual plans?", thread=root)
    await slack.until(lambda: len(slack.answers_to(root)) == 2, what="an answer")
    assert "asked:" not in (await slack.reply_to(alone)).markdown
    bot.reasoner.hold()
    asked = await alice.says("<@bot> and for <@bob>'s plans? :pray:", thread=root)
    await slack.until(lambda: len(slack.answers_to(root)) == 3, what="a first sign")
    await bob.says("In March it was longer.", thread=root)
    bot.reasoner.go_on()
    answer = await slack.reply_to(asked, until=lambda one: "Show quotes" in one.buttons())
    assert answer.markdown.replace("\u2060", "").startswith("alice asked: and for @bob's plans?\nRefunds are paid")


async def test_a_question_that_is_too_long_is_refused_without_repeating_it(slack: FakeSlack, bot: Bot) -> None:
    alice = slack.person("alice")
    asked = await alice.says(f"<@bot> what is {'QUJD' * 3_000}?", "general")
    told = await alice.next_private()
    assert "at most 4,000" in told.markdown
    assert len(told.markdown) < 200
    await bot.settled()
    assert slack.answers_to(asked) == []
    assert bot.reasoner.calls_of("understand") == []


# --- files


def files_read(bot: Bot) -> list[str]:
    return [one.text for one in bot.reasoner.calls_of("understand")[-1].given[1].attachments]


async def test_a_file_at_the_root_of_the_thread_or_in_what_is_pointed_at_is_read_and_named(
    slack: FakeSlack, bot: Bot
) -> None:
    alice, bob, carol = slack.person("alice"), slack.person("bob"), slack.person("carol")
    handover = ("handover.txt", b"Pay Lyon first.")
    root = await bob.says("here is the handover", "general", files=[handover])
    await carol.says("thanks", thread=root)
    asked = await alice.says("<@bot> whom does the file tell us to pay?", thread=root)
    _, context = await read_question(slack, bot, asked)
    assert files_read(bot) == ["Pay Lyon first."]
    assert said(context)[0] == ("bob", "here is the handover\n[attached: handover.txt]")
    below = await carol.says("who is in Turin?", "general")
    await bob.says("", thread=below, files=[("turin.txt", b"Pay Turin.")])
    question, _ = await read_question(slack, bot, await alice.says("<@bot> please help Bob with that", thread=below))
    assert (question, files_read(bot)) == (ABOUT_FILES, ["Pay Turin."])
    question, _ = await read_question(slack, bot, await alice.says("<@bot>", "general", files=[handover]))
    assert (question, files_read(bot)) == (ABOUT_FILES, ["Pay Lyon first."])
    question, _ = await read_question(slack, bot, await alice.forwards(root, text="whom must we pay?"))
    assert files_read(bot) == ["Pay Lyon first."]


@pytest.mark.parametrize("text", ["<@bot>", "<@bot> ^"])
async def test_a_bare_mention_below_a_file_alone_asks_about_that_file(slack: FakeSlack, bot: Bot, text: str) -> None:
    root = await slack.person("bob").says("", "general", files=[("handover.txt", b"Pay Lyon first.")])
    question, _ = await read_question(slack, bot, await slack.person("alice").says(text, thread=root))
    assert (question, files_read(bot)) == (ABOUT_FILES, ["Pay Lyon first."])


async def test_an_unreadable_file_is_said_before_the_answer(slack: FakeSlack, bot: Bot) -> None:
    asked = await slack.person("alice").says(f"<@bot> {QUESTION}", "general", files=[("scan.txt", b"\xff\xfe\xfa")])
    answer = await slack.reply_to(asked, until=lambda one: "Show quotes" in one.buttons())
    assert answer.markdown.startswith("I could not read *scan.txt*: This file is damaged.")
    assert REFUNDS in answer.markdown


async def test_the_shortcut_answers_an_alert(slack: FakeSlack, bot: Bot) -> None:
    alert = await slack.bot("grafana").says("", "general", attachments=[ALERT_ATTACHMENT])
    await slack.person("alice").shortcut("footnote_answer_this", alert)
    await slack.reply_to(alert)
    question = bot.reasoner.calls_of("understand")[-1].given[0].question
    assert question == "Disk full on db-7\n92 % used.\nRunbook: RB-12"
