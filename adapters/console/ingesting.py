"""Ingest seen from the terminal: a progress bar, then what was added, updated, unchanged and failed."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.text import Text

from core.ingestion.ingestor import Change, Ingested, Ingestor, Material


async def ingest_files(
    console: Console, ingestor: Ingestor, files: Sequence[tuple[Path, str]], base: str, *, quiet: bool = False
) -> list[Ingested]:
    """Bring files in one after the other: (path, source name) each. A file that cannot be read is one failure.

    Stopped in the middle (Ctrl-C), it says what is in and how to go on.
    """
    await ingestor.ensure_base(base)
    results: list[Ingested] = []
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True, disable=quiet or not console.is_terminal) as progress:
        task = progress.add_task("Reading", total=len(files))
        try:
            for path, source in files:
                progress.update(task, description=f"Reading {path.name[:40]:<40}")
                results.append(await _ingest(ingestor, path, source, base))
                progress.advance(task)
        except asyncio.CancelledError:
            if not quiet:
                report(console, results)
                console.print(f"{len(files) - len(results)} files are left: the same command goes on with them.")
            raise
    return results


async def _ingest(ingestor: Ingestor, path: Path, source: str, base: str) -> Ingested:
    try:
        data = await asyncio.to_thread(path.read_bytes)
    except OSError as error:
        return Ingested(source, Change.FAILED, reason=f"It cannot be read: {error.strerror or error}.")
    return await ingestor.ingest(Material(source=source, name=path.name, data=data, added_by="terminal"), base)


def report(console: Console, results: Sequence[Ingested]) -> None:
    """The totals, and each failure with its reason."""
    counts = Counter(result.change for result in results)
    passages = sum(result.passages for result in results)
    console.print(
        Text.assemble(
            (f"{counts[Change.ADDED]} added", "green"),
            f", {counts[Change.UPDATED]} updated, {counts[Change.UNCHANGED]} unchanged, ",
            (f"{counts[Change.FAILED]} failed", "red" if counts[Change.FAILED] else ""),
            f"; {passages:,} passages.",
        )
    )
    for result in results:
        if result.change is Change.FAILED:
            console.print(Text.assemble(("  ✗ ", "red"), (result.source, "bold"), f"  {result.reason}"))
        for note in result.notes:
            console.print(Text.assemble(("  ! ", "yellow"), (result.source, "bold"), f"  {note}"))
