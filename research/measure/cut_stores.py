# ruff: noqa: T201 - a script speaks to its caller
"""Stores cut short at every point: ``python -m research.measure.cut_stores [--only redis]``.

Each case copies a home with a history (samples, a grant, a removal, a person and a thread forgotten, a revocation),
cuts one file, and runs the real commands one after another: ``ask``, ``kb repair``, and ``doctor`` once the readers of
all bases are confirmed.
Counted as noticed is a loss that ``ask`` names before its answer, or refuses to answer over.
"""

import argparse
import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from adapters.redis.memory import RedisMemory
from bot.stores import open_catalog
from core.service.visibility import VisibleBases
from tests.cut_home import (
    ADAS,
    AOF,
    BOBS,
    EVERYBODY,
    INDEX,
    History,
    make_history,
    settings_of,
    truncate,
)
from tests.sample_home import fill

ROOT = Path(__file__).parents[2]
PARTS = (0, 1, 10, 50, 90, 99)
BLOB_PARTS = (0, 50, 99)
QUESTION = "who approves refunds?"


@dataclass(frozen=True)
class Case:
    """One cut: its store and place, how it is made, and what a person does before ``kb repair``."""

    store: str
    cut: str
    make: Callable[[Path], None]


@dataclass(frozen=True)
class Outcome:
    """What came of a case."""

    said: str  # the line in which ``ask`` names the loss; empty where it says nothing
    closed: bool  # whether nobody but admins could read after the repair
    came_back: int  # documents removed, threads and people forgotten that are there again
    documents: int  # that are there, of those that ought to be
    remedy: str  # what ``kb repair`` could not mend, in its words
    healthy: bool  # whether ``doctor`` finds nothing after readers were confirmed


def cases(history: History) -> list[Case]:
    """Every cut of every store."""

    def cut(file: Path, size: int) -> Callable[[Path], None]:
        return lambda home: truncate(home / file, size)

    def gone(file: Path) -> Callable[[Path], None]:
        return lambda home: (home / file).unlink()

    found = []
    for store, file in (("redis", AOF), ("index", INDEX)):
        size = (history.home / file).stat().st_size
        found += [Case(store, f"{part} %", cut(file, size * part // 100)) for part in PARTS]
        found.append(Case(store, "last record", cut(file, size - 3)))
    found += [Case("redis", step, cut(AOF, at)) for step, at in history.marks.items()]
    found.append(Case("redis", "all of it gone", lambda home: shutil.rmtree(home / "valkey")))
    for folder in ("originals", "ledger"):
        blob = max((history.home / folder).iterdir(), key=lambda path: path.stat().st_size)
        size, file = blob.stat().st_size, blob.relative_to(history.home)
        found += [Case(folder, f"{part} %", cut(file, size * part // 100)) for part in BLOB_PARTS]
        found.append(Case(folder, "one gone", gone(file)))
    found.append(Case("ledger", "all of it gone", lambda home: shutil.rmtree(home / "ledger")))
    return found


def play(history: History, case: Case, home: Path) -> Outcome:
    """Make the cut, and do what a person would."""
    history.copy(home)
    case.make(home)
    asked = _run(home, "ask", QUESTION)
    said = next((line for line in asked.splitlines() if "footnote kb repair" in line or "kb confirm" in line), "")
    if "Move it away" in said:
        (home / INDEX).rename(home / "damaged.db")
    repaired = _run(home, "kb", "repair")
    closed, came_back, documents = asyncio.run(_look_and_confirm(home, history))
    healthy = "✗" not in _run(home, "doctor", "--seconds", "120")
    remedy = next((line for line in repaired.splitlines() if "Add them again" in line), "")
    return Outcome(said, closed, came_back, documents, remedy, healthy)


async def _look_and_confirm(home: Path, history: History) -> tuple[bool, int, int]:
    async with open_catalog(settings_of(home)) as opened:
        bases = await opened.catalog.bases()
        documents = await opened.catalog.documents(frozenset(base.name for base in bases))
        there = {(one.id, one.version) for one in documents}
        memory = RedisMemory(opened.redis)
        turns = sum([len((await memory.recall(thread)).turns) for thread in (ADAS, BOBS)])
        closed = not await VisibleBases(opened.catalog).names(EVERYBODY)
        for base in bases:
            await opened.catalog.save_base(replace(base, closed=False))  # what ``kb confirm`` does
        return closed, len(there - history.documents) + turns, len(there & history.documents)


def _run(home: Path, *command: str) -> str:
    """Return what a command says on both streams."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(("REDIS_", "MILVUS_", "LLM_"))}
    env |= {"FOOTNOTE_HOME": str(home), "PYTHONPATH": str(ROOT), "COLUMNS": "400"}
    done = subprocess.run(
        [sys.executable, "-m", "bot", *command], env=env, capture_output=True, text=True, check=False, timeout=300
    )
    return done.stderr + done.stdout


def main() -> None:
    """Print one row a case."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", help="one store: redis, index, originals or ledger")
    only = parser.parse_args().only
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(fill(Path(folder) / "home"))
        history = asyncio.run(make_history(Path(folder) / "home"))
        print("| store | cut | `ask` says | closed | came back | documents | after repair and confirming |")
        print("|---|---|---|---|---|---|---|")
        for number, case in enumerate(one for one in cases(history) if only in (None, one.store)):
            home = Path(folder) / str(number)
            got = play(history, case, home)
            end = "healthy" if got.healthy else got.remedy or "not healthy"
            there = f"{got.documents} of {len(history.documents)}"
            closed = "yes" if got.closed else "no"
            row = (case.store, case.cut, got.said or "nothing", closed, str(got.came_back), there, end)
            print(f"| {' | '.join(row)} |", flush=True)
            shutil.rmtree(home)


if __name__ == "__main__":
    main()
