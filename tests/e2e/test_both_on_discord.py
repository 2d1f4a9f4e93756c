"""Every test that is played on all platforms, on Discord."""

from collections.abc import AsyncIterator

import pytest

from tests.e2e.discord_driver import DiscordDriver
from tests.e2e.driver import PlatformDriver
from tests.e2e.test_both_platforms import *  # noqa: F403 - the tests themselves
from tests.fakes.discord import SPECIFICATION, FakeDiscord

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(
        not SPECIFICATION.exists(), reason="the shared description of Discord is not beside this checkout"
    ),
]


@pytest.fixture  # type: ignore[no-redef]
async def driver() -> AsyncIterator[PlatformDriver]:
    async with FakeDiscord() as discord:
        yield DiscordDriver(discord)
