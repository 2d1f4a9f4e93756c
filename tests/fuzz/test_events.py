"""Events as neither platform sends them: none ends the bot or leads to an error, and the next question is answered."""

import pytest

from tests.e2e.slack_driver import Road
from tests.fakes.discord import SPECIFICATION
from tests.fakes.slack import specs_are_here
from tests.fuzz.office import errors_logged
from tests.fuzz.platforms import discord_bot, send_to_discord, send_to_slack, slack_bot

pytestmark = pytest.mark.e2e
FEW_OF_SLACK = 7  # of the faults of one event each so many-th is sent; research.fuzz sends all
FEW_OF_DISCORD = 23  # each may cost a connection


@pytest.mark.skipif(not specs_are_here(), reason="Slack's method descriptions are not beside this checkout")
@pytest.mark.parametrize("road", ["socket", "http"])
async def test_no_malformed_event_of_slack_ends_anything(road: Road) -> None:
    with errors_logged() as logged:
        async with slack_bot(road) as (slack, _):
            count, failed = await send_to_slack(slack, FEW_OF_SLACK)
    assert count > 200
    assert failed == []
    assert logged == []


@pytest.mark.skipif(not SPECIFICATION.exists(), reason="the shared discord-openapi.json is not beside the checkout")
async def test_no_malformed_dispatch_of_discord_ends_the_bot() -> None:
    with errors_logged() as logged:
        async with discord_bot() as discord:
            assert await send_to_discord(discord, FEW_OF_DISCORD) > 20
    assert logged == []
