"""Waiting for the bot, and finding what it said in reply. Nothing here polls; it wakes when the world changes."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from tests.fakes.discord.interactions import Interaction
from tests.fakes.discord.world import TEXT, VOICE, Channel, Member, Message

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.fakes.discord.server import FakeDiscord
    from tests.fakes.discord.world import Changes, World

GLANCE_SECONDS = 0.05


def still_working(message: Message) -> bool:
    """Whether a message is visibly not final: it is thinking, or it can be stopped."""
    return message.loading or any(c.label == "Stop" and not c.disabled for c in message.controls())


def answers_to(world: World, said: Message | Interaction) -> list[Message]:
    """The bot's messages in reply, oldest first, as the one who spoke sees them.

    To an interaction: what answered it, and what stands in a thread on that. To a message: what the bot wrote
    after it in its thread; else what refers to it, or followed it in the same place.
    """
    if isinstance(said, Interaction):
        threads = [message.thread for message in said.messages if message.thread]
        own = [message for message in said.messages if message.visible_to(said.person)]
        return own + [message for thread in threads for message in _written(world, thread, said.person, said.id)]
    if said.thread is not None:
        return _written(world, said.thread, said.author, said.id)
    found = _written(world, said.channel, said.author, said.id)
    referring = [message for message in found if message.reference is said]
    if said.channel.kind in (TEXT, VOICE) and referring:
        return referring
    return [message for message in found if message.reference in (None, said)]


def _written(world: World, channel: Channel, reader: Member, after: int) -> list[Message]:
    return [
        message
        for message in channel.posts()
        if message.author is world.bot and message.id > after and message.visible_to(reader) and message.kind != 21
    ]


async def reply_to(
    discord: FakeDiscord,
    said: Message | Interaction,
    *,
    timeout: float,
    settle: float,
    until: Callable[[Message], object] | None,
) -> Message:
    """See `FakeDiscord.reply_to`."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + timeout
    before: list[tuple[int, int]] = []
    unchanged_since = loop.time()
    looks = 0
    while True:
        replies = discord.answers_to(said)
        state = [(message.id, len(message.history)) for message in replies]
        now = loop.time()
        if state != before:  # what stood there before anybody looked has been standing since then
            latest = max((message.changed for message in replies), default=now)
            before, unchanged_since = state, now if looks else latest
        looks += 1
        unfinished = _unfinished(discord, replies, until)
        if unfinished is None and now >= unchanged_since + settle:
            return replies[-1]
        if now >= deadline:
            why = unfinished or "it is still changing"
            raise AssertionError(f"no final reply within {timeout:g} s: {why}\n{describe(discord, replies)}")
        wake = deadline if unfinished else unchanged_since + settle
        await discord.world.changes.wait(min(wake, deadline) - now + 0.001)


def _unfinished(discord: FakeDiscord, replies: list[Message], until: Callable[[Message], object] | None) -> str | None:
    """Why the last reply is not yet final, or nothing."""
    if not replies:
        return "there is no reply"
    if any(map(discord.working, replies)):
        return "the bot is still at work on it"
    if until is not None and not until(replies[-1]):
        return "the condition is not met"
    return None


def describe(discord: FakeDiscord, messages: list[Message]) -> str:
    """What there is to see, for a failing test's message."""
    lines = [f"  #{message.channel.name} {message.text[:300]!r} {message.buttons()}" for message in messages]
    recent = list(discord.requests)[-8:]
    calls = [f"{call.operation.method} {call.operation.template} -> {call.status}" for call in recent]
    return "\n".join(["replies:", *lines, f"last calls: {calls}", f"violations: {discord.violations}"])


async def until(
    changes: Changes,
    condition: Callable[[], object],
    *,
    timeout: float,
    what: str,
) -> None:
    """See `FakeDiscord.until`. A condition may be of the bot, which tells nobody here: so it is looked at often."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + timeout
    while not condition():
        if loop.time() >= deadline:
            raise AssertionError(f"{what} did not happen within {timeout:g} s")
        await changes.wait(min(GLANCE_SECONDS, deadline - loop.time()))


async def quiet(changes: Changes, seconds: float) -> None:
    """Returns when nothing has changed for so many seconds, at most half a minute later."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + 30.0
    while loop.time() < deadline:
        started = loop.time()
        await changes.wait(seconds)
        if loop.time() - started >= seconds:
            return
