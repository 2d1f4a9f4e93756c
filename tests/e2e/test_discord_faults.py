"""In Discord, when things go wrong: lost connections, replays, limits, missing intents, crashes at a bad moment."""

import asyncio
import gc
import socket
from urllib.parse import urlsplit

import pytest
from structlog.testing import capture_logs

from adapters.discord.api.http import configure_endpoints
from adapters.discord.inbound import gateway_connection
from adapters.discord.inbound.gateway import FootnoteClient
from adapters.discord.outbound.answer_records import DiscordQuestionState
from adapters.discord.preflight import preflight
from core.model.errors import LeaseLost, StoreUnavailable
from core.model.inquiry import AskBack
from core.model.records import Record
from core.ports.inbox import Delivery
from tests.e2e.conftest import REFUNDS
from tests.e2e.discord_office import Office
from tests.fakes.discord import SPECIFICATION, FakeDiscord

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(not SPECIFICATION.exists(), reason="the shared discord-openapi.json is not beside the checkout"),
]


MESSAGES, MESSAGE = "/channels/{channel_id}/messages", "/channels/{channel_id}/messages/{message_id}"


async def test_a_resumed_connection_repeats_itself_and_nobody_notices(discord: FakeDiscord, office: Office) -> None:
    asked = await discord.person("alice").says("<@bot> how long do refunds take?")
    await discord.reply_to(asked)
    discord.replay_on_resume(10)
    await discord.drop_socket()
    await discord.until(lambda: discord.resumes, what="a resumption")
    await office.settled()
    assert len(discord.answers_to(asked)) == 1
    assert len(office.script.calls_of("understand")) == 1


async def test_what_was_said_while_the_connection_was_away_is_answered(discord: FakeDiscord, office: Office) -> None:
    await discord.ask_to_reconnect()
    asked = await discord.person("alice").says("<@bot> how long do refunds take?")
    assert REFUNDS in (await discord.reply_to(asked)).text
    assert discord.identifies == 1


async def test_an_invalid_session_identifies_again_and_goes_on(discord: FakeDiscord, office: Office) -> None:
    await discord.invalidate_session()
    await discord.until(lambda: discord.identifies == 2 and discord.is_connected(), 60, what="a second identify")
    asked = await discord.person("alice").says("<@bot> how long do refunds take?")
    assert REFUNDS in (await discord.reply_to(asked)).text


async def test_edits_stay_within_their_bucket(discord: FakeDiscord) -> None:
    discord.enforce_edit_limit(edits=5, seconds=5.0)
    office = Office(discord, pace_seconds=1.2)
    await office.harness.knows(REFUNDS, title="Refund policy")

    text = [f"word{n} " for n in range(60)] + ["and it ends [1]."]
    office.script.enqueue("compose", text)
    async with office.open():
        asked = await discord.person("alice").says("<@bot> how long do refunds take?")
        answer = await discord.reply_to(asked, 60)
    assert "word59" in answer.text
    assert discord.faults.limited == []


async def test_an_edit_is_heard_once_however_often_discord_tells_of_the_message(
    discord: FakeDiscord, closed: Office
) -> None:
    """Starting a thread on a message that was edited tells of it again, with the time of that edit."""
    async with closed.open(working=False):
        alice = discord.person("alice")
        asked = await alice.says("so <@bot> how long do refunds tkae?")
        await alice.edits(asked, "so <@bot> how long do refunds take?")
        await discord.quiet(0.2)
    async with closed.open():
        assert REFUNDS in (await discord.reply_to(asked)).text
    assert closed.script.calls_of("understand")[-1].given[0].question == "so how long do refunds take?"


async def test_of_two_edits_before_the_first_is_begun_the_last_is_answered(
    discord: FakeDiscord, closed: Office
) -> None:
    async with closed.open(working=False):
        alice = discord.person("alice")
        asked = await alice.says("<@bot> how long do travels take?")
        await alice.edits(asked, "<@bot> how long do parcels take?")
        await alice.edits(asked, "<@bot> how long do refunds take?")
        await discord.quiet(0.1)
    async with closed.open():
        assert REFUNDS in (await discord.reply_to(asked)).text
        await closed.settled()
    assert [call.given[0].question for call in closed.script.calls_of("understand")] == ["how long do refunds take?"]
    assert len(discord.answers_to(asked)) == 1


