"""Managing knowledge bases from Discord: the real service and the real jobs, as people see them."""

import asyncio
import re
from collections.abc import AsyncIterator

import pytest
from discord import Client, Intents

from adapters.discord.api.http import configure_endpoints
from adapters.discord.kb.transcripts import conversations_in
from core.model.jobs import JobState
from tests.e2e.discord_library import Library, add_files
from tests.e2e.discord_office import Office
from tests.fakes.discord import SPECIFICATION, FakeDiscord, Interaction, Message, Person

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(not SPECIFICATION.exists(), reason="the shared discord-openapi.json is not beside the checkout"),
]

ROUTER = "# Router\nThe router is reset by holding its button for ten seconds."


@pytest.fixture
async def discord() -> AsyncIterator[FakeDiscord]:
    async with FakeDiscord() as server:
        yield server
        assert server.violations == []
        assert server.pings() == []


@pytest.fixture
async def office(discord: FakeDiscord) -> AsyncIterator[Office]:
    office = Office(discord, library=True)
    async with office.open():
        yield office


@pytest.fixture
def library(office: Office) -> Library:
    assert office.library is not None
    return office.library


@pytest.fixture
def ada(discord: FakeDiscord, office: Office) -> Person:
    return discord.person("ada", admin=True)


async def card_of(discord: FakeDiscord, given: Interaction, *containing: str) -> Message:
    """The card that a command leads to, once it shows all of this."""
    await discord.until(
        lambda: given.messages and all(one in given.messages[-1].text for one in containing),
        what=f"a card: {containing}",
    )
    return given.messages[-1]


# --- bringing in


async def test_attached_files_become_knowledge_that_is_cited(
    discord: FakeDiscord, library: Library, ada: Person
) -> None:
    library.parser.opened.clear()
    files = (("router.md", ROUTER.encode()), ("broken.md", b"\0"), ("a.md", b"Trains."))
    given = await add_files(ada, *files)
    card = await card_of(discord, given, "Queued.")
    assert given.private
    assert card.buttons() == ["Cancel"]
    library.parser.opened.set()
    await card_of(discord, given, "Done")
    assert given.messages == [card]
    assert "2 added, 1 failed" in card.text
    assert "broken.md: This is no text." in card.text
    assert "open to everyone" in card.text
    assert card.buttons() == []
    answer = await discord.reply_to(await discord.person("alice").says("<@bot> how is the router reset?"))
    assert "ten seconds" in answer.text
    assert "[1] Router" in answer.text


async def test_a_link_is_fetched_and_looked_at_again_at_no_cost(
    discord: FakeDiscord, library: Library, ada: Person
) -> None:
    library.site.pages["https://docs.example/router"] = ROUTER
    for outcome in ("1 added", "1 unchanged"):
        await card_of(discord, await ada.slash("kb add link", link="https://docs.example/router"), "Done", outcome)
    assert await library.titles() == ["Router"]


async def test_what_is_no_link_is_explained(discord: FakeDiscord, ada: Person) -> None:
    assert "That is not a link" in (await discord.reply_to(await ada.slash("kb add link", link="router"))).text


async def test_a_form_for_files_names_the_base_that_was_chosen_and_takes_ten(
    discord: FakeDiscord, library: Library, ada: Person
) -> None:
    await discord.reply_to(await ada.slash("kb bases create", kb="minutes"))
    files = [(f"page{n}.md", f"# Page {n}\nIt says {n}.".encode()) for n in range(10)]
    given = await add_files(ada, *files, kb="minutes")
    await card_of(discord, given, "Done", "10 added")
    assert "minutes" in given.messages[-1].text
    opened = await ada.slash("kb add files")
    with pytest.raises(ValueError, match="more files than the form takes"):
        await ada.submits(opened, {"Files": [*files, files[0]]})


async def test_a_form_that_was_opened_long_ago_says_that_it_is_too_old(
    discord: FakeDiscord, office: Office, ada: Person
) -> None:
    opened = await ada.slash("kb add files")
    assert opened.modal is not None
    opened.modal.custom_id = f"footnote:files:{'0' * 24}"  # what it stands for is not kept any more
    sent = await ada.submits(opened, {"Files": [("router.md", ROUTER.encode())]})
    assert "has expired" in (await discord.reply_to(sent)).text


