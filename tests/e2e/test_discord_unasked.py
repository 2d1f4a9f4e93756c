"""Optional features in Discord: replies in the channel, new forum posts, and questions without a mention."""

import asyncio

import pytest

from adapters.discord.preflight import permissions, preflight
from core.model.channel_settings import ChannelSettings, ChosenSettings, channel_settings
from core.model.principals import channel_principal
from core.service.channel_settings import PROPOSALS_LABEL
from core.service.incoming import BackfillCursor
from tests.e2e.conftest import REFUNDS
from tests.e2e.discord_office import Office
from tests.fakes.discord import SPECIFICATION, FakeDiscord, Message
from tests.fakes.discord.world import Channel

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(not SPECIFICATION.exists(), reason="the shared discord-openapi.json is not beside the checkout"),
]

ASKED = "how long do refunds take?"


async def choose(discord: FakeDiscord, place: Channel, setting: str, value: str) -> Message:
    """An admin chooses a value in the settings of a place; the settings as they stand then."""
    ada = discord.person("ada", admin=True)
    await discord.quiet(0.1)  # the client has to know of a place that is new
    menu = await discord.reply_to(await ada.slash("footnote settings", place=place))
    control = next(one for one in menu.controls() if f":{setting}:" in (one.custom_id or ""))
    before = menu.text
    await ada.selects(menu, control.custom_id or "", value)
    await discord.until(lambda: menu.text != before, what="the settings as chosen")
    return menu


# --- in the channel, as a reply


async def test_in_the_channel_it_replies_to_the_question_and_starts_no_thread(
    discord: FakeDiscord, office: Office
) -> None:
    await choose(discord, discord.channel("general"), "reply_style", "channel")
    alice = discord.person("alice")
    asked = await alice.says(f"<@bot> {ASKED}")
    answer = await discord.reply_to(asked)
    assert answer.reference is asked
    assert answer.channel is asked.channel
    assert asked.thread is None
    assert REFUNDS in answer.text
    assert discord.pings() == []


async def test_a_conversation_in_the_channel_goes_on_by_its_chain_of_replies(
    discord: FakeDiscord, office: Office
) -> None:
    await choose(discord, discord.channel("general"), "reply_style", "channel")
    alice, bob = discord.person("alice"), discord.person("bob")
    asked = await alice.says(f"<@bot> {ASKED}")
    answer = await discord.reply_to(asked)
    second = await bob.says("and for annual plans?", reply_to=answer)
    third = await alice.says("<@bot> and who pays them?", reply_to=second)
    await discord.reply_to(second)
    await discord.reply_to(third)
    other = await bob.says("<@bot> what is a refund?")
    await discord.reply_to(other)
    turns = [len(call.given[1].turns) for call in office.script.calls_of("understand")]
    assert turns == [0, 1, 2, 0]


async def test_a_long_answer_in_the_channel_can_be_replied_to_in_all_its_parts(
    discord: FakeDiscord, office: Office
) -> None:
    await choose(discord, discord.channel("general"), "reply_style", "channel")
    office.script.enqueue("compose", "\n\n".join([f"{REFUNDS} [1]"] * 150))
    asked = await discord.person("alice").says(f"<@bot> {ASKED}")
    await discord.reply_to(asked)
    parts = discord.answers_to(asked)
    assert len(parts) > 1
    again = await discord.person("bob").says("and for annual plans?", reply_to=parts[-1])
    await discord.reply_to(again)
    assert len(office.script.calls_of("understand")[-1].given[1].turns) == 1


async def test_somebody_elses_message_is_answered_in_the_channel_too(discord: FakeDiscord, office: Office) -> None:
    await choose(discord, discord.channel("general"), "reply_style", "channel")
    question = await discord.person("bob").says(ASKED)
    told = await discord.person("alice").context_menu("Answer this", question)
    assert "in a reply to that message" in told.text
    await discord.until(lambda: discord.answers_to(question), what="the answer")
    assert question.thread is None


# --- new posts of a forum


