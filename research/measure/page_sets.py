"""Brings the pages of a set of questions back from clones of the repositories that published them.

``pages.tsv`` names each page's blob in git and its place below ``documents``; beside the questions in a folder of its
own, the set is then one that ``learning_sets`` reads, or ``python -m research.evaluation`` where it is one to judge by.

    python -m research.measure.page_sets research/questions/pages/traefik CLONE.git OUT
"""

# ruff: noqa: T201 - what could not be brought back is printed

import argparse
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

PAGES = "pages.tsv"


def restore(folder: Path, clones: Sequence[Path], out: Path) -> list[str]:
    """Write the questions and their pages into ``out``; the places of those that none of the clones has."""
    out.mkdir(parents=True, exist_ok=True)
    for file in folder.iterdir():
        if file.name != PAGES:
            shutil.copy(file, out / file.name)
    missing: list[str] = []
    for line in (folder / PAGES).read_text(encoding="utf-8").splitlines():
        blob, place = line.split("\t")
        content = next((found for clone in clones if (found := _content(clone, blob)) is not None), None)
        if content is None:
            missing.append(place)
            continue
        page = out / "documents" / place
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_bytes(content)
    return missing


def _content(clone: Path, blob: str) -> bytes | None:
    found = subprocess.run(["git", "-C", str(clone), "cat-file", "blob", blob], capture_output=True, check=False)
    return None if found.returncode else found.stdout


def main() -> None:
    """Bring back, and say what could not be."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("clones", type=Path, nargs="+")
    arguments.add_argument("out", type=Path)
    chosen = arguments.parse_args()
    if not (chosen.folder / PAGES).is_file():
        raise SystemExit(f"{chosen.folder} has no {PAGES}: name a folder below research/questions/pages.")
    if missing := restore(chosen.folder, chosen.clones, chosen.out):
        print(*missing, sep="\n")
        clones = ", ".join(map(str, chosen.clones))
        raise SystemExit(f"These {len(missing)} pages are not in {clones}: is it what README.md names?")


if __name__ == "__main__":
    main()
