"""A person's answer, from *Ask a person* to the next answer that cites it, over sockets on both platforms."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta

import pytest

from core.model.channel_settings import ChosenSettings
from core.model.conversation import ThreadKey
from core.model.errors import Denied
from core.model.knowledge import Document
from core.model.person_answers import Confirmation, Offer, OfferAction, answer_place
from core.model.principals import channel_principal
from core.service.actions.user_actions import MemoryControls
from core.service.kb.chat_changes import ChangedConversation
from core.service.kb.commands import KbVerb
from core.service.person_answers import REMOVED
from core.service.visibility import VisibleMemory
from core.service.workers import JobWorker
from tests.core.service.kb.knowledge_room import Room
from tests.e2e.discord_office import Office
from tests.e2e.inprocess import Bot
from tests.e2e.slack_driver import SlackDriver
from tests.fakes import discord as fake_discord
from tests.fakes.discord import FakeDiscord
from tests.fakes.discord.world import PRIVATE_THREAD
from tests.fakes.slack import FakeSlack, Message, specs_are_here

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(
        not (specs_are_here() and fake_discord.SPECIFICATION.exists()),
        reason="the platforms' descriptions are not beside this checkout",
    ),
]

QUESTION = "what is the quota of the build server?"
ANSWER = "The build server has a quota of 40 jobs a day."


class SlackHouse:
    """The real knowledge service and the real bot over the same stores, in a fake workspace."""

    def __init__(self, slack: FakeSlack) -> None:
        self.slack = slack
        bot, room = Bot(SlackDriver(slack, "socket")), Room()
        room.catalog, room.index, room.encoder, room.clock = (
            bot.harness.catalog,
            bot.harness.index,
            bot.harness.encoder,
            bot.harness.clock,
        )
        room.message_states, room.proposal_store = bot.message_states, bot.proposal_store
        room.memory = VisibleMemory(bot.harness.memory, bot.harness.catalog)
        room.assemble()
        memory = MemoryControls(bot.harness.memory, bot.audit, room.person_answers)
        bot.user_actions = replace(bot.user_actions, memory=memory, person_answers=room.person_answers)
        bot.more = {"kb": room.kb_service}
        self.bot, self.room = bot, room

    async def called(self) -> Message:
        """Alice asks what no document says, and presses *Ask a person*; her question."""
        group = self.slack.usergroup("helpdesk", ["bob"])
        self.slack.allow_pings_of(group)
        await self.room.says(KbVerb.CREATE, base="handbook")
        await SlackDriver(self.slack, "socket").configure(self.bot.user_actions, handoff=group.id, bases="handbook")
        question = await self.slack.person("alice").says(f"<@bot> {QUESTION}", "general")
        answer = await self.slack.reply_to(question, until=lambda one: "Ask a person" in one.buttons())
        await self.slack.person("alice").clicks(answer, "Ask a person")
        await self.slack.until(lambda: self.slack.pings("group"))
        return question

    async def kept(self) -> Message:
        """Bob answers and has it kept, and an admin approves; his message."""
        question, bob = await self.called(), self.slack.person("bob")
        said = await bob.says(ANSWER, thread=question)
        await self.slack.person("alice").says("thanks, that works", thread=question)
        await bob.clicks(await bob.next_private(), "Keep it")
        await bob.next_private()
        (proposal,) = await self.room.proposal_store.proposals()
        await self.room.says(KbVerb.APPROVE, target=proposal.id)
        await self.works()
        return said

    def thread(self, message: Message) -> ThreadKey:
        return ThreadKey("slack", self.slack.team_id, message.channel.id, message.ts)

    async def works(self) -> None:
        await do_jobs(self.room)

    async def follows(self) -> None:
        """Wait until a change in the chat is noted, and have it followed as the clock would."""
        blank = ChangedConversation(source="")
        async with asyncio.timeout(60):
            while not await self.bot.message_states.read_entries(blank):
                await asyncio.sleep(0.01)
        await self.room.scheduler.tick()
        await self.works()


async def do_jobs(room: Room) -> None:
    """Let a worker do what waits, with what the connected platforms lend."""
    runner = room.runner({**room.lent, "paper": room.platform.capabilities()})
    worker = JobWorker(name="w", inbox=room.inbox, runner=runner, tick=room.scheduler.tick)
    while (lease := await room.inbox.take("w", timedelta())) is not None:
        await worker.handle(lease)
        await room.inbox.complete(lease)


@pytest.fixture
async def slack() -> AsyncIterator[FakeSlack]:
    async with FakeSlack() as workspace:
        yield workspace
        assert workspace.violations == []


@pytest.fixture
async def house(slack: FakeSlack) -> AsyncIterator[SlackHouse]:
    house = SlackHouse(slack)
    async with house.bot.running():
        platform = house.bot.platform
        house.room.lent["slack"] = platform.capabilities()  # type: ignore[union-attr]
        yield house


async def test_a_kept_answer_is_cited_with_its_name_and_date_in_slack(slack: FakeSlack, house: SlackHouse) -> None:
    question = await house.called()
    bob = slack.person("bob")
    await bob.says("I'll look into it", thread=question)
    said = await bob.says(ANSWER, thread=question)
    await slack.person("alice").says("thanks, that works", thread=question)
    offer = await bob.next_private()
    assert ANSWER in offer.markdown
    assert offer.buttons() == ["Keep it", "Not this"]
    assert await house.room.proposal_store.proposals() == []
    await bob.clicks(offer, "Keep it")
    assert "An admin decides" in (await bob.next_private()).markdown
    (proposal,) = await house.room.proposal_store.proposals()
    assert (proposal.base, proposal.title) == ("handbook", QUESTION)
    await house.room.says(KbVerb.APPROVE, target=proposal.id)
    await house.works()
    (document,) = await house.room.catalog.documents(frozenset({"handbook"}))
    assert document.origin == f"slack:{slack.team_id}/{bob.user.id}"
    again = await slack.person("carol").says(f"<@bot> {QUESTION}", "random")
    answered = await slack.reply_to(again, until=lambda one: "Show quotes" in one.buttons())
    assert "Answered by bob" in answered.markdown
    assert document.dated in answered.markdown

    await bob.edits(said, "The build server has a quota of 60 jobs a day.")
    await house.follows()
    assert any("60 jobs" in one for one in await house.room.finds_text(QUESTION, "handbook"))

    await house.bot.user_actions.memory.forget_person(proposal.by)
    assert list(await house.room.catalog.documents(frozenset({"handbook"}))) == []
    assert await house.room.finds_text(QUESTION, "handbook") == []
    assert not await house.room.trash.restorable()
    recalled = await house.room.memory.recall(house.thread(again))  # type: ignore[union-attr]
    assert "40 jobs" not in " ".join(turn.answer for turn in recalled.turns)
    assert not any("bob" in turn.answer for turn in recalled.turns)


async def test_deleting_the_message_removes_the_kept_answer_in_slack(slack: FakeSlack, house: SlackHouse) -> None:
    said = await house.kept()
    await slack.person("bob").deletes(said)
    await house.follows()
    assert list(await house.room.catalog.documents(frozenset({"handbook"}))) == []


async def test_nothing_is_kept_without_the_press_in_slack(slack: FakeSlack, house: SlackHouse) -> None:
    question = await house.called()
    bob, alice = slack.person("bob"), slack.person("alice")
    call = next(one for one in slack.visible("general", thread=question) if "That answers it" in one.buttons())
    await alice.clicks(call, "That answers it")
    assert "Nobody has replied" in (await alice.next_private()).markdown
    await bob.says(ANSWER, thread=question)
    await house.bot.settled()
    await slack.person("carol").clicks(call, "That answers it")
    assert "Only the person who asked" in (await slack.person("carol").next_private()).markdown
    await alice.clicks(call, "That answers it")
    assert "I will ask the person" in (await alice.next_private()).markdown
    offer = await bob.next_private()
    await alice.says("thanks, that works", thread=question)
    await bob.clicks(offer, "Not this")
    assert "I will not keep it" in (await bob.next_private()).markdown
    await house.bot.settled()
    assert await house.room.proposal_store.proposals() == []
    assert list(await house.room.catalog.documents(frozenset({"handbook"}))) == []
    assert len([one for one in slack.calls_of("chat.postEphemeral") if "footnote_offer_keep" in str(one)]) == 1


async def test_forgetting_the_answerer_takes_back_a_proposed_answer(slack: FakeSlack, house: SlackHouse) -> None:
    question = await house.called()
    bob = slack.person("bob")
    await bob.says(ANSWER, thread=question)
    await slack.person("alice").says("thanks!", thread=question)
    await bob.clicks(await bob.next_private(), "Keep it")
    assert "An admin decides" in (await bob.next_private()).markdown
    (proposal,) = await house.room.proposal_store.proposals()
    await house.bot.user_actions.memory.forget_person(proposal.by)
    assert await house.room.proposal_store.proposals() == []


# --- Discord


@pytest.fixture
async def discord() -> AsyncIterator[FakeDiscord]:
    async with FakeDiscord() as server:
        yield server
        assert server.violations == []


@pytest.fixture
async def office(discord: FakeDiscord) -> AsyncIterator[Office]:
    office = Office(discord, library=True)
    async with office.open():
        yield office


async def discord_called(discord: FakeDiscord, office: Office, **more: str) -> fake_discord.Message:
    """Alice asks what no document says, and presses *Ask a person*; her question."""
    assert office.library is not None
    role = discord.role("support", mentionable=True)
    discord.allow_pings_of(role)
    await office.library.room.says(KbVerb.CREATE, base="handbook")
    place = channel_principal("discord", str(discord.guild_id), str(discord.channel("general").id))
    chosen = ChosenSettings.from_mapping({"handoff": str(role.id), "bases": "handbook", **more})
    await office.settings_store.write(place, chosen)
    alice = discord.person("alice")
    question = await alice.says(f"<@bot> {QUESTION}")
    answer = await discord.reply_to(question)
    await alice.clicks(answer, "Ask a person")
    await discord.until(discord.pings, what="a ping")
    return question


async def offers_in(discord: FakeDiscord, question: fake_discord.Message) -> list[fake_discord.Message]:
    seen = discord.visible("general", thread=question)
    return [one for one in seen if any(control.label == "Keep it" for control in one.controls())]


async def test_a_kept_answer_is_cited_with_its_name_and_date_in_discord(discord: FakeDiscord, office: Office) -> None:
    assert office.library is not None
    library, bob = office.library, discord.person("bob", admin=True)
    question = await discord_called(discord, office)
    await bob.says("lol, no idea", thread=question)
    await bob.says(ANSWER, thread=question)
    await discord.person("alice").says("thanks, that works", thread=question)
    await discord.until(
        lambda: [one for one in discord.visible("general", thread=question) if "Keep it" in str(one.controls())],
        what="an offer",
    )
    (offer,) = await offers_in(discord, question)
    assert ANSWER in offer.text
    refused = await discord.reply_to(await discord.person("alice").clicks(offer, "Keep it"))
    assert "Only the person who wrote this answer" in refused.text
    assert await library.titles() == []
    assert "Thank you" in (await discord.reply_to(await bob.clicks(offer, "Keep it"))).text
    async with asyncio.timeout(60):
        while not await library.titles():
            await asyncio.sleep(0.05)
    (document,) = await library.room.catalog.documents(frozenset({"handbook"}))
    again = await discord.person("carol").says(f"<@bot> {QUESTION}")
    answered = await discord.reply_to(again)
    assert "Answered by Bob" in answered.text
    assert document.dated in answered.text
    assert [ping.kind for ping in discord.pings()] == ["role"]


async def test_nothing_is_kept_without_the_press_in_discord(discord: FakeDiscord, office: Office) -> None:
    assert office.library is not None
    library, bob = office.library, discord.person("bob")
    question = await discord_called(discord, office)
    await bob.says(ANSWER, thread=question)
    await discord.person("alice").says("thanks, that works", thread=question)
    await discord.until(
        lambda: [one for one in discord.visible("general", thread=question) if "Keep it" in str(one.controls())],
        what="an offer",
    )
    (offer,) = await offers_in(discord, question)
    await bob.clicks(offer, "Not this")
    await discord.person("alice").says("thanks again", thread=question)
    await office.settled()
    assert await offers_in(discord, question) == []
    assert await library.proposals() == []


async def discord_kept(discord: FakeDiscord, office: Office) -> fake_discord.Message:
    """Bob, an admin, answers and has it kept; his message."""
    assert office.library is not None
    question, bob = await discord_called(discord, office), discord.person("bob", admin=True)
    said = await bob.says(ANSWER, thread=question)
    await discord.person("alice").says("thanks, that works", thread=question)
    await discord.until(
        lambda: [one for one in discord.visible("general", thread=question) if "Keep it" in str(one.controls())],
        what="an offer",
    )
    (offer,) = await offers_in(discord, question)
    await discord.reply_to(await bob.clicks(offer, "Keep it"))
    async with asyncio.timeout(60):
        while not await office.library.titles():
            await asyncio.sleep(0.05)
    return said


async def is_asked_directly(room: Room, document: Document, platform: str) -> None:
    """Ask its author, as after half a year, whether it still holds."""
    asked = Confirmation(id=document.id[:16], owner=document.origin, document=document.id, at=1.0)
    assert room.message_states is not None
    await room.message_states.save(asked)
    thread = ThreadKey(*answer_place(document.source)[0].split("/"))
    buttons = (OfferAction.STILL_TRUE, OfferAction.REMOVE)
    offers = room.lent[platform].offers
    assert offers is not None
    await offers.ask(Offer(asked.id, thread, document.origin, "Is it still true?", "", buttons))


async def test_its_author_removes_it_in_a_direct_message_in_slack(slack: FakeSlack, house: SlackHouse) -> None:
    await house.kept()
    (document,) = await house.room.catalog.documents(frozenset({"handbook"}))
    await is_asked_directly(house.room, document, "slack")
    bob = slack.person("bob")
    asked = bob.sees(bob.dm)[-1]
    assert asked.buttons() == ["Still true", "Remove"]
    await bob.clicks(asked, "Remove")
    await slack.until(lambda: bob.sees(bob.dm)[-1].markdown == REMOVED, what="the outcome")
    assert list(await house.room.catalog.documents(frozenset({"handbook"}))) == []


async def test_a_direct_question_that_slack_does_not_take_is_known(slack: FakeSlack, house: SlackHouse) -> None:
    await house.kept()
    (document,) = await house.room.catalog.documents(frozenset({"handbook"}))
    slack.faults.fail("chat.postMessage", "is_archived")
    with pytest.raises(Denied):
        await is_asked_directly(house.room, document, "slack")


async def test_its_author_removes_it_in_a_direct_message_in_discord(discord: FakeDiscord, office: Office) -> None:
    assert office.library is not None
    await discord_kept(discord, office)
    room, bob = office.library.room, discord.person("bob")
    room.lent["discord"] = office.platform.capabilities()
    (document,) = await room.catalog.documents(frozenset({"handbook"}))
    await is_asked_directly(room, document, "discord")
    asked = discord.visible(bob.dm_channel)[-1]
    assert "I have removed it" in (await discord.reply_to(await bob.clicks(asked, "Remove"))).text
    assert await office.library.titles() == []


async def test_edits_and_deletions_are_followed_in_discord(discord: FakeDiscord, office: Office) -> None:
    assert office.library is not None
    library, bob = office.library, discord.person("bob")
    said = await discord_kept(discord, office)
    await bob.edits(said, "The build server has a quota of 60 jobs a day.")
    async with asyncio.timeout(60):
        while "60 jobs" not in await library.found(QUESTION):
            await library.tick()
            await asyncio.sleep(0.05)
    await bob.deletes(said)
    async with asyncio.timeout(60):
        while await library.titles():
            await library.tick()
            await asyncio.sleep(0.05)


async def test_nobody_is_asked_in_a_private_thread_in_discord(discord: FakeDiscord, office: Office) -> None:
    question = await discord_called(discord, office)
    assert question.thread is not None
    question.thread.kind = PRIVATE_THREAD
    alice = discord.person("alice")
    await discord.person("bob").says(ANSWER, thread=question)
    await office.settled()
    call = next(one for one in discord.visible("general", thread=question) if "That answers it" in str(one.controls()))
    assert (
        "Private threads are not stored" in (await discord.reply_to(await alice.clicks(call, "That answers it"))).text
    )
    assert await offers_in(discord, question) == []


async def test_replies_in_a_channel_are_not_asked_about_in_discord(discord: FakeDiscord, office: Office) -> None:
    await discord_called(discord, office, reply_style="channel")
    (call,) = [one for one in discord.visible("general") if "would like a person" in one.text]
    assert list(call.controls()) == []
