"""/readyz of the real process while a store fails after the start."""

import asyncio
import os
import signal
import subprocess
import sys
from asyncio.subprocess import DEVNULL
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from adapters.redis.client import connect
from adapters.redis.embedded_server import EmbeddedValkey
from adapters.web.access.rules import hash_password
from tests.e2e.test_slack_process import ROOT, STARTING, end_server, environment, free_port, serving
from tests.e2e.test_warming_up import filled, said  # noqa: F401 - a fixture
from tests.fakes.slack import FakeSlack, specs_are_here

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.live,
    pytest.mark.timeout(400),
    pytest.mark.skipif(not specs_are_here(), reason="Slack's method descriptions are not beside this checkout"),
]


async def until_said(
    port: int, wanted: Callable[[int, dict[str, str]], bool], part: str = "waiting_for"
) -> dict[str, str]:
    """Wait for this status and cause; return the reasons in this part of the reply."""
    found: tuple[int, dict[str, Any]] = (0, {})
    try:
        async with asyncio.timeout(STARTING):
            while not wanted(found[0], found[1].get("waiting_for", {})):
                await asyncio.sleep(0.2)
                found = await said(port, "readyz")
    except TimeoutError:
        pytest.fail(f"/readyz says {found}")
    return dict(found[1].get(part, {}))


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
            await until_said(port, lambda _, waiting: "has lost data" in waiting.get("catalog", ""))
        async with serving(home, slack, port=port):
            await until_said(port, lambda _, waiting: "has lost data" in waiting.get("catalog", ""))


@asynccontextmanager
async def serving_without_slack(home: Path, port: int, **more: str) -> AsyncIterator[None]:
    """Run the bot, configured for a Slack that does not exist."""
    async with FakeSlack() as gone:
        env = environment(home) | gone.environment() | {"HTTP_PORT": str(port)} | more
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bot", "serve", env=env, cwd=ROOT, stdout=DEVNULL
    )
    try:
        async with asyncio.timeout(STARTING):
            while not await listens(port):
                await asyncio.sleep(0.1)
        yield
    finally:
        process.kill()
        await process.wait()


async def listens(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.close()
    return True


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A data directory on a disk of its own, of 400 MB."""
    home = tmp_path / "home"
    home.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=400m,mode=700", "tmpfs", str(home)]
    if subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("No file system can be mounted here.")
    yield home
    asyncio.run(end_server(home))
    subprocess.run(["umount", "--lazy", str(home)], check=True)


def milvus_of(home: Path) -> int:
    """The process of the embedded index."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes().decode(errors="replace")
        except OSError:  # it has ended
            continue
        if "milvus" in command.split("\0")[0] and str(home) in command:
            return int(process.name)
    pytest.fail("no process of the index")


async def test_without_slack_the_page_is_ready_until_the_index_stops_or_the_disk_is_full(small_disk: Path) -> None:
    port = free_port()
    async with serving_without_slack(small_disk, port, WEB_PASSWORD_HASH=hash_password("long and secret")):
        degraded = await until_said(port, lambda status, _: status == 200, "degraded")
        assert list(degraded) == ["slack"]
        index = milvus_of(small_disk)
        os.kill(index, signal.SIGSTOP)
        assert list(await until_said(port, lambda status, _: status == 503)) == ["index"]
        os.kill(index, signal.SIGCONT)
        await until_said(port, lambda status, _: status == 200)
        filler = small_disk / "filler"
        with suppress(OSError), filler.open("wb", buffering=0) as file:
            while file.write(bytes(2**16)):
                pass
        assert "is full" in (await until_said(port, lambda status, _: status == 503))["disk"]
        filler.unlink()
        await until_said(port, lambda status, _: status == 200)


async def test_without_slack_and_without_the_page_nobody_is_reached(tmp_path: Path) -> None:
    home, port = tmp_path / "home", free_port()
    async with serving_without_slack(home, port):
        waiting = await until_said(port, lambda status, _: status == 503)
        assert "slack" in waiting
    await end_server(home)
