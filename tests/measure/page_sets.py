"""Brings the pages of a set of questions back from a clone of the repository that published them.

``pages.tsv`` names each page's blob in git and its place below ``documents``; beside the questions in a folder of its
own, the set is then one that ``learning_sets`` reads, or ``footnote eval`` where it is one to judge by.

    python -m tests.measure.page_sets tests/questions/pages/traefik CLONE.git OUT
"""

# ruff: noqa: T201 - what could not be brought back is printed

import argparse
import shutil
import subprocess
from pathlib import Path

PAGES = "pages.tsv"


def restore(folder: Path, clone: Path, out: Path) -> list[str]:
    """Write the questions and their pages into ``out``; the places of those that the clone does not have."""
    out.mkdir(parents=True, exist_ok=True)
    for file in folder.iterdir():
        if file.name != PAGES:
            shutil.copy(file, out / file.name)
    missing: list[str] = []
    for line in (folder / PAGES).read_text(encoding="utf-8").splitlines():
        blob, place = line.split("\t")
        found = subprocess.run(["git", "-C", str(clone), "cat-file", "blob", blob], capture_output=True, check=False)
        if found.returncode:
            missing.append(place)
            continue
        page = out / "documents" / place
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_bytes(found.stdout)
    return missing


def main() -> None:
    """Bring back, and say what could not be."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("folder", "clone", "out"):
        arguments.add_argument(name, type=Path)
    chosen = arguments.parse_args()
    if missing := restore(chosen.folder, chosen.clone, chosen.out):
        print(*missing, sep="\n")
        raise SystemExit(f"These {len(missing)} pages are not in {chosen.clone}: is it what README.md names?")


if __name__ == "__main__":
    main()
