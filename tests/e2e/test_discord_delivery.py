"""In Discord, the final answer always arrives exactly once, whatever error a call returns."""

import asyncio
from collections.abc import Callable

import pytest

from adapters.discord.inbound import gateway_connection, interactions
from adapters.discord.inbound.ordered_queue import Job
from adapters.discord.outbound import messages
from core.model.channel_settings import ChosenSettings
from core.model.errors import Busy
from core.model.inquiry import AskBack
from core.model.principals import channel_principal
from core.ports.inbox import Delivery
from tests.e2e.conftest import REFUNDS
from tests.e2e.discord_office import Office
from tests.e2e.test_both_platforms import CARDS
from tests.fakes.discord import SPECIFICATION, FakeDiscord, Message, Person

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(not SPECIFICATION.exists(), reason="the shared discord-openapi.json is not beside the checkout"),
]


ASKED = "<@bot> how long do refunds take?"
MESSAGES, MESSAGE = "/channels/{channel_id}/messages", "/channels/{channel_id}/messages/{message_id}"
THREADS = "/channels/{channel_id}/messages/{message_id}/threads"
WEBHOOK = "/webhooks/{webhook_id}/{webhook_token}"
ORIGINAL = f"{WEBHOOK}/messages/@original"
DIRECT = "/users/@me/channels"
CALLBACK = "/interactions/{interaction_id}/{interaction_token}/callback"
FOR_GOOD = 10_000
LONG = 30.0  # seconds that a busy machine may take


def outcomes(discord: FakeDiscord, asked: Message, asker: Person) -> list[Message]:
    """Return all answers to the asker: in the thread, in the channel, and direct messages."""
    told = [one for one in asker.dm_channel.posts() if one.author is discord.me]
    return [*discord.answers_to(asked), *(one for one in told if one not in discord.answers_to(asked))]


async def worked_off(office: Office) -> None:
    """Wait until the queue is empty, retrying delayed deliveries at once."""
    async with asyncio.timeout(LONG):
        await office.discord.quiet(0.1)
        while await office.inbox.count_waiting():
            await office.work.wait_for_rest()
            office.harness.clock.advance(31.0)  # the pause of what failed


async def settled_on(discord: FakeDiscord, office: Office, asked: Message, asker: Person) -> Message:
    """Return the only outcome, after the queue is empty."""
    await discord.until(lambda: outcomes(discord, asked, asker), LONG, what="anything visible")
    async with asyncio.timeout(LONG):
        while await office.inbox.count_waiting():
            await asyncio.sleep(0.01)
    (found,) = outcomes(discord, asked, asker)
    return found


# --- calls that fail


@pytest.mark.parametrize("times", [1, 3])
async def test_a_connection_reset_on_the_first_message_loses_nothing(
    discord: FakeDiscord, office: Office, times: int
) -> None:
    discord.fail("POST", MESSAGES, drops=True, times=times)
    alice = discord.person("alice")
    asked = await alice.says(ASKED)
    assert REFUNDS in (await settled_on(discord, office, asked, alice)).text


async def test_a_message_whose_confirmation_is_lost_stands_there_once(discord: FakeDiscord, office: Office) -> None:
    discord.fail("POST", MESSAGES, drops=True, done=True, times=2)
    alice = discord.person("alice")
    asked = await alice.says(ASKED)
    assert REFUNDS in (await settled_on(discord, office, asked, alice)).text


async def test_where_no_edit_gets_through_the_answer_is_posted_anew_and_its_stub_removed(
    discord: FakeDiscord, office: Office
) -> None:
    discord.fail("PATCH", MESSAGE, status=503, times=FOR_GOOD)
    alice = discord.person("alice")
    asked = await alice.says(ASKED)
    assert REFUNDS in (await settled_on(discord, office, asked, alice)).text


