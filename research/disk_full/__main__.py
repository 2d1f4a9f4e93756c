"""Fill the disk at 20 points of an ingest, and ask for every document that the command said is in.

``python -m research.disk_full [RUNS]`` as root on Linux: each run has a small tmpfs of its own as FOOTNOTE_HOME. The
ingest runs on the full disk, and so does one question. Then the disk grows, and a new process searches for a code that
stands in one document alone. A run fails when fewer documents are found than the command said are in, when it ended
with 0 although a file is not in, when a traceback is shown, or when the same command does not bring in the rest then.
"""
# ruff: noqa: S603, S607

import json
import os
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

FILES = 10
SMALLEST, LARGEST = 120, 1_400  # KiB of the disk
COMMAND = "import sys; sys.argv[0] = 'footnote'; from footnote import main; main()"
WORDS = ("harbour", "ferry", "crane", "winch", "engine", "ticket", "policy", "leave", "travel", "hotel", "budget")


def main() -> None:
    """Run and print a paragraph for each disk; 1 when a run failed."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    step = (LARGEST - SMALLEST) / max(1, runs - 1)
    with tempfile.TemporaryDirectory() as made:
        documents = _documents(Path(made))
        kept = [_run(documents, int(SMALLEST + step * number)) for number in range(runs)]
    sys.stdout.write(f"{sum(kept)} of {runs} runs kept what they said\n")
    raise SystemExit(not all(kept))


def _run(documents: Path, size: int) -> bool:
    with _disk(size) as home:
        ingest = _footnote(home, "ingest", str(documents), "--json")
        asked = _footnote(home, "ask", "What is the code of file 3?")
        subprocess.run(["mount", "-o", "remount,size=64m", str(home.parent)], check=True)
        looked = _python(home, "-m", "research.disk_full.lookup", str(FILES))
        again = _footnote(home, "ingest", str(documents))
    said, found = _said(ingest), sum(line.startswith("file") for line in looked.stdout.splitlines())
    shown = "".join(one.stdout + one.stderr for one in (ingest, asked, again))
    complete = ingest.returncode != 0 or said == FILES
    ok = said <= found and complete and "Traceback" not in shown and again.returncode == 0
    sys.stdout.write(
        f"{'ok  ' if ok else 'FAIL'} {size:5} KiB: exit {ingest.returncode}, said {said} of {FILES}, found {found}, "
        f"again: exit {again.returncode}\n"
        f"      ingest: {_line(ingest)}\n      ask ({asked.returncode}): {_line(asked)}\n"
    )
    if again.returncode:
        sys.stdout.write(f"      again: {_line(again)}\n")
    sys.stdout.flush()
    return ok


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
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=300)


@contextmanager
def _disk(size: int) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as place:
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}k", "none", place], check=True)
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
