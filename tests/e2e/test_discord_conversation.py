"""Discord's own features: threads, forum posts, replies, commands, menus and permissions."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from core.model.channel_settings import ChosenSettings, ReplyStyle
from core.model.conversation import ThreadKey
from core.model.errors import NotFound
from core.model.principals import channel_principal
from core.service.actions.wording import NOBODY_TO_CALL
from tests.e2e.discord_office import Office
from tests.fakes.discord import SPECIFICATION, Choice, FakeDiscord

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(not SPECIFICATION.exists(), reason="the shared discord-openapi.json is not beside the checkout"),
]

REFUNDS = "Refunds are paid within 14 days."


@pytest.fixture
async def discord() -> AsyncIterator[FakeDiscord]:
    async with FakeDiscord() as server:
        yield server
        assert server.violations == []


@pytest.fixture
async def office(discord: FakeDiscord) -> AsyncIterator[Office]:
    office = Office(discord)
    await office.harness.knows(REFUNDS, title="Refund policy")
    async with office.open():
        yield office


# --- where an answer stands


async def test_a_mention_is_answered_in_a_thread_named_after_the_question(discord: FakeDiscord, office: Office) -> None:
    asked = await discord.person("alice").says("<@bot> how long do refunds take?", channel="general")
    answer = await discord.reply_to(asked)
    assert asked.thread is not None
    assert answer.channel is asked.thread
    assert asked.thread.name == "how long do refunds take?"
    assert f"{REFUNDS} [1]" in answer.text
    assert answer.buttons() == ["Show quotes", "Why", "Helpful", "Not helpful"]
    assert discord.is_typing_in(discord.channel("general"))
    assert discord.pings() == []


async def test_a_long_question_names_its_thread_in_a_hundred_characters(discord: FakeDiscord, office: Office) -> None:
    asked = await discord.person("alice").says(f"<@bot> {'how long do refunds take ' * 20}?")
    await discord.reply_to(asked)
    assert asked.thread is not None
    assert len(asked.thread.name) <= 100
    assert asked.thread.name.endswith("…")


async def test_a_forum_post_is_answered_in_the_post(discord: FakeDiscord, office: Office) -> None:
    await discord.forum("questions")
    await discord.quiet(0.1)
    asked = await discord.person("alice").posts_in_forum("questions", "Refunds", "<@bot> how long do they take?")
    answer = await discord.reply_to(asked)
    assert answer.channel is asked.channel
    assert REFUNDS in answer.text


async def test_without_the_right_to_start_threads_it_answers_in_reply(discord: FakeDiscord, office: Office) -> None:
    await discord.take_permission("create_public_threads")
    asked = await discord.person("alice").says("<@bot> how long do refunds take?")
    answer = await discord.reply_to(asked)
    assert answer.reference is asked
    assert REFUNDS in answer.text
    assert discord.pings() == []


async def test_a_reply_to_an_answer_in_the_channel_goes_on_with_its_conversation(
    discord: FakeDiscord, office: Office
) -> None:
    await discord.take_permission("create_public_threads")
    alice = discord.person("alice")
    answer = await discord.reply_to(await alice.says("<@bot> how long do refunds take?"))
    again = await alice.says("and for annual plans?", reply_to=answer)
    await discord.reply_to(again)
    (_, second) = office.script.calls_of("understand")
    assert [turn.question for turn in second.given[1].turns] == ["how long do refunds take?"]


async def test_where_it_may_not_write_the_asker_hears_directly_what_is_missing(
    discord: FakeDiscord, office: Office
) -> None:
    alice = discord.person("alice")
    await discord.take_permission("send_messages", discord.channel("general"))
    await discord.take_permission("send_messages_in_threads", discord.channel("general"))
    await alice.says("<@bot> how long do refunds take?")
    await discord.until(alice.dm_channel.posts, what="a direct message")
    told = alice.dm_channel.posts()[-1].text
    assert "does not let me write" in told
    assert "Send Messages" in told


async def test_a_bare_mention_in_reply_to_a_message_asks_that(discord: FakeDiscord, office: Office) -> None:
    question = await discord.person("bob").says("how long do refunds take?")
    asked = await discord.person("alice").says("<@bot>", reply_to=question)
    await discord.reply_to(asked)
    assert office.script.calls_of("understand")[0].given[0].question == "how long do refunds take?"


async def test_what_is_forwarded_to_it_is_the_question_with_its_files(discord: FakeDiscord, office: Office) -> None:
    alice, bob = discord.person("alice"), discord.person("bob")
    note = ("note.txt", b"Order 7 was refunded on Monday.")
    said = await bob.says("how long do refunds take, as in this note?", files=[note])
    asked = await alice.forwards(said, alice.dm_channel)
    await discord.reply_to(asked)
    (call,) = office.script.calls_of("understand")
    assert call.given[0].question == "how long do refunds take, as in this note?"
    assert "Order 7" in str(call.given)


async def test_any_file_that_can_be_read_is_whatever_it_is_called(discord: FakeDiscord, office: Office) -> None:
    files = [("plan.docx", b"Pay Lyon."), *((f"{n}.txt", b"Nothing.") for n in range(3))]
    asked = await discord.person("alice").says("<@bot> how long do refunds take?", files=files)
    answer = await discord.reply_to(asked)
    (call,) = office.script.calls_of("understand")
    assert call.given[1].attachments[0].text == "Pay Lyon."
    assert "I could not read 2.txt" in answer.text.replace("*", "")


# --- commands and menus


async def test_ask_is_answered_for_everybody_to_see_and_can_be_replied_to(discord: FakeDiscord, office: Office) -> None:
    alice = discord.person("alice")
    asked = await alice.slash("ask", question="how long do refunds take?", private=False)
    answer = await discord.reply_to(asked)
    assert not asked.private
    assert "how long do refunds take?" in answer.text
    assert REFUNDS in answer.text
    again = await discord.person("bob").says("and for annual plans?", reply_to=answer)
    assert REFUNDS in (await discord.reply_to(again)).text
    assert len(office.script.calls_of("understand")[1].given[1].turns) == 1


async def test_ask_in_private_is_seen_by_nobody_else(discord: FakeDiscord, office: Office) -> None:
    asked = await discord.person("alice").slash("ask", question="how long do refunds take?", private=True)
    answer = await discord.reply_to(asked)
    assert asked.private
    assert REFUNDS in answer.text
    assert "Share with channel" in answer.buttons()
    await discord.person("alice").clicks(answer, "Share with channel")
    await discord.until(
        lambda: any(REFUNDS in one.text for one in discord.visible("general")), what="the shared answer"
    )


async def test_a_file_that_comes_with_ask_is_read(discord: FakeDiscord, office: Office) -> None:
    asked = await discord.person("alice").slash("ask", question="what of Lyon?", file=("note.txt", b"Pay Lyon."))
    await discord.reply_to(asked)
    (call,) = office.script.calls_of("understand")
    assert [one.text for one in call.given[1].attachments] == ["Pay Lyon."]


async def test_ask_looks_only_where_it_is_told_to(discord: FakeDiscord, office: Office) -> None:
    await office.harness.knows("Refunds of plans are made in Lyon.", title="Offices", base="offices")
    alice = discord.person("alice")
    (choice,) = await alice.autocompletes("ask", option="kb", typed="off", question="x")
    asked = await alice.slash("ask", question="how long do refunds take?", private=False, kb=choice.value)
    answer = await discord.reply_to(asked)
    assert "Lyon" in answer.text
    assert "14 days" not in answer.text


async def test_words_of_what_not_everybody_may_read_are_not_kept(discord: FakeDiscord, office: Office) -> None:
    alice = discord.person("alice")
    await discord.reply_to(await alice.slash("ask", question="how long do refunds take?", private=False))
    await discord.reply_to(await alice.slash("ask", question="do refunds of mine take long?", private=True))
    kept = [question async for question in office.harness.questions.since(datetime(2000, 1, 1, tzinfo=UTC))]
    assert [(one.private, one.question) for one in kept] == [(False, "how long do refunds take?"), (True, "")]


async def test_a_base_that_not_everybody_here_may_read_cannot_be_named(discord: FakeDiscord, office: Office) -> None:
    alice = discord.person("alice")
    grants = frozenset({f"discord:user:{alice.id}"})
    await office.harness.knows("The canary sings at dawn.", title="Secret", base="secret", grants=grants)
    ask = {"question": "when does the canary sing?", "kb": "secret"}
    assert "no knowledge base called" in (await discord.reply_to(await alice.slash("ask", ask, private=False))).text
    assert "dawn" in (await discord.reply_to(await alice.slash("ask", ask, private=True))).text
    assert await discord.person("bob").autocompletes("ask", option="kb", typed="", question="x") == [
        Choice("default", "default")
    ]


async def test_an_answer_past_the_interactions_time_still_arrives(discord: FakeDiscord, office: Office) -> None:
    held = discord.hold("PATCH", "/webhooks/{webhook_id}/{webhook_token}/messages/{message_id}")
    asked = await discord.person("alice").slash("ask", question="how long do refunds take?", private=False)
    await held.reached()
    discord.expire_interaction_tokens()
    held.release()
    assert REFUNDS in (await discord.reply_to(asked)).text


async def test_a_private_answer_past_the_interactions_time_goes_to_the_asker_alone(
    discord: FakeDiscord, office: Office
) -> None:
    alice = discord.person("alice")
    held = discord.hold("PATCH", "/webhooks/{webhook_id}/{webhook_token}/messages/{message_id}")
    await alice.slash("ask", question="how long do refunds take?", private=True)
    await held.reached()
    discord.expire_interaction_tokens()
    held.release()
    await discord.until(lambda: any(REFUNDS in one.text for one in alice.dm_channel.posts()), what="a direct message")
    assert not any(REFUNDS in one.text for one in discord.visible("general"))


async def test_answer_this_answers_somebody_elses_message_in_a_thread_on_it(
    discord: FakeDiscord, office: Office
) -> None:
    question = await discord.person("bob").says("how long do refunds take?")
    pressed = await discord.person("alice").context_menu("Answer this", question)
    assert pressed.private
    answer = await discord.reply_to(question)
    assert answer.channel is question.thread
    assert REFUNDS in answer.text


async def test_answer_this_is_for_the_one_who_asks_alone_where_answers_are_private(
    discord: FakeDiscord, office: Office
) -> None:
    place = channel_principal("discord", str(discord.guild_id), str(discord.channel("general").id))
    await office.settings_store.write(place, ChosenSettings(reply_style=ReplyStyle.PRIVATE))
    question = await discord.person("bob").says("how long do refunds take?", files=[("plan.txt", b"Pay Lyon.")])
    alice = discord.person("alice")
    pressed = await alice.context_menu("Answer this", question)
    answer = await discord.reply_to(pressed)
    assert REFUNDS in answer.text
    assert answer.ephemeral_for is alice.member
    assert "Share with channel" in answer.buttons()
    assert question.thread is None
    (call,) = office.script.calls_of("understand")
    assert [one.text for one in call.given[1].attachments] == ["Pay Lyon."]


async def test_the_help_says_how_to_ask_in_discords_own_markup(discord: FakeDiscord, office: Office) -> None:
    told = await discord.reply_to(await discord.person("alice").slash("footnote help"))
    assert "**Show quotes** shows the exact passages" in told.text
    assert "`forget me` deletes everything you asked" in told.text
    assert "`/ask` asks from anywhere, privately if you like" in told.text


async def test_commands_are_registered_once_and_again_only_when_they_change(discord: FakeDiscord) -> None:
    office = Office(discord)
    async with office.open():
        pass
    async with office.open():
        pass
    assert [(sync.guild_id, sync.names) for sync in discord.commands.syncs] == [
        (None, ("ask", "footnote", "kb", "Answer this", "Add to knowledge base"))
    ]


async def test_commands_are_registered_in_one_server_or_everywhere_and_never_in_both(discord: FakeDiscord) -> None:
    office = Office(discord)
    places = []
    for guild in (None, str(discord.guild_id), None, None):
        office.dev_guild = guild
        async with office.open():
            registered = await _registered(discord, guild)
        places.append(registered)
    names = ["Add to knowledge base", "Answer this", "ask", "footnote", "kb"]
    assert places == [(names, []), ([], names), (names, []), (names, [])]
    here = discord.guild_id
    assert [one.guild_id for one in discord.commands.syncs] == [None, here, None, None, here]


async def _registered(discord: FakeDiscord, guild: str | None) -> tuple[list[str], list[str]]:
    """The commands of everywhere and of the server, once those of the other one are gone."""
    other = None if guild else discord.guild_id
    await discord.until(lambda: not discord.commands.listed(other), what="one set of commands")
    everywhere, here = discord.commands.listed(None), discord.commands.listed(discord.guild_id)
    return sorted(one["name"] for one in everywhere), sorted(one["name"] for one in here)


async def test_settings_of_a_channel_stand_over_those_of_its_category(discord: FakeDiscord, office: Office) -> None:
    category = await discord.category("support")
    channel = await discord.text_channel("refunds", category=category)
    await discord.quiet(0.1)
    ada = discord.person("ada", admin=True)
    for place, choice in ((category, "profile=thorough"), (channel, "behaviour=conservative")):
        menu = await discord.reply_to(await ada.slash("footnote settings", place=place))
        manner = next(one for one in menu.controls() if ":manner:" in (one.custom_id or ""))
        await ada.selects(menu, manner.custom_id or "", choice)
        await discord.quiet(0.1)
    await discord.reply_to(await discord.person("alice").says("<@bot> how long do refunds take?", channel=channel))
    policy = office.script.calls_of("understand")[0].given[0].policy
    assert (policy.profile, policy.behaviour) == ("thorough", "conservative")


async def test_a_forged_settings_menu_is_refused_and_on_record(discord: FakeDiscord, office: Office) -> None:
    ada, alice = discord.person("ada", admin=True), discord.person("alice")
    menu = await discord.reply_to(await ada.slash("footnote settings"))
    menu.ephemeral_for = None  # as if the menu's id had leaked
    manner = next(one for one in menu.controls() if ":manner:" in (one.custom_id or ""))
    pressed = await alice.selects(menu, manner.custom_id or "", "profile=thorough")
    assert "Only an admin" in pressed.text
    assert [(entry.actor, entry.allowed) for entry in await office.audit.recent()] == [
        (f"discord:user:{alice.id}", False)
    ]


async def test_asking_a_person_mentions_the_configured_role_and_nobody_else(
    discord: FakeDiscord, office: Office
) -> None:
    role = discord.role("support", mentionable=True)
    discord.allow_pings_of(role)
    place = channel_principal("discord", str(discord.guild_id), str(discord.channel("general").id))
    await office.settings_store.write(place, ChosenSettings.from_mapping({"handoff": str(role.id)}))
    alice = discord.person("alice")
    answer = await discord.reply_to(await alice.says("<@bot> how long do refunds take?"))
    await alice.clicks(answer, "Ask a person")
    await discord.until(discord.pings, what="a ping")
    await alice.clicks(answer, "Ask a person")
    assert "already" in (await _last_private(discord, "alice", 2)).text
    assert [(ping.kind, ping.who) for ping in discord.pings()] == [("role", "support")]


@pytest.mark.parametrize("role", ["unmentionable", "gone"])
async def test_where_no_role_can_be_called_nobody_is_told_that_one_was(
    discord: FakeDiscord, office: Office, role: str
) -> None:
    support = discord.role("support")
    place = channel_principal("discord", str(discord.guild_id), str(discord.channel("general").id))
    chosen = str(support.id if role == "unmentionable" else 123456789)
    await office.settings_store.write(place, ChosenSettings.from_mapping({"handoff": chosen}))
    alice = discord.person("alice")
    answer = await discord.reply_to(await alice.says("<@bot> how long do refunds take?"))
    pressed = await alice.clicks(answer, "Ask a person")
    assert NOBODY_TO_CALL in (await discord.reply_to(pressed)).text
    assert discord.pings() == []
    mentionable = discord.role("helpers", mentionable=True)
    discord.allow_pings_of(mentionable)
    await office.settings_store.write(place, ChosenSettings.from_mapping({"handoff": str(mentionable.id)}))
    await alice.clicks(answer, "Ask a person")
    await discord.until(discord.pings, what="a ping")


async def _last_private(discord: FakeDiscord, name: str, count: int):  # type: ignore[no-untyped-def]  # noqa: ANN202
    person = discord.person(name)
    await discord.until(lambda: len(person.private) >= count, what="a private word")
    return person.private[-1]


# --- who reads where


async def test_what_only_a_role_may_read_is_said_where_only_that_role_reads(
    discord: FakeDiscord, office: Office
) -> None:
    board = discord.role("board")
    grants = frozenset({f"discord:role:{discord.guild_id}/{board.id}"})
    await office.harness.knows("The canary sings at dawn.", title="Secret", base="secret", grants=grants)
    hidden = await discord.text_channel("board", private_to=[board])
    mixed = await discord.text_channel("leads", private_to=[board, discord.role("leads")])
    await discord.quiet(0.1)
    chair = discord.person("chair", roles=[board])
    said = {}
    for channel in (hidden, mixed, discord.channel("general")):
        said[channel.name] = await discord.reply_to(await chair.says("<@bot> when does the canary sing?", channel))
    assert "dawn" in said["board"].text
    assert "dawn" not in said["leads"].text
    assert "dawn" not in said["general"].text
    assert "dawn" in (await discord.reply_to(await chair.dm("when does the canary sing?"))).text
    assert "dawn" not in (await discord.reply_to(await discord.person("alice").dm("when does the canary sing?"))).text


async def test_somebody_let_in_by_name_without_the_role_keeps_the_roles_knowledge_out(
    discord: FakeDiscord, office: Office
) -> None:
    board = discord.role("board")
    grants = frozenset({f"discord:role:{discord.guild_id}/{board.id}"})
    await office.harness.knows("The canary sings at dawn.", title="Secret", base="secret", grants=grants)
    guest = await discord.text_channel("board", private_to=[board, discord.person("guest")])
    member = await discord.text_channel("board-too", private_to=[board, discord.person("chair", roles=[board])])
    await discord.quiet(0.1)
    chair = discord.person("chair")
    assert "dawn" not in (await discord.reply_to(await chair.says("<@bot> when does the canary sing?", guest))).text
    assert "dawn" in (await discord.reply_to(await chair.says("<@bot> when does the canary sing?", member))).text


async def test_what_a_channel_or_the_server_may_read_is_said_there(discord: FakeDiscord, office: Office) -> None:
    here = channel_principal("discord", str(discord.guild_id), str(discord.channel("general").id))
    server = f"discord:guild:{discord.guild_id}"
    await office.harness.knows("Owls hoot at dusk.", title="Owls", base="owls", grants=frozenset({here}))
    await office.harness.knows("Larks sing at noon.", title="Larks", base="larks", grants=frozenset({server}))
    alice = discord.person("alice")
    answers = {}
    for channel in ("general", "random"):
        answers[channel] = (await discord.reply_to(await alice.says("<@bot> what do birds do?", channel))).text
    assert "dusk" in answers["general"]
    assert "dusk" not in answers["random"]
    assert "noon" in answers["general"]
    assert "noon" in answers["random"]


async def test_quotes_are_for_whoever_may_read_them_now(discord: FakeDiscord, office: Office) -> None:
    board = discord.role("board")
    grants = frozenset({f"discord:role:{discord.guild_id}/{board.id}"})
    await office.harness.knows("The canary sings at dawn.", title="Secret", base="secret", grants=grants)
    hidden = await discord.text_channel("board", private_to=[board, discord.person("owner's friend", admin=True)])
    await discord.quiet(0.1)
    chair = discord.person("chair", roles=[board])
    answer = await discord.reply_to(await chair.says("<@bot> when does the canary sing?", hidden))
    seen = await chair.clicks(answer, "Show quotes")
    await discord.until(lambda: "“The canary sings at dawn.”" in seen.text, what="the quote")


async def test_what_nobody_asked_for_is_announced_without_a_ping_or_a_link(
    discord: FakeDiscord, office: Office
) -> None:
    announcements = office.platform.capabilities().announcements
    assert announcements is not None
    place = ThreadKey("discord", str(discord.guild_id), str(discord.channel("general").id), "")
    assert (await announcements.readers(place)).principals
    await announcements.post(place, "1. @everyone <@&5> [see](https://evil.example) (2 questions)")
    (said,) = [one for one in discord.visible("general") if "2 questions" in one.text]
    assert "](https://evil.example)" not in said.text  # a link would begin here
    assert discord.pings() == []
    today = datetime.now(UTC) - timedelta(hours=1)
    assert not await announcements.has_posted(place, "Proposals:", since=today)
    await announcements.post(place, "Proposals: 2 wait.")
    assert await announcements.has_posted(place, "Proposals:", since=today)
    assert not await announcements.has_posted(place, "Proposals:", since=today + timedelta(hours=2))
    with pytest.raises(NotFound):
        await announcements.readers(ThreadKey("discord", str(discord.guild_id), "1", ""))


# --- manners


async def test_in_a_busy_thread_the_answer_refers_to_its_question(discord: FakeDiscord, office: Office) -> None:
    alice, bob = discord.person("alice"), discord.person("bob")
    asked = await alice.says("<@bot> how long do refunds take?")
    assert (await discord.reply_to(asked)).reference is None
    alone = await alice.says("and for annual plans?", thread=asked)
    assert (await discord.reply_to(alone)).reference is None
    await bob.says("<@alice> in March it was longer.", thread=asked)
    again = await alice.says("how long do refunds take in March?", thread=asked)
    assert (await discord.reply_to(again)).reference is again
    assert discord.pings() == []


async def test_ask_shows_names_in_place_of_ids(discord: FakeDiscord, office: Office) -> None:
    role, alice, bob = discord.role("support"), discord.person("alice"), discord.person("bob")
    question = f"do <@&{role.id}> and {bob.mention} pay refunds in {discord.channel('random').mention}?"
    answer = await discord.reply_to(await alice.slash("ask", question=question, private=False))
    assert "do @support and @Bob pay refunds in #random?" in answer.text.replace("\\", "").replace("\u200b", "")
    assert str(role.id) not in answer.text
    (call,) = office.script.calls_of("understand")
    assert call.given[0].question == "do @support and @Bob pay refunds in #random?"


async def test_no_code_of_discords_reaches_people(discord: FakeDiscord, office: Office) -> None:
    alice = discord.person("alice")
    discord.fail("POST", "/channels/{channel_id}/messages", status=404, code=10003, about=discord.channel("general").id)
    discord.fail("POST", "/channels/{channel_id}/messages", status=404, code=10003, about=discord.channel("general").id)
    await alice.says("<@bot> how long do refunds take?")
    await discord.until(lambda: any(REFUNDS in one.text for one in alice.dm_channel.posts()), what="a direct message")
    (told,) = alice.dm_channel.posts()
    assert "it no longer exists" in told.text
    assert "10003" not in told.text
