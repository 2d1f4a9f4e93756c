"""Failures of Slack: people see one whole answer or an honest message."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from core.model.conversation import ThreadKey
from core.model.errors import Denied, StoreUnavailable
from core.ports.inbox import Delivery, Lease
from tests.e2e.inprocess import REFUNDS, Bot
from tests.e2e.slack_driver import SlackDriver
from tests.fakes.slack import FakeSlack, Message, specs_are_here

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(not specs_are_here(), reason="Slack's method descriptions are not beside this checkout"),
]

LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)
WORDS = " ".join(f"word{n}" for n in range(120))
TEXT = f"{WORDS} [1]."
PIECES = [TEXT[n : n + 60] for n in range(0, len(TEXT), 60)]


@pytest.fixture
async def slack() -> AsyncIterator[FakeSlack]:
    async with FakeSlack(retry_delays=(0.2, 0.4, 0.8, 1.6)) as workspace:
        yield workspace


@pytest.fixture
async def bot(slack: FakeSlack) -> AsyncIterator[Bot]:
    bot = Bot(SlackDriver(slack, "socket"))
    await bot.harness.knows(REFUNDS, title="Refund policy")
    bot.reasoner.always("compose", PIECES)
    bot.reasoner.pause = 0.1
    async with bot.running():
        yield bot


async def asked(slack: FakeSlack, text: str = "how long do refunds take?") -> Message:
    return await slack.person("alice").says(f"<@bot> {text}", channel="general")


async def whole(slack: FakeSlack, question: Message, within: float = 120.0) -> Message:
    """The one answer, with all of its text once."""
    answer = await slack.reply_to(question, within, until=lambda one: "Show quotes" in one.buttons())
    assert slack.answers_to(question) == [answer]
    assert answer.markdown.count(WORDS) == 1, answer.markdown
    assert answer.markdown.count("word119 ") == 1
    return answer


async def test_a_workspace_that_refuses_streams_gets_an_edited_message(slack: FakeSlack, bot: Bot) -> None:
    slack.faults.refuse_streaming()
    question = await asked(slack)
    await slack.until(lambda: slack.answers_to(question))
    assert slack.answers_to(question)[0].buttons() == ["Stop"]
    await whole(slack, question)
    assert slack.violations == []


@pytest.mark.parametrize("appends", [0, 1, 3])
async def test_a_stream_that_expires_goes_on_as_an_edited_message(slack: FakeSlack, bot: Bot, appends: int) -> None:
    slack.faults.expire_streams(after_appends=appends)
    bot.reasoner.pause = 0.3
    await whole(slack, await asked(slack))
    assert slack.violations == []


async def test_a_stream_that_is_rate_limited_loses_no_text(slack: FakeSlack, bot: Bot) -> None:
    slack.faults.rate_limit("chat.appendStream", times=2)
    slack.faults.rate_limit("chat.stopStream", times=1)
    await whole(slack, await asked(slack))
    assert slack.violations == []


async def stays_in_its_stream(slack: FakeSlack, question: Message) -> None:
    """The whole answer stands in the message that was begun: what was being read was never taken away."""
    await slack.until(lambda: slack.answers_to(question))
    (begun,) = slack.answers_to(question)
    assert await whole(slack, question) is begun
    assert slack.calls_of("chat.delete") == []


async def test_a_piece_that_is_refused_takes_nothing_away_that_is_being_read(slack: FakeSlack, bot: Bot) -> None:
    slack.faults.fail("chat.appendStream", "invalid_chunks", 1)
    bot.reasoner.pause = 0.3
    await stays_in_its_stream(slack, await asked(slack))


@pytest.mark.parametrize("stumbles", [1, 2])
async def test_an_end_that_gets_no_answer_takes_nothing_away_that_is_being_read(
    slack: FakeSlack, bot: Bot, stumbles: int
) -> None:
    slack.faults.server_error("chat.stopStream", times=stumbles)
    await stays_in_its_stream(slack, await asked(slack))


async def test_an_append_whose_answer_was_lost_doubles_no_text(slack: FakeSlack, bot: Bot) -> None:
    slack.faults.lose_answer("chat.appendStream", times=1)
    bot.reasoner.pause = 0.3
    await whole(slack, await asked(slack))


async def test_a_stream_whose_beginning_was_lost_is_found_again(slack: FakeSlack, bot: Bot) -> None:
    slack.faults.lose_answer("chat.startStream", times=1)
    await whole(slack, await asked(slack))


async def test_a_message_whose_answer_was_lost_is_not_posted_again(slack: FakeSlack, bot: Bot) -> None:
    slack.faults.refuse_streaming()
    slack.faults.lose_answer("chat.postMessage", times=1)
    await whole(slack, await asked(slack))


async def test_a_slack_that_stumbles_gets_the_answer_when_it_stands_again(slack: FakeSlack, bot: Bot) -> None:
    slack.faults.refuse_streaming()
    slack.faults.server_error("chat.postMessage", times=2)
    slack.faults.server_error("chat.update", times=2)
    await whole(slack, await asked(slack))


async def test_an_app_that_is_no_agent_answers_all_the_same_and_has_its_own_stop(slack: FakeSlack, bot: Bot) -> None:
    slack.agent = False
    await whole(slack, await asked(slack))
    bot.reasoner.hold()
    question = await asked(slack, "and once more?")
    await bot.reasoner.writing.wait()
    await slack.until(lambda: slack.answers_to(question))
    sign = slack.answers_to(question)[0]
    await slack.person("bob").clicks(sign, "Stop")
    assert "Only the person who asked" in (await slack.person("bob").next_private()).markdown
    await slack.person("alice").clicks(sign, "Stop")
    card = await slack.reply_to(question, until=lambda one: "Stopped" in one.markdown)
    assert "Stop" not in card.buttons()
    bot.reasoner.go_on()
    assert slack.violations == []


async def test_twenty_streams_under_slacks_limits_all_end_whole(slack: FakeSlack, bot: Bot) -> None:
    slack.limits.enforce(window=6.0)
    slack.channel("busy")
    questions = [
        await slack.person("alice" if n % 2 else "bob").says(f"<@bot> question {n}?", "general" if n % 3 else "busy")
        for n in range(20)
    ]
    for question in questions:
        await whole(slack, question, within=90)
    assert slack.violations == []


async def test_a_channel_that_takes_no_messages_does_not_stop_the_others(slack: FakeSlack, bot: Bot) -> None:
    slack.faults.fail("chat.startStream", "not_in_channel", times=None)
    slack.faults.fail("chat.postMessage", "not_in_channel", times=None)
    lost = await asked(slack)
    await slack.acknowledged(lost)
    await bot.settled()
    slack.faults.clear()
    await whole(slack, await asked(slack))


async def test_a_dropped_socket_is_opened_again(slack: FakeSlack, bot: Bot) -> None:
    slack.sockets.drop()
    question = await asked(slack)
    await whole(slack, question)
    assert slack.sockets.opened > 1


async def test_a_deaf_socket_is_noticed_and_replaced(slack: FakeSlack, bot: Bot) -> None:
    slack.sockets.go_deaf()
    await slack.until(lambda: slack.sockets.opened > 1, 60.0, what="a new connection")
    await whole(slack, await asked(slack))


class AwayInbox:
    """An inbox that is down for a while."""

    def __init__(self, bot: Bot, times: int) -> None:
        self.inner = bot.inbox
        self.left = times

    async def put(self, delivery: Delivery) -> bool:
        if self.left:
            self.left -= 1
            raise StoreUnavailable("Redis does not respond.")
        return await self.inner.put(delivery)

    async def take(self, worker: str, timeout: timedelta) -> Lease | None:
        return await self.inner.take(worker, timeout)

    def __getattr__(self, name: str) -> object:
        return getattr(self.inner, name)


@pytest.mark.parametrize("road", ["socket", "http"])
async def test_what_could_not_be_kept_is_not_acknowledged_and_comes_again(slack: FakeSlack, road: str) -> None:
    slack.courier.deadline = 0.5
    bot = Bot(SlackDriver(slack, "socket" if road == "socket" else "http"))
    await bot.harness.knows(REFUNDS, title="Refund policy")
    bot.reasoner.always("compose", PIECES)
    bot.inbox = AwayInbox(bot, times=3)  # type: ignore[assignment]
    async with bot.running():
        question = await asked(slack)
        await whole(slack, question)
        await slack.acknowledged(question)
    attempts = [attempt for one in slack.deliveries_of(question) for attempt in one.attempts]
    assert sum(attempt.acknowledged_at is None for attempt in attempts) == 3
    assert slack.violations == []


@pytest.mark.parametrize("signature", ["wrong", "old", "missing"])
async def test_a_request_without_slacks_signature_is_refused_and_nothing_kept(slack: FakeSlack, signature: str) -> None:
    bot = Bot(SlackDriver(slack, "http"))
    async with bot.running():
        slack.http.signature = signature  # type: ignore[assignment]
        question = await asked(slack)
        deliveries = slack.deliveries_of(question)
        await slack.until(lambda: all(one.finished.is_set() for one in deliveries))
        assert {attempt.status for one in deliveries for attempt in one.attempts} == {401}
        assert await bot.inbox.count_waiting() == 0
        slack.http.signature = "valid"
        assert await slack.http.verify_url()
    assert slack.answers_to(question) == []


async def test_events_are_acknowledged_while_no_answer_is_done(slack: FakeSlack, bot: Bot) -> None:
    people = [f"person{n}" for n in range(50)]
    bot.reasoner.always("compose", ["Yes [1]."])
    bot.reasoner.hold()
    for n in range(1_000):
        await slack.person(people[n % 50]).says("only talking", "general")
        if n % 20 == 0:
            await asked(slack, f"question {n}?")
            await asyncio.sleep(0)
    await slack.until(lambda: all(one.acknowledged for one in slack.deliveries), 60, what="all acknowledgements")
    assert len(slack.deliveries) >= 1_050
    assert await bot.inbox.count_waiting() > 0
    bot.reasoner.go_on()


async def test_the_home_tab_says_what_it_knows_and_tells_admins_more(slack: FakeSlack, bot: Bot) -> None:
    await slack.person("alice").opens_home()
    view = await slack.person("alice").home_shows("Knowledge bases")
    assert "default" in view.markdown
    assert "1 document" in view.markdown
    assert "For admins" not in view.markdown
    await slack.person("ada").opens_home()
    await slack.person("ada").home_shows("For admins")
    assert slack.violations == []


async def test_a_new_direct_message_suggests_how_to_begin(slack: FakeSlack, bot: Bot) -> None:
    room = await slack.person("alice").opens_dm()
    await slack.until(lambda: slack.world.suggested_prompts.get((room.id, None)))
    assert len(slack.world.suggested_prompts[room.id, None]) <= 4
    assert slack.violations == []


async def test_the_shortcut_answers_somebody_elses_message(slack: FakeSlack, bot: Bot) -> None:
    said = await slack.person("bob").says("does anybody know how long refunds take?", "general")
    await slack.person("alice").shortcut("footnote_answer_this", said)
    await whole(slack, said)
    assert slack.violations == []


async def test_ask_a_person_calls_the_channels_group_once(slack: FakeSlack, bot: Bot) -> None:
    group = slack.usergroup("helpdesk", ["bob"])
    slack.allow_pings_of(group)
    await SlackDriver(slack, "socket").configure(bot.user_actions, handoff=group.id)
    question = await asked(slack)
    answer = await whole(slack, question)
    await slack.person("alice").clicks(answer, "Ask a person")
    await slack.until(lambda: slack.pings("group"))
    await slack.person("bob").clicks(answer, "Ask a person")
    assert "already been asked about this answer" in (await slack.person("bob").next_private()).markdown
    assert [ping.target for ping in slack.pings()] == [group.id]
    assert slack.violations == []


async def test_a_handoff_that_is_no_groups_id_calls_nobody(slack: FakeSlack, bot: Bot) -> None:
    await SlackDriver(slack, "socket").configure(bot.user_actions, handoff="!channel")
    answer = await whole(slack, await asked(slack))
    await slack.person("alice").clicks(answer, "Ask a person")
    assert "Nobody is set up" in (await slack.person("alice").next_private()).markdown
    assert slack.pings() == []


async def test_sessions_have_a_title_and_a_state(slack: FakeSlack, bot: Bot) -> None:
    question = await asked(slack)
    await whole(slack, question)
    key = (question.channel.id, question.ts)
    assert slack.world.session_titles[key] == "how long do refunds take?"
    assert [status for channel, ts, status in slack.world.session_log if (channel, ts) == key][-1] == "active"


async def test_a_private_channel_is_another_audience(slack: FakeSlack, bot: Bot) -> None:
    room = slack.channel("board", private=True, members=["alice"])
    secret = frozenset({f"slack:channel:{slack.team_id}/{room.id}"})
    await bot.harness.knows("The canary sings at dawn.", title="Board", base="board", grants=secret)
    bot.reasoner.always(
        "compose", lambda inquiry, thread, evidence: " ".join(f"{e.passage.text} [{e.id}]" for e in evidence)
    )
    outside = await asked(slack, "when does the canary sing?")
    answer = await slack.reply_to(outside, until=lambda one: "Show quotes" in one.buttons())
    assert "dawn" not in answer.markdown
    inside = await slack.person("alice").says("<@bot> when does the canary sing?", room)
    answer = await slack.reply_to(inside, until=lambda one: "Show quotes" in one.buttons())
    assert "dawn" in answer.markdown
    logged = {question.place: question async for question in bot.harness.questions.since(LONG_AGO)}
    assert logged[f"slack:channel:{slack.team_id}/{outside.channel.id}"].question == "when does the canary sing?"
    private = logged[f"slack:channel:{slack.team_id}/{room.id}"]
    assert (private.private, private.question) == (True, "")


async def test_a_direct_message_reads_what_the_persons_groups_may(slack: FakeSlack, bot: Bot) -> None:
    group = slack.usergroup("finance", ["alice"])
    grants = frozenset({f"slack:group:{slack.team_id}/{group.id}"})
    await bot.harness.knows("The canary sings at dawn.", title="Ledger", base="ledger", grants=grants)
    bot.reasoner.always(
        "compose", lambda inquiry, thread, evidence: " ".join(f"{e.passage.text} [{e.id}]" for e in evidence)
    )
    hers = await slack.person("alice").says("when does the canary sing?")
    answer = await slack.reply_to(hers, until=lambda one: "Show quotes" in one.buttons())
    assert "dawn" in answer.markdown
    his = await slack.person("bob").says("when does the canary sing?")
    answer = await slack.reply_to(his, until=lambda one: "Show quotes" in one.buttons())
    assert "dawn" not in answer.markdown


async def test_a_forged_press_for_another_thread_is_stale(slack: FakeSlack, bot: Bot) -> None:
    from core.model.inquiry import AskBack

    bot.reasoner.enqueue("understand", AskBack("Which?", ("How long do refunds take?",)))
    first = await asked(slack, "refunds?")
    card = await slack.reply_to(first, until=lambda one: "Which?" in one.markdown)
    other = await asked(slack, "something else?")
    answer = await whole(slack, other)
    button = next(one for block in card.blocks for one in block.get("elements", []) if "value" in one)
    answer.blocks.append(
        {"type": "actions", "block_id": "forged", "elements": [button | {"action_id": "footnote_choose_0"}]}
    )
    await slack.person("alice").clicks(answer, "How long do refunds take?")
    assert "already been made" in (await slack.person("alice").next_private()).markdown


async def test_what_nobody_asked_for_is_announced_without_a_ping_or_a_link(slack: FakeSlack, bot: Bot) -> None:
    platform: Any = bot.platform
    announcements = platform.capabilities().announcements
    channel = ThreadKey("slack", slack.team_id, slack.channel("general").id, "")
    audience = await announcements.readers(channel)
    assert f"slack:team:{slack.team_id}" in audience.principals
    await announcements.post(channel, f"1. <!channel> @here <https://evil.example|*see*> {'x' * 5000} (2 questions)")
    (said,) = [one for one in slack.visible("general") if "questions" in one.markdown or "evil" in one.markdown]
    assert "evil.example" in said.markdown
    assert slack.pings() == []
    today = datetime.now(UTC) - timedelta(hours=1)
    assert not await announcements.has_posted(channel, "Proposals & more:", since=today)
    await announcements.post(channel, "Proposals & more: 2 wait.")
    assert await announcements.has_posted(channel, "Proposals & more:", since=today)
    assert not await announcements.has_posted(channel, "Proposals & more:", since=today + timedelta(hours=2))
    nowhere = ThreadKey("slack", slack.team_id, "C0NOWHERE", "")
    assert not await announcements.has_posted(nowhere, "Proposals", since=today)
    with pytest.raises(Denied):
        await announcements.readers(nowhere)
    with pytest.raises(Denied):
        await announcements.post(nowhere, "Hello.")
