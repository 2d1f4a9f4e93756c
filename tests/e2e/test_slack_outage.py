"""Redis goes away under the living process, and comes back: nothing is acknowledged meanwhile, nothing is lost."""

import asyncio
import os
import signal
import subprocess
import sys
from asyncio.subprocess import DEVNULL, PIPE
from contextlib import suppress
from pathlib import Path

import pytest

from adapters.redis.embedded_server import EmbeddedValkey
from tests.e2e.test_slack_process import ROOT, SAMPLES, STARTING, answered, environment, free_port
from tests.fakes.slack import FakeSlack, specs_are_here

AWAY = 15.0  # seconds

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.live,
    pytest.mark.timeout(400),
    pytest.mark.skipif(not specs_are_here(), reason="Slack's method descriptions are not beside this checkout"),
]


async def test_redis_away_for_a_while_delays_an_answer_and_loses_none(tmp_path: Path) -> None:
    async with EmbeddedValkey(tmp_path / "redis") as redis:
        env = environment(tmp_path / "home") | {"REDIS_URL": redis.url}
        ingest = [sys.executable, "-m", "bot", "ingest", str(SAMPLES / "policies")]
        await asyncio.to_thread(subprocess.run, ingest, env=env, cwd=ROOT, check=True, stdout=DEVNULL, timeout=300)
        async with FakeSlack(retry_delays=(1.0, 2.0, 4.0, 8.0, 8.0, 8.0, 8.0)) as slack:
            env |= slack.environment() | {"HTTP_PORT": str(free_port())}
            command = [sys.executable, "-m", "bot", "serve"]
            bot = await asyncio.create_subprocess_exec(*command, env=env, cwd=ROOT, stdout=DEVNULL, stderr=PIPE)
            log = asyncio.ensure_future(bot.stderr.read() if bot.stderr else asyncio.sleep(0, b""))
            try:
                await slack.until(lambda: slack.sockets.opened, STARTING, what="a connection")
                first = await slack.person("alice").says("<@bot> who approves refunds?", "general")
                await answered(slack, first, "Show quotes")
                assert redis.pid is not None
                os.kill(redis.pid, signal.SIGKILL)
                meanwhile = await slack.person("alice").says("<@bot> how are refunds paid?", "general")
                await asyncio.sleep(AWAY)
                assert not any(one.acknowledged for one in slack.deliveries_of(meanwhile))
                assert slack.answers_to(meanwhile) == []
                await redis.start()
                await answered(slack, meanwhile, "Show quotes", within=90)
                assert len(slack.answers_to(meanwhile)) == 1
                assert bot.returncode is None
            finally:
                with suppress(ProcessLookupError):
                    bot.terminate()
                await bot.wait()
            said = (await log).decode()
            assert "Redis does not respond" in said
            assert "Traceback" not in said
            assert slack.violations == []