async def test_an_earlier_edit_that_is_told_again_does_not_stop_the_later_one(
    discord: FakeDiscord, closed: Office
) -> None:
    async with closed.open(working=False):
        alice = discord.person("alice")
        asked = await alice.says("<@bot> how long do travels take?")
        earlier = (await alice.edits(asked, "<@bot> how long do parcels take?")).payload(event=True)
        await alice.edits(asked, "<@bot> how long do refunds take?")
        await discord.quiet(0.1)
    held = discord.hold("PATCH", MESSAGE)
    async with closed.open():
        await held.reached()
        await discord.posting.tell("MESSAGE_UPDATE", asked.channel, earlier)
        await discord.quiet(0.6)  # longer than a worker takes to notice that it was called off
        held.release()
        assert REFUNDS in (await discord.reply_to(asked)).text
    assert [call.given[0].question for call in closed.script.calls_of("understand")] == ["how long do refunds take?"]


async def test_two_bots_do_not_go_on_for_ever(discord: FakeDiscord) -> None:
    helper = discord.bot("helper")
    office = Office(discord, allowed_bots=[str(helper.id), str(discord.me.id)])
    await office.harness.knows(REFUNDS, title="Refund policy")
    async with office.open():
        asked = [await helper.says("<@bot> how long do refunds take?") for _ in range(5)]
        await discord.until(lambda: len(office.script.calls_of("understand")) == 3, what="three answers")
        await office.settled()
        assert [bool(discord.answers_to(one)) for one in asked] == [True, True, True, False, False]
        await discord.person("alice").says("Thank you both.")
        again = await helper.says("<@bot> how long do refunds take?")
        assert REFUNDS in (await discord.reply_to(again)).text
        assert await office.inbox.count_waiting() == 0


async def test_a_card_in_a_thread_that_was_put_away_still_works(discord: FakeDiscord, office: Office) -> None:
    office.script.enqueue("understand", AskBack("Which refunds?", ("How long do refunds take?",)))
    alice = discord.person("alice")
    asked = await alice.says("<@bot> refunds?")
    card = await discord.reply_to(asked)
    assert asked.thread is not None
    await discord.archive(asked.thread)
    await alice.clicks(card, "How long do refunds take?")
    answer = await discord.reply_to(asked, until=lambda one: REFUNDS in one.text)
    assert "chose" in answer.text


async def test_rate_limits_delay_the_answer_and_lose_nothing(discord: FakeDiscord, office: Office) -> None:
    discord.limit_rate("POST", MESSAGES, retry_after=0.2, times=2)
    discord.limit_rate("PATCH", MESSAGE, retry_after=0.2, times=2, scope="shared")
    asked = await discord.person("alice").says("<@bot> how long do refunds take?")
    assert REFUNDS in (await discord.reply_to(asked)).text
    assert len(discord.answers_to(asked)) == 1


async def test_an_answer_lost_on_its_way_back_is_not_posted_twice(discord: FakeDiscord, office: Office) -> None:
    discord.break_down("POST", MESSAGES, status=500, done=True)
    asked = await discord.person("alice").says("<@bot> how long do refunds take?")
    assert REFUNDS in (await discord.reply_to(asked, 60)).text
    assert len(discord.answers_to(asked)) == 1


async def test_killed_after_posting_and_before_keeping_there_is_still_one_answer(
    discord: FakeDiscord, closed: Office
) -> None:
    saved = closed.message_states.save
    crashes = ["now"]

    async def save(*records: Record, was: Record | None = None, fence: int | None = None) -> None:
        if any(isinstance(one, DiscordQuestionState) and one.first for one in records) and crashes:
            crashes.pop()
            raise LeaseLost("As if the process had died here.")
        await saved(*records, was=was, fence=fence)

    closed.message_states.save = save  # type: ignore[method-assign]
    async with closed.open():
        asked = await discord.person("alice").says("<@bot> how long do refunds take?")
        await discord.until(lambda: not crashes, what="the crash")
        lease_over = await closed.inbox.take("another", _seconds(0.1))
        assert lease_over is None  # the thread is still leased to the one that died
        for line in closed.inbox._lines.values():
            line.held = False
        assert REFUNDS in (await discord.reply_to(asked, 60)).text
        assert len(discord.answers_to(asked)) == 1