async def test_a_new_post_is_answered_without_a_mention_where_an_admin_wants_that(
    discord: FakeDiscord, office: Office
) -> None:
    forum = await discord.forum("questions")
    await discord.forum("elsewhere")
    await choose(discord, forum, "forum_posts", "yes")
    alice = discord.person("alice")
    posted = await alice.posts_in_forum("questions", "Refunds", "Mine has not come. When will it?")
    answer = await discord.reply_to(posted)
    assert answer.channel is posted.channel
    assert REFUNDS in answer.text
    asked = office.script.calls_of("understand")[0].given[0].question
    assert asked == "Refunds\nMine has not come. When will it?"
    unanswered = await alice.posts_in_forum("elsewhere", "Refunds", "Mine has not come. When will it?")
    await office.settled()
    assert discord.answers_to(unanswered) == []
    follow_up = await alice.says("and for annual plans?", thread=posted)
    assert REFUNDS in (await discord.reply_to(follow_up)).text


async def test_the_posts_of_bots_and_moderators_are_not_answered(discord: FakeDiscord, office: Office) -> None:
    forum = await discord.forum("questions")
    await choose(discord, forum, "forum_posts", "yes")
    people = (
        discord.bot("deploybot"),
        discord.person("ada", admin=True),
        discord.person("mia", permissions=["manage_threads"]),
        discord.person("max", permissions=["manage_messages"]),
    )
    posts = [await one.posts_in_forum("questions", "Read this first", "How to ask here?") for one in people]
    await office.settled()
    assert [discord.answers_to(one) for one in posts] == [[]] * len(people)
    mentioned = await people[1].posts_in_forum("questions", "Refunds", f"<@bot> {ASKED}")
    assert REFUNDS in (await discord.reply_to(mentioned)).text


async def test_a_post_is_answered_once_however_often_it_is_told_of(discord: FakeDiscord, closed: Office) -> None:
    forum = await discord.forum("questions")
    place = channel_principal("discord", str(discord.guild_id), str(forum.id))
    await closed.settings_store.write(place, ChosenSettings(forum_posts=True))
    alice = discord.person("alice")
    async with closed.open():
        posted = await alice.posts_in_forum("questions", "Refunds", ASKED)
        await discord.reply_to(posted)
        discord.replay_on_resume(20)
        await discord.drop_socket()
        await discord.until(lambda: discord.resumes, what="the session to go on")
        async with asyncio.timeout(30):
            while not await closed.message_states.read(BackfillCursor(platform="discord")):
                await asyncio.sleep(0.01)
        await closed.settled()
    meanwhile = await alice.posts_in_forum("questions", "Annual plans", ASKED)
    for _ in range(2):
        async with closed.open():
            assert REFUNDS in (await discord.reply_to(meanwhile)).text
            await closed.settled()
    assert [len(discord.answers_to(one)) for one in (posted, meanwhile)] == [1, 1]


async def test_without_message_content_a_post_is_left_alone_and_the_preflight_says_so(
    discord: FakeDiscord, closed: Office
) -> None:
    discord.disallow_intent("message_content")
    forum = await discord.forum("questions")
    async with closed.open():
        menu = await choose(discord, forum, "forum_posts", "yes")
        assert "Message Content Intent" in menu.text
        posted = await discord.person("alice").posts_in_forum("questions", "Refunds", ASKED)
        await closed.settled()
    assert discord.answers_to(posted) == []
    (place,) = await closed.settings_store.places()
    chosen = {place: channel_settings(ChannelSettings(), await closed.settings_store.read(place))}
    found = await preflight(discord.token, api_url=discord.api_url, gateway_url=discord.gateway_url, chosen=chosen)
    (intents,) = [one for one in found if one.name == "Discord intents"]
    assert "new posts and questions, which one place" in intents.detail
    assert "Message Content Intent" in intents.remedy


# --- questions that name nobody


