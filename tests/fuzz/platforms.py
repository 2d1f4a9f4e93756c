"""Bots in this process on the fake Slack and the fake Discord, and faulty events for each; a question ends each run."""

import asyncio
import itertools
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from discord.gateway import KeepAliveHandler

from adapters.slack.manifest import EVENTS
from tests.e2e.discord_office import Office
from tests.e2e.inprocess import REFUNDS, Bot
from tests.e2e.slack_driver import Road, SlackDriver
from tests.fakes.discord import FakeDiscord
from tests.fakes.slack import FakeSlack
from tests.fuzz.events import faulty


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


def dispatches(discord: FakeDiscord) -> dict[str, dict[str, Any]]:
    """One of each kind that the bot reads."""
    guild = str(discord.world.guild_id)
    user = {"id": "900000000000000001", "username": "eve", "discriminator": "0", "avatar": None}
    channel = str(next(iter(discord.world.channels)))
    message = {
        "id": "900000000000000002", "channel_id": channel, "guild_id": guild, "author": user, "content": "how long?",
        "timestamp": "2026-11-01T00:00:00+00:00", "edited_timestamp": None, "tts": False, "mention_everyone": False,
        "mentions": [user], "mention_roles": [], "attachments": [], "embeds": [], "pinned": False, "type": 0,
        "member": {"roles": [], "joined_at": "2026-01-01T00:00:00+00:00", "deaf": False, "mute": False, "flags": 0},
        "components": [],
    }  # fmt: skip
    interaction = {
        "id": "900000000000000003", "application_id": "1", "type": 3, "token": "t", "version": 1, "guild_id": guild,
        "channel_id": channel, "user": user, "message": message, "data": {"custom_id": "x", "component_type": 2},
        "locale": "en-US", "entitlements": [], "authorizing_integration_owners": {},
    }  # fmt: skip
    return {
        "MESSAGE_CREATE": message,
        "MESSAGE_UPDATE": message,
        "MESSAGE_DELETE": {"id": message["id"], "channel_id": channel, "guild_id": guild},
        "MESSAGE_DELETE_BULK": {"ids": [message["id"]], "channel_id": channel, "guild_id": guild},
        "INTERACTION_CREATE": interaction,
        "CHANNEL_UPDATE": {"id": channel, "type": 0, "guild_id": guild, "name": "general", "position": 0},
        "THREAD_DELETE": {"id": channel, "guild_id": guild, "parent_id": channel, "type": 11},
    }


@asynccontextmanager
async def slack_bot(road: Road) -> AsyncIterator[tuple[FakeSlack, Bot]]:
    """A bot in a fake workspace, reached by this road."""
    async with FakeSlack(retry_delays=(0.2, 0.4, 0.8, 1.6)) as slack:
        bot = Bot(SlackDriver(slack, road))
        await bot.harness.knows(REFUNDS, title="Refund policy")
        async with bot.running():
            yield slack, bot


async def send_to_slack(slack: FakeSlack, stride: int) -> tuple[int, list[int]]:
    """Send every so many-th fault of each kind of event; how many there were, and the answers of 5xx to them."""
    socket = None if slack.request_url else (await slack.sockets.wait_for())[0]
    number = itertools.count()
    failed: list[int] = []
    for envelope in slack_envelopes(slack).values():
        for payload in itertools.islice(faulty(envelope["payload"]), 0, None, stride):
            mark = next(number)
            if "event_id" in payload:  # or all but the first would be the same event again
                payload["event_id"] = payload["event_id"] and f"Ev{mark}"
            if socket is not None:
                await socket.send(envelope | {"envelope_id": f"env-{mark}", "payload": payload})
                continue
            status, *_ = await slack.http.post(envelope["type"], payload)
            failed += [status] if status >= 500 else []
    question = await slack.person("alice").says("<@bot> how long do refunds take?", channel="general")
    await slack.reply_to(question, 120, until=lambda one: "14 days" in one.markdown)
    return next(number), failed


@asynccontextmanager
async def discord_bot() -> AsyncIterator[FakeDiscord]:
    """A bot on a fake Discord."""
    async with FakeDiscord() as discord:
        office = Office(discord)
        await office.harness.knows(REFUNDS, title="Refund policy")
        try:
            async with office.open():
                yield discord
        finally:
            # discord.py leaves the heartbeat of a connection that its own parser ended; it would outlive the loop.
            for thread in threading.enumerate():
                if isinstance(thread, KeepAliveHandler):
                    thread.stop()
                    await asyncio.to_thread(thread.join, 20)


async def send_to_discord(discord: FakeDiscord, stride: int) -> int:
    """Send every so many-th fault of each kind of dispatch; how many there were."""
    count = 0
    for event, data in dispatches(discord).items():
        for changed in itertools.islice(faulty(data), 0, None, stride):
            await discord.gateway.dispatch(event, changed)
            count += 1
    await discord.until(lambda: discord.gateway.connections, what="a connection")
    asked = await discord.person("alice").says("<@bot> how long do refunds take?")
    assert "14 days" in (await discord.reply_to(asked)).text
    return count
