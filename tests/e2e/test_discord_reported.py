"""Reported cases of chats on Discord, played as they were reported. Skipped where the shared data are absent."""

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from core.model.conversation import Thread
from tests.e2e.discord_office import Office
from tests.fakes.discord import SPECIFICATION, FakeDiscord, Message

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(not SPECIFICATION.exists(), reason="the shared discord-openapi.json is not beside the checkout"),
]

CASES = Path(__file__).parents[3] / "shared/data/reported/cases.jsonl"
ALERT = {"title": "Disk full on db-7", "description": "92 % used.", "fields": [{"name": "Runbook", "value": "RB-12"}]}
Played = Callable[[FakeDiscord], Awaitable[Message]]


async def alert_in_a_channel(discord: FakeDiscord) -> Message:
    alert = await discord.bot("alerts").says("", "general", embeds=[ALERT])
    return await discord.person("alice").says("<@bot> what should I do about this?", reply_to=alert)


async def alert_in_a_thread(discord: FakeDiscord) -> Message:
    bob = discord.person("bob")
    thread = await bob.starts_thread(await bob.says("see below"), "db-7")
    await discord.bot("alerts").says("", thread=thread, embeds=[ALERT])
    return await discord.person("alice").says("<@bot> how do we fix that?", thread=thread)


async def reply_far_back(discord: FakeDiscord) -> Message:
    bob = discord.person("bob")
    thread = await bob.starts_thread(await bob.says("about refunds"), "refunds")
    rule = await bob.says("Gift cards are not refunded.", thread=thread)
    for number in range(60):
        await bob.says(f"chatter {number}", thread=thread)
    return await discord.person("alice").says("<@bot> what is our rule for this?", thread=thread, reply_to=rule)


async def timestamp(discord: FakeDiscord) -> Message:
    return await discord.person("alice").says("<@bot> is support open at <t:1790000000:F>?")


async def animated_emoji(discord: FakeDiscord) -> Message:
    return await discord.person("alice").says("<@bot> how long do refunds take <a:party:223456789012345678>")


async def reply_to_a_file(discord: FakeDiscord) -> Message:
    file = await discord.person("bob").says("", files=[("handover.txt", b"Pay Lyon first.")])
    return await discord.person("alice").says("<@bot> whom does this file tell us to pay?", reply_to=file)


def context(thread: Thread) -> str:
    return "\n".join(f"{one.author}: {one.text}" for one in thread.context)


PLAYS: dict[str, tuple[Played, Callable[[str, Thread], bool]]] = {
    "d01_embed_title_fields_context": (
        alert_in_a_channel,
        lambda _, thread: "alerts: Disk full on db-7" in context(thread) and "Runbook: RB-12" in context(thread),
    ),
    "d04_reply_far_back_in_thread": (
        reply_far_back,
        lambda _, thread: "Bob: Gift cards are not refunded." in context(thread),
    ),
    "d09_timestamp_markup": (timestamp, lambda asked, _: "21 September 2026 14:13 UTC" in asked),
    "d16_thread_of_other_bots_alert": (alert_in_a_thread, lambda _, thread: "Runbook: RB-12" in context(thread)),
    "d22_reply_to_file": (
        reply_to_a_file,
        lambda _, thread: "Pay Lyon first." in str(thread.attachments) or "handover.txt" in context(thread),
    ),
    "d25_animated_emoji_and_word": (animated_emoji, lambda asked, _: "223456789012345678" not in asked),
}


def reported() -> list[dict[str, Any]]:
    if not CASES.exists():
        return []
    read = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]
    return [one for one in read if one["kind"] == "chat" and one["id"].startswith("d")]


@pytest.mark.skipif(not CASES.exists(), reason="the shared reported cases are not beside the checkout")
async def test_reported_chats_are_read_as_people_see_them(discord: FakeDiscord, office: Office) -> None:
    wrong = []
    for case in reported():
        play, is_right = PLAYS[case["id"]]
        await discord.reply_to(await play(discord))
        inquiry, thread = office.script.calls_of("understand")[-1].given[:2]
        if not is_right(inquiry.question, thread):
            wrong.append((case["id"], case["right"], inquiry.question, context(thread)))
    assert wrong == []