async def test_a_channels_history_is_kept_by_thread_and_by_day(
    discord: FakeDiscord, library: Library, ada: Person
) -> None:
    bob, alice = discord.person("bob"), discord.person("alice")
    question = await bob.says("How do we reset the router?")
    await alice.starts_thread(question, "Router")
    await alice.says("Hold the button for ten seconds.", thread=question)
    old = await bob.says("Where are the keys?")
    thread = await bob.starts_thread(old, "Keys")
    await alice.says("In the red box.", thread=old)
    await discord.archive(thread)
    await bob.says("Lunch is at noon.")
    given = await ada.slash("kb add here")
    await card_of(discord, given, "Done")
    today = f"#general, {question.payload()['timestamp'][:10]}"
    assert await library.titles() == sorted(["Router", "Keys", today])
    assert "Lunch is at noon." in await library.text(today)
    assert "ten seconds" not in await library.text(today)
    assert "In the red box." in await library.text("Keys")
    asked = await alice.says("<@bot> how is the router reset?")
    assert "[Router]" in (await discord.reply_to(asked)).text
    await card_of(discord, await ada.slash("kb add here"), "3 unchanged")
    assert await library.titles() == sorted(["Router", "Keys", today])


async def test_what_is_edited_or_deleted_on_discord_is_no_longer_found(
    discord: FakeDiscord, library: Library, ada: Person
) -> None:
    bob, alice = discord.person("bob"), discord.person("alice")
    question = await bob.says("How do we reset the router?")
    await alice.starts_thread(question, "Router")
    wrong = await alice.says("Hold the router button for ninety seconds.", thread=question)
    keys = await bob.says("Where are the keys?")
    await bob.starts_thread(keys, "Keys")
    await alice.says("The keys are in the red box.", thread=keys)
    lunch = await bob.says("Lunch is at noon.")
    await alice.says("The office opens at eight.")
    await card_of(discord, await ada.slash("kb add here"), "Done")
    assert "ninety seconds" in await library.found("router button")

    async def read_again(notes: int) -> None:
        async with asyncio.timeout(60):
            while await library.changed() < notes:
                await asyncio.sleep(0.01)
            await library.tick()
            while await library.changed():
                await asyncio.sleep(0.1)
                await library.tick()

    await alice.deletes(wrong)
    await bob.edits(lunch, "Lunch is at one.")
    await read_again(3)
    assert "ninety seconds" not in await library.found("router button")
    assert "at one" in await library.found("lunch")
    assert "at noon" not in await library.found("lunch")
    assert "opens at eight" in await library.found("office")
    asked = await alice.says("<@bot> which button resets the router?")
    assert "ninety" not in (await discord.reply_to(asked)).text

    await bob.deletes(keys)
    await read_again(2)
    assert "red box" not in await library.found("keys")
    assert "Keys" not in await library.titles()


async def test_who_holds_no_gateway_reads_a_channels_history_too(discord: FakeDiscord) -> None:
    bob, support = discord.person("bob"), discord.role("support", mentionable=True)
    question = await bob.says("How do we reset the router?")
    await bob.starts_thread(question, "Router")
    await bob.says("Hold the button for ten seconds, or </ask:123456789012345678> <@&support>.", thread=question)
    await bob.says("Elsewhere.", "random")
    await bob.starts_thread(await bob.says("Somewhere else.", "random"), "Other")
    configure_endpoints(discord.api_url, None)
    async with Client(intents=Intents.none()) as client:
        await client.login(discord.token)
        found = [one async for one in conversations_in(client, discord.channel("general").id, 10)]
    assert [one.title for one in found] == ["Router"]
    assert found[0].messages[-1].text == f"Hold the button for ten seconds, or /ask @{support.name}."


async def test_a_thread_is_kept_from_within_it(discord: FakeDiscord, library: Library, ada: Person) -> None:
    question = await discord.person("bob").says("How do we reset the router?")
    thread = await ada.starts_thread(question, "Router")
    await ada.says("Hold the button for ten seconds.", thread=thread)
    await card_of(discord, await ada.slash("kb add here", channel=thread), "Done", "1 added")
    assert await library.titles() == ["Router"]


# --- looking, taking out, putting back


