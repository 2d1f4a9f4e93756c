"""Reported cases of chats in Slack, played as they were reported. Skipped where the shared data are absent."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from core.model.conversation import Thread
from tests.e2e.inprocess import REFUNDS, Bot
from tests.e2e.slack_driver import SlackDriver
from tests.fakes.slack import FakeSlack, Message, specs_are_here

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(not specs_are_here(), reason="Slack's method descriptions are not beside this checkout"),
]

CASES = Path(__file__).parents[3] / "shared/data/reported/cases.jsonl"
ALERT: dict[str, Any] = {
    "title": "Disk full on db-7", "text": "92 % used.", "fields": [{"title": "Runbook", "value": "RB-12"}],
    "fallback": "Disk full on db-7",
}  # fmt: skip
Played = Callable[[FakeSlack], Awaitable[Message]]


async def alert_in_a_thread(slack: FakeSlack) -> Message:
    alert = await slack.bot("alerts").says("", "general", attachments=[ALERT])
    return await slack.person("alice").says("<@bot> what should I do about this?", thread=alert)


async def forward_in_a_direct_message(slack: FakeSlack) -> Message:
    original = await slack.person("carol").says("A customer wants a refund in gift cards.", "random")
    return await slack.person("alice").forwards(original, text="can we do that?")


async def forward_in_a_thread(slack: FakeSlack) -> Message:
    original = await slack.person("carol").says("A customer wants a refund in gift cards.", "random")
    root = await slack.person("bob").forwards(original, "general", "fyi")
    return await slack.person("alice").says("<@bot> how do we handle that?", thread=root)


async def person_named_before(slack: FakeSlack) -> Message:
    slack.person("alice")
    root = await slack.person("bob").says("<@alice> owns the refund queue", "general")
    return await slack.person("carol").says("<@bot> who owns the queue?", thread=root)


async def group_and_broadcast(slack: FakeSlack) -> Message:
    group = slack.usergroup("support", ["bob"])
    return await slack.person("alice").says(f"<@bot> does <!subteam^{group.id}> or <!here> handle refunds?", "general")


async def shortcut_on_an_alert(slack: FakeSlack) -> Message:
    alert = await slack.bot("alerts").says("", "general", attachments=[ALERT])
    await slack.person("alice").shortcut("footnote_answer_this", alert)
    return alert


async def file_at_the_root(slack: FakeSlack) -> Message:
    files = [("handover.txt", b"Pay Lyon first.")]
    root = await slack.person("bob").says("here is the handover", "general", files=files)
    return await slack.person("alice").says("<@bot> whom does the file tell us to pay?", thread=root)


async def forward_before_a_direct_message(slack: FakeSlack) -> Message:
    original, alice = await slack.person("carol").says("A customer wants gift cards.", "random"), slack.person("alice")
    await slack.reply_to(await alice.forwards(original))
    return await alice.says("how do we handle what I forwarded?")


def context(thread: Thread) -> str:
    return "\n".join(f"{one.author}: {one.text}" for one in thread.context)


CHATS: dict[str, tuple[Played, Callable[[str, Thread], bool]]] = {
    "s01_alert_attachment_only": (alert_in_a_thread, lambda _, thread: "alerts: Disk full on db-7" in context(thread)),
    "s03_forward_in_dm": (forward_in_a_direct_message, lambda asked, thread: "gift cards" in asked + context(thread)),
    "s05_forward_in_thread_context": (forward_in_a_thread, lambda _, thread: "carol: A customer" in context(thread)),
    "s07_user_named_in_context": (person_named_before, lambda _, thread: "bob: @alice owns" in context(thread)),
    "s23_usergroup_and_here": (group_and_broadcast, lambda asked, _: "@support or @here" in asked),
    "s27_shortcut_on_alert": (shortcut_on_an_alert, lambda asked, _: asked.startswith("Disk full on db-7")),
    "s29_file_and_text_root_then_question": (
        file_at_the_root,
        lambda _, thread: "Pay Lyon first." in str(thread.attachments),
    ),
    "s33_alert_in_dm_history": (
        forward_before_a_direct_message,
        lambda _, thread: "carol: A customer wants gift cards." in context(thread),
    ),
}


def reported() -> list[dict[str, Any]]:
    if not CASES.exists():
        return []
    read = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]
    return [one for one in read if one["kind"] == "chat" and one["id"].startswith("s")]


@pytest.fixture
async def slack() -> AsyncIterator[FakeSlack]:
    async with FakeSlack() as workspace:
        workspace.usergroup("support", ["bob"])  # groups are looked up once a minute
        yield workspace


@pytest.mark.skipif(not CASES.exists(), reason="the shared reported cases are not beside the checkout")
async def test_reported_chats_are_read_as_people_see_them(slack: FakeSlack) -> None:
    bot = Bot(SlackDriver(slack, "socket"))
    await bot.harness.knows(REFUNDS, title="Refund policy")
    wrong = []
    async with bot.running():
        for case in reported():
            play, is_right = CHATS[case["id"]]
            await slack.reply_to(await play(slack))
            inquiry, thread = bot.reasoner.calls_of("understand")[-1].given[:2]
            if not is_right(inquiry.question, thread):
                wrong.append((case["id"], case["right"], inquiry.question, context(thread)))
    assert wrong == []
    assert slack.violations == []
