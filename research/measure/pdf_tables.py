"""Tables of PDFs by their cells: rows and neighbouring cells read right, on the ICDAR 2013 table competition's files.

    python -m research.measure.pdf_tables FOLDER [--part read|unread] [--texts FOLDER] [--worst]

FOLDER holds `NAME.pdf` with `NAME-str.xml` beside it, the cells as people wrote them down (in the test files of
camelot and tabula). Every third file is `unread`: never looked at while the reader was written. ``--texts`` judges the
Markdown of another program instead, `NAME.md` each.

rows    share of the rows of two cells or more that one row of a table holds, cell for cell, empty cells left out
pairs   F1 of the pairs of neighbouring cells in a row, pages without a table among them
"""

import argparse
import re
import sys
import time
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from adapters.documents import reader
from core.model.errors import DocumentRejected

Rows = list[list[str]]


@dataclass(frozen=True, slots=True)
class Score:
    """What was read of one file."""

    name: str
    rows_right: int
    rows: int
    pairs_right: int
    pairs_found: int
    pairs: int
    seconds: float


def main() -> None:
    """Print the scores over the files of a part."""
    options = argparse.ArgumentParser()
    options.add_argument("folder", type=Path)
    options.add_argument("--part", choices=("read", "unread"))
    options.add_argument("--texts", type=Path)
    options.add_argument("--worst", action="store_true")
    chosen = options.parse_args()
    paths = sorted(chosen.folder.rglob("*.pdf"), key=lambda path: path.name)
    wanted = [p for i, p in enumerate(paths) if chosen.part is None or (i % 3 == 2) == (chosen.part == "unread")]
    scores = [_score(path, chosen.texts) for path in wanted if _truth_of(path)]
    if chosen.worst:
        for score in sorted(scores, key=lambda score: score.pairs_right / max(score.pairs, 1)):
            sys.stdout.write(f"{score}\n")
    sys.stdout.write(f"{_summary(scores)}\n")


def _summary(scores: Sequence[Score]) -> str:
    rows = sum(s.rows_right for s in scores) / max(sum(s.rows for s in scores), 1)
    right, found = sum(s.pairs_right for s in scores), sum(s.pairs_found for s in scores)
    of_truth = right / max(sum(s.pairs for s in scores), 1)
    precision = right / max(found, 1)
    f1 = 2 * of_truth * precision / max(of_truth + precision, 1e-9)
    each = sum(s.rows_right / max(s.rows, 1) for s in scores) / max(len(scores), 1)
    seconds = sum(s.seconds for s in scores)
    return (
        f"{len(scores)} files: rows {rows:.3f} (mean of files {each:.3f}), pairs F1 {f1:.3f} "
        f"(recall {of_truth:.3f}, precision {precision:.3f}), {seconds:.1f} s"
    )


def _score(path: Path, texts: Path | None) -> Score:
    started = time.process_time()
    if texts is not None:
        other = texts / f"{path.stem}.md"
        markdown = other.read_text() if other.exists() else ""
    else:
        try:
            markdown = "\n\n".join(block.text for block in reader.read(path.name, path.read_bytes()).blocks)
        except DocumentRejected:
            markdown = ""
    took = time.process_time() - started
    truth, found = list(_truth(path)), list(_pipe_rows(markdown))
    held = Counter(tuple(row) for row in found)
    right = sum(held[tuple(row)] > 0 for row in truth)
    wanted, said = _pairs(truth), _pairs(found)
    return Score(path.name, right, len(truth), (wanted & said).total(), said.total(), wanted.total(), took)


def _truth_of(path: Path) -> list[Path]:
    return sorted(path.parent.glob(f"{path.stem}*-str.xml"))


def _truth(path: Path) -> Iterator[list[str]]:
    for file in _truth_of(path):
        for table in ET.parse(file).getroot().iter("table"):  # noqa: S314 - files of a public test set
            for region in table.iter("region"):
                rows: dict[int, list[tuple[int, str]]] = {}
                for cell in region.iter("cell"):
                    text = _plain("".join(cell.find("content").itertext()))  # type: ignore[union-attr]
                    if text:
                        rows.setdefault(int(cell.get("start-row", 0)), []).append((int(cell.get("start-col", 0)), text))
                for _, cells in sorted(rows.items()):
                    if len(cells) > 1:
                        yield [text for _, text in sorted(cells)]


def _pipe_rows(markdown: str) -> Iterator[list[str]]:
    seen: set[str] = set()  # a long table repeats its header
    lines = markdown.split("\n")
    for line, below in pairwise([*lines, ""]):
        if not line.startswith("|") or re.fullmatch(r"[|\s:-]+", line):
            continue
        if re.fullmatch(r"\|[|\s:-]+", below):
            if line in seen:
                continue
            seen.add(line)
        cells = [_plain(text) for text in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(filled := [text for text in cells if text]) > 1:
            yield filled


def _plain(text: str) -> str:
    text = text.replace("\\|", "|").replace("**", "").replace("<br>", " ")
    return re.sub(r"\s+", "", text).replace("­", "").lower()


def _pairs(rows: Iterable[Sequence[str]]) -> Counter[tuple[str, str]]:
    return Counter(pair for row in rows for pair in pairwise(row))


if __name__ == "__main__":
    main()