async def test_a_removal_is_confirmed_and_acts_once_however_often_it_is_pressed(
    discord: FakeDiscord, library: Library, ada: Person
) -> None:
    await card_of(discord, await add_files(ada, ("router.md", ROUTER.encode())), "Done")
    asked = await discord.reply_to(await ada.slash("kb sources remove", source="Router"))
    assert "Remove “Router” from “default”?" in asked.text
    await ada.clicks(asked, "Remove it")
    again = await ada.clicks(asked, "Remove it", stale=True)
    assert "already been done" in (await discord.reply_to(again)).text
    await discord.until(lambda: "Remove “Router”" not in asked.text, what="the outcome")
    assert asked.buttons() == []
    assert await library.titles() == []
    back = await discord.reply_to(await ada.slash("kb sources restore", source="Router"))
    assert "Restored “Router” in “default”" in back.text
    assert await library.titles() == ["Router"]


async def test_a_whole_base_is_removed_with_one_confirmation_and_comes_back(
    discord: FakeDiscord, library: Library, ada: Person
) -> None:
    files = (("router.md", ROUTER.encode()), ("keys.md", b"# Keys\nIn the red box."))
    await card_of(discord, await add_files(ada, *files), "Done", "2 added")
    asked = await discord.reply_to(await ada.slash("kb sources remove", kb="default"))
    assert "its 2 documents" in asked.text
    await ada.clicks(asked, "Remove default")
    await discord.until(lambda: "2 removed" in asked.text, what="the job's card in place of the question")
    assert await library.titles() == []
    assert "Router" in (await discord.reply_to(await ada.slash("kb sources restore"))).text
    await card_of(discord, await ada.slash("kb sources restore", kb="default"), "2 restored")
    assert await library.titles() == ["Keys", "Router"]


async def test_restricting_what_everyone_reads_is_asked_with_who_loses_access(
    discord: FakeDiscord, library: Library, ada: Person
) -> None:
    await card_of(discord, await add_files(ada, ("router.md", ROUTER.encode())), "Done", "1 added")
    role = discord.role("board")
    asked = await discord.reply_to(await ada.slash("kb bases grant", {"kb": "default", "role": role}))
    assert "Everyone can read its 1 document now; all other people" in asked.text
    assert "You lose it too" in asked.text
    assert await library.grants("default") == frozenset()
    await ada.clicks(asked, "Restrict to these")
    await discord.until(lambda: "is restricted to" in asked.text, what="the outcome")
    assert await library.grants("default") == {f"discord:role:{discord.guild_id}/{role.id}"}


async def test_a_long_list_is_turned_page_by_page_in_its_place(discord: FakeDiscord, ada: Person) -> None:
    for half in (range(6), range(6, 12)):
        files = [(f"page{n:02}.md", f"# Page {n:02}\nIt says {n}.".encode()) for n in half]
        await card_of(discord, await add_files(ada, *files), "Done", "6 added")
    first = await discord.reply_to(await ada.slash("kb list", kb="default"))
    assert "Page 1 of 2." in first.text
    await ada.clicks(first, "Next page")
    await discord.until(lambda: "Page 2 of 2." in first.text, what="the second page")
    assert first.buttons() == ["Previous page"]
    assert len(ada.private) == 3


async def test_a_source_is_found_by_what_was_typed(discord: FakeDiscord, ada: Person) -> None:
    await card_of(discord, await add_files(ada, ("router.md", ROUTER.encode())), "Done")
    (choice,) = await ada.autocompletes("kb sources show", option="source", typed="rout")
    shown = await discord.reply_to(await ada.slash("kb sources show", source=choice.value))
    assert "Router" in shown.text


# --- who may


async def test_who_is_no_admin_is_refused_and_that_is_on_record(
    discord: FakeDiscord, office: Office, library: Library
) -> None:
    discord.commands_shown_to_all = True
    alice = discord.person("alice")
    refused = await discord.reply_to(await add_files(alice, ("router.md", ROUTER.encode())))
    assert "Only admins can do that." in refused.text
    assert await library.titles() == []
    (entry,) = await office.audit.recent()
    assert (entry.actor, entry.action, entry.allowed) == (f"discord:user:{alice.id}", "kb ingest", False)


