"""The fake Slack behaves like Slack for the real slack_sdk client and real slack_bolt apps."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest
from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response, to_bolt_request
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.errors import SlackApiError
from slack_sdk.http_retry.builtin_async_handlers import AsyncRateLimitErrorRetryHandler
from slack_sdk.models.messages.chunk import MarkdownTextChunk, TaskUpdateChunk
from slack_sdk.web.async_client import AsyncWebClient

from tests.fakes.slack import FakeSlack, Message, specs_are_here

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

pytestmark = pytest.mark.skipif(not specs_are_here(), reason="Slack's method descriptions are not beside this checkout")

TEXT = {"type": "section", "text": {"type": "mrkdwn", "text": "Refunds take 14 days."}}
YES = {"type": "button", "action_id": "yes", "value": "q-1", "text": {"type": "plain_text", "text": "Search more"}}
BUTTONS = {"type": "actions", "block_id": "choices", "elements": [YES]}
FEEDBACK = {
    "type": "context_actions",
    "elements": [
        {
            "type": "feedback_buttons",
            "action_id": "rated",
            "positive_button": {"text": {"type": "plain_text", "text": "Good"}, "value": "up"},
            "negative_button": {"text": {"type": "plain_text", "text": "Bad"}, "value": "down"},
        }
    ],
}
NOTE = {
    "type": "input",
    "block_id": "note",
    "label": {"type": "plain_text", "text": "What was wrong?"},
    "element": {"type": "plain_text_input", "action_id": "reason"},
}
MODAL = {
    "type": "modal",
    "callback_id": "feedback",
    "title": {"type": "plain_text", "text": "Feedback"},
    "submit": {"type": "plain_text", "text": "Send"},
    "blocks": [NOTE],
}


@pytest.fixture
async def slack() -> AsyncIterator[FakeSlack]:
    """A workspace that waits a minute for an acknowledgement: a busy machine is no reason to deliver again."""
    async with FakeSlack(deadline=60.0, retry_delays=(0.0, 0.0, 0.0)) as workspace:
        yield workspace


@pytest.fixture
def impatient_slack(slack: FakeSlack) -> FakeSlack:
    """The same workspace, for tests in which an acknowledgement never comes."""
    slack.courier.deadline = 0.3
    return slack


@pytest.fixture
def client(slack: FakeSlack) -> AsyncWebClient:
    return AsyncWebClient(slack.bot_token, base_url=slack.api_url)


@pytest.fixture
async def question(slack: FakeSlack) -> Message:
    return await slack.person("alice").says("<@bot> how long is a refund?", channel="general")


def bolt_app(slack: FakeSlack) -> AsyncApp:
    return AsyncApp(client=AsyncWebClient(slack.bot_token, base_url=slack.api_url), signing_secret=slack.signing_secret)


@asynccontextmanager
async def in_socket_mode(
    slack: FakeSlack, app: AsyncApp, *, ping_every: float = 10.0
) -> AsyncIterator[AsyncSocketModeHandler]:
    handler = AsyncSocketModeHandler(app, slack.app_token, ping_interval=ping_every)
    before = slack.sockets.opened
    await handler.connect_async()  # type: ignore[no-untyped-call]
    try:
        await slack.until(lambda: slack.sockets.opened > before)
        yield handler
    finally:
        await handler.close_async()  # type: ignore[no-untyped-call]


@asynccontextmanager
async def in_http_mode(slack: FakeSlack, app: AsyncApp) -> AsyncIterator[None]:
    async def receive(request: web.Request) -> web.Response:
        return await to_aiohttp_response(await app.async_dispatch(await to_bolt_request(request)))

    server = web.Application()
    server.router.add_post("/slack/events", receive)
    runner = web.AppRunner(server)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    slack.request_url = f"http://127.0.0.1:{runner.addresses[0][1]}/slack/events"
    try:
        yield
    finally:
        await runner.cleanup()


async def refusal_of(call: Any) -> str:
    with pytest.raises(SlackApiError) as caught:
        await call
    return str(caught.value.response["error"])


# --- what a call may hold


async def test_a_call_with_an_unknown_argument_is_recorded_as_a_violation(
    slack: FakeSlack, client: AsyncWebClient, question: Message
) -> None:
    wrong = client.chat_postMessage(channel=question.channel.id, text="14 days.", shout=True)
    assert await refusal_of(wrong) == "invalid_arguments"
    assert slack.violations == ["chat.postMessage: unknown argument 'shout'"]
    assert slack.answers_to(question) == []


async def test_a_call_without_a_required_argument_is_recorded_as_a_violation(
    slack: FakeSlack, client: AsyncWebClient
) -> None:
    assert await refusal_of(client.api_call("chat.update", json={"text": "14 days."})) == "invalid_arguments"
    assert slack.violations == [
        "chat.update: missing required argument 'channel'",
        "chat.update: missing required argument 'ts'",
    ]


async def test_a_value_that_is_none_of_the_allowed_ones_is_a_violation(
    slack: FakeSlack, client: AsyncWebClient, question: Message
) -> None:
    wrong = client.agents_sessions_setStatus(channel_id=question.channel.id, thread_ts=question.ts, status="pondering")
    assert await refusal_of(wrong) == "invalid_arguments"
    assert "should be one of active, processing, suspended, closed" in slack.violations[0]


async def test_a_json_body_for_a_method_that_reads_none_is_a_violation(
    slack: FakeSlack, client: AsyncWebClient
) -> None:
    wrong = client.api_call("users.info", json={"user": slack.bot_user_id})
    assert await refusal_of(wrong) == "invalid_arguments"
    assert "takes no JSON body" in slack.violations[0]


async def test_a_wrong_token_is_refused_and_is_no_violation(slack: FakeSlack) -> None:
    stranger = AsyncWebClient("xoxb-of-somebody-else", base_url=slack.api_url)
    assert await refusal_of(stranger.auth_test()) == "invalid_auth"
    assert await refusal_of(stranger.apps_connections_open(app_token=slack.bot_token)) == "not_allowed_token_type"
    assert slack.violations == []


async def test_the_granted_scopes_are_told_and_a_missing_one_is_named(slack: FakeSlack, client: AsyncWebClient) -> None:
    slack.scopes = {"chat:write", "users:read"}
    answer = await client.auth_test()
    assert answer.headers["x-oauth-scopes"] == "chat:write,users:read"
    with pytest.raises(SlackApiError) as caught:
        await client.usergroups_list()
    assert caught.value.response["error"] == "missing_scope"
    assert caught.value.response["needed"] == "usergroups:read"


@pytest.mark.parametrize(
    ("blocks", "complaint"),
    [
        ([TEXT] * 51, "51 of them, a message takes at most 50"),
        ([{"type": "section", "text": {"type": "mrkdwn", "text": "a" * 3001}}], "3000"),
        ([{"type": "header", "text": {"type": "plain_text", "text": "a" * 151}}], "150"),
        ([BUTTONS | {"elements": [YES | {"action_id": f"b{n}"} for n in range(26)]}], "25"),
        ([BUTTONS | {"elements": [YES | {"value": "v" * 2001}]}], "2000"),
        ([BUTTONS | {"elements": [YES | {"action_id": "a" * 256}]}], "255"),
        ([BUTTONS | {"elements": [YES | {"colour": "red"}]}], "unknown field 'colour'"),
        ([BUTTONS, BUTTONS | {"elements": [YES | {"action_id": "no"}]}], "block_id 'choices' is used 2 times"),
        ([{"type": "context", "elements": [{"type": "mrkdwn", "text": "a"}] * 11}], "10"),
        ([{"type": "markdown", "text": "a" * 12_001}], "12000"),
        ([{"type": "markdown", "text": "a" * 7_000}, {"type": "markdown", "text": "b" * 7_000}], "14000 characters"),
        ([{"type": "section", "text": {"type": "mrkdwn", "text": ""}}], "empty"),
        ([{"type": "banner", "text": "hello"}], "unknown type"),
    ],
)
async def test_blocks_beyond_a_limit_are_refused_with_the_rule_they_break(
    slack: FakeSlack, client: AsyncWebClient, question: Message, blocks: list[dict[str, Any]], complaint: str
) -> None:
    wrong = client.chat_postMessage(channel=question.channel.id, text="14 days.", blocks=blocks)
    assert await refusal_of(wrong) == "invalid_blocks"
    assert any(complaint in violation for violation in slack.violations), slack.violations


async def test_blocks_without_text_leave_a_notification_empty(
    slack: FakeSlack, client: AsyncWebClient, question: Message
) -> None:
    wrong = client.chat_postMessage(channel=question.channel.id, text="", blocks=[TEXT])
    with pytest.warns(UserWarning, match="text"):
        assert await refusal_of(wrong) == "no_text"
    assert "blocks stand without text" in slack.violations[0]


async def test_an_update_takes_less_text_than_a_post(
    slack: FakeSlack, client: AsyncWebClient, question: Message
) -> None:
    posted = await client.chat_postMessage(channel=question.channel.id, text="a" * 30_000)
    long_update = client.chat_update(channel=question.channel.id, ts=posted["ts"], text="b" * 4_001)
    assert await refusal_of(long_update) == "msg_too_long"
    assert len(slack.violations) == 1


async def test_feedback_buttons_of_the_documented_shape_pass(
    slack: FakeSlack, client: AsyncWebClient, question: Message
) -> None:
    await client.chat_postMessage(
        channel=question.channel.id, thread_ts=question.ts, text="14 days.", blocks=[TEXT, BUTTONS, FEEDBACK]
    )
    assert slack.violations == []
    assert slack.answers_to(question)[0].buttons() == ["Search more", "Good", "Bad"]


# --- messages


async def test_nobody_updates_or_deletes_what_another_wrote(
    slack: FakeSlack, client: AsyncWebClient, question: Message
) -> None:
    room, ts = question.channel.id, question.ts
    assert await refusal_of(client.chat_update(channel=room, ts=ts, text="mine now")) == "cant_update_message"
    assert await refusal_of(client.chat_delete(channel=room, ts=ts)) == "cant_delete_message"
    assert question.text.endswith("how long is a refund?")


async def test_a_new_text_takes_the_old_blocks_away(
    slack: FakeSlack, client: AsyncWebClient, question: Message
) -> None:
    posted = await client.chat_postMessage(channel=question.channel.id, text="Searching.", blocks=[BUTTONS])
    await client.chat_update(channel=question.channel.id, ts=posted["ts"], text="14 days.")
    message = slack.visible("general")[-1]
    assert (message.markdown, message.buttons()) == ("14 days.", [])
    assert [state.how for state in message.history] == ["posted", "edited"]


async def test_a_thread_reads_from_its_parent_and_page_by_page(
    slack: FakeSlack, client: AsyncWebClient, question: Message
) -> None:
    for text in ("First.", "Second.", "Third."):
        await client.chat_postMessage(channel=question.channel.id, thread_ts=question.ts, text=text)
    pages = await client.conversations_replies(channel=question.channel.id, ts=question.ts, limit=2)
    texts = [[one["text"] for one in page["messages"]] async for page in pages]
    assert texts == [[question.text, "First."], ["Second.", "Third."]]
    history = await client.conversations_history(channel=question.channel.id)
    assert [one["reply_count"] for one in history["messages"]] == [3]


async def test_a_deleted_parent_leaves_a_tombstone_and_is_reported_as_a_change(
    slack: FakeSlack, client: AsyncWebClient, question: Message
) -> None:
    await client.chat_postMessage(channel=question.channel.id, thread_ts=question.ts, text="Searching.")
    await slack.person("alice").deletes(question)
    event = slack.deliveries_of(question)[-1].payload["event"]
    assert event["subtype"] == "message_changed"
    assert event["message"]["subtype"] == "tombstone"


async def test_an_ephemeral_message_is_seen_by_one_person_only(
    slack: FakeSlack, client: AsyncWebClient, question: Message
) -> None:
    alice, bob = slack.person("alice"), slack.person("bob")
    await client.chat_postEphemeral(channel=question.channel.id, user=alice.id, text="Only for you.")
    assert [one.text for one in alice.private] == ["Only for you."]
    assert bob.private == []
    assert slack.visible("general") == [question]
    history = await client.conversations_history(channel=question.channel.id)
    assert len(history["messages"]) == 1


async def test_an_ephemeral_message_in_a_thread_that_has_not_begun_is_shown_to_nobody(
    slack: FakeSlack, client: AsyncWebClient, question: Message
) -> None:
    alice, channel = slack.person("alice"), question.channel.id
    await client.chat_postEphemeral(channel=channel, thread_ts=question.ts, user=alice.id, text="Lost.")
    assert alice.private == []
    await alice.says("And another thing.", thread=question)
    await client.chat_postEphemeral(channel=channel, thread_ts=question.ts, user=alice.id, text="Only for you.")
    assert [one.text for one in alice.private] == ["Only for you."]


async def test_a_private_channel_without_the_bot_does_not_exist_for_it(
    slack: FakeSlack, client: AsyncWebClient
) -> None:
    secret = slack.channel("payroll", private=True, members=["alice"], bot=False)
    message = await slack.person("alice").says("<@bot> are you there?", channel="payroll")
    assert slack.deliveries_of(message) == []
    assert await refusal_of(client.chat_postMessage(channel=secret.id, text="Yes.")) == "channel_not_found"


async def test_admins_are_told_apart_and_rooms_name_their_members(slack: FakeSlack, client: AsyncWebClient) -> None:
    is_admin = {
        name: (await client.users_info(user=slack.person(name).id))["user"]["is_admin"] for name in ("alice", "ada")
    }
    assert is_admin == {"alice": False, "ada": True}
    opened = await client.conversations_open(users=slack.person("bob").id)
    members = await client.conversations_members(channel=opened["channel"]["id"])
    assert set(members["members"]) == {slack.person("bob").id, slack.bot_user_id}


async def test_a_file_is_downloaded_with_the_bots_token_only(slack: FakeSlack, client: AsyncWebClient) -> None:
    message = await slack.person("alice").says("read this", channel="general", files=[("notes.txt", b"14 days")])
    shown = await client.conversations_replies(channel=message.channel.id, ts=message.ts)
    file = (await client.files_info(file=shown["messages"][0]["files"][0]["id"]))["file"]
    async with aiohttp.ClientSession() as session:
        async with session.get(file["url_private"], headers={"Authorization": f"Bearer {slack.bot_token}"}) as answer:
            assert await answer.read() == b"14 days"
        async with session.get(file["url_private"]) as answer:
            assert "Sign in" in await answer.text()


async def test_a_mention_with_a_file_comes_without_it_and_as_a_message_with_it(slack: FakeSlack) -> None:
    message = await slack.person("alice").says("<@bot> read this", channel="general", files=[("a.txt", b"a")])
    mention, plain = (one.payload["event"] for one in slack.deliveries_of(message))
    assert (mention["type"], "files" in mention) == ("app_mention", False)
    assert (plain["subtype"], plain["files"][0]["name"]) == ("file_share", "a.txt")
    assert mention["ts"] == plain["ts"]


async def test_what_people_type_is_escaped_as_slack_escapes_it(slack: FakeSlack) -> None:
    message = await slack.person("alice").says("<@bot> is 3 < 4 & why? ask <@bob>", channel="general")
    assert message.text == f"<@{slack.bot_user_id}> is 3 &lt; 4 &amp; why? ask <@{slack.person('bob').id}>"


# --- pings


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Hello <!channel>", ["channel"]),
        ("Hello <!here|here>", ["here"]),
        ("Hello &lt;!channel&gt;", []),
        ("Hello @channel", []),
    ],
)
async def test_only_a_live_broadcast_is_a_ping(
    slack: FakeSlack, client: AsyncWebClient, question: Message, text: str, found: list[str]
) -> None:
    await client.chat_postMessage(channel=question.channel.id, text=text)
    assert [ping.target for ping in slack.pings("broadcast")] == found
    assert len(slack.violations) == len(found)


async def test_a_plain_at_channel_is_a_ping_once_names_are_linked(
    slack: FakeSlack, client: AsyncWebClient, question: Message
) -> None:
    await client.chat_postMessage(channel=question.channel.id, text="Hello @channel", link_names=True)
    assert [ping.target for ping in slack.pings("broadcast")] == ["channel"]


async def test_a_ping_that_two_appends_complete_between_them_is_seen(
    slack: FakeSlack, client: AsyncWebClient, question: Message
) -> None:
    stream = await start(slack, client, question, "Ask <!chan")
    assert slack.pings() == []
    await client.chat_appendStream(channel=question.channel.id, ts=stream, markdown_text="nel> about it.")
    await client.chat_stopStream(channel=question.channel.id, ts=stream)
    await client.chat_update(channel=question.channel.id, ts=stream, text="Ask the team about it.")
    assert [(ping.target, ping.state) for ping in slack.pings("broadcast")] == [("channel", 1)]


async def test_a_group_may_be_called_when_the_test_allows_it(
    slack: FakeSlack, client: AsyncWebClient, question: Message
) -> None:
    support = slack.usergroup("support", members=["bob"])
    await client.chat_postMessage(channel=question.channel.id, text=f"<!subteam^{support.id}> please help")
    assert len(slack.violations) == 1
    slack.allow_pings_of(support)
    await client.chat_postMessage(channel=question.channel.id, text=f"<!subteam^{support.id}> again")
    assert len(slack.violations) == 1
    assert [ping.target for ping in slack.pings("group")] == [support.id, support.id]


# --- streams


async def start(slack: FakeSlack, client: AsyncWebClient, question: Message, text: str = "Refunds ") -> str:
    started = await client.chat_startStream(
        channel=question.channel.id,
        thread_ts=question.ts,
        markdown_text=text,
        recipient_user_id=question.user,
        recipient_team_id=slack.team_id,
    )
    return str(started["ts"])


async def test_a_stream_grows_and_keeps_every_state_it_went_through(
    slack: FakeSlack, client: AsyncWebClient, question: Message
) -> None:
    stream = await client.chat_stream(
        channel=question.channel.id,
        thread_ts=question.ts,
        recipient_user_id=question.user,
        recipient_team_id=slack.team_id,
        buffer_size=1,
    )
    await stream.append(chunks=[TaskUpdateChunk(id="1", title="Searching", status="in_progress")])
    await stream.append(markdown_text="Refunds ")
    await stream.append(chunks=[TaskUpdateChunk(id="1", title="Searched", status="complete")])
    await stream.stop(markdown_text="take 14 days.", blocks=[BUTTONS])
    reply = await slack.reply_to(question, settle=0.0)
    assert reply.stream_text == "Refunds take 14 days."
    assert [task["title"] for task in reply.tasks.values()] == ["Searched"]
    assert reply.buttons() == ["Search more"]
    assert [state.stream_text for state in reply.history] == ["", "Refunds ", "Refunds ", "Refunds take 14 days."]
    assert slack.violations == []


async def test_a_stream_in_a_channel_needs_to_know_for_whom(
    slack: FakeSlack, client: AsyncWebClient, question: Message
) -> None:
    nameless = client.chat_startStream(channel=question.channel.id, thread_ts=question.ts)
    assert await refusal_of(nameless) == "missing_recipient_user_id"
    assert len(slack.violations) == 1


async def test_a_stream_that_expired_refuses_more_text(
    slack: FakeSlack, client: AsyncWebClient, question: Message
) -> None:
    slack.faults.expire_streams(after_appends=1)
    stream = await start(slack, client, question)
    room = question.channel.id
    await client.chat_appendStream(channel=room, ts=stream, markdown_text="take ")
    more = client.chat_appendStream(channel=room, ts=stream, markdown_text="14")
    assert await refusal_of(more) == "message_not_in_streaming_state"
    stop = client.chat_stopStream(channel=room, ts=stream)
    assert await refusal_of(stop) == "message_not_in_streaming_state"
    await client.chat_update(channel=room, ts=stream, text="Refunds take 14 days.")
    assert slack.answers_to(question)[0].markdown == "Refunds take 14 days."
    assert slack.violations == []


async def test_an_open_stream_cannot_be_updated(slack: FakeSlack, client: AsyncWebClient, question: Message) -> None:
    stream = await start(slack, client, question)
    update = client.chat_update(channel=question.channel.id, ts=stream, text="14 days.")
    assert await refusal_of(update) == "streaming_state_conflict"


async def test_the_stop_button_ends_the_stream_and_tells_the_app_which(
    slack: FakeSlack, client: AsyncWebClient, question: Message
) -> None:
    stream = await start(slack, client, question)
    stopped = await slack.person("alice").stops_session(question)
    assert [one.ts for one in stopped] == [stream]
    event = slack.deliveries[-1].payload["event"]
    assert (event["type"], event["streaming_message_ts"]) == ("agent_session_stopped", [stream])
    more = client.chat_appendStream(channel=question.channel.id, ts=stream, markdown_text="more")
    assert await refusal_of(more) == "stopped_by_user"


async def test_a_chunk_of_a_wrong_shape_is_refused(slack: FakeSlack, client: AsyncWebClient, question: Message) -> None:
    stream = await start(slack, client, question)
    wrong = client.chat_appendStream(
        channel=question.channel.id,
        ts=stream,
        chunks=[MarkdownTextChunk(text="fine"), TaskUpdateChunk(id="1", title="Searching", status="busy")],
    )
    assert await refusal_of(wrong) == "invalid_chunks"
    assert "status 'busy'" in slack.violations[0]


async def test_streaming_can_be_refused_altogether(slack: FakeSlack, client: AsyncWebClient, question: Message) -> None:
    slack.faults.refuse_streaming()
    assert await refusal_of(start(slack, client, question)) == "channel_type_not_supported"
    slack.faults.clear()
    assert await start(slack, client, question)


# --- agents


async def test_an_app_that_is_no_agent_is_not_authorized(slack: FakeSlack, client: AsyncWebClient) -> None:
    slack.agent = False
    question = await slack.person("alice").says("hello")
    where = {"channel_id": question.channel.id, "thread_ts": question.ts}
    assert await refusal_of(client.agents_sessions_setStatus(**where, status="processing")) == "not_authorized"
    assert await refusal_of(client.agents_sessions_rename(**where, title="Refunds")) == "not_authorized"
    assert slack.violations == []


async def test_a_session_keeps_its_status_and_title(slack: FakeSlack, client: AsyncWebClient) -> None:
    question = await slack.person("alice").says("how long is a refund?")
    where = {"channel_id": question.channel.id, "thread_ts": question.ts}
    assert await refusal_of(client.agents_sessions_rename(**where, title="Refunds")) == "session_not_found"
    await client.agents_sessions_setStatus(**where, status="processing", title="Refunds")
    await client.chat_postMessage(channel=question.channel.id, thread_ts=question.ts, text="14 days.")
    with pytest.raises(AssertionError, match="still processing"):
        await slack.reply_to(question, timeout=0.05, settle=0.0)
    await client.agents_sessions_setStatus(**where, status="active")
    assert (await slack.reply_to(question, settle=0.0)).text == "14 days."
    assert [status for _, _, status in slack.world.session_log] == ["processing", "active"]


async def test_at_most_four_prompts_are_suggested(slack: FakeSlack, client: AsyncWebClient) -> None:
    room = await slack.person("alice").opens_dm()
    assert slack.deliveries[-1].payload["event"]["tab"] == "messages"
    prompts = [{"title": f"Prompt {n}", "message": "How long is a refund?"} for n in range(5)]
    await client.assistant_threads_setSuggestedPrompts(channel_id=room.id, prompts=prompts[:4])
    wrong = client.assistant_threads_setSuggestedPrompts(channel_id=room.id, prompts=prompts)
    assert await refusal_of(wrong) == "invalid_arguments"
    assert len(slack.world.suggested_prompts[room.id, None]) == 4


# --- faults and limits


async def test_a_rate_limit_says_how_long_to_wait_and_then_lets_go(
    slack: FakeSlack, client: AsyncWebClient, question: Message
) -> None:
    slack.faults.rate_limit("chat.postMessage", times=1, retry_after=0)
    client.retry_handlers.append(AsyncRateLimitErrorRetryHandler(max_retry_count=1))
    await client.chat_postMessage(channel=question.channel.id, text="14 days.")
    assert [(one.status, one.error) for one in slack.calls_of("chat.postMessage")] == [
        (429, "ratelimited"),
        (200, None),
    ]


async def test_enforced_limits_refuse_the_call_too_many(
    slack: FakeSlack, client: AsyncWebClient, question: Message
) -> None:
    posted = await client.chat_postMessage(channel=question.channel.id, text="0")
    slack.limits.enforce(tiers={"t3": 2})
    room = question.channel.id
    for number in range(2):
        await client.chat_update(channel=room, ts=posted["ts"], text=str(number))
    with pytest.raises(SlackApiError) as caught:
        await client.chat_update(channel=room, ts=posted["ts"], text="once more")
    assert int(caught.value.response.headers["Retry-After"]) > 0
    assert slack.limits.refusals == 1


async def test_a_server_error_leaves_the_world_as_it_was(
    slack: FakeSlack, client: AsyncWebClient, question: Message
) -> None:
    slack.faults.server_error("chat.postMessage")
    with pytest.raises(SlackApiError) as caught:
        await client.chat_postMessage(channel=question.channel.id, text="14 days.")
    assert caught.value.response.status_code == 503
    assert slack.answers_to(question) == []


async def test_a_lost_answer_hides_that_the_message_was_posted(slack: FakeSlack, question: Message) -> None:
    client = AsyncWebClient(slack.bot_token, base_url=slack.api_url, retry_handlers=[])
    slack.faults.lose_answer("chat.postMessage")
    with pytest.raises(aiohttp.ClientError):
        await client.chat_postMessage(channel=question.channel.id, thread_ts=question.ts, text="14 days.")
    assert [one.text for one in slack.answers_to(question)] == ["14 days."]


# --- Socket Mode


async def test_a_mention_is_answered_over_socket_mode(slack: FakeSlack) -> None:
    app = bolt_app(slack)

    @app.event("app_mention")
    async def answer(event: dict[str, Any], say: Any) -> None:
        await say("14 days.", thread_ts=event["ts"])

    app.event("message")(_nothing)
    async with in_socket_mode(slack, app):
        question = await slack.person("alice").says("<@bot> how long is a refund?", channel="general")
        reply = await slack.reply_to(question, settle=0.0)
        deliveries = await slack.acknowledged(question)
    assert reply.text == "14 days."
    assert [one.event_type for one in deliveries] == ["app_mention", "message"]
    assert [len(one.attempts) for one in deliveries] == [1, 1]
    assert slack.violations == []


async def test_an_unacknowledged_envelope_is_delivered_again(impatient_slack: FakeSlack) -> None:
    app, seen = bolt_app(impatient_slack), []

    @app.middleware
    async def lose_the_first(body: dict[str, Any], req: Any, next: Any) -> None:  # noqa: A002  bolt's own name
        if body["event"]["type"] == "app_mention":
            seen.append((body["event_id"], req.headers.get("x-slack-retry-num", ["0"])[0]))
            if len(seen) == 1:
                raise RuntimeError("the process is not well")
        await next()

    app.event("app_mention")(_nothing)
    app.event("message")(_nothing)
    async with in_socket_mode(impatient_slack, app):
        question = await impatient_slack.person("alice").says("<@bot> how long is a refund?", channel="general")
        await impatient_slack.acknowledged(question)
    (first_id, first_try), (second_id, second_try), *_ = seen
    assert first_id == second_id
    assert (first_try, second_try) == ("0", "1")


async def _nothing() -> None:
    """A listener that leaves it at the acknowledgement."""


async def test_two_processes_share_the_envelopes(slack: FakeSlack) -> None:
    one, two = bolt_app(slack), bolt_app(slack)
    for app in (one, two):
        app.event("message")(_nothing)
    async with in_socket_mode(slack, one), in_socket_mode(slack, two):
        messages = [await slack.person("alice").says(f"note {n}", channel="general") for n in range(4)]
        for message in messages:
            await slack.acknowledged(message)
        assert [len(socket.envelopes) for socket in slack.sockets.connections] == [2, 2]


async def test_one_event_can_be_delivered_four_times_at_once(slack: FakeSlack) -> None:
    app, seen = bolt_app(slack), []

    @app.event("message")
    async def note(body: dict[str, Any]) -> None:
        seen.append(body["event_id"])

    async with in_socket_mode(slack, app):
        slack.faults.redeliver(times=4)
        message = await slack.person("alice").says("once", channel="general")
        await slack.until(lambda: len(seen) == 4)
        slack.faults.clear()
        slack.faults.redeliver(message, times=2, at_once=False)
        await slack.until(lambda: len(seen) == 6)
    assert len(set(seen)) == 1


async def test_a_client_whose_socket_is_dropped_comes_back(slack: FakeSlack) -> None:
    app = bolt_app(slack)
    app.event("message")(_nothing)
    async with in_socket_mode(slack, app, ping_every=0.2):
        slack.sockets.drop()
        await slack.until(lambda: slack.sockets.opened == 2)
        message = await slack.person("alice").says("are you back?", channel="general")
        await slack.acknowledged(message)


async def test_a_client_that_is_told_to_go_comes_back_on_a_new_socket(slack: FakeSlack) -> None:
    app = bolt_app(slack)
    async with in_socket_mode(slack, app):
        (old,) = await slack.sockets.wait_for(1)
        await slack.sockets.disconnect("refresh_requested")
        await slack.until(lambda: slack.sockets.connections not in ([], [old]))


async def test_a_deaf_socket_delivers_nothing_although_it_answers_pings(impatient_slack: FakeSlack) -> None:
    app = bolt_app(impatient_slack)
    app.event("message")(_nothing)
    async with in_socket_mode(impatient_slack, app, ping_every=0.2):
        impatient_slack.sockets.go_deaf(answer_pings=True)
        (socket,) = impatient_slack.sockets.connections
        message = await impatient_slack.person("alice").says("do you hear me?", channel="general")
        (delivery,) = impatient_slack.deliveries_of(message)
        await delivery.finished.wait()
        assert not delivery.acknowledged
        await impatient_slack.until(lambda: socket.pings > 1)
        assert impatient_slack.sockets.connections == [socket]


async def test_a_client_notices_pongs_that_do_not_come(slack: FakeSlack) -> None:
    async with in_socket_mode(slack, bolt_app(slack), ping_every=0.2):
        slack.sockets.go_deaf()
        await slack.until(lambda: slack.sockets.opened >= 2)


async def test_a_wss_address_works_once(slack: FakeSlack, client: AsyncWebClient) -> None:
    url = (await client.apps_connections_open(app_token=slack.app_token))["url"]
    async with aiohttp.ClientSession() as session:
        async with session.ws_connect(url) as socket:
            assert (await socket.receive_json())["type"] == "hello"
        with pytest.raises(aiohttp.WSServerHandshakeError):
            await session.ws_connect(url)


# --- pressing, filling in, commanding


def app_with_buttons(slack: FakeSlack) -> AsyncApp:
    app = bolt_app(slack)

    @app.action("yes")
    async def more(ack: Any, body: dict[str, Any], client: AsyncWebClient) -> None:
        await ack()
        await client.views_open(trigger_id=body["trigger_id"], view=MODAL)

    @app.action("rated")
    async def rated(ack: Any, body: dict[str, Any], respond: Any) -> None:
        await ack()
        await respond(text=f"Thanks for {body['actions'][0]['value']}.", replace_original=False)

    @app.view("feedback")
    async def sent(ack: Any, view: dict[str, Any]) -> None:
        given = view["state"]["values"]["note"]["reason"]["value"]
        if given == "?":
            await ack(response_action="errors", errors={"note": "Please say a little more."})
        else:
            await ack()

    @app.command("/footnote")
    async def command(ack: Any, command: dict[str, Any]) -> None:
        await ack(f"You said {command['text']}.")

    @app.shortcut("answer_this")
    async def shortcut(ack: Any, shortcut: dict[str, Any], say: Any) -> None:
        await ack()
        await say(f"About: {shortcut['message']['text']}", thread_ts=shortcut["message"]["ts"])

    @app.event("app_home_opened")
    async def home(event: dict[str, Any], client: AsyncWebClient) -> None:
        await client.views_publish(user_id=event["user"], view={"type": "home", "blocks": [TEXT]})

    app.event("message")(_nothing)
    return app


async def answered(client: AsyncWebClient, question: Message) -> None:
    await client.chat_postMessage(
        channel=question.channel.id, thread_ts=question.ts, text="14 days.", blocks=[TEXT, BUTTONS, FEEDBACK]
    )


async def test_a_button_opens_a_modal_which_is_filled_in_and_sent(slack: FakeSlack, client: AsyncWebClient) -> None:
    alice = slack.person("alice")
    async with in_socket_mode(slack, app_with_buttons(slack)):
        question = await alice.says("refund?", channel="general")
        await answered(client, question)
        await alice.clicks(slack.answers_to(question)[0], "Search more")
        modal = await alice.next_modal()
        with pytest.raises(AssertionError, match="What was wrong"):
            await alice.submits(modal)
        await alice.submits(modal, {"reason": "?"})
        assert modal.errors == {"note": "Please say a little more."}
        await alice.submits(modal, {"What was wrong?": "It was too short."})
        assert alice.modal is None
    assert slack.violations == []


async def test_a_trigger_opens_one_view_only(slack: FakeSlack, client: AsyncWebClient) -> None:
    trigger = slack.world.add_trigger(slack.person("alice").id)
    await client.views_open(trigger_id=trigger, view=MODAL)
    assert await refusal_of(client.views_open(trigger_id=trigger, view=MODAL)) == "exchanged_trigger_id"
    slack.trigger_lifetime = -1.0
    late = slack.world.add_trigger(slack.person("alice").id)
    assert await refusal_of(client.views_open(trigger_id=late, view=MODAL)) == "expired_trigger_id"


async def test_a_modal_that_slack_would_refuse_is_a_violation(slack: FakeSlack, client: AsyncWebClient) -> None:
    trigger = slack.world.add_trigger(slack.person("alice").id)
    title = {"type": "plain_text", "text": "A title of far too many letters"}
    wrong = MODAL | {"title": title, "blocks": [NOTE, FEEDBACK], "submit": None}
    assert await refusal_of(client.views_open(trigger_id=trigger, view=wrong)) == "invalid_arguments"
    assert len(slack.violations) == 3


async def test_feedback_is_pressed_by_its_side_and_answered_privately(slack: FakeSlack, client: AsyncWebClient) -> None:
    alice = slack.person("alice")
    async with in_socket_mode(slack, app_with_buttons(slack)):
        question = await alice.says("refund?", channel="general")
        await answered(client, question)
        await alice.clicks(slack.answers_to(question)[0], "Bad")
        assert (await alice.next_private()).text == "Thanks for down."
    assert slack.violations == []


async def test_a_command_is_answered_in_its_acknowledgement(slack: FakeSlack) -> None:
    alice = slack.person("alice")
    async with in_socket_mode(slack, app_with_buttons(slack)):
        delivery = await alice.slash("/footnote", "why", channel="general")
        assert delivery.acknowledged
        assert (await alice.next_private()).text == "You said why."
    assert slack.visible("general") == []


async def test_a_shortcut_is_used_on_somebody_elses_message(slack: FakeSlack) -> None:
    async with in_socket_mode(slack, app_with_buttons(slack)):
        message = await slack.person("bob").says("How long is a refund?", channel="general")
        await slack.person("alice").shortcut("answer_this", message)
        assert (await slack.reply_to(message, settle=0.0)).text == "About: How long is a refund?"


async def test_the_home_tab_is_published_for_who_opens_it(slack: FakeSlack) -> None:
    alice = slack.person("alice")
    async with in_socket_mode(slack, app_with_buttons(slack)):
        await alice.opens_home()
        await alice.home_shows("14 days")
    assert slack.person("bob").home is None


async def test_a_press_nobody_acknowledges_fails_for_the_person_and_is_not_repeated(
    impatient_slack: FakeSlack, client: AsyncWebClient, question: Message
) -> None:
    await answered(client, question)
    delivery = await impatient_slack.person("alice").clicks(impatient_slack.answers_to(question)[0], "yes")
    assert (delivery.acknowledged, len(delivery.attempts)) == (False, 1)


async def test_an_old_button_can_be_pressed_on_a_screen_that_was_not_redrawn(
    impatient_slack: FakeSlack, client: AsyncWebClient, question: Message
) -> None:
    await answered(client, question)
    (answer,) = impatient_slack.answers_to(question)
    await client.chat_update(channel=answer.channel.id, ts=answer.ts, text="14 days.")
    alice = impatient_slack.person("alice")
    with pytest.raises(AssertionError, match="no button"):
        await alice.clicks(answer, "Search more")
    delivery = await alice.clicks(answer, "Search more", stale=True)
    assert delivery.payload["actions"][0]["value"] == "q-1"


async def test_a_submission_may_update_the_view_and_push_another(slack: FakeSlack, client: AsyncWebClient) -> None:
    app, alice = bolt_app(slack), slack.person("alice")
    menu = {
        "type": "input",
        "block_id": "style",
        "label": {"type": "plain_text", "text": "Reply style"},
        "element": {
            "type": "static_select",
            "action_id": "style",
            "options": [{"text": {"type": "plain_text", "text": "In a thread"}, "value": "thread"}],
        },
    }
    done = {"type": "modal", "title": MODAL["title"], "callback_id": "done", "blocks": [TEXT]}

    @app.view("feedback")
    async def step(ack: Any, view: dict[str, Any]) -> None:
        chosen = view["state"]["values"].get("style", {}).get("style", {}).get("selected_option")
        if chosen is None:
            await ack(response_action="update", view=MODAL | {"blocks": [menu]})
        else:
            await ack(response_action="push", view=done)

    async with in_socket_mode(slack, app):
        await client.views_open(trigger_id=slack.world.add_trigger(alice.id), view=MODAL)
        first = await alice.next_modal()
        await alice.submits(first, {"reason": "too short"})
        await alice.submits(first, {"style": "In a thread"})
        assert alice.modal is not first
        assert "14 days" in (await alice.next_modal()).markdown
    assert slack.violations == []


async def test_a_response_url_replaces_and_deletes_what_was_pressed(slack: FakeSlack, client: AsyncWebClient) -> None:
    app, alice = bolt_app(slack), slack.person("alice")

    @app.action("yes")
    async def more(ack: Any, respond: Any) -> None:
        await ack()
        buttons = [BUTTONS | {"elements": [YES | {"action_id": "no"}]}]
        await respond(text="Searching.", blocks=buttons, replace_original=True)

    @app.action("no")
    async def enough(ack: Any, respond: Any) -> None:
        await ack()
        await respond(delete_original=True)

    async with in_socket_mode(slack, app):
        room = slack.channel("general")
        await client.chat_postEphemeral(channel=room.id, user=alice.id, text="Only for you.", blocks=[BUTTONS])
        message = await alice.next_private()
        await alice.clicks(message, "yes")
        await slack.until(lambda: message.text == "Searching.", what="the replacement")
        await alice.clicks(message, "no")
        await slack.until(lambda: alice.private == [])
    assert slack.violations == []


async def test_another_bot_speaks_with_its_own_bot_id(slack: FakeSlack) -> None:
    message = await slack.bot("otherbot").says("<@bot> beep", channel="general")
    event = slack.deliveries_of(message, "message")[0].payload["event"]
    assert event["bot_id"] == slack.bot("otherbot").user.bot_id
    assert event["bot_id"] != slack.world.bot.bot_id


# --- HTTP mode


async def test_a_mention_is_answered_over_signed_http(slack: FakeSlack) -> None:
    app = bolt_app(slack)

    @app.event("app_mention")
    async def answer(event: dict[str, Any], say: Any) -> None:
        await say("14 days.", thread_ts=event["ts"])

    app.event("message")(_nothing)
    async with in_http_mode(slack, app):
        assert await slack.http.verify_url()
        question = await slack.person("alice").says("<@bot> how long is a refund?", channel="general")
        assert (await slack.reply_to(question, settle=0.0)).text == "14 days."
        deliveries = await slack.acknowledged(question)
    assert [one.attempts[0].status for one in deliveries] == [200, 200]
    assert slack.violations == []


@pytest.mark.parametrize("signature", ["wrong", "old", "missing"])
async def test_a_request_with_a_bad_signature_is_turned_away_and_sent_again(slack: FakeSlack, signature: Any) -> None:
    app, seen = bolt_app(slack), []

    @app.event("message")
    async def note(body: dict[str, Any]) -> None:
        seen.append(body)

    async with in_http_mode(slack, app):
        slack.http.signature = signature
        message = await slack.person("alice").says("hello", channel="general")
        (delivery,) = slack.deliveries_of(message)
        await delivery.finished.wait()
    assert [one.status for one in delivery.attempts] == [401] * 4
    assert seen == []


async def test_commands_and_presses_arrive_over_http_too(slack: FakeSlack, client: AsyncWebClient) -> None:
    alice = slack.person("alice")
    async with in_http_mode(slack, app_with_buttons(slack)):
        await alice.slash("/footnote", "why", channel="general")
        assert (await alice.next_private()).text == "You said why."
        question = await alice.says("refund?", channel="general")
        await answered(client, question)
        await alice.clicks(slack.answers_to(question)[0], "Good")
        assert (await alice.next_private()).text == "Thanks for up."
    assert slack.violations == []


async def test_nothing_is_left_running_when_the_workspace_closes() -> None:
    before = asyncio.all_tasks()
    async with FakeSlack() as slack:
        await slack.person("alice").says("is anybody there?", channel="general")
    assert asyncio.all_tasks() == before