@pytest.mark.parametrize("template", [MESSAGES, THREADS], ids=["message", "thread"])
async def test_a_page_of_a_proxy_is_not_taken_for_discords_answer(
    discord: FakeDiscord, office: Office, template: str
) -> None:
    discord.fail("POST", template, status=200, text="<html>Sign in to the network</html>", times=2)
    alice = discord.person("alice")
    asked = await alice.says(ASKED)
    assert REFUNDS in (await settled_on(discord, office, asked, alice)).text


async def test_a_layout_that_is_refused_is_posted_as_plain_text(discord: FakeDiscord, office: Office) -> None:
    first = discord.hold("POST", MESSAGES)
    alice = discord.person("alice")
    asked = await alice.says(ASKED)
    await first.reached()
    discord.fail("PATCH", MESSAGE, status=400, code=50035, times=FOR_GOOD)
    discord.fail("POST", MESSAGES, status=400, code=50035)
    first.release()
    found = await settled_on(discord, office, asked, alice)
    assert REFUNDS in found.text
    assert found.buttons() == []


async def test_a_bucket_with_a_long_window_and_requests_left_delays_nobody(
    discord: FakeDiscord, office: Office
) -> None:
    """The library has an option that refuses such requests, which is why it is not set."""
    discord.enforce_limit("POST", THREADS, 50, 300.0)
    alice = discord.person("alice")
    for _ in range(2):
        asked = await alice.says(ASKED)
        assert REFUNDS in (await discord.reply_to(asked, LONG)).text
        assert asked.thread is not None


