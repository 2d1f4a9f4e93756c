"""What scenes begin with: a hang-up that is heard, a server that notes every violation, a bot that knows a document."""

import signal
from collections.abc import AsyncIterator, Iterator

import pytest

from tests.e2e.discord_office import Office
from tests.fakes.discord import FakeDiscord

REFUNDS = "Refunds are paid within 14 days."


@pytest.fixture(autouse=True)
def hang_ups_reach_processes() -> Iterator[None]:
    """What is started here hears SIGHUP, though the suite may run under ``nohup``, whose deafness children inherit."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


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
