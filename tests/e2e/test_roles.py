"""Messages received by one process and answered by another, and the lease of Discord's gateway."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from typing import Any

import pytest

from bot.stores import SystemClock
from core.service.leases import NamedLeaderLease, NeverLeader
from tests.e2e.discord_driver import DiscordDriver
from tests.e2e.driver import PlatformDriver, Running
from tests.e2e.inprocess import REFUNDS, Bot
from tests.e2e.slack_driver import SlackDriver
from tests.e2e.test_both_platforms import (  # the tests in which the two processes have something to do with each other
    bot,  # noqa: F401 - the fixture
    test_a_checkpoint_waits_for_its_asker_and_goes_on_after_a_restart,
    test_a_deleted_question_takes_its_answer_along,
    test_a_file_on_the_question_is_read_for_this_thread,
    test_a_follow_up_needs_no_mention_and_chatter_is_left_alone,
    test_a_mention_is_answered_in_its_thread_with_its_source,
    test_a_muted_thread_is_quiet_until_it_is_unmuted,
    test_a_private_answer_is_seen_by_the_asker_until_they_share_it,
    test_a_question_edited_while_it_waits_is_answered_as_edited,
    test_an_admin_may_choose_for_the_asker,
    test_earlier_messages_of_a_thread_are_context_by_name,
    test_evidence_is_bounded_by_who_can_read_the_channel,
    test_many_ask_at_once_and_every_text_is_whole,
    test_stop_offers_what_was_found,
)
from tests.fakes.discord import SPECIFICATION, FakeDiscord
from tests.fakes.memory.processes import InProcessNamedLeases
from tests.fakes.slack import FakeSlack, specs_are_here

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(
        not (SPECIFICATION.exists() and specs_are_here()), reason="the platforms' descriptions are not beside this"
    ),
]
__all__ = [
    "test_a_checkpoint_waits_for_its_asker_and_goes_on_after_a_restart",
    "test_a_deleted_question_takes_its_answer_along",
    "test_a_file_on_the_question_is_read_for_this_thread",
    "test_a_follow_up_needs_no_mention_and_chatter_is_left_alone",
    "test_a_mention_is_answered_in_its_thread_with_its_source",
    "test_a_muted_thread_is_quiet_until_it_is_unmuted",
    "test_a_private_answer_is_seen_by_the_asker_until_they_share_it",
    "test_a_question_edited_while_it_waits_is_answered_as_edited",
    "test_an_admin_may_choose_for_the_asker",
    "test_earlier_messages_of_a_thread_are_context_by_name",
    "test_evidence_is_bounded_by_who_can_read_the_channel",
    "test_many_ask_at_once_and_every_text_is_whole",
    "test_stop_offers_what_was_found",
]
WORKS_ONLY: Mapping[str, Mapping[str, Any]] = {"slack": {"listens": False}, "discord": {"gateway_lease": NeverLeader()}}


class Apart:
    """A worker's platform, over which everything is said, with the connection of another process beside it."""

    def __init__(self, hears: Running, works: Running) -> None:
        self._hears = hears
        self._works = works

    def __getattr__(self, name: str) -> Any:
        """What a worker needs of a platform."""
        return getattr(self._works, name)

    def readiness_problem(self) -> str:
        return self._hears.readiness_problem() or self._works.readiness_problem()

    async def run(self, stop: asyncio.Event) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(self._hears.run(stop))
            group.create_task(self._works.run(stop))


class RolesApart:
    """A driver whose adapter is two: one that listens, and one that works."""

    def __init__(self, driver: Any) -> None:
        self._driver = driver

    def __getattr__(self, name: str) -> Any:
        """The people, and what they see."""
        return getattr(self._driver, name)

    @asynccontextmanager
    async def connecting(self, *stores: Any, **more: Any) -> AsyncIterator[Any]:
        async with AsyncExitStack() as stack:
            hears = await stack.enter_async_context(self._driver.connecting(*stores, **more))
            works = await stack.enter_async_context(
                self._driver.connecting(*stores, **more, **WORKS_ONLY[self._driver.name])
            )
            yield Apart(hears, works)


@pytest.fixture(params=["slack", "discord"])
async def driver(request: pytest.FixtureRequest) -> AsyncIterator[PlatformDriver]:
    if request.param == "slack":
        async with FakeSlack() as slack:
            yield RolesApart(SlackDriver(slack, "socket"))
    else:
        async with FakeDiscord() as discord:
            discord.person("ada", admin=True)  # roles are looked up once in half a minute
            yield RolesApart(DiscordDriver(discord))


async def test_one_process_at_a_time_holds_the_gateway_and_another_takes_over() -> None:
    leases = InProcessNamedLeases(SystemClock())
    async with FakeDiscord() as discord:
        driver = DiscordDriver(discord)
        heard_by = {name: Bot(driver) for name in ("first", "second")}
        for name, bot in heard_by.items():
            bot.more["gateway_lease"] = NamedLeaderLease(leases, "gateway", name, lasting=timedelta(seconds=3))
            await bot.harness.knows(REFUNDS)
        async with AsyncExitStack() as first, AsyncExitStack() as second:
            await first.enter_async_context(heard_by["first"].running())
            await second.enter_async_context(heard_by["second"].running())
            await asyncio.sleep(4)  # longer than the lease: whoever has it renews it
            assert discord.identifies == 1
            await driver.reply(await driver.says("alice", "how long do refunds take?"), containing=REFUNDS)
            await first.aclose()
            await discord.until(lambda: discord.identifies == 2, 60, what="the other one at the gateway")
            await driver.reply(await driver.says("bob", "how long do refunds take?"), containing=REFUNDS)
        assert discord.violations == []