async def test_what_somebody_would_add_waits_for_an_admin(discord: FakeDiscord, library: Library, ada: Person) -> None:
    bob = discord.person("bob")
    question = await bob.says("How do we reset the router?")
    await bob.starts_thread(question, "Router")
    await bob.says("Hold the button for ten seconds.", thread=question)
    thanks = await discord.reply_to(await bob.context_menu("Add to knowledge base", question))
    assert "waits for an admin" in thanks.text
    assert await library.titles() == []
    waiting = await discord.reply_to(await ada.slash("kb proposals list"))
    assert "by Bob" in waiting.text
    assert "/kb proposals approve" in waiting.text
    (choice,) = await ada.autocompletes("kb proposals approve", option="id", typed="rout")
    assert choice.name.startswith("Router, by Bob")
    await card_of(discord, await ada.slash("kb proposals approve", id=choice.value), "Done", "1 added")
    assert await ada.autocompletes("kb proposals reject", option="id", typed="") == []
    answer = await discord.reply_to(await bob.says("<@bot> how is the router reset?"))
    assert question.thread is not None
    assert f"[Router](<https://discord.com/channels/{discord.guild_id}/{question.thread.id}>)" in answer.text


async def proposed(discord: FakeDiscord, *words: str) -> None:
    """Let Bob propose these."""
    bob = discord.person("bob")
    for text in words:
        given = await bob.context_menu("Add to knowledge base", await bob.says(text))
        assert "Your proposal waits for an admin" in (await discord.reply_to(given)).text


async def test_a_button_made_for_somebody_else_does_nothing_and_is_on_record(
    discord: FakeDiscord, office: Office, library: Library, ada: Person
) -> None:
    await card_of(discord, await add_files(ada, ("router.md", ROUTER.encode())), "Done")
    asked = await discord.reply_to(await ada.slash("kb sources remove", source="Router"))
    asked.ephemeral_for = None  # as if the button's id had leaked
    root = discord.person("root", admin=True)
    pressed = await root.clicks(asked, "Remove it")
    assert "has expired" in (await discord.reply_to(pressed)).text
    assert await library.titles() == ["Router"]
    (refused,) = [one for one in await office.audit.recent() if not one.allowed]
    assert (refused.actor, refused.action) == (f"discord:user:{root.id}", "kb button")
    await ada.clicks(asked, "Remove it")
    await discord.until(lambda: "Remove “Router”" not in asked.text, what="the outcome")
    assert await library.titles() == []


def button(message: Message, label: str, number: int) -> str:
    """Of several buttons of the same name, this one, by its id."""
    found = [one.custom_id for one in message.controls() if one.label == label]
    return found[number] or ""


async def test_an_admin_decides_by_buttons_and_the_outcome_takes_the_place_of_the_list(
    discord: FakeDiscord, office: Office, library: Library, ada: Person
) -> None:
    await proposed(discord, "Refunds take 30 days since May.", "Lunch is at noon.")
    given = await ada.slash("kb proposals list")
    listed = await discord.reply_to(given)
    assert listed.buttons() == ["Approve", "Reject"] * 2
    approve = button(listed, "Approve", 0)
    pressed = await ada.clicks(listed, approve)
    again = await ada.clicks(listed, approve, stale=True)
    assert "already been done" in (await discord.reply_to(again)).text
    card = await card_of(discord, pressed, "Done", "1 added")
    assert "Adding Refunds take 30 days" in listed.text
    assert "Lunch is at noon." in listed.text
    assert card is not listed
    await ada.clicks(listed, "Reject")
    await discord.until(lambda: "Rejected the proposal “Lunch is at noon.”." in listed.text, what="the other one")
    assert listed.buttons() == []
    assert await library.titles() == ["Refunds take 30 days since May."]
    assert len(await library.jobs.recent()) == 1
    verbs = [one.action for one in await office.audit.recent() if one.allowed]
    assert (verbs.count("kb approve"), verbs.count("kb reject")) == (1, 1)


async def test_what_another_admin_decided_is_said(discord: FakeDiscord, library: Library, ada: Person) -> None:
    await proposed(discord, "Refunds take 30 days since May.")
    root = discord.person("root", admin=True)
    lists = [await discord.reply_to(await one.slash("kb proposals list")) for one in (ada, root)]
    await ada.clicks(lists[0], "Reject")
    await discord.until(lambda: "Rejected the proposal" in lists[0].text, what="the outcome")
    await root.clicks(lists[1], "Approve")
    await discord.until(lambda: "Ada already rejected this, just now." in lists[1].text, what="who it was")
    assert lists[1].buttons() == []
    assert await library.jobs.recent() == []


