"""``footnote serve`` with only the web page: the link in its log signs the operator in once."""

import asyncio
import re
import sys
from asyncio.subprocess import DEVNULL, PIPE
from pathlib import Path

import aiohttp
import pytest

from tests.e2e.test_slack_process import ROOT, STARTING, end_server, environment, free_port

pytestmark = [pytest.mark.e2e, pytest.mark.live, pytest.mark.timeout(400)]
LINK = re.compile(r"http://127\.0\.0\.1:\d+/sign-in/[\w-]+")


async def test_the_log_has_a_link_that_signs_in_once_and_the_command_makes_another(tmp_path: Path) -> None:
    home, port = tmp_path / "home", free_port()
    env = environment(home) | {"WEB_LINK": "true", "HTTP_PORT": str(port)}
    command = [sys.executable, "-m", "bot"]
    process = await asyncio.create_subprocess_exec(*command, "serve", env=env, cwd=ROOT, stdout=DEVNULL, stderr=PIPE)
    try:
        assert process.stderr is not None
        async with asyncio.timeout(STARTING):
            while not (found := LINK.search((await process.stderr.readline()).decode())):
                assert process.returncode is None
        assert await signs_in(found.group()) == [303, 403]
        other = await asyncio.create_subprocess_exec(*command, "web", "--link", env=env, cwd=ROOT, stdout=PIPE)
        printed, _ = await other.communicate()
        assert LINK.fullmatch(printed.decode().strip())
        assert await signs_in(printed.decode().strip()) == [303, 403]
    finally:
        process.kill()
        await process.wait()
        await end_server(home)


async def signs_in(link: str) -> list[int]:
    """Look at it, then press its button in two browsers; the statuses of these."""
    origin, statuses = {"Origin": link.partition("/sign-in")[0]}, []
    for _ in range(2):
        async with aiohttp.ClientSession() as web:
            async with web.get(link, allow_redirects=False) as looked:
                assert looked.status == 200
            async with web.post(link, headers=origin, allow_redirects=False) as response:
                statuses.append(response.status)
    return statuses
