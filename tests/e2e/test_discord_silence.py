"""In Discord: messages during an outage, and questions that are edited or deleted."""

import asyncio
import time
from datetime import timedelta

import pytest

from adapters.discord.inbound import event_listener, look_back
from adapters.discord.inbound.ordered_queue import Job
from core.model.channel_settings import ChosenSettings
from core.model.errors import Busy
from core.model.principals import channel_principal
from core.ports.inbox import Delivery
from core.service.incoming import BackfillCursor
from tests.e2e.conftest import REFUNDS
from tests.e2e.discord_office import Office
from tests.fakes.discord import SPECIFICATION, FakeDiscord
from tests.fakes.discord.people import Person

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(not SPECIFICATION.exists(), reason="the shared discord-openapi.json is not beside the checkout"),
]


ASKED = "<@bot> how long do refunds take?"
MESSAGES = "/channels/{channel_id}/messages"
LONG = 30.0  # seconds that a busy machine may take


async def worked_off(office: Office) -> None:
    async with asyncio.timeout(LONG):
        while await office.inbox.count_waiting():
            await asyncio.sleep(0.01)


async def has_noted_that_it_hears(office: Office) -> None:
    """Record that the bot is connected, so that it can catch up from here."""
    async with asyncio.timeout(LONG):
        while not await office.message_states.read(BackfillCursor(platform="discord")):
            await asyncio.sleep(0.01)


async def has_answered(discord: FakeDiscord, office: Office) -> Person:
    """Return Alice, who was answered in #general before the outage."""
    alice = discord.person("alice")
    async with office.open():
        await discord.reply_to(await alice.says(ASKED), LONG)
        await has_noted_that_it_hears(office)
    return alice


# --- what was said meanwhile


async def test_what_was_said_between_two_processes_is_answered_once(discord: FakeDiscord, closed: Office) -> None:
    alice, bob = discord.person("alice"), discord.person("bob")
    async with closed.open():
        before = await alice.says(ASKED)
        await discord.reply_to(before, LONG)
        await discord.reply_to(await bob.dm("how long do refunds take?"), LONG)
        await has_noted_that_it_hears(closed)
        await worked_off(closed)
    in_channel = await bob.says(ASKED, "random")
    in_thread = await alice.says("and for annual plans?", thread=before)
    direct = await bob.dm("and for annual plans?")
    chatter = await bob.says("lunch at noon, everybody.")
    for _ in range(2):
        async with closed.open():
            for asked in (in_channel, in_thread, direct):
                assert REFUNDS in (await discord.reply_to(asked, LONG)).text
            await worked_off(closed)
    assert [len(discord.answers_to(asked)) for asked in (in_channel, in_thread, direct)] == [1, 1, 1]
    assert discord.answers_to(chatter) == []
    assert len(closed.script.calls_of("understand")) == 5


async def test_what_was_said_while_a_session_was_invalid_is_answered(discord: FakeDiscord, office: Office) -> None:
    await has_noted_that_it_hears(office)
    discord.refuse_connections(1)
    discord.forget_sessions()
    await discord.drop_socket()
    asked = await discord.person("alice").says(ASKED)
    assert discord.identifies == 1
    assert REFUNDS in (await discord.reply_to(asked, LONG)).text
    assert discord.identifies == 2


async def test_a_place_that_may_not_be_read_any_more_keeps_nobody_else_waiting(
    discord: FakeDiscord, closed: Office
) -> None:
    alice = await has_answered(discord, closed)
    asked = await alice.says(ASKED, "random")
    discord.fail("GET", MESSAGES, status=403, code=50001, times=10_000, about=discord.channel("general").id)
    async with closed.open():
        assert REFUNDS in (await discord.reply_to(asked, LONG)).text


async def test_what_was_said_before_a_hundred_other_messages_and_after_them_is_answered(
    discord: FakeDiscord, closed: Office
) -> None:
    alice = await has_answered(discord, closed)
    first = await alice.says(ASKED)
    for number in range(105):
        await alice.says(f"Lunch is at {number} past noon.")
    last = await alice.says(ASKED)
    async with closed.open():
        for asked in (first, last):
            assert REFUNDS in (await discord.reply_to(asked, LONG)).text