async def test_a_question_that_names_nobody_is_answered_where_an_admin_wants_that(
    discord: FakeDiscord, office: Office
) -> None:
    menu = await choose(discord, discord.channel("general"), "auto_answer", "medium")
    assert "Medium: when I am sure" in menu.text
    alice = discord.person("alice")
    asked = await alice.says(ASKED)
    answer = await discord.reply_to(asked)
    assert asked.thread is not None
    assert answer.channel is asked.thread
    assert f"{REFUNDS} [1]" in answer.text
    follow_up = await alice.says("and for annual plans?", thread=asked)
    assert REFUNDS in (await discord.reply_to(follow_up)).text
    elsewhere = await alice.says(ASKED, "random")
    await office.settled()
    assert discord.answers_to(elsewhere) == []
    assert discord.pings() == []


async def test_what_is_not_certain_leaves_no_sign_at_all(discord: FakeDiscord, office: Office) -> None:
    general = discord.channel("general")
    await choose(discord, general, "auto_answer", "high")  # the scripted reader gives all it finds 8 of 10
    before = len(general.posts())
    asked = await discord.person("alice").says(ASKED)
    await office.settled()
    assert len(office.script.calls_of("grade")) == 1
    assert office.script.calls_of("compose") == []
    assert asked.thread is None
    assert len(general.posts()) == before + 1
    assert not discord.is_typing_in(general)
    assert (await office.harness.trace_store.counts()).outcomes == {}


async def test_chatter_and_what_is_put_to_colleagues_costs_nothing(discord: FakeDiscord, office: Office) -> None:
    await choose(discord, discord.channel("general"), "auto_answer", "low")
    alice, bob = discord.person("alice"), discord.person("bob")
    lunch = await bob.says("Lunch is at noon.")
    await alice.says("where do we go?", reply_to=lunch)
    await alice.says("<@bob> could you send me the refund policy?")
    await discord.bot("deploybot").says("is production down?")
    await office.settled()
    assert office.script.calls == []


async def test_an_answer_that_nobody_asked_for_goes_with_its_question(discord: FakeDiscord, office: Office) -> None:
    await choose(discord, discord.channel("general"), "auto_answer", "medium")
    alice = discord.person("alice")
    asked = await alice.says(ASKED)
    answer = await discord.reply_to(asked)
    await alice.deletes(asked)
    await discord.until(lambda: not answer.visible_to(alice.member), what="the answer gone")


async def test_an_edit_of_an_answered_question_that_named_nobody_says_nothing(
    discord: FakeDiscord, office: Office
) -> None:
    await choose(discord, discord.channel("general"), "auto_answer", "medium")
    alice = discord.person("alice")
    asked = await alice.says(ASKED)
    await discord.reply_to(asked)
    await alice.edits(asked, "how long do refunds take, please?")
    await office.settled()
    assert len(discord.answers_to(asked)) == 1


async def test_any_number_can_be_chosen_and_nothing_else(discord: FakeDiscord, office: Office) -> None:
    ada, general = discord.person("ada", admin=True), discord.channel("general")
    menu = await discord.reply_to(await ada.slash("footnote settings", place=general))
    control = next(one for one in menu.controls() if ":auto_answer:" in (one.custom_id or ""))
    opened = await ada.selects(menu, control.custom_id or "", "number")
    refused = await ada.submits(opened, {"How sure, from 0.5 to 1": "0.2"})
    assert "Enter a number from 0.5 to 1" in (await discord.reply_to(refused)).text
    await ada.submits(opened, {"How sure, from 0.5 to 1": "0.85"})
    await discord.until(lambda: "at least 0.85 sure" in menu.text, what="the number in the settings")
    place = channel_principal("discord", str(discord.guild_id), str(general.id))
    assert (await office.settings_store.read(place)).auto_answer == 0.85


async def test_where_answers_are_private_nobody_is_written_to_unasked(discord: FakeDiscord, office: Office) -> None:
    general = discord.channel("general")
    place = channel_principal("discord", str(discord.guild_id), str(general.id))
    await office.settings_store.write(place, ChosenSettings.from_mapping({"reply_style": "private"}))
    menu = await choose(discord, general, "auto_answer", "low")
    assert "Off: answers are private here" in menu.text
    alice = discord.person("alice")
    await alice.says(ASKED)
    await office.settled()
    assert office.script.calls == []
    assert alice.dm_channel.posts() == []


# --- what the invite link asks for


