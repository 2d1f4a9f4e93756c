"""What /readyz says of the real process while a store that was there at the start is not of use any more."""

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from adapters.redis.client import connect
from adapters.redis.embedded_server import EmbeddedValkey
from tests.e2e.test_slack_process import STARTING, end_server, free_port, serving
from tests.e2e.test_warming_up import filled, said  # noqa: F401 - a fixture
from tests.fakes.slack import FakeSlack, specs_are_here

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.live,
    pytest.mark.timeout(400),
    pytest.mark.skipif(not specs_are_here(), reason="Slack's method descriptions are not beside this checkout"),
]


async def until_said(port: int, wanted: Callable[[int, dict[str, str]], bool]) -> dict[str, str]:
    """What is waited for, once status and reasons are as wanted."""
    found: tuple[int, dict[str, Any]] = (0, {})
    try:
        async with asyncio.timeout(STARTING):
            while not wanted(found[0], found[1].get("waiting_for", {})):
                await asyncio.sleep(0.2)
                found = await said(port, "readyz")
    except TimeoutError:
        pytest.fail(f"/readyz says {found}")
    return dict(found[1]["waiting_for"])


async def test_a_redis_that_answers_and_takes_no_writes_is_not_ready(tmp_path: Path) -> None:
    home, port = tmp_path / "home", free_port()
    async with FakeSlack() as slack, serving(home, slack, port=port):
        await until_said(port, lambda status, _: status == 200)
        async with aclosing(connect(EmbeddedValkey(home / "valkey").url)) as redis:
            await redis.config_set("maxmemory", 1)
            assert list(await until_said(port, lambda status, _: status == 503)) == ["redis"]
            await redis.config_set("maxmemory", 0)
            await until_said(port, lambda status, _: status == 200)
    await end_server(home)


@pytest.mark.usefixtures("filled")
async def test_a_redis_that_came_back_empty_is_not_ready_now_and_after_a_restart(tmp_path: Path) -> None:
    home, port = tmp_path / "home", free_port()
    async with FakeSlack() as slack:
        async with serving(home, slack, port=port):
            await until_said(port, lambda status, _: status == 200)
            async with aclosing(connect(EmbeddedValkey(home / "valkey").url)) as redis:
                await redis.flushall()
            await until_said(port, lambda _, waiting: "has lost what it knew" in waiting.get("catalog", ""))
        async with serving(home, slack, port=port):
            await until_said(port, lambda _, waiting: "has lost what it knew" in waiting.get("catalog", ""))
