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
from research.evaluation.corpus import KeptVectors

BASE = "samples"


def copy_sample_home(factory: pytest.TempPathFactory, worker: str, to: Path) -> None:
    """A copy of it in a folder that is not there yet; ``worker`` is what pytest-xdist calls this process."""
    shutil.copytree(_shared(factory, worker) / "home", to)


def sample_vectors(factory: pytest.TempPathFactory, worker: str) -> Path:
    """The folder of ``KeptVectors`` with the vectors of the sample documents."""
    return _shared(factory, worker) / "vectors"


def _shared(factory: pytest.TempPathFactory, worker: str) -> Path:
    """The folder that all processes of a run share, filled by the first that asks for it."""
    around = factory.getbasetemp() if worker == "master" else factory.getbasetemp().parent
    filled = around / "samples"
    with (around / "samples.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # the others wait for the first
        if not filled.exists():
            unfinished = factory.mktemp("unfinished")
            asyncio.run(fill(unfinished / "home", unfinished / "vectors"))
            unfinished.rename(filled)
    return filled


async def fill(home: Path, vectors: Path | None = None) -> None:
    """Ingest the sample documents, and keep their vectors in a folder for tests that fill an index of their own."""
    settings = Settings(_env_file=None, footnote_home=home, redis_url=None, milvus_uri=None, llm_model=None)  # type: ignore[call-arg]
    files = [(path, str(Path(source).relative_to("documents"))) for path, source in files_in([SAMPLES / "documents"])]
    async with open_footnote(settings) as footnote:
        if vectors is not None:
            footnote.ingestor.encoder = KeptVectors(footnote.encoder, vectors)
        await ingest_files(Console(quiet=True), footnote.knowledge_stack.ingest_client(), files, BASE)