async def test_the_permissions_of_the_invite_link_suffice_for_all_ways_to_answer(closed: Office) -> None:
    discord = closed.discord
    discord.world.everyone.permissions = 0
    (own,) = discord.world.bot.roles
    own.permissions = permissions().value
    rights = ["view_channel", "send_messages", "send_messages_in_threads", "create_public_threads"]
    alice = discord.person("alice", permissions=[*rights, "read_message_history", "use_application_commands"])
    forum = await discord.forum("questions")
    async with closed.open():
        await choose(discord, forum, "forum_posts", "yes")
        posted = await alice.posts_in_forum("questions", "Refunds", ASKED)
        assert REFUNDS in (await discord.reply_to(posted)).text
        asked = await alice.says(f"<@bot> {ASKED}")
        answer = await discord.reply_to(asked)
        assert answer.channel is asked.thread
        quotes = await alice.clicks(answer, "Show quotes")
        assert REFUNDS in (await discord.reply_to(quotes)).text
        await choose(discord, discord.channel("general"), "reply_style", "channel")
        again = await alice.says(f"<@bot> {ASKED}")
        assert (await discord.reply_to(again)).reference is again
        assert REFUNDS in (await discord.reply_to(await alice.slash("ask", question=ASKED))).text


async def test_proposals_are_told_where_something_can_be_said(discord: FakeDiscord, office: Office) -> None:
    ada = discord.person("ada", admin=True)
    places = [discord.channel("general"), await discord.forum("questions"), await discord.category("all of it")]
    await discord.quiet(0.1)
    offered = []
    for place in places:
        menu = await discord.reply_to(await ada.slash("footnote settings", place=place))
        (other,) = [one for one in menu.controls() if ":other:" in (one.custom_id or "")]
        offered.append((PROPOSALS_LABEL in menu.text, any(label == PROPOSALS_LABEL for label, _ in other.options)))
    assert offered == [(True, True), (False, False), (False, False)]


async def test_instructions_and_limits_are_typed_and_shown(discord: FakeDiscord, office: Office) -> None:
    ada = discord.person("ada", admin=True)
    menu = await discord.reply_to(await ada.slash("footnote settings"))
    control = next(one for one in menu.controls() if ":other:" in (one.custom_id or ""))
    opened = await ada.selects(menu, control.custom_id or "", "instructions")
    assert opened.modal is not None
    assert "works without one" in opened.modal.text
    await ada.submits(opened, {"instructions": "Be brief.\nrefunds -> #billing"})
    await discord.until(lambda: "Be brief. refunds -> #billing" in menu.text.replace("\\", ""), what="the instructions")
    opened = await ada.selects(menu, control.custom_id or "", "limits")
    refused = await ada.submits(opened, {"limits": "some"})
    assert "Enter three numbers" in (await discord.reply_to(refused)).text
    await ada.submits(opened, {"limits": "20, 200, 0.5"})
    await discord.until(lambda: "Answers per person and day (0: no limit)**: 20" in menu.text, what="the limits")
    assert "Model cost in this channel per day (0: no limit)**: 0.5" in menu.text


async def test_limits_left_unchanged_in_the_form_stay_inherited_from_the_category(
    discord: FakeDiscord, office: Office
) -> None:
    ada, category = discord.person("ada", admin=True), await discord.category("support")
    channel = await discord.text_channel("refunds", category=category)
    wide, here = (channel_principal("discord", str(discord.guild_id), str(one.id)) for one in (category, channel))
    inherited = {"person_answers": "10", "channel_answers": "100", "channel_money": "5"}
    await office.settings_store.write(wide, ChosenSettings.from_mapping(inherited))
    menu = await discord.reply_to(await ada.slash("footnote settings", place=channel))
    control = next(one for one in menu.controls() if ":other:" in (one.custom_id or ""))
    opened = await ada.selects(menu, control.custom_id or "", "limits")
    await ada.submits(opened, {"limits": "10, 100, 7"})
    await discord.until(lambda: "Model cost in this channel per day (0: no limit)**: 7" in menu.text, what="the limit")
    assert (await office.settings_store.read(here)).to_mapping() == {"channel_money": "7"}