async def test_who_is_no_admin_any_more_decides_nothing(
    discord: FakeDiscord, office: Office, library: Library, ada: Person
) -> None:
    await proposed(discord, "Refunds take 30 days since May.")
    listed = await discord.reply_to(await ada.slash("kb proposals list"))
    ada.member.roles.clear()
    await ada.clicks(listed, "Approve")
    await discord.until(lambda: "Only admins can do that." in listed.text, what="the refusal")
    assert len(await library.proposals()) == 1
    assert [one.action for one in await office.audit.recent() if not one.allowed] == ["kb approve"]


async def test_a_full_page_of_long_proposals_fits_a_message_and_is_turned(discord: FakeDiscord, ada: Person) -> None:
    await proposed(discord, *(f"{n} {'_long *words* ' * 60}" for n in range(7)))
    listed = await discord.reply_to(await ada.slash("kb proposals list"))
    assert listed.buttons() == [*["Approve", "Reject"] * 5, "Next page"]
    await ada.clicks(listed, "Next page")
    await discord.until(lambda: "Page 2 of 2." in listed.text, what="the second page")
    assert listed.buttons() == [*["Approve", "Reject"] * 2, "Previous page"]
    assert len(await ada.autocompletes("kb proposals approve", option="id", typed="")) == 7


async def test_an_admin_gets_a_link_to_connect_sources_for_their_eyes_alone(discord: FakeDiscord, ada: Person) -> None:
    reply = await discord.reply_to(await ada.slash("kb connect"))
    assert re.search(r"`https://notes\.example/sign-in/[\w-]{16,}`", reply.text), reply.text
    assert reply.ephemeral_for is not None


async def test_an_admin_is_told_at_the_next_command_that_something_waits(discord: FakeDiscord, ada: Person) -> None:
    await proposed(discord, "Refunds take 30 days since May.")
    status = await discord.reply_to(await ada.slash("kb jobs status"))
    assert "1 proposal to review: /kb proposals" in status.text
    assert ada.dm_channel.posts() == []
    await ada.clicks(status, "Review proposals")
    await discord.until(lambda: status.buttons() == ["Approve", "Reject"], what="the list")


async def test_grants_are_shown_by_the_names_that_people_know(discord: FakeDiscord, ada: Person) -> None:
    board = discord.role("board")
    created = await discord.reply_to(await ada.slash("kb bases create", kb="minutes", description="What was decided"))
    assert "Created “minutes”" in created.text
    granted = await discord.reply_to(await ada.slash("kb bases grant", {"kb": "minutes", "role": board}))
    assert f"<@&{board.id}>" in granted.text
    assert "discord:role" not in granted.text


async def test_a_message_without_words_cannot_be_kept(discord: FakeDiscord, ada: Person) -> None:
    empty = await discord.bot("deploybot").says("deployed")
    assert "has no text to add" in (await discord.reply_to(await ada.context_menu("Add to knowledge base", empty))).text


# --- jobs


async def test_a_job_is_cancelled_from_its_card(discord: FakeDiscord, library: Library, ada: Person) -> None:
    library.parser.opened.clear()
    given = await add_files(ada, ("router.md", ROUTER.encode()))
    card = await card_of(discord, given, "router.md")
    (choice,) = await ada.autocompletes("kb jobs cancel", option="id", typed="")
    assert choice.name.startswith("Adding router.md")
    pressed = await ada.clicks(card, "Cancel")
    await discord.until(lambda: "Cancelling." in pressed.text, what="a word about it")
    await card_of(discord, given, "Cancelled")
    assert await ada.autocompletes("kb jobs cancel", option="id", typed="") == []
    assert card.buttons() == []
    assert await library.titles() == []


async def test_a_job_goes_on_in_the_next_process_and_on_the_same_card(discord: FakeDiscord) -> None:
    office = Office(discord, library=True)
    library, ada = office.library, discord.person("ada", admin=True)
    assert library is not None
    library.parser.opened.clear()
    async with office.open():
        given = await add_files(ada, ("router.md", ROUTER.encode()))
        card = await card_of(discord, given, "Running")
    assert await library.titles() == []
    library.parser.opened.set()
    async with office.open():
        await card_of(discord, given, "Done", "1 added")
    assert given.messages == [card]
    assert await library.titles() == ["Router"]