async def test_heard_while_the_store_is_away_it_is_answered_afterwards(discord: FakeDiscord, office: Office) -> None:
    put = office.inbox.put
    failures = [1, 2, 3]

    async def away(delivery: Delivery) -> bool:
        if failures:
            failures.pop()
            raise StoreUnavailable("Redis does not respond.")
        return await put(delivery)

    office.inbox.put = away  # type: ignore[method-assign]
    asked = await discord.person("alice").says("<@bot> how long do refunds take?")
    assert REFUNDS in (await discord.reply_to(asked)).text
    assert failures == []


async def test_without_the_content_intent_answers_mentions_and_logs_the_remedy(
    discord: FakeDiscord, closed: Office, capsys: pytest.CaptureFixture[str]
) -> None:
    discord.disallow_intent("message_content")
    async with closed.open():
        asked = await discord.person("alice").says("<@bot> how long do refunds take?")
        assert REFUNDS in (await discord.reply_to(asked)).text
    assert "Message Content Intent" in capsys.readouterr().out
    assert discord.identifies == 1


async def test_an_intent_that_is_switched_off_meanwhile_costs_only_what_it_must(
    discord: FakeDiscord, office: Office, capsys: pytest.CaptureFixture[str]
) -> None:
    """The gateway closes with 4014: it identifies again with what is left, and goes on answering mentions."""
    discord.disallow_intent("message_content")
    await discord.invalidate_session()
    await discord.until(lambda: discord.identifies == 3 and discord.is_connected(), 60, what="an identify without it")
    await discord.quiet(0.3)
    asked = await discord.person("alice").says("<@bot> how long do refunds take?")
    assert REFUNDS in (await discord.reply_to(asked)).text
    assert "Message Content Intent" in capsys.readouterr().out


async def test_stop_on_a_screen_that_was_not_redrawn_says_that_it_is_finished(
    discord: FakeDiscord, office: Office
) -> None:
    alice = discord.person("alice")
    answer = await discord.reply_to(await alice.says("<@bot> how long do refunds take?"))
    pressed = await alice.clicks(answer, "Stop", stale=True)
    assert pressed.private
    assert "finished" in pressed.text


async def test_only_the_asker_or_an_admin_can_stop_the_work_and_a_stranger_is_on_record(
    discord: FakeDiscord, office: Office
) -> None:
    held = discord.hold("GET", "/guilds/{guild_id}/members/{user_id}")
    alice = discord.person("alice")
    asked = await alice.dm("how long do refunds take?")
    await held.reached()
    (working,) = discord.answers_to(asked)
    bob = discord.person("bob")
    discord.interactions.every.clear()
    pressed = await discord.interactions.start(
        3, bob.member, working.channel, {"custom_id": working.control("Stop").custom_id, "component_type": 2}, working
    )
    assert "Only the person who asked" in pressed.text
    assert [(one.actor, one.action) for one in await office.audit.recent() if not one.allowed] == [
        (f"discord:user:{bob.id}", "stop")
    ]
    held.release()
    assert REFUNDS in (await discord.reply_to(asked)).text


