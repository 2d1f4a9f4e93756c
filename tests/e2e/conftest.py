"""Fixtures: working signals, a server that records violations, and a bot that knows a document."""

import signal
from collections.abc import AsyncIterator, Iterator

import pytest

from tests.e2e.discord_office import Office
from tests.fakes.discord import FakeDiscord

REFUNDS = "Refunds are paid within 14 days."


@pytest.fixture(scope="session", autouse=True)
def signals_reach_processes() -> Iterator[None]:
    """Let child processes receive SIGHUP and SIGINT, even if the test suite ignores them.

    A suite under ``nohup`` ignores SIGHUP, one behind ``&`` in a script SIGINT.
    """
    before = {sent: signal.getsignal(sent) for sent in (signal.SIGHUP, signal.SIGINT)}
    for sent, handler in before.items():
        if handler is signal.SIG_IGN:
            signal.signal(sent, signal.default_int_handler if sent is signal.SIGINT else signal.SIG_DFL)
    yield
    for sent, handler in before.items():
        signal.signal(sent, handler)


@pytest.fixture
async def discord() -> AsyncIterator[FakeDiscord]:
    """The fake. A request that violates Discord's own description fails the test."""
    async with FakeDiscord() as server:
        yield server
        assert server.violations == []


@pytest.fixture
async def closed(discord: FakeDiscord) -> Office:
    """A bot that is not connected yet."""
    office = Office(discord)
    await office.harness.knows(REFUNDS, title="Refund policy")
    return office


@pytest.fixture
async def office(closed: Office) -> AsyncIterator[Office]:
    """The bot at work."""
    async with closed.open():
        yield closed