async def test_what_was_said_in_a_server_that_is_there_only_later_is_answered(
    discord: FakeDiscord, closed: Office
) -> None:
    alice = await has_answered(discord, closed)
    asked = await alice.says(ASKED, "random")
    introduce = discord.introduce_late()
    async with closed.open():
        await introduce()
        assert REFUNDS in (await discord.reply_to(asked, LONG)).text


async def test_what_was_said_beside_a_voice_channel_is_answered(discord: FakeDiscord, closed: Office) -> None:
    alice, voice = discord.person("alice"), await discord.voice_channel("talk")
    async with closed.open():
        live = await discord.reply_to(await alice.says(ASKED, voice), LONG)
        assert REFUNDS in live.text
        await has_noted_that_it_hears(closed)
    asked = await alice.says(ASKED, voice)
    async with closed.open():
        assert REFUNDS in (await discord.reply_to(asked, LONG)).text


async def test_a_place_that_cannot_be_read_just_now_is_read_later(discord: FakeDiscord, closed: Office) -> None:
    alice = await has_answered(discord, closed)
    asked = await alice.says(ASKED, "random")
    discord.fail("GET", MESSAGES, status=503, about=discord.channel("random").id)
    async with closed.open():
        assert REFUNDS in (await discord.reply_to(asked, LONG)).text


