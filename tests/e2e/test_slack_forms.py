"""Forms and modals in Slack: acknowledged in time, opened in time, and never at the cost of what was set before."""

from collections.abc import AsyncIterator

import pytest

from adapters.slack.listeners.support import ACKNOWLEDGE_SECONDS
from core.model.channel_settings import ChosenSettings
from core.model.inquiry import AskBack
from core.model.principals import channel_principal
from tests.core.service.kb.knowledge_room import Room
from tests.e2e.inprocess import REFUNDS, Bot
from tests.e2e.slack_driver import SlackDriver
from tests.fakes.slack import FakeSlack, Message, specs_are_here

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.timeout(300),
    pytest.mark.skipif(not specs_are_here(), reason="Slack's method descriptions are not beside this checkout"),
]
TOO_SLOW = 3.2  # seconds: a trigger holds for three


@pytest.fixture
async def slack() -> AsyncIterator[FakeSlack]:
    async with FakeSlack() as workspace:
        yield workspace
        assert workspace.violations == []


@pytest.fixture
async def bot(slack: FakeSlack) -> AsyncIterator[Bot]:
    bot = Bot(SlackDriver(slack, "socket"))
    await bot.harness.knows(REFUNDS, title="Refund policy")
    bot.more = {"kb": Room().kb_service}
    async with bot.running():
        yield bot


def place(slack: FakeSlack) -> str:
    return channel_principal("slack", slack.team_id, slack.channel("general").id)


async def chosen(slack: FakeSlack, bot: Bot) -> ChosenSettings:
    return await bot.user_actions.settings.store.read(place(slack))


async def answered(slack: FakeSlack) -> Message:
    question = await slack.person("alice").says("<@bot> how long do refunds take?", "general")
    return await slack.reply_to(question, until=lambda one: "Why" in one.buttons())


# --- settings


async def test_a_group_that_could_not_be_looked_up_stays_whom_ask_a_person_calls(slack: FakeSlack, bot: Bot) -> None:
    ada, group = slack.person("ada"), slack.usergroup("support", ["bob"])
    await SlackDriver(slack, "socket").configure(bot.user_actions, handoff=group.id, bases="default")
    slack.faults.fail("usergroups.list", "missing_scope", None)
    await ada.slash("/footnote", "settings", "general")
    form = await ada.next_modal()
    assert "Ask a person" not in form.markdown
    await ada.submits(form, {"profile": "quick"})
    kept = await chosen(slack, bot)
    assert kept.handoff == group.id
    assert kept.bases == frozenset({"default"})
    assert kept.profile == "quick"


async def test_where_slack_does_not_say_who_reads_there_no_form_opens(slack: FakeSlack, bot: Bot) -> None:
    ada = slack.person("ada")
    slack.faults.fail("conversations.info", "channel_not_found", None)
    await ada.slash("/footnote", "settings", "general")
    assert "I cannot look up who can read this channel. Invite me there." in (await ada.next_private()).markdown
    assert ada.modal is None


async def test_what_cannot_be_looked_up_when_the_form_is_sent_changes_nothing(slack: FakeSlack, bot: Bot) -> None:
    ada = slack.person("ada")
    await bot.harness.knows("Only for few.", title="Secret", base="secret", grants=frozenset({"nobody"}))
    await SlackDriver(slack, "socket").configure(bot.user_actions, bases="secret")
    await ada.slash("/footnote", "settings", "general")
    form = await ada.next_modal()
    platform = bot.platform
    platform.workspace.directory._channels._values.clear()  # type: ignore[union-attr]  # a minute later
    slack.faults.fail("conversations.info", "channel_not_found", 1)
    await ada.submits(form, {"profile": "quick"})
    assert form.errors["profile"] == "I cannot look up who can read this channel. Invite me there."
    assert (await chosen(slack, bot)).bases == frozenset({"secret"})


async def test_a_form_is_acknowledged_before_its_sender_is_told(slack: FakeSlack, bot: Bot) -> None:
    ada = slack.person("ada")
    await ada.slash("/footnote", "settings", "general")
    form = await ada.next_modal()
    slack.faults.slow("chat.postEphemeral", TOO_SLOW)
    assert (await ada.submits(form, {"profile": "quick"})).acknowledged
    assert not form.open
    assert "Saved." in (await ada.next_private()).markdown