async def test_a_global_limit_is_waited_for_and_nothing_hangs_after_it(
    discord: FakeDiscord, office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The library never sends again when its own waiting for such a limit is cut short, as by a deadline."""
    monkeypatch.setattr(messages, "TYPING_SECONDS", 0.1)
    discord.limit_rate("POST", "/channels/{channel_id}/typing", retry_after=0.5, scope="global")
    alice = discord.person("alice")
    asked = await alice.says(ASKED)
    assert REFUNDS in (await settled_on(discord, office, asked, alice)).text


async def test_a_command_whose_acknowledgement_is_lost_on_its_way_back_is_answered(
    discord: FakeDiscord, office: Office
) -> None:
    """Discord shows that we are thinking: it would do so for a quarter of an hour."""
    discord.fail("POST", CALLBACK, drops=True, done=True)
    asked = await discord.person("alice").slash("ask", question="how long do refunds take?", private=False)
    assert REFUNDS in (await discord.reply_to(asked, LONG)).text
    assert [one.loading for one in asked.messages] == [False]


async def test_says_what_to_do_if_a_private_answer_cannot_be_sent_directly(
    discord: FakeDiscord, office: Office
) -> None:
    place = channel_principal("discord", str(discord.guild_id), str(discord.channel("general").id))
    await office.settings_store.write(place, ChosenSettings.from_mapping({"reply_style": "private"}))
    discord.refuse("POST", DIRECT, code=50007, times=FOR_GOOD)
    alice = discord.person("alice")
    asked = await alice.says(ASKED)
    found = await settled_on(discord, office, asked, alice)
    assert found.reference is asked
    assert "Allow direct messages" in found.text
    assert REFUNDS not in found.text


async def test_a_failed_member_lookup_is_not_treated_as_no_permission(
    discord: FakeDiscord,
) -> None:
    office = Office(discord, timed_by_harness=True)
    grants = frozenset({f"discord:guild:{discord.guild_id}"})
    await office.harness.knows("The canary sings at dawn.", title="Secret", base="team", grants=grants)
    discord.fail("GET", "/guilds/{guild_id}/members/{user_id}", status=503)
    async with office.open():
        asked = await discord.person("alice").dm("when does the canary sing?")
        await worked_off(office)
        assert "dawn" in (await discord.reply_to(asked, LONG)).text


# --- threads that cannot be started


TROUBLE: dict[str, Callable[[FakeDiscord], object]] = {
    "limited for minutes": lambda d: d.limit_rate("POST", THREADS, retry_after=300, times=FOR_GOOD),
    "no permission": lambda d: d.refuse("POST", THREADS, code=50013, times=FOR_GOOD),
    "too many threads": lambda d: d.refuse("POST", THREADS, status=400, code=160006, times=FOR_GOOD),
    "title blocked": lambda d: d.refuse("POST", THREADS, status=400, code=200001, times=FOR_GOOD),
    "down": lambda d: d.break_down("POST", THREADS, status=503, times=FOR_GOOD),
    "cut off": lambda d: d.fail("POST", THREADS, drops=True, times=FOR_GOOD),
}


@pytest.mark.parametrize("trouble", TROUBLE)
async def test_where_no_thread_can_be_started_it_answers_in_reply(
    discord: FakeDiscord, office: Office, trouble: str
) -> None:
    TROUBLE[trouble](discord)
    alice = discord.person("alice")
    asked = await alice.says(ASKED)
    found = await settled_on(discord, office, asked, alice)
    assert REFUNDS in found.text
    assert found.reference is asked


async def test_no_thread_is_started_that_could_not_be_written_to(discord: FakeDiscord, office: Office) -> None:
    await discord.take_permission("send_messages_in_threads")
    alice = discord.person("alice")
    asked = await alice.says(ASKED)
    found = await settled_on(discord, office, asked, alice)
    assert found.reference is asked
    assert REFUNDS in found.text
    assert asked.thread is None


async def test_a_thread_that_turns_out_to_be_locked_is_left_for_a_reply(discord: FakeDiscord, office: Office) -> None:
    alice = discord.person("alice")
    channel = discord.channel("general")
    held = discord.hold("POST", MESSAGES)
    asked = await alice.says(ASKED)
    await held.reached()
    assert asked.thread is not None
    discord.fail("POST", MESSAGES, status=400, code=160005, times=FOR_GOOD, about=asked.thread.id)
    held.release()
    await discord.until(lambda: asked.thread is not None, LONG, what="a thread")
    discord.fail("PATCH", MESSAGE, status=400, code=160005, times=FOR_GOOD, about=asked.thread.id)
    await discord.until(lambda: any(REFUNDS in one.text for one in channel.posts()), LONG, what="a reply")
    (reply,) = [one for one in channel.posts() if one.author is discord.me]
    assert reply.reference is asked


async def test_where_it_may_not_read_back_it_answers_in_the_channel_and_refers_to_nothing(
    discord: FakeDiscord, office: Office
) -> None:
    await discord.take_permission("read_message_history")
    place = channel_principal("discord", str(discord.guild_id), str(discord.channel("general").id))
    await office.settings_store.write(place, ChosenSettings.from_mapping({"reply_style": "channel"}))
    alice = discord.person("alice")
    asked = await alice.says(ASKED)
    found = await settled_on(discord, office, asked, alice)
    assert found.channel is asked.channel
    assert REFUNDS in found.text
    assert "Show quotes" in found.buttons()


# --- nowhere to post


async def test_where_nothing_may_be_written_the_asker_has_the_answer_directly_and_once(
    discord: FakeDiscord, office: Office
) -> None:
    alice = discord.person("alice")
    await discord.take_permission("send_messages", discord.channel("general"))
    await discord.take_permission("send_messages_in_threads", discord.channel("general"))
    asked = await alice.says(ASKED)
    found = await settled_on(discord, office, asked, alice)
    assert found.channel is alice.dm_channel
    assert REFUNDS in found.text
    assert "does not let me write" in found.text
    assert asked.channel.mention in found.text
    assert discord.pings() == []


@pytest.mark.parametrize("how", ["locked", "out of sight"])
async def test_a_thread_that_is_closed_while_it_is_answered_sends_the_answer_directly(
    discord: FakeDiscord, office: Office, how: str
) -> None:
    alice = discord.person("alice")
    first = await alice.says(ASKED)
    await discord.reply_to(first, LONG)
    thread = first.thread
    assert thread is not None
    held = discord.hold("POST", MESSAGES)
    await alice.says("<@bot> and for annual plans?", thread=thread)
    await held.reached()
    if how == "locked":
        await discord.archive(thread, locked=True)
    else:
        await discord.take_permission("view_channel", discord.channel("general"))
    held.release()
    await discord.until(lambda: any(REFUNDS in one.text for one in alice.dm_channel.posts()), LONG, what="the answer")
    assert len(alice.dm_channel.posts()) == 1


async def test_who_takes_no_direct_messages_costs_nobody_else_anything(discord: FakeDiscord, office: Office) -> None:
    alice = discord.person("alice")
    await discord.take_permission("send_messages", discord.channel("random"))
    await discord.take_permission("send_messages_in_threads", discord.channel("random"))
    discord.fail("POST", MESSAGES, status=403, code=50007, times=FOR_GOOD, about=alice.dm_channel.id)
    await alice.says(ASKED, "random")
    asked = await discord.person("bob").says(ASKED)
    assert REFUNDS in (await discord.reply_to(asked, LONG)).text
    async with asyncio.timeout(LONG):
        while await office.inbox.count_waiting():
            await asyncio.sleep(0.01)


# --- the connection


async def test_a_first_connection_that_fails_is_tried_again(
    discord: FakeDiscord, closed: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The library stumbles over its own missing socket then: an AttributeError, not a connection error."""
    discord.refuse_connections(2)
    monkeypatch.setattr(gateway_connection, "RETRY_SECONDS", (0.05,))
    stop = asyncio.Event()
    async with closed.platform as platform:
        running = asyncio.create_task(platform.run(stop))
        await discord.until(lambda: discord.gateway.refused == 2, LONG, what="two refused connections")
        assert platform.readiness_problem()
        await discord.until(lambda: not platform.readiness_problem(), LONG, what="a connection")
        stop.set()
        await running


async def test_a_lost_connection_is_not_ready_until_it_is_back(discord: FakeDiscord, office: Office) -> None:
    discord.refuse_connections(1)
    await discord.drop_socket()
    await discord.until(lambda: "gateway is lost" in office.platform.readiness_problem(), LONG, what="being told")
    await discord.until(lambda: not office.platform.readiness_problem(), LONG, what="a connection")


async def test_a_portal_that_answers_for_discord_at_the_start_is_waited_out(
    discord: FakeDiscord, closed: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    discord.fail("GET", "/users/@me", status=200, text="<html>Sign in</html>", times=2)
    monkeypatch.setattr(gateway_connection, "RETRY_SECONDS", (0.02,))
    stop = asyncio.Event()
    async with closed.platform as platform:
        running = asyncio.create_task(platform.run(stop))
        await discord.until(lambda: "does not respond" in platform.readiness_problem(), LONG, what="being told")
        await discord.until(lambda: not platform.readiness_problem(), LONG, what="a connection")
        stop.set()
        await running


async def test_a_token_that_is_revoked_is_not_ready_and_its_questions_are_kept(
    discord: FakeDiscord, office: Office
) -> None:
    good, discord.token = discord.token, "MTIzNDU2Nzg5.fake.another-token"
    alice = discord.person("alice")
    asked = await alice.says(ASKED)
    await discord.until(lambda: "DISCORD_BOT_TOKEN" in office.platform.readiness_problem(), LONG, what="being told")
    await discord.quiet(0.2)
    assert await office.inbox.count_waiting() == 1
    discord.token = good
    for line in office.inbox._lines.values():
        line.held = False
    assert REFUNDS in (await settled_on(discord, office, asked, alice)).text
    assert not office.platform.readiness_problem()


# --- buttons


async def test_show_sources_shows_them_and_the_answer_can_still_be_asked_for(
    discord: FakeDiscord, office: Office
) -> None:
    place = channel_principal("discord", str(discord.guild_id), str(discord.channel("general").id))
    await office.settings_store.write(
        place, ChosenSettings.from_mapping({"sources_first": "yes", "checkpoints": "sources_first"})
    )
    alice = discord.person("alice")
    asked = await alice.says(ASKED)
    card = await discord.reply_to(asked, LONG)
    await alice.clicks(card, "Show sources")
    await discord.until(lambda: "Show quotes" in card.buttons(), LONG, what="the sources")
    (shown,) = discord.answers_to(asked)
    assert "Refund policy" in shown.text
    await alice.clicks(shown, next(label for label in shown.buttons() if label.startswith("Answer")))
    assert REFUNDS in (await discord.reply_to(asked, LONG, until=lambda one: REFUNDS in one.text)).text


async def test_a_stranger_who_shares_a_private_answer_is_refused_and_on_record(
    discord: FakeDiscord, office: Office
) -> None:
    alice, bob = discord.person("alice"), discord.person("bob")
    private = await alice.slash("ask", question="how long do refunds take?", private=True)
    answer = await discord.reply_to(private, LONG)
    answer.ephemeral_for = None  # as if the button's id had leaked
    assert "Only the person who asked" in (await bob.clicks(answer, "Share with channel")).text
    refused = [(one.actor, one.action) for one in await office.audit.recent() if not one.allowed]
    assert refused == [(f"discord:user:{bob.id}", "share")]


TWICE: dict[str, Callable[[FakeDiscord], object]] = {
    "repeated by the library": lambda d: d.break_down("POST", CALLBACK, status=503, done=True),
    "cut off": lambda d: d.fail("POST", CALLBACK, drops=True, done=True),
}


@pytest.mark.parametrize("trouble", TWICE)
@pytest.mark.parametrize("button", ["Show quotes", "Why"])
async def test_a_press_whose_acknowledgement_is_lost_on_its_way_back_is_answered(
    discord: FakeDiscord, office: Office, button: str, trouble: str
) -> None:
    alice = discord.person("alice")
    answer = await discord.reply_to(await alice.says(ASKED), LONG)
    TWICE[trouble](discord)
    pressed = await alice.clicks(answer, button)
    await discord.until(lambda: [one.loading for one in pressed.messages] == [False], LONG, what="an answer")
    assert "Refund policy" in pressed.text


@pytest.mark.parametrize("trouble", TWICE)
async def test_a_choice_whose_acknowledgement_is_lost_on_its_way_back_is_made(
    discord: FakeDiscord, office: Office, trouble: str
) -> None:
    office.script.enqueue("understand", AskBack("Which refunds?", ("How long do refunds take?",)))
    alice = discord.person("alice")
    asked = await alice.says("<@bot> refunds?")
    card = await discord.reply_to(asked, LONG)
    TWICE[trouble](discord)
    await alice.clicks(card, "How long do refunds take?")
    assert REFUNDS in (await discord.reply_to(asked, LONG, until=lambda one: REFUNDS in one.text)).text


async def test_a_choice_that_cannot_be_kept_is_not_acknowledged_and_can_be_made_again(
    discord: FakeDiscord, office: Office
) -> None:
    office.script.enqueue("understand", AskBack("Which refunds?", ("How long do refunds take?",)))
    alice = discord.person("alice")
    asked = await alice.says("<@bot> refunds?")
    card = await discord.reply_to(asked, LONG)
    put = office.inbox.put

    async def full(delivery: Delivery) -> bool:
        raise Busy("You have too many questions waiting.")

    office.inbox.put = full  # type: ignore[method-assign]
    assert "too many" in (await alice.clicks(card, "How long do refunds take?")).text
    office.inbox.put = put  # type: ignore[method-assign]
    await alice.clicks(card, "How long do refunds take?")
    await discord.until(lambda: REFUNDS in card.text, LONG, what="the answer in the card's place")


async def test_a_command_for_which_there_is_no_room_in_the_line_says_so(discord: FakeDiscord, office: Office) -> None:
    line, full = office.platform._ordered_queue, asyncio.Queue[Job](1)
    full.put_nowait(office.settled)
    roomy, line._line = line._line, full
    alice = discord.person("alice")
    asked = await alice.slash("ask", question="how long do refunds take?", private=False)
    await discord.until(lambda: alice.private, LONG, what="a word")
    line._line = roomy
    assert "try again" in alice.private[-1].text
    assert [one for one in asked.messages if one.visible_to(None)] == []


REFUSALS: dict[str, dict[str, object]] = {
    "blocked": {"status": 400, "code": 200000},
    "limited": {"status": 429, "retry_after": 20.0},
    "away": {"status": 503},
}


@pytest.mark.parametrize("refusal", REFUSALS)
async def test_what_a_press_led_to_is_shown_or_it_is_said_that_it_cannot_be(
    discord: FakeDiscord, office: Office, monkeypatch: pytest.MonkeyPatch, refusal: str
) -> None:
    monkeypatch.setattr(interactions, "PAUSES", (0.02,))
    alice = discord.person("alice")
    answer = await discord.reply_to(await alice.says(ASKED), LONG)
    for method, template in (("POST", WEBHOOK), ("PATCH", ORIGINAL)):
        discord.fail(method, template, **REFUSALS[refusal])
    pressed = await alice.clicks(answer, "Show quotes")
    await discord.until(lambda: [one.loading for one in pressed.messages] == [False], LONG, what="an answer")
    assert ("Discord refused" if refusal == "blocked" else "Refund policy") in pressed.text


async def test_a_rating_is_kept_whatever_becomes_of_the_form_that_asks_why(
    discord: FakeDiscord, office: Office
) -> None:
    alice = discord.person("alice")
    answer = await discord.reply_to(await alice.says(ASKED), LONG)
    discord.fail("POST", CALLBACK, drops=True)
    await alice.clicks(answer, "Not helpful")
    assert [one.helpful async for one in office.feedback.all()] == [False]


async def test_a_suggestion_is_acknowledged_before_anybody_is_looked_up(discord: FakeDiscord, office: Office) -> None:
    board = discord.role("board")
    chair, guest = discord.person("chair", roles=[board]), discord.person("guest", roles=[board])
    hidden = await discord.text_channel("board", private_to=[board, guest])
    await discord.quiet(0.1)
    await office.harness.knows(*CARDS, title="Cards", headings=("Credit cards", "Gift cards", "Lost cards"))
    office.script.enqueue("compose", "Refunds are paid within 14 days [1].")
    place = channel_principal("discord", str(discord.guild_id), str(hidden.id))
    await office.settings_store.write(place, ChosenSettings.from_mapping({"follow_ups": "yes"}))
    asked = await chair.says("<@bot> how long do refunds to cards take?", hidden)
    answer = await discord.reply_to(asked, LONG)
    suggested, _ = [label for label in answer.buttons() if label.startswith("More on: ")]
    office.platform.app.servers.forget_member(discord.guild_id, guest.id)
    held = discord.hold("GET", "/guilds/{guild_id}/members/{user_id}")
    pressed = await chair.clicks(answer, suggested)
    assert not pressed.failed
    await held.reached()
    held.release()
    await discord.until(lambda: "bank transfer" in pressed.text, LONG, what="an answer")
    await chair.clicks(answer, suggested)
    await discord.until(lambda: any("already asked" in one.text for one in chair.private), LONG, what="a private word")


async def test_why_a_command_for_all_is_not_answered_is_said_to_its_asker_alone(
    discord: FakeDiscord, office: Office
) -> None:
    alice = discord.person("alice")
    asked = await alice.slash("ask", question="how long do refunds take?", private=False, kb="nowhere")
    await discord.until(lambda: alice.private, LONG, what="a private word")
    assert "no knowledge base" in alice.private[-1].text
    assert [one for one in asked.messages if one.visible_to(None)] == []