async def test_a_refused_token_is_not_ready_and_does_not_show_and_another_one_is_taken_up(
    discord: FakeDiscord, closed: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    good, discord.token = discord.token, "MTIzNDU2Nzg5.fake.another-token"
    discord.gateway.token = discord.token
    platform, stop = closed.platform, asyncio.Event()
    monkeypatch.setattr(gateway_connection, "REFUSED_SECONDS", 0.02)
    with capture_logs() as logged:
        async with platform:
            running = asyncio.create_task(platform.run(stop))
            await discord.until(lambda: "DISCORD_BOT_TOKEN" in platform.readiness_problem(), 60, what="the reason")
            assert discord.identifies == 0
            discord.token = discord.gateway.token = good
            await discord.until(lambda: not platform.readiness_problem(), 60, what="a connection")
            stop.set()
            await running
    assert "MTIz" not in str(logged)


async def test_discord_that_is_away_at_the_start_is_asked_until_it_answers(
    discord: FakeDiscord, closed: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gateway_connection, "RETRY_SECONDS", (0.02,))
    unheard = f"http://127.0.0.1:{_closed_port()}/api/v10"
    platform, stop = closed.platform, asyncio.Event()
    configure_endpoints(unheard, None)
    tries, making = list[FootnoteClient](), platform._new_client

    def made(content: bool) -> FootnoteClient:
        tries.append(making(content))
        return tries[-1]

    monkeypatch.setattr(platform._connection, "_make_client", made)
    with capture_logs() as logged:
        async with platform:
            running = asyncio.create_task(platform.run(stop))
            await discord.until(lambda: len(tries) > 2, 60, what="a third try")
            told = platform.readiness_problem()
            configure_endpoints(discord.api_url, None)
            await discord.until(lambda: not platform.readiness_problem(), 60, what="a connection")
            stop.set()
            await running
    reasons = [one["reason"] for one in logged if one["event"] == "discord_away"]
    assert [one for one in reasons if urlsplit(unheard).netloc in one] == [told]  # a try under way may name the new one
    assert told.startswith(f"Discord at {urlsplit(unheard).netloc} does not respond (ClientConnectorError). Check the ")
    assert all(one.is_closed() for one in tries)


async def test_who_stops_while_discord_is_away_leaves_nothing_open(discord: FakeDiscord, closed: Office) -> None:
    stop = asyncio.Event()
    held = discord.hold("GET", "/users/@me")
    async with closed.platform as platform:
        running = asyncio.create_task(platform.run(stop))
        await held.reached()
        stop.set()
        await running
    held.release()
    gc.collect()  # a session that was left open would say so now


async def test_the_preflight_of_a_discord_that_is_away_names_the_host(discord: FakeDiscord) -> None:
    unheard = f"http://127.0.0.1:{_closed_port()}/api/v10"
    (check,) = await preflight(discord.token, api_url=unheard)
    assert (check.name, check.ok) == ("Discord", False)
    assert check.detail == f"Discord at {urlsplit(unheard).netloc} does not respond (ClientConnectorError)."
    assert "DISCORD_API_URL" in check.remedy


async def test_a_button_of_a_message_nobody_remembers_explains_itself(discord: FakeDiscord, office: Office) -> None:
    alice = discord.person("alice")
    answer = await discord.reply_to(await alice.says("<@bot> how long do refunds take?"))
    kept = office.harness.state.records
    for key in [key for key in kept if "trace" in str(key)]:
        del kept[key]
    pressed = await alice.clicks(answer, "Show quotes")
    assert pressed.private
    assert "no longer have anything stored" in pressed.text


async def test_a_message_of_ours_that_was_removed_is_posted_anew(discord: FakeDiscord, office: Office) -> None:
    discord.slow_down("PATCH", MESSAGE, seconds=0.1)
    asked = await discord.person("alice").says("<@bot> how long do refunds take?")
    await discord.until(lambda: discord.answers_to(asked), what="a first sign")
    first = discord.answers_to(asked)[0]
    await discord.posting.delete(first)
    assert REFUNDS in (await discord.reply_to(asked, 60)).text


async def test_an_answer_that_is_under_way_when_it_is_told_to_stop_is_still_shown(
    discord: FakeDiscord, closed: Office
) -> None:
    held = discord.hold("POST", MESSAGES)
    async with closed.open():
        asked = await discord.person("alice").says("<@bot> how long do refunds take?")
        await held.reached()
        asyncio.get_running_loop().call_later(0.5, held.release)
    assert REFUNDS in discord.answers_to(asked)[-1].text


def _closed_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


def _seconds(number: float):  # type: ignore[no-untyped-def]  # noqa: ANN202
    from datetime import timedelta

    return timedelta(seconds=number)