async def test_a_form_whose_lookups_take_too_long_says_so_in_time(slack: FakeSlack, bot: Bot) -> None:
    ada = slack.person("ada")
    await ada.slash("/footnote", "settings", "general")
    form = await ada.next_modal()
    platform = bot.platform
    platform.workspace.directory._members._values.clear()  # type: ignore[union-attr]  # a minute later
    slack.faults.slow("users.info", 2 * ACKNOWLEDGE_SECONDS)
    assert (await ada.submits(form, {"profile": "quick"})).acknowledged
    assert "try again" in form.errors["profile"]


async def test_instructions_and_limits_are_kept_and_shown_again(slack: FakeSlack, bot: Bot) -> None:
    ada = slack.person("ada")
    await ada.slash("/footnote", "settings", "general")
    form = await ada.next_modal()
    assert "Without a model, only such lines have an effect." in form.markdown
    wish = "Be brief.\nrefunds -> #billing"
    await ada.submits(form, {"instructions": wish, "person_answers": "20", "channel_money": "0.5"})
    assert "Saved." in (await ada.next_private()).markdown
    kept = await chosen(slack, bot)
    assert (kept.instructions, kept.person_answers, kept.channel_answers, kept.channel_money) == (wish, 20, None, 0.5)
    await ada.slash("/footnote", "settings", "general")
    assert "Be brief." in str((await ada.next_modal()).payload)


# --- checkpoints


async def test_a_choice_is_acknowledged_in_time_while_its_text_field_opens(slack: FakeSlack, bot: Bot) -> None:
    bot.reasoner.enqueue("understand", AskBack("Which?", ("How long do refunds take?",)))
    alice = slack.person("alice")
    question = await alice.says("<@bot> refunds?", "general")
    card = await slack.reply_to(question, until=lambda one: "Something else" in one.buttons())
    slack.faults.slow("views.open", TOO_SLOW)
    assert (await alice.clicks(card, "Something else")).acknowledged


# --- modals below answers


@pytest.mark.parametrize(("button", "text"), [("Show quotes", REFUNDS), ("Why", "I searched")])
async def test_what_takes_longer_than_a_trigger_holds_is_shown_all_the_same(
    slack: FakeSlack, bot: Bot, button: str, text: str
) -> None:
    answer = await answered(slack)
    slack.faults.slow("usergroups.list", TOO_SLOW)
    await slack.person("bob").clicks(answer, button)
    await slack.person("bob").modal_shows(text)


@pytest.mark.parametrize("button", ["Show quotes", "Why", "👎"])
async def test_where_slack_opens_nothing_the_presser_is_told(slack: FakeSlack, bot: Bot, button: str) -> None:
    answer = await answered(slack)
    slack.faults.fail("views.open", "expired_trigger_id", None)
    await slack.person("bob").clicks(answer, button)
    assert "did not open the form: it took me too long" in (await slack.person("bob").next_private()).markdown
    if button == "👎":
        assert [one.helpful async for one in bot.feedback.all()] == [False]


async def test_a_correction_that_took_too_long_can_be_sent_again(slack: FakeSlack, bot: Bot) -> None:
    answer, alice = await answered(slack), slack.person("alice")
    await alice.clicks(answer, "👎")
    form = await alice.next_modal()
    slack.faults.slow("chat.getPermalink", 2 * ACKNOWLEDGE_SECONDS)
    await alice.submits(form, {"answer": "Refunds take 21 days."})
    assert "try again" in form.errors["reason"]
    slack.faults.clear()
    assert (await alice.submits(form, {"answer": "Refunds take 21 days."})).acknowledged
    assert not form.open
    assert "waits for an admin" in (await alice.next_private()).markdown


# --- what a response_url does not take


async def test_a_reply_that_its_address_does_not_take_is_told_directly(slack: FakeSlack, bot: Bot) -> None:
    alice = slack.person("alice")
    slack.faults.refuse_responses("used_url")
    await alice.slash("/footnote", "help", "general")
    await slack.until(lambda: slack.visible(alice.dm), what="a direct message")
    assert "mention me in a channel" in slack.visible(alice.dm)[0].markdown