async def test_catch_up_pauses_after_a_few_failed_reads_while_discord_is_down(
    discord: FakeDiscord, closed: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(look_back, "LISTEN_SECONDS", 3_600)  # so that there is one pass
    alice = await has_answered(discord, closed)
    for number in range(look_back.MOST_FAILURES + 3):
        await discord.text_channel(f"busy-{number}")
        await alice.says("Lunch is at noon.", f"busy-{number}")
    discord.requests.clear()
    discord.fail("GET", MESSAGES, status=503, times=10_000)
    async with closed.open():
        await discord.until(
            lambda: len(discord.calls("GET", MESSAGES)) >= look_back.MOST_FAILURES, LONG, what="a look at some places"
        )
        await discord.reply_to(await alice.says(ASKED, "random"), LONG)
    assert len(discord.calls("GET", MESSAGES)) == look_back.MOST_FAILURES


async def test_every_place_that_it_may_read_is_read_and_no_other(discord: FakeDiscord, closed: Office) -> None:
    alice = await has_answered(discord, closed)
    first = await alice.says(ASKED, "random")
    for number in range(105):
        await alice.says("Lunch is at noon.", await discord.text_channel(f"busy-{number}"))
    hidden = await discord.text_channel("board", private_to=[alice])
    await discord.take_permission("view_channel", hidden)
    await alice.says(ASKED, hidden)
    discord.requests.clear()
    async with closed.open():
        assert REFUNDS in (await discord.reply_to(first, LONG)).text
        await worked_off(closed)
    assert len(discord.calls("GET", MESSAGES)) >= 106
    assert not [one for one in discord.calls("GET", MESSAGES) if str(hidden.id) in one.path]


async def test_a_mention_in_a_new_thread_that_was_archived_since_is_answered(
    discord: FakeDiscord, closed: Office
) -> None:
    alice = await has_answered(discord, closed)
    await closed.message_states.save(BackfillCursor(platform="discord", at=time.time() - 2 * 3_600))
    root = await alice.says("Something about refunds.", "random")
    thread = await alice.starts_thread(root, "refunds")
    asked = await alice.says(ASKED, thread=thread)
    await discord.archive(thread)
    async with closed.open():
        assert REFUNDS in (await discord.reply_to(asked, LONG)).text


async def test_whoever_asks_too_much_is_told(discord: FakeDiscord, office: Office) -> None:
    alice, put = discord.person("alice"), office.inbox.put

    async def full(delivery: Delivery) -> bool:
        raise Busy("You have 20 questions waiting.", remedy="Please wait for an answer, then ask again.")

    office.inbox.put = full  # type: ignore[method-assign]
    asked = await alice.says(ASKED)
    await discord.until(lambda: discord.answers_to(asked), LONG, what="being told")
    office.inbox.put = put  # type: ignore[method-assign]
    (told,) = discord.answers_to(asked)
    assert "20 questions waiting" in told.text
    assert told.reference is asked


async def test_who_speaks_to_others_is_not_told_that_too_much_waits(discord: FakeDiscord, office: Office) -> None:
    bob = discord.person("bob")

    async def full(delivery: Delivery) -> bool:
        raise Busy("You have 20 questions waiting.")

    thread = await bob.starts_thread(await bob.says("Something about lunch."), "lunch")
    office.inbox.put = full  # type: ignore[method-assign]
    await bob.says("Lunch is at noon.", thread=thread)
    await discord.quiet(0.3)
    assert [one for one in thread.posts() if one.author is discord.me] == []


async def test_what_there_was_no_room_for_is_read_again(discord: FakeDiscord, office: Office) -> None:
    line, full = office.platform._ordered_queue, asyncio.Queue[Job](1)
    full.put_nowait(office.settled)
    roomy, line._line = line._line, full
    asked = await discord.person("alice").says(ASKED)
    await discord.until(lambda: discord.is_typing_in(discord.channel("general")), LONG, what="a sign that it heard")
    line._line = roomy
    assert REFUNDS in (await discord.reply_to(asked, LONG)).text


# --- questions that are taken back


@pytest.mark.parametrize("when", ["before the answer", "after the answer"])
async def test_the_answer_of_a_thread_that_is_deleted_goes_nowhere_else(
    discord: FakeDiscord, office: Office, when: str
) -> None:
    alice = discord.person("alice")
    held = discord.hold("PATCH", "/channels/{channel_id}/messages/{message_id}")
    asked = await alice.says(ASKED)
    await held.reached()
    if when == "after the answer":
        held.release()
        await discord.reply_to(asked, LONG)
        await worked_off(office)
    assert asked.thread is not None
    await discord.posting.delete_thread(asked.thread)
    await discord.quiet(0.2)
    held.release()
    await worked_off(office)
    await discord.quiet(0.2)
    assert [one for one in discord.visible("general") if one.author is discord.me] == []
    assert alice.dm_channel.posts() == []


async def test_a_follow_up_in_a_thread_that_is_deleted_meanwhile_is_answered_nowhere(
    discord: FakeDiscord, office: Office
) -> None:
    alice = discord.person("alice")
    thread = await alice.starts_thread(await alice.says("Something about refunds."), "refunds")
    held = discord.hold("PATCH", "/channels/{channel_id}/messages/{message_id}")
    await alice.says(ASKED, thread=thread)
    await held.reached()
    await discord.posting.delete_thread(thread)
    held.release()
    await worked_off(office)
    await discord.quiet(0.2)
    assert [one for one in discord.visible("general") if one.author is discord.me] == []
    assert alice.dm_channel.posts() == []


async def test_deleting_a_question_deletes_its_answer_and_archives_its_thread(
    discord: FakeDiscord, office: Office
) -> None:
    alice = discord.person("alice")
    asked = await alice.says(ASKED)
    await discord.reply_to(asked, LONG)
    await worked_off(office)
    await alice.deletes(asked)
    await discord.until(lambda: not discord.answers_to(asked), LONG, what="its answer to go")
    await discord.until(lambda: asked.thread is not None and asked.thread.archived, LONG, what="its thread to go")


async def test_a_thread_in_which_people_went_on_stays_open(discord: FakeDiscord, office: Office) -> None:
    alice = discord.person("alice")
    asked = await alice.says(ASKED)
    await discord.reply_to(asked, LONG)
    await discord.person("bob").says("<@alice> that helps.", thread=asked)
    await worked_off(office)
    await alice.deletes(asked)
    await discord.until(lambda: not discord.answers_to(asked), LONG, what="its answer to go")
    await worked_off(office)
    assert asked.thread is not None
    assert not asked.thread.archived


async def test_a_question_that_is_deleted_before_anything_is_shown_shows_nothing(
    discord: FakeDiscord, office: Office
) -> None:
    held = discord.hold("POST", MESSAGES)
    alice = discord.person("alice")
    asked = await alice.says(ASKED)
    await held.reached()
    await alice.deletes(asked)
    await discord.quiet(0.2)
    held.release()
    await worked_off(office)
    await discord.until(lambda: not discord.answers_to(asked), LONG, what="nothing to be left")
    assert alice.dm_channel.posts() == []


async def test_a_card_of_a_deleted_question_goes_and_is_not_answered_when_its_time_is_over(
    discord: FakeDiscord, office: Office
) -> None:
    place = channel_principal("discord", str(discord.guild_id), str(discord.channel("general").id))
    await office.settings_store.write(
        place, ChosenSettings.from_mapping({"sources_first": "yes", "checkpoints": "sources_first"})
    )
    alice = discord.person("alice")
    asked = await alice.says(ASKED)
    await discord.until(lambda: any(one.buttons() for one in discord.answers_to(asked)), LONG, what="a card")
    await worked_off(office)
    await alice.deletes(asked)
    await discord.until(lambda: not discord.answers_to(asked), LONG, what="the card to go")
    await worked_off(office)
    assert await office.harness.checkpoints.due(office.harness.clock.now().replace(year=2999)) == []


async def test_a_follow_up_in_a_thread_that_is_deleted_takes_only_its_own_answer(
    discord: FakeDiscord, office: Office
) -> None:
    alice = discord.person("alice")
    asked = await alice.says(ASKED)
    await discord.reply_to(asked, LONG)
    again = await alice.says("and for annual plans?", thread=asked)
    await discord.until(lambda: len(discord.answers_to(asked)) == 2, LONG, what="a second answer")
    await worked_off(office)
    await alice.deletes(again)
    await discord.until(lambda: len(discord.answers_to(asked)) == 1, LONG, what="the second answer to go")
    assert asked.thread is not None
    assert not asked.thread.archived


async def test_of_many_messages_that_are_deleted_at_once_their_thread_is_looked_up_once(
    discord: FakeDiscord, closed: Office
) -> None:
    alice = discord.person("alice")
    thread = await alice.starts_thread(await alice.says("Something about refunds."), "a thread")
    said = [await alice.says(f"Thought {number}.", thread=thread) for number in range(10)]
    await discord.archive(thread)
    async with closed.open():
        await discord.posting.delete_together(said)
        await discord.reply_to(await alice.says(ASKED, "random"), LONG)  # what happens later is taken in later
        await worked_off(closed)
    looked_at = [one for one in discord.calls("GET", "/channels/{channel_id}") if str(thread.id) in one.path]
    assert len(looked_at) == 1


async def test_an_edit_after_the_answer_offers_its_writer_alone_to_answer_again_once(
    discord: FakeDiscord, office: Office
) -> None:
    alice, bob = discord.person("alice"), discord.person("bob")
    asked = await alice.says(ASKED, files=[("note.txt", b"Order 7.")])
    answer = await discord.reply_to(asked, LONG)
    before = answer.text
    await worked_off(office)
    await alice.edits(asked, "<@bot> How long do refunds take??")
    await worked_off(office)
    assert "Answer again?" not in answer.buttons()
    for text in ("<@bot> how long do refunds take, roughly?", "<@bot> how long do refunds take, in days?"):
        await alice.edits(asked, text)
        await discord.until(lambda: "Answer again?" in answer.buttons(), LONG, what="a button")
        await worked_off(office)
    assert answer.buttons().count("Answer again?") == 1
    assert answer.text == before
    assert discord.answers_to(asked) == [answer]
    refused = await bob.clicks(answer, "Answer again?")
    assert "Only the person who asked" in refused.text
    assert refused.private
    pressed = await alice.clicks(answer, "Answer again?")
    assert REFUNDS in (await discord.reply_to(pressed, LONG)).text
    await discord.until(lambda: "Answer again?" not in answer.buttons(), LONG, what="the button to go")
    assert answer.text == before
    first, again = office.script.calls_of("understand")
    assert first.given[0].question == "how long do refunds take?"
    assert again.given[0].question == "how long do refunds take, in days?"
    assert [one.text for one in again.given[1].attachments] == ["Order 7."]


async def test_does_not_answer_the_edit_of_a_forgotten_question(
    discord: FakeDiscord, office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_listener, "KEPT_FOR", timedelta(0))
    alice = discord.person("alice")
    asked = await alice.says(ASKED)
    await discord.reply_to(asked, LONG)
    await worked_off(office)
    office.harness.state.records.clear()
    discord.nonces.clear()
    await alice.edits(asked, "<@bot> how long do refunds take, in days?")
    await discord.reply_to(await alice.says(ASKED, "random"), LONG)  # what is said later is taken in later
    await worked_off(office)
    assert len(discord.answers_to(asked)) == 1
    assert len(office.script.calls_of("understand")) == 2
