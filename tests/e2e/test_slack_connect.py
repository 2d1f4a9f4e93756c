"""Channels shared with another workspace: data is stored for our workspace, whichever one Slack names."""

from collections.abc import AsyncIterator

import pytest

from core.model.channel_settings import ChosenSettings
from core.model.principals import channel_principal
from tests.e2e.inprocess import REFUNDS, Bot
from tests.e2e.slack_driver import SlackDriver
from tests.fakes.slack import FakeSlack, specs_are_here

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.timeout(300),
    pytest.mark.skipif(not specs_are_here(), reason="Slack's method descriptions are not beside this checkout"),
]
PARTNER = "T0PARTNER"


@pytest.fixture
async def slack() -> AsyncIterator[FakeSlack]:
    async with FakeSlack() as workspace:
        workspace.channel("general").host_team = PARTNER
        workspace.person("bob").user.home_team = PARTNER
        yield workspace


@pytest.fixture
async def bot(slack: FakeSlack) -> AsyncIterator[Bot]:
    bot = Bot(SlackDriver(slack, "socket"))
    await bot.harness.knows(REFUNDS, title="Refund policy")
    async with bot.running():
        yield bot
    assert slack.violations == []


@pytest.mark.parametrize("person", ["alice", "bob"])
async def test_what_is_set_for_a_shared_channel_holds_for_the_people_of_both_workspaces(
    slack: FakeSlack, bot: Bot, person: str
) -> None:
    await SlackDriver(slack, "socket").configure(bot.user_actions, reply_style="private")
    asker = slack.person(person)
    question = await asker.says("<@bot> how long do refunds take?", "general")
    await slack.until(lambda: any(REFUNDS in one.markdown for one in asker.private), what="a private answer")
    assert slack.answers_to(question) == []


async def test_the_buttons_and_forms_of_an_answer_work_from_the_partners_side(slack: FakeSlack, bot: Bot) -> None:
    bob = slack.person("bob")
    answer = await slack.reply_to(
        await bob.says("<@bot> how long do refunds take?", "general"), until=lambda one: "Why" in one.buttons()
    )
    await bob.clicks(answer, "Show quotes")
    await bob.modal_shows(REFUNDS)
    await bob.clicks(answer, "👎")
    form = await bob.next_modal()
    assert (await bob.submits(form, {"reason": "Which days?"})).acknowledged
    assert form.errors == {}
    await bot.rated(1)


async def test_an_admin_of_ours_sets_up_a_shared_channel(slack: FakeSlack, bot: Bot) -> None:
    ada = slack.person("ada")
    await ada.slash("/footnote", "settings", "general")
    await ada.submits(await ada.next_modal(), {"reply_style": "private"})
    place = channel_principal("slack", slack.team_id, slack.channel("general").id)
    kept = await bot.user_actions.settings.store.read(place)
    assert kept.reply_style == "private"


async def test_a_channel_with_a_new_id_keeps_its_settings_and_loses_its_grants(slack: FakeSlack, bot: Bot) -> None:
    plans, alice = slack.channel("plans", private=True, members=["alice"]), slack.person("alice")
    place = channel_principal("slack", slack.team_id, plans.id)
    await bot.harness.knows("The launch is in May.", title="Launch", base="plans", grants=frozenset({place}))
    await bot.user_actions.settings.store.write(place, ChosenSettings(bases=frozenset({"plans"})))
    slack.change_id(plans)
    await slack.until(lambda: all(one.acknowledged for one in slack.deliveries), what="word of the new id")
    moved = channel_principal("slack", slack.team_id, plans.id)
    assert (await bot.user_actions.settings.store.read(moved)).bases == frozenset({"plans"})
    assert await bot.user_actions.settings.store.read(place) == ChosenSettings()
    question = await alice.says("<@bot> when is the launch?", "plans")
    answer = await slack.reply_to(question, until=lambda one: "documents" in one.markdown)
    assert answer.markdown == "There are no documents yet that I can use here. An admin can add some."
    assert [(one.action, one.target, one.detail) for one in await bot.audit.recent()] == [("move", place, moved)]


async def test_the_first_answer_says_once_that_partners_can_read_it(slack: FakeSlack, bot: Bot) -> None:
    alice, ada = slack.person("alice"), slack.person("ada")
    for number in range(2):
        asked = await alice.says("<@bot> how long do refunds take?", "general")
        answer = await slack.reply_to(asked, until=lambda one: "Show quotes" in one.buttons())
        assert ("People from another organization can read this channel" in answer.markdown) == (number == 0)
        assert REFUNDS in answer.markdown
    await ada.slash("/footnote", "settings", "general")
    form = await ada.next_modal()
    assert "I use every knowledge base" in form.markdown
    await ada.submits(form, {"closed_to_partners": ["yes"]})
    closed = await slack.reply_to(await alice.says("<@bot> how long do refunds take?", "general"))
    assert REFUNDS not in closed.markdown
    await ada.slash("/footnote", "settings", "general")
    await ada.submits(await ada.next_modal(), {"bases": ["default"]})
    asked = await alice.says("<@bot> how long do refunds take?", "general")
    chosen = await slack.reply_to(asked, until=lambda one: "Show quotes" in one.buttons())
    assert REFUNDS in chosen.markdown
    asked = await alice.says("<@bot> how long do refunds take?", "random")
    elsewhere = await slack.reply_to(asked, until=lambda one: "Show quotes" in one.buttons())
    assert "another organization" not in elsewhere.markdown
    await ada.slash("/footnote", "settings", "random")
    assert "another organization" not in (await ada.next_modal()).markdown
