"""A data directory with the sample documents in it: filled once, however many processes a run is shared among."""

import asyncio
import fcntl
import shutil
from pathlib import Path

import pytest
from rich.console import Console

from adapters.documents.folders import files_in
from adapters.terminal.ingest_view import ingest_files
from bot.container import open_footnote
from bot.demo import SAMPLES
from bot.settings import Settings

BASE = "samples"


def copy_sample_home(factory: pytest.TempPathFactory, worker: str, to: Path) -> None:
    """A copy of it in a folder that is not there yet; ``worker`` is what pytest-xdist calls this process."""
    shared = factory.getbasetemp() if worker == "master" else factory.getbasetemp().parent
    filled = shared / "sample-home"
    with (shared / "sample-home.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # the others wait for who came first
        if not filled.exists():
            unfinished = factory.mktemp("unfinished")
            asyncio.run(fill(unfinished))
            unfinished.rename(filled)
    shutil.copytree(filled, to)


async def fill(home: Path) -> None:
    """Bring the sample documents in."""
    settings = Settings(_env_file=None, footnote_home=home, redis_url=None, milvus_uri=None, llm_model=None)  # type: ignore[call-arg]
    files = [(path, str(Path(source).relative_to("documents"))) for path, source in files_in([SAMPLES / "documents"])]
    async with open_footnote(settings) as footnote:
        await ingest_files(Console(quiet=True), footnote.knowledge_stack.ingest_client(), files, BASE)
