"""In Discord: mention it, follow up, reply, write directly, and read the answer with its sources."""

from collections.abc import AsyncIterator

import pytest

from tests.e2e.discord_office import Office
from tests.e2e.fake_discord import SPECIFICATION, FakeDiscord

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(
        not SPECIFICATION.exists(), reason="the shared discord-openapi.json is not beside the repository"
    ),
]

REFUNDS = "Refunds are paid within 14 days."


@pytest.fixture
async def discord() -> AsyncIterator[FakeDiscord]:
    async with FakeDiscord() as server:
        yield server
        assert server.violations == []


@pytest.fixture
async def office(discord: FakeDiscord) -> AsyncIterator[Office]:
    office = Office(discord)
    await office.scene.knows(REFUNDS, title="Refund policy")
    async with office.open():
        yield office


async def test_a_mention_is_answered_in_a_thread_named_after_the_question(discord: FakeDiscord, office: Office) -> None:
    asked = await discord.person("alice").says("<@bot> how long do refunds take?", channel="general")
    answer = await discord.reply_to(asked)
    assert asked.thread is not None
    assert answer.channel is asked.thread
    assert asked.thread.name == "how long do refunds take?"
    assert f"{REFUNDS} [1]" in answer.text
    assert "Refund policy" in answer.text
    assert answer.buttons() == ["Show quotes", "Helpful", "Not helpful"]
    assert discord.pings() == []
