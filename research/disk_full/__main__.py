"""Fill the disk at 20 points of an ingest, and ask for every document that the command said is in.

``python -m research.disk_full [RUNS]`` as root on Linux: each run has a tmpfs of its own as FOOTNOTE_HOME. In every
other run the disk is small. In the others "another program" fills a larger disk to its last byte during the ingest,
the reserve included. The ingest runs on the full disk, and so does one question. Then the disk gets room, and a new
process searches for a code that only one document holds. A run fails when fewer documents are found than the command
said are in, when it ended with 0 although a file is not in, when a traceback is shown, when neither the command nor the
question says to make room, or when the same command does not bring in the rest then.
"""
# ruff: noqa: S603, S607

import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path

from adapters.milvus.embedded_server import RESERVE

FILES = 10
SMALLEST, LARGEST = 120, 800  # KiB of the disk that are used when it is full, or when the reserve begins
ROOMY, FILLER = "64m", "filler"
COMMAND = "import sys; sys.argv[0] = 'footnote'; from footnote import main; main()"
WORDS = ("harbour", "ferry", "crane", "winch", "engine", "ticket", "policy", "leave", "travel", "hotel", "budget")


def main() -> None:
    """Run and print a paragraph for each disk; 1 when a run failed."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    step = (LARGEST - SMALLEST) / max(1, runs - 1)
    with tempfile.TemporaryDirectory() as made:
        documents = _documents(Path(made))
        kept = [_run(documents, int(SMALLEST + step * number), taken=number % 2 == 1) for number in range(runs)]
    sys.stdout.write(f"{sum(kept)} of {runs} runs kept what they said\n")
    raise SystemExit(not all(kept))


def _run(documents: Path, used: int, *, taken: bool) -> bool:
    with _disk(ROOMY if taken else f"{used + RESERVE // 1024}k") as home:
        with _another_program(home.parent, used * 1024) if taken else nullcontext():
            ingest = _footnote(home, "ingest", str(documents), "--json")
        asked = _footnote(home, "ask", "What is the code of file 3?")
        (home.parent / FILLER).unlink(missing_ok=True)
        subprocess.run(["mount", "-o", f"remount,size={ROOMY}", str(home.parent)], check=True)
        looked = _python(home, "-m", "research.disk_full.lookup", str(FILES))
        again = _footnote(home, "ingest", str(documents))
    said, found = _said(ingest), sum(line.startswith("file") for line in looked.stdout.splitlines())
    shown = "".join(one.stdout + one.stderr for one in (ingest, asked, again))
    complete = said == FILES if ingest.returncode == 0 else "ake room" in ingest.stdout + ingest.stderr
    remedy = ingest.returncode == 0 or "ake room" in asked.stdout + asked.stderr
    ok = said <= found and complete and remedy and "Traceback" not in shown and again.returncode == 0
    sys.stdout.write(
        f"{'ok  ' if ok else 'FAIL'} {'taken at' if taken else 'room for'} {used:5} KiB: exit {ingest.returncode}, "
        f"said {said} of {FILES}, found {found}, again: exit {again.returncode}\n"
        f"      ingest: {_line(ingest)}\n      ask ({asked.returncode}): {_line(asked)}\n"
    )
    if again.returncode:
        sys.stdout.write(f"      again: {_line(again)}\n")
    sys.stdout.flush()
    return ok


@contextmanager
def _another_program(place: Path, used: int) -> Iterator[None]:
    """Fill the disk once so many bytes of it are used."""
    over = threading.Event()

    def fill() -> None:
        while shutil.disk_usage(place).used < used and not over.wait(0.002):
            pass
        with suppress(OSError), (place / FILLER).open("wb", buffering=0) as file:
            while file.write(bytes(4096)):
                pass

    filling = threading.Thread(target=fill)
    filling.start()
    try:
        yield
    finally:
        over.set()
        filling.join()


def _said(ingest: "subprocess.CompletedProcess[str]") -> int:
    """How many files the command said are in: its report's count, or the one in the line with which it failed."""
    try:
        return int(json.loads(ingest.stdout)["added"])
    except (ValueError, KeyError):
        failed = re.search(r"(\d+) of \d+ files are in", ingest.stdout + ingest.stderr)
        return int(failed[1]) if failed else 0


def _line(ended: "subprocess.CompletedProcess[str]") -> str:
    return " ".join((ended.stderr.strip() or ended.stdout).split())[:400]


def _footnote(home: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    return _python(home, "-c", COMMAND, *words)


def _python(home: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, "FOOTNOTE_HOME": str(home), "NO_COLOR": "1", "PYTHONPATH": str(Path.cwd())}
    command = [sys.executable, *words]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=900)


@contextmanager
def _disk(size: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as place:
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", place], check=True)
        try:
            yield Path(place) / "home"
        finally:
            subprocess.run(["umount", "-l", place], check=True)


def _documents(folder: Path) -> Path:
    dice = random.Random(1)  # noqa: S311 - texts, not secrets
    for number in range(FILES):
        parts = [
            f"## Part {part}\n\n{' '.join(dice.choices(WORDS, k=90))} The code is ZQ{number:03}X{part}."
            for part in range(8)
        ]
        (folder / f"file{number:02}.md").write_text("\n\n".join([f"# File {number}", *parts]), "utf-8")
    return folder


if __name__ == "__main__":
    main()
