"""The Home tab: recent questions, and actions for admins."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from core.model.conversation import Audience, Person
from core.model.errors import WENT_WRONG
from core.service.gaps.analysis import GapAnalysis
from core.service.gaps.digest import GapOverview
from tests.core.service.kb.knowledge_room import Room
from tests.e2e.inprocess import REFUNDS, Bot
from tests.e2e.slack_driver import SlackDriver
from tests.fakes.slack import FakeSlack, View, specs_are_here

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(not specs_are_here(), reason="Slack's method descriptions are not beside this checkout"),
]


@pytest.fixture
async def slack() -> AsyncIterator[FakeSlack]:
    async with FakeSlack() as workspace:
        yield workspace
        assert workspace.violations == []
        assert workspace.unfurling() == []
        assert workspace.pings() == []


@pytest.fixture
async def bot(slack: FakeSlack) -> AsyncIterator[Bot]:
    bot = Bot(SlackDriver(slack, "socket"))
    await bot.harness.knows(REFUNDS, title="Refund policy")
    analysis = GapAnalysis(bot.harness.questions, bot.feedback, bot.harness.catalog, bot.harness.clock)
    room = Room()
    bot.more = {"kb": room.kb_service, "gaps": GapOverview(analysis, bot.harness.catalog, bot.audit)}
    async with bot.running():
        yield bot


async def home(slack: FakeSlack, name: str, text: str = "Knowledge bases") -> View:
    person = slack.person(name, admin=name == "ada")
    await person.opens_home()
    return await person.home_shows(text)


def labels(view: View) -> set[str]:
    return set(view.buttons())


async def test_it_shows_what_one_asked_oneself_with_a_link_until_it_is_forgotten(slack: FakeSlack, bot: Bot) -> None:
    said = await bot.driver.says("alice", "how long do refunds take?")
    await bot.driver.reply(said, containing=REFUNDS)
    tab = await home(slack, "alice", "Your latest questions")
    link = slack.world.permalink(said).partition("?")[0]
    assert f"<{link}|how long do refunds take?>" in str(tab.payload)
    assert "how long do refunds take?" not in (await home(slack, "bob")).markdown
    await bot.driver.commands("alice", "forget me")
    await slack.person("alice").opens_home()
    await slack.until(lambda: "how long" not in slack.person("alice").home.markdown, what="a Home tab without it")  # type: ignore[union-attr]


async def test_only_admins_have_buttons_there(slack: FakeSlack, bot: Bot) -> None:
    assert labels(await home(slack, "alice")) == set()
    assert labels(await home(slack, "ada", "For admins")) == {
        "Add documents",
        "Channel settings",
        "Unanswered questions",
        "Remind me of proposals daily",
    }


async def test_add_knowledge_opens_the_form_without_a_channel(slack: FakeSlack, bot: Bot) -> None:
    ada = slack.person("ada", admin=True)
    await ada.clicks(await home(slack, "ada", "For admins"), "Add documents")
    form = await ada.next_modal()
    assert form.payload["title"]["text"] == "Add documents"
    assert "This channel" not in form.markdown
    await ada.submits(form, {"files": [("travel.md", b"# Travel\n\nTrains come first.")]})
    assert not form.open
    await slack.until(
        lambda: any("travel.md" in one.markdown for one in slack.visible(ada.dm)), what="word in the direct message"
    )


async def test_settings_are_those_of_the_channel_that_is_picked(slack: FakeSlack, bot: Bot) -> None:
    ada, general = slack.person("ada", admin=True), slack.channel("general")
    await ada.clicks(await home(slack, "ada", "For admins"), "Channel settings")
    form = await ada.next_modal()
    await ada.submits(form, {"channel": general.id})
    assert "These settings apply in #general" in form.markdown
    await ada.submits(form, {"profile": "quick", "follow_ups": ["yes"]})
    assert "Saved." in (await ada.next_private()).markdown
    chosen = await bot.user_actions.settings.store.read(f"slack:channel:{slack.team_id}/{general.id}")
    assert chosen.follow_ups
    assert chosen.profile == "quick"


async def test_what_it_cannot_answer_yet_is_counted_for_admins(slack: FakeSlack, bot: Bot) -> None:
    bot.reasoner.always("grade", 1)
    for name in ("alice", "bob", "carol"):
        said = await bot.driver.says(name, "where may I park?")
        await bot.driver.reply(said)
    await bot.settled()
    ada = slack.person("ada", admin=True)
    await ada.clicks(await home(slack, "ada", "For admins"), "Unanswered questions")
    modal = await ada.next_modal()
    await slack.until(lambda: "where may I park?" in modal.markdown, what="the gap")
    assert "3 people" in modal.markdown


class FailingGaps(GapOverview):
    """Fails with an unexpected error."""

    async def lines(self, person: Person, *, is_admin: bool, workspace: tuple[str, str]) -> tuple[str, ...]:
        raise KeyError(workspace)


async def test_where_counting_fails_the_form_says_so_and_does_not_wait_for_ever(slack: FakeSlack) -> None:
    bot = Bot(SlackDriver(slack, "socket"))
    analysis = GapAnalysis(bot.harness.questions, bot.feedback, bot.harness.catalog, bot.harness.clock)
    bot.more = {"gaps": FailingGaps(analysis, bot.harness.catalog, bot.audit)}
    async with bot.running():
        ada = slack.person("ada", admin=True)
        await ada.clicks(await home(slack, "ada", "For admins"), "Unanswered questions")
        modal = await ada.next_modal()
        await slack.until(lambda: WENT_WRONG in modal.markdown, what="that something went wrong")


async def test_a_home_tab_of_yesterday_gives_nobody_rights(slack: FakeSlack, bot: Bot) -> None:
    ada = slack.person("ada", admin=True)
    tab = await home(slack, "ada", "For admins")
    ada.user.is_admin = False
    platform: Any = bot.platform
    platform.workspace.directory._members._values.clear()  # a minute later
    await ada.clicks(tab, "Unanswered questions")
    modal = await ada.next_modal()
    await slack.until(lambda: "Only an admin" in modal.markdown, what="a refusal")
    await ada.clicks(tab, "Channel settings", stale=True)
    await ada.home_shows("Only an admin can change the settings here.")
    refused = {(one.action, one.allowed) for one in await bot.audit.recent()}
    assert refused == {("gaps", False), ("settings", False)}


async def test_an_admin_is_told_daily_in_their_direct_message_while_they_want_it(slack: FakeSlack, bot: Bot) -> None:
    ada = slack.person("ada", admin=True)
    place = f"slack:channel:{slack.team_id}/{ada.dm.id}"
    await ada.clicks(await home(slack, "ada", "For admins"), "Remind me of proposals daily")
    tab = await ada.home_shows("Once a day I send you a direct message")
    assert (await bot.user_actions.settings.store.read(place)).proposal_digest
    assert place in await bot.user_actions.settings.store.places()
    await ada.clicks(tab, "Stop daily reminders")
    await ada.home_shows("I no longer remind you of proposals")
    assert not (await bot.user_actions.settings.store.read(place)).proposal_digest


async def test_recent_questions_are_of_this_workspace_alone(slack: FakeSlack, bot: Bot) -> None:
    await bot.harness.asks("a question elsewhere", audience=Audience())
    assert "elsewhere" not in (await home(slack, "alice")).markdown
