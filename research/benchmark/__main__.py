"""Measures speed, each figure beside its baseline in the same run. A missed target is marked as missed.

python -m research.benchmark [--only search,encoding,ingest,load] [--passages 10000] [--answers 100] [--json]
"""

# ruff: noqa: T201 - a measurement is printed

import argparse
import asyncio
import json
import shutil
import sys
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import asdict
from pathlib import Path

from bot.settings import load_settings
from research.benchmark import PARTS, measure
from research.benchmark.rows import ReportRow


def main() -> None:
    """Read the options, measure and print."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--only", default=",".join(PARTS), help=f"which of {', '.join(PARTS)}")
    options.add_argument("--passages", type=int, default=10_000, help="how many passages to search in, at least 1,000")
    options.add_argument("--answers", type=int, default=100, help="how many answers under load")
    options.add_argument("--texts", type=Path, help="search in texts of data sets in BEIR's layout below this folder")
    options.add_argument("--keep", type=Path, help="build the index in this folder and keep it")
    options.add_argument("--json", action="store_true", help="print JSON")
    chosen = options.parse_args()
    parts = [name.strip() for name in chosen.only.split(",") if name.strip()]
    if not parts or not set(parts) <= set(PARTS):
        options.error(f"--only takes {', '.join(PARTS)}.")
    if chosen.passages < 1_000 or chosen.answers < 1:
        options.error("At least 1,000 passages and one answer are needed.")
    rows = asyncio.run(_measure(chosen, parts))
    if chosen.json:
        print(json.dumps([asdict(row) for row in rows], indent=2))


async def _measure(chosen: argparse.Namespace, parts: Sequence[str]) -> list[ReportRow]:
    rows = []
    measuring = measure(
        load_settings(), chosen.passages, parts=parts, texts=chosen.texts, answers=chosen.answers, keep=chosen.keep
    )
    async with aclosing(measuring):
        async for row in measuring:
            rows.append(row)
            if not chosen.json:
                print(_line(row), flush=True)
    return rows


def _line(row: ReportRow) -> str:
    met = {True: "reached", False: "MISSED", None: ""}[row.met]
    line = f"{row.what:42} {row.value:18} {row.against:56} {row.target:14} {met}"
    fits = not sys.stdout.isatty() or len(line) <= shutil.get_terminal_size().columns
    return line if fits else "\n  ".join(filter(None, (row.what, row.value, row.against, row.target, met)))


if __name__ == "__main__":
    main()
