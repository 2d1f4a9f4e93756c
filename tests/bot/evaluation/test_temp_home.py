"""A measurement's home is gone when it ends, and what a killed one left is swept by the next."""

import asyncio
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.evaluation.temp_index import sweep, temporary_home

# A measurement: its home with a Valkey in it. Says where, and lives until it is killed.
MEASUREMENT = """
import asyncio, sys
from pathlib import Path
from adapters.redis.embedded_server import EmbeddedValkey
from bot.evaluation.temp_index import temporary_home

async def main():
    async with temporary_home(Path(sys.argv[1])) as home:
        async with EmbeddedValkey(home / "valkey") as valkey:
            print(home, valkey.pid, flush=True)
            await asyncio.to_thread(sys.stdin.readline)

asyncio.run(main())
"""


@pytest.fixture
def around() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="homes-") as made:  # a short name: a socket's path is in it
        yield Path(made)


async def test_a_home_is_gone_with_the_measurement(around: Path) -> None:
    async with temporary_home(around) as home:
        assert home.parent == around
        (home / "left").write_text("here")
    assert not list(around.iterdir())


async def test_does_not_sweep_a_home_in_use_or_a_folder_of_another_user(around: Path) -> None:
    (around / "footnote-eval-other").mkdir()
    async with temporary_home(around) as home, temporary_home(around) as second:
        assert not await sweep(around)
        assert home.is_dir()
        assert second.is_dir()
    assert [path.name for path in around.iterdir()] == ["footnote-eval-other"]


def killed_measurement(around: Path) -> tuple[Path, int]:
    """Its home, and the server that it leaves."""
    killed = subprocess.Popen(
        [sys.executable, "-c", MEASUREMENT, str(around)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert killed.stdout is not None
    home, server = killed.stdout.readline().split()
    killed.kill()
    killed.communicate(timeout=30)
    return Path(home), int(server)


async def ended(pid: int) -> bool:
    for _ in range(500):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        await asyncio.sleep(0.01)  # ended, and not yet collected by the system
    return False


@pytest.mark.live
async def test_what_a_killed_measurement_left_is_swept_by_the_next_its_server_too(around: Path) -> None:
    left, server = await asyncio.to_thread(killed_measurement, around)
    os.kill(server, 0)  # it lives on, as it should for a bot that is started again
    async with temporary_home(around) as home:
        assert [path.name for path in around.iterdir()] == [home.name]
        assert not left.exists()
        assert await ended(server)
