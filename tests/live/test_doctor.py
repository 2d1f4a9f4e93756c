"""``footnote doctor`` as a process: what is slow is said instead of waited for, and nothing is left running."""

import asyncio
import os
import re
import subprocess
import sys
from contextlib import aclosing
from pathlib import Path

import pytest

from adapters.encoders.answer_reader import LowRankAnswerReader
from adapters.encoders.model_files import ModelFiles
from adapters.redis.client import connect
from adapters.redis.embedded_server import EmbeddedValkey
from bot.model_checks import answer_reader_check
from core.model.health import Health

ROOT = Path(__file__).parents[2]

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]


def doctor(home: Path, seconds: int, **more: str) -> str:
    kept = {name: value for name, value in os.environ.items() if name in {"PATH", "HOME", "TMPDIR", "LANG"}}
    done = subprocess.run(
        [sys.executable, "-m", "bot", "doctor", "--seconds", str(seconds)],
        env=kept
        | {"FOOTNOTE_HOME": str(home), "PYTHONPATH": str(ROOT), "COLUMNS": "200", "HF_HUB_OFFLINE": "1"}
        | more,
        cwd=home,
        capture_output=True,
        text=True,
        check=False,  # within a second the stores may not be open either, which is a failure
        timeout=240,
    )
    assert done.stderr == ""
    return done.stdout


def left_running(home: Path) -> list[str]:
    """The command lines of processes that were started for this data directory, but for its store."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if f"FOOTNOTE_HOME={home}".encode() in (process / "environ").read_bytes().split(b"\0"):
                found.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except OSError:
            continue
    return [line for line in found if "valkey" not in line]


@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked for in /proc")
def test_models_that_take_longer_than_the_time_given_are_said_to_and_let_go(tmp_path: Path) -> None:
    out = doctor(tmp_path, seconds=1)
    assert "embedding model    it is still loading" in out
    assert "footnote doctor --seconds 60" in out
    assert left_running(tmp_path) == []


def test_every_model_is_told_of_when_it_had_the_time(tmp_path: Path) -> None:
    out = doctor(tmp_path, seconds=200)
    assert "384 dimensions" in out
    assert "embedded, 0 passages of 0 documents, all there" in out
    assert re.search(r"^\S* *answer reader +loaded$", out, re.MULTILINE)
    assert "reranker" in out


async def test_a_redis_that_evicts_is_a_failure(tmp_path: Path) -> None:
    async with EmbeddedValkey(tmp_path / "a server") as server, aclosing(connect(server.url)) as redis:
        await redis.config_set("maxmemory", "100mb")
        await redis.config_set("maxmemory-policy", "allkeys-lru")
        out = await asyncio.to_thread(doctor, tmp_path, 60, REDIS_URL=server.url)
    assert "maxmemory-policy allkeys-lru" in out
    assert "noeviction" in out


def test_reports_an_answer_reader_that_cannot_be_loaded_in_one_line(tmp_path: Path) -> None:
    check = asyncio.run(answer_reader_check(LowRankAnswerReader(ModelFiles("broken", tmp_path))))
    assert (check.name, check.health) == ("answer reader", Health.NOTE)
    assert check.detail.startswith("not available, answers do without:")
    assert "\n" not in check.detail
    assert "Install Footnote" in check.remedy
