"""What scenes on Discord begin with: a server that notes every violation, and a bot that knows one document."""

from collections.abc import AsyncIterator

import pytest

from tests.e2e.discord_office import Office
from tests.fakes.discord import FakeDiscord

REFUNDS = "Refunds are paid within 14 days."


@pytest.fixture
async def discord() -> AsyncIterator[FakeDiscord]:
    """The fake; what was asked of it against Discord's own description fails the scene."""
    async with FakeDiscord() as server:
        yield server
        assert server.violations == []


@pytest.fixture
async def closed(discord: FakeDiscord) -> Office:
    """A bot that is not connected yet."""
    office = Office(discord)
    await office.scene.knows(REFUNDS, title="Refund policy")
    return office


@pytest.fixture
async def office(closed: Office) -> AsyncIterator[Office]:
    """The bot at work."""
    async with closed.open():
        yield closed
