"""Two fixed pieces of work, done in the run whose figures stand beside them: what tells a slow machine from slow code.

A search is as memory lets it be, and a start as quickly as Python imports torch. So a search, an encoding and an ingest
are told in scans (numpy compares one query with 100,000 vectors of 384 numbers), and a start, and what an answer costs
the processor, in imports (a process that does nothing but import sentence_transformers). Figures of two machines
compare by these ratios, not by their milliseconds.
"""

import asyncio
import resource
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass

from research.benchmark.rows import ReportRow

SCANNED = 100_000  # vectors
DIMENSION = 384
SCANS = 15
IMPORTS = 2  # the first one may read from disk
_ENCODER_LIBRARY = "sentence_transformers"


@dataclass(frozen=True, slots=True)
class Yardstick:
    """Milliseconds of one scan; seconds of the clock and of the processor of one import."""

    scan: float
    imported: float
    import_processor: float

    @property
    def scan_note(self) -> str:
        """What stands beside a figure that is told in scans."""
        return f"one scan {self.scan:.1f} ms"

    def rows(self) -> list[ReportRow]:
        """Both, to be read beside everything else."""
        return [
            ReportRow(
                "one numpy scan of 100,000 vectors",
                f"{self.scan:.1f} ms",
                "searches, encodings and ingests are told in these",
                "",
                None,
            ),
            ReportRow(
                f"one import of {_ENCODER_LIBRARY}",
                f"{self.imported:.1f} s",
                f"{self.import_processor:.1f} s of processor time; a start and an answer are told in these",
                "",
                None,
            ),
        ]


async def take_yardstick() -> Yardstick:
    """Do both pieces of work now; seconds, nearly all of them the imports."""
    scan = await asyncio.to_thread(_scan)
    imported, processor = await asyncio.to_thread(_import)
    return Yardstick(scan, imported, processor)


def _scan() -> float:
    """Return the median in milliseconds."""
    import numpy as np

    draw = np.random.default_rng(7)
    vectors = draw.standard_normal((SCANNED, DIMENSION), dtype=np.float32)
    query = draw.standard_normal(DIMENSION, dtype=np.float32)
    took: list[float] = []
    for _ in range(SCANS):
        started = time.perf_counter()
        np.argpartition(-(vectors @ query), 10)
        took.append((time.perf_counter() - started) * 1000)
    return statistics.median(took)


def _import() -> tuple[float, float]:
    """Return the quickest one's seconds of the clock, and of the processor."""
    found: list[tuple[float, float]] = []
    for _ in range(IMPORTS):
        before, started = _children(), time.perf_counter()
        subprocess.run([sys.executable, "-c", f"import {_ENCODER_LIBRARY}"], check=True, stdin=subprocess.DEVNULL)
        found.append((time.perf_counter() - started, _children() - before))
    return min(found)


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