async def test_a_job_that_outlives_its_interaction_says_its_end_directly(
    discord: FakeDiscord, library: Library, ada: Person
) -> None:
    library.parser.opened.clear()
    given = await add_files(ada, ("router.md", ROUTER.encode()))
    await card_of(discord, given, "Queued.")
    discord.expire_interaction_tokens()
    library.parser.opened.set()
    await discord.until(ada.dm_channel.posts, what="a direct message")
    (told,) = ada.dm_channel.posts()
    assert "Done" in told.text
    assert "1 added" in told.text
    assert "You asked for this in <#" in told.text
    assert [job.state for job in await library.jobs.recent()] == [JobState.DONE]


# --- corrections


async def test_who_knows_better_says_so_and_an_admin_decides(
    discord: FakeDiscord, office: Office, library: Library, ada: Person
) -> None:
    await office.harness.knows("The router is reset by unplugging it.", title="Old notes")
    alice = discord.person("alice")
    asked = await alice.says("<@bot> how is the router reset?")
    answer = await discord.reply_to(asked)
    form = (await alice.clicks(answer, "Not helpful")).modal
    assert form is not None
    thanks = (await alice.submits(form, {"What was wrong or missing?": "It is outdated."})).reply
    assert thanks.buttons() == ["Propose the right answer"]
    right = (await alice.clicks(thanks, "Propose the right answer")).modal
    assert right is not None
    told = await discord.reply_to(await alice.submits(right, {"What is the right answer?": "Hold its button."}))
    assert "waits for an admin" in told.text
    (proposal,) = await library.proposals()
    assert proposal.title == "how is the router reset?"
    assert "Hold its button." in proposal.text
    assert proposal.permalink == f"https://discord.com/channels/{discord.guild_id}/{answer.channel.id}/{answer.id}"
    await card_of(discord, await ada.slash("kb proposals approve", id=proposal.id), "Done", "1 added")
    assert await library.titles() == ["Old notes", "how is the router reset?"]


async def test_a_command_that_their_discord_still_shows_but_is_no_more_is_explained(
    discord: FakeDiscord, ada: Person
) -> None:
    knowledge = next(one for one in discord.commands.scopes[None] if one["name"] == "kb")
    knowledge["options"].append({"type": 1, "name": "ingest", "description": "Add files", "options": []})
    assert "That command has changed" in (await discord.reply_to(await ada.slash("kb ingest"))).text


# --- two sources that differ


async def test_the_owner_decides_a_dispute_and_takes_the_decision_back(
    discord: FakeDiscord, office: Office, library: Library, ada: Person
) -> None:
    await office.harness.knows("Logs are kept for 30 days.", title="Runbook", dated="2024-05-02")
    await office.harness.knows("Logs are kept for 90 days.", title="Retention", dated="2026-03-09")
    alice, bob = discord.person("alice"), discord.person("bob")
    disputed = await discord.reply_to(
        await alice.says("<@bot> how long are logs kept?"),
        until=lambda one: "Tell the document's owner" in one.buttons(),
    )
    assert "Two sources differ" in disputed.text
    told = await discord.reply_to(await alice.clicks(disputed, "Tell the document's owner"))
    assert "can now decide which one is right" in told.text
    assert "already know" in (await discord.reply_to(await bob.clicks(disputed, "Tell the document's owner"))).text
    listed = await discord.reply_to(await ada.slash("kb proposals list"))
    assert "A, Retention (2026-03-09): “Logs are kept for 90 days.”" in listed.text
    await ada.clicks(listed, "A is right")
    await discord.until(lambda: not listed.buttons() or "A is right" not in listed.buttons(), what="the decision")
    await _decided(library)
    answer = await discord.reply_to(
        await alice.says("<@bot> how long are logs kept?"), until=lambda one: "Show quotes" in one.buttons()
    )
    assert "Two sources differ" not in answer.text
    assert "Tell the document's owner" not in answer.buttons()
    asked = await discord.reply_to(await ada.slash("kb sources remove", source="how long are logs kept"))
    await ada.clicks(asked, "Remove it")
    await discord.until(lambda: "Remove “" not in asked.text, what="the withdrawal")
    again = await discord.reply_to(
        await alice.says("<@bot> how long are logs kept?"),
        until=lambda one: "Tell the document's owner" in one.buttons(),
    )
    assert "Two sources differ" in again.text
    told = await discord.reply_to(await alice.clicks(again, "Tell the document's owner"))
    assert "can now decide which one is right" in told.text


async def _decided(library: Library) -> None:
    async with asyncio.timeout(60):
        while "how long are logs kept" not in await library.titles():
            await asyncio.sleep(0.01)
