"""Starting on an index that is there, as ``serve`` does: a process of its own, timed from outside.

The process says when it is up, when index and models are ready, and when it has answered; then it searches and waits,
and its memory is read from outside as well, with that of the stores' servers, so that nothing of the benchmark counts.
"""

import asyncio
import json
import os
import re
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from core.model.errors import StoreUnavailable
from research.benchmark import startup_probe as started
from research.benchmark.corpus import QUERIES, SCOPE
from research.benchmark.rows import JUDGED, ReportRow
from research.benchmark.yardstick import Yardstick

if TYPE_CHECKING:
    from asyncio.subprocess import Process

READY_SECONDS = 900.0
UP_SECONDS = 8.0
MOST_IMPORTS = 1.25
MOST_BYTES = 1.5e9
ENDS_WITHIN = 30.0


async def opening_rows(home: Path, size: int, questions: Sequence[str], yardstick: Yardstick) -> list[ReportRow]:
    """Start a process on this home, and tell how long it took and what it holds."""
    began = time.monotonic()
    async with _process(home) as process:
        assert process.stdin is not None
        asked = {"questions": list(questions[:QUERIES]), "bases": sorted(SCOPE.bases)}
        process.stdin.write(json.dumps(asked).encode() + b"\n")
        said = {name: at - began async for name, at in _output_lines(process)}
        found = family(process.pid, home)
        memory, peak = sum(map(proportional, found)), sum(map(most_resident, found))
    return _rows(size, said, memory, peak, yardstick)


@asynccontextmanager
async def _process(home: Path) -> "AsyncIterator[Process]":
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", started.__name__, str(home)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=2**20,
    )
    try:
        yield process
    finally:
        if process.stdin is not None:
            process.stdin.close()  # it ends by itself then
        try:
            async with asyncio.timeout(ENDS_WITHIN):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()


async def _output_lines(process: "Process") -> AsyncIterator[tuple[str, float]]:
    assert process.stdout is not None
    async with asyncio.timeout(READY_SECONDS):
        while line := (await process.stdout.readline()).decode().strip():
            yield line, time.monotonic()
            if line == started.ANSWERED:
                return
    raise StoreUnavailable("The process that was to open the index ended early.", remedy="Its own words are above.")


def _rows(size: int, said: dict[str, float], memory: int, peak: int, yardstick: Yardstick) -> list[ReportRow]:
    at_size = size == JUDGED
    ready, up = said[started.READY], said[started.UP]
    told = "said that it is warming up" if started.WARMING in said else "was ready before it was asked"
    return [
        ReportRow(
            f"start to ready, {size:,}",
            f"{ready:.1f} s",
            f"up after {up:.1f} s, {told}",
            "under 8 s" if at_size else "up in 8 s",
            (ready if at_size else up) < UP_SECONDS if size >= JUDGED else None,
        ),
        ReportRow(
            f"start to ready, {size:,}, in imports",
            f"{ready / yardstick.imported:.2f}",
            f"one import of the encoder's library {yardstick.imported:.1f} s",
            f"at most {MOST_IMPORTS}",
            ready / yardstick.imported <= MOST_IMPORTS if at_size else None,
        ),
        ReportRow(
            f"memory at {size:,} passages",
            f"{memory / 1e9:.2f} GB" if memory else "not known here",
            f"bot, Milvus, Valkey; at most {peak / 1e9:.2f} GB while opening",
            "under 1.5 GB" if at_size else "",
            memory < MOST_BYTES if memory and at_size else None,
        ),
    ]


def family(pid: int, home: Path) -> list[int]:
    """Return a process and its descendants, and whatever else works in this home. Linux only; else only the process."""
    found = [pid]
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            for child in children.read_text().split():
                found += family(int(child), home)
    for command in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if str(home) in command.read_bytes().decode(errors="replace"):
                found.append(int(command.parent.name))
    return list(dict.fromkeys(other for other in found if other != os.getpid()))


def proportional(pid: int) -> int:
    """Return the bytes a process holds, with shared memory divided among its users; 0 if not known."""
    return _kilobytes(Path(f"/proc/{pid}/smaps_rollup"), "Pss")


def most_resident(pid: int) -> int:
    """Return the most bytes a process has held at a time. 0 where that is not known."""
    return _kilobytes(Path(f"/proc/{pid}/status"), "VmHWM")


def _kilobytes(path: Path, name: str) -> int:
    with suppress(OSError):
        found = re.search(rf"^{name}:\s+(\d+) kB$", path.read_text(), re.MULTILINE)
        return int(found[1]) * 1024 if found else 0
    return 0
