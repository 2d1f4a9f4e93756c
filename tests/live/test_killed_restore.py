"""A restore that is killed while it writes: the same command goes on, and everything is as in the backup."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from bot.container import open_footnote
from bot.stores import open_catalog
from core.model.conversation import Audience
from core.service.visibility import VisibleBases
from tests.cut_home import CHANNEL, History, make_history, settings_of
from tests.sample_home import copy_sample_home

pytestmark = [pytest.mark.live, pytest.mark.timeout(400)]

ROOT = Path(__file__).parents[2]
# Restores into a home and dies in the stage of this name, at its so many-th step.
MORTAL = """
import asyncio, os, signal, sys
from dataclasses import replace
from pathlib import Path
from bot.container import open_footnote
from tests.cut_home import settings_of

home, folder, stage, left = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])

def step(of):
    global left
    left -= of == stage
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)

class Mortal:
    def __init__(self, wrapped, fatal, stage):
        self.wrapped, self.fatal, self.stage = wrapped, fatal, stage
    def __getattr__(self, name):
        if name == self.fatal:
            step(self.stage)
        return getattr(self.wrapped, name)

async def main():
    async with open_footnote(settings_of(home), models=False) as footnote:
        backup = footnote.backup
        stores = {name: Mortal(blobs, "keep_entry", name) for name, blobs in backup.blob_stores.items()}
        backup = replace(backup, blob_stores=stores, redis=Mortal(backup.redis, "pipeline", "memory"))
        await backup.restore(folder, lambda *_: step("passages"))

asyncio.run(main())
"""
STAGES = [("originals", 1), ("originals", 12), ("memory", 1), ("memory", 5), ("passages", 1), ("passages", 12)]


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> History:
    home = tmp_path_factory.mktemp("restored") / "home"
    copy_sample_home(tmp_path_factory, worker_id, home)
    return asyncio.run(make_history(home))


@pytest.fixture(scope="module")
def backup(history: History, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("backup") / "backup"
    run(history.home, "backup", str(folder))
    return folder


def run(home: Path, *words: str) -> str:
    env = {name: value for name, value in os.environ.items() if not name.startswith(("REDIS_", "MILVUS_", "LLM_"))}
    done = subprocess.run(
        [sys.executable, "-m", "bot", *words],
        env=env | {"FOOTNOTE_HOME": str(home)}, cwd=ROOT, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


async def test_a_restore_killed_while_it_writes_goes_on(history: History, backup: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    for stage, number in STAGES:  # of one restore, again and again
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", MORTAL, str(home), str(backup), stage, str(number)), cwd=ROOT
        )
        assert await asyncio.wait_for(process.wait(), 120) == -signal.SIGKILL, stage
    await asyncio.to_thread(run, home, "restore", str(backup))
    async with open_footnote(settings_of(home), models=False) as footnote:
        report = await footnote.knowledge_stack.deps.consistency.report()
        assert (report.incomplete, report.surplus, report.unknown) == ((), 0, 0)
        assert footnote.take_notices() == ()
    async with open_catalog(settings_of(home)) as opened:
        bases = await opened.catalog.bases()
        documents = await opened.catalog.documents(frozenset(base.name for base in bases))
        assert {(one.id, one.version) for one in documents} == history.documents
        assert {base.name: base.grants for base in bases} == history.grants
        assert not any(base.closed for base in bases)
        assert "board" in await VisibleBases(opened.catalog).names(Audience(frozenset({CHANNEL})))
