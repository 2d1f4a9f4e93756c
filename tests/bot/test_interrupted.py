"""What Ctrl-C leaves behind in the terminal."""

import asyncio
import io
from pathlib import Path

import pytest
from rich.console import Console

from adapters.console.ingesting import ingest_files
from core.ingestion.ingestor import Change, Ingested, Material


class SlowAtTheSecond:
    """Takes in one file, and is still at the next."""

    def __init__(self) -> None:
        self.at_the_second = asyncio.Event()

    async def ensure_base(self, _name: str) -> None:
        """It is there."""

    async def ingest(self, material: Material, _base: str) -> Ingested:
        if material.name == "b.md":
            self.at_the_second.set()
            await asyncio.Event().wait()
        return Ingested(material.source, Change.ADDED, passages=1)


async def test_an_interrupted_ingest_says_what_is_in_and_how_to_go_on(tmp_path: Path) -> None:
    files = [(tmp_path / name, name) for name in ("a.md", "b.md", "c.md")]
    for path, _ in files:
        path.write_text("Words.")
    screen, ingestor = io.StringIO(), SlowAtTheSecond()
    work = asyncio.create_task(ingest_files(Console(file=screen, width=200), ingestor, files, "base"))  # type: ignore[arg-type]
    await ingestor.at_the_second.wait()
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    assert "1 added" in screen.getvalue()
    assert "2 files are left: the same command goes on with them." in screen.getvalue()
