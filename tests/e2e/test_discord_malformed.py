"""Dispatches as Discord never sends them: none ends the bot, and the next question is answered."""

import asyncio
import itertools
import threading
from collections.abc import AsyncIterator
from typing import Any

import pytest
from discord.gateway import KeepAliveHandler

from tests.e2e.discord_office import Office
from tests.fakes.discord import SPECIFICATION, FakeDiscord
from tests.fuzz.events import faulty

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(not SPECIFICATION.exists(), reason="the shared discord-openapi.json is not beside the checkout"),
]
STRIDE = 23  # of the faults of one event each so many-th is sent: each may cost a connection


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


@pytest.fixture
async def no_heartbeat_left(office: Office) -> AsyncIterator[None]:
    """discord.py leaves the heartbeat of a connection that its own parser ended; it would outlive the test's loop."""
    yield
    for thread in threading.enumerate():
        if isinstance(thread, KeepAliveHandler):
            thread.stop()
            await asyncio.to_thread(thread.join, 20)


@pytest.mark.usefixtures("no_heartbeat_left")
async def test_no_malformed_dispatch_of_discord_ends_the_bot(discord: FakeDiscord, office: Office) -> None:
    for event, data in dispatches(discord).items():
        for changed in itertools.islice(faulty(data), 0, None, STRIDE):
            await discord.gateway.dispatch(event, changed)
    await discord.until(lambda: discord.gateway.connections, what="a connection")
    asked = await discord.person("alice").says("<@bot> how long do refunds take?")
    assert "14 days" in (await discord.reply_to(asked)).text
