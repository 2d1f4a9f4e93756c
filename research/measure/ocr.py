"""How well and how fast scanned pages are read: resolution, noise and skew over pages of known words.

    python research/measure/ocr.py [--pages 3]

A page holds 40 lines of 11 point type. Words are compared as a multiset: F1. Pages go through the sandbox as they do in
an ingest, one process of two threads; its memory is what the system counted at most.
"""

import argparse
import asyncio
import resource
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from adapters.documents.parser import OCR_LIMITS
from adapters.documents.sandbox.pool import MB, Sandbox
from core.model.document_content import PicturePage
from core.model.errors import DocumentRejected
from tests.adapters.documents.ocr_pages import WORDS, page_pdf, picture, scanned

LINES = tuple(f"{i}. {WORDS[i % len(WORDS)]}" for i in range(36))
CONDITIONS = [
    *((dpi, 0.0, 0.0) for dpi in (96, 150, 200, 300)),
    *((150, skew, 0.0) for skew in (1.0, 3.0, 7.0)),
    *((150, 0.0, noise) for noise in (20.0, 40.0, 80.0)),
    *((dpi, 2.0, 30.0) for dpi in (96, 150, 300)),
]


def f1(said: str, read: str) -> float:
    """Of the words, as a multiset."""
    wanted, found = Counter(said.split()), Counter(read.split())
    return 2 * sum((wanted & found).values()) / max(1, sum(wanted.values()) + sum(found.values()))


async def measure(pages: int) -> None:
    """Print a table: a row for each condition."""
    print("| dpi | skew (degrees) | noise (grey levels) | F1 | stated | seconds a page |\n" + "|" + " --- |" * 6)  # noqa: T201
    said = " ".join(LINES)
    async with Sandbox(workers=1, limits=OCR_LIMITS, task="recognize") as sandbox:
        await sandbox.read_page("warm.pdf", scanned(picture(page_pdf(WORDS))), PicturePage(1))
        for dpi, skew, noise in CONDITIONS:
            data = scanned(*[picture(page_pdf(LINES), dpi=dpi, skew=skew, noise=noise)] * pages)
            scores, stated, began = [], "", time.monotonic()
            for page in range(1, pages + 1):
                try:
                    read = await sandbox.read_page("scan.pdf", data, PicturePage(page))
                    scores.append(f1(said, read.blocks[0].text))
                    stated = read.notes[0].rpartition(", ")[2]
                except DocumentRejected as rejected:
                    scores.append(0.0)
                    stated = str(rejected)
            seconds = (time.monotonic() - began) / pages
            print(f"| {dpi} | {skew:g} | {noise:g} | {sum(scores) / pages:.3f} | {stated} | {seconds:.1f} |")  # noqa: T201
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
    print(f"\nmemory of the process at most: {most} MB of {OCR_LIMITS.memory // MB} MB allowed")  # noqa: T201


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--pages", type=int, default=2)
    asyncio.run(measure(options.parse_args().pages))
