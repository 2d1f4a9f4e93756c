"""Every kind of Discord's documented errors, for every route that one question takes, ends in one visible outcome."""

from collections.abc import AsyncIterator

import pytest

from tests.e2e.discord_errors import ANSWER, CALLBACK, ROUTES, Route, Theatre, table, theatre
from tests.fakes.discord import SPECIFICATION
from tests.fakes.discord.error_codes import SHORT

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(not SPECIFICATION.exists(), reason="the shared discord-openapi.json is not beside the checkout"),
]

SLOW = (ANSWER, CALLBACK)  # where the library itself tries again for 25 seconds after a server error


@pytest.fixture
async def stage(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Theatre]:
    async with theatre(monkeypatch) as opened:
        yield opened


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
async def test_whatever_a_call_is_answered_with_the_question_has_one_outcome(stage: Theatre, route: Route) -> None:
    troubles = [one for one in SHORT if one.status < 500] if route.template in SLOW else SHORT
    played = await stage.play(route, troubles)
    assert [one for one in played if not one.once] == [], table(played)
