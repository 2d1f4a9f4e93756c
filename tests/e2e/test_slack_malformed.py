"""Envelopes as Slack never sends them: none ends the connection, and the next question is answered."""

import itertools
from collections.abc import AsyncIterator
from typing import Any

import pytest

from adapters.slack.manifest import EVENTS
from tests.e2e.inprocess import REFUNDS, Bot
from tests.e2e.slack_driver import SlackDriver
from tests.fakes.slack import FakeSlack, specs_are_here
from tests.fuzz.events import faulty

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(not specs_are_here(), reason="Slack's method descriptions are not beside this checkout"),
]
STRIDE = 7  # of the faults of one event each so many-th is sent


@pytest.fixture
async def slack() -> AsyncIterator[FakeSlack]:
    async with FakeSlack(retry_delays=(0.2, 0.4, 0.8, 1.6)) as workspace:
        yield workspace


@pytest.fixture
async def bot(slack: FakeSlack) -> AsyncIterator[Bot]:
    bot = Bot(SlackDriver(slack, "socket"))
    await bot.scene.knows(REFUNDS, title="Refund policy")
    async with bot.running():
        yield bot


def slack_envelopes(slack: FakeSlack) -> dict[str, dict[str, Any]]:
    """One of each kind that is subscribed to, and one of each kind of interaction."""
    user, channel, ts = slack.person("alice").id, slack.channel("general").id, "1790000000.000100"
    message = {
        "type": "message", "user": user, "channel": channel, "text": "how long?", "ts": ts, "thread_ts": ts,
        "channel_type": "channel", "blocks": [{"type": "rich_text", "elements": [{"type": "text", "text": "x"}]}],
        "files": [{"id": "F1", "name": "a.md", "size": 3, "url_private_download": "https://files.slack.com/a"}],
        "attachments": [{"text": "shared", "author_name": "ben"}], "edited": {"user": user, "ts": ts},
    }  # fmt: skip
    events: dict[str, dict[str, Any]] = {
        "agent_session_stopped": {"channel": channel, "thread_ts": ts, "user": user, "session_id": "S1"},
        "app_home_opened": {"user": user, "tab": "home", "view": {"id": "V1"}},
        "app_mention": message | {"type": "app_mention"},
        "channel_id_changed": {"old_channel_id": "C1", "new_channel_id": "C2"},
        **{name: message | {"channel_type": name.partition(".")[2].rstrip("s")} for name in EVENTS if "." in name},
        "message_changed": {"type": "message", "subtype": "message_changed", "channel": channel, "message": message,
                            "previous_message": message, "ts": ts},
        "message_deleted": {"type": "message", "subtype": "message_deleted", "channel": channel, "deleted_ts": ts,
                            "previous_message": message},
    }  # fmt: skip
    assert set(EVENTS) <= set(events)
    team = {"team_id": "T1", "api_app_id": "A1"}
    envelopes = {
        name: {"type": "events_api", "payload": team | {"event_id": "Ev1", "event": {"type": name} | event}}
        for name, event in events.items()
    }
    pressed = {
        "type": "block_actions", "user": {"id": user, "team_id": "T1"}, "team": {"id": "T1"}, "trigger_id": "1.2",
        "channel": {"id": channel}, "container": {"message_ts": ts, "channel_id": channel}, "message": {"ts": ts},
        "actions": [{"action_id": "quotes", "block_id": "b", "value": "{}", "type": "button", "action_ts": ts}],
        "response_url": "https://hooks.slack.com/x",
    }  # fmt: skip
    command = {"command": "/kb", "text": "list", "user_id": user, "channel_id": channel, "trigger_id": "1.2"}
    view = {
        "id": "V1",
        "callback_id": "kb",
        "state": {"values": {"a": {"b": {"value": "c"}}}},
        "private_metadata": "{}",
    }
    envelopes |= {
        "block_actions": {"type": "interactive", "payload": pressed},
        "view_submission": {"type": "interactive", "payload": pressed | {"type": "view_submission", "view": view}},
        "message_action": {"type": "interactive", "payload": pressed | {"type": "message_action", "callback_id": "a"}},
        "slash_command": {"type": "slash_commands", "payload": team | command},
    }
    return envelopes


async def test_no_malformed_envelope_of_slack_ends_anything(slack: FakeSlack, bot: Bot) -> None:
    (socket,) = await slack.sockets.wait_for()
    number = itertools.count()
    for envelope in slack_envelopes(slack).values():
        for payload in itertools.islice(faulty(envelope["payload"]), 0, None, STRIDE):
            mark = next(number)
            if "event_id" in payload:  # or all but the first would be the same event again
                payload["event_id"] = payload["event_id"] and f"Ev{mark}"
            await socket.send(envelope | {"envelope_id": f"env-{mark}", "payload": payload})
    question = await slack.person("alice").says("<@bot> how long do refunds take?", channel="general")
    await slack.reply_to(question, 120, until=lambda one: "14 days" in one.markdown)
