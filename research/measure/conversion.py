"""How much of a document survives its conversion, beside other libraries: words, headings, tables, order, places.

    python research/measure/conversion.py [--beside /path/to/python] [--write FOLDER]

The files are made by `conversion_files.py`, so that the truth is known. ``--beside`` names the interpreter of an
environment of its own in which markitdown, kreuzberg or xberg are installed; those that it finds read the same files in
the same run. Scores are means over the files of a format, each from 0 to 1:

words      F1 of the words, as a multiset, Markdown's own signs left out
headings   share of the headings that are marked as one; nothing for formats without
tables     share of the rows whose cells stand on one line, apart from each other and in their order
order      share of neighbouring pieces of text that follow each other
places     share of the places (page, slide, line, cell) that are named right: only Footnote names any
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import mean

sys.path.insert(0, str(Path(__file__).parents[2]))

from adapters.documents import reader
from core.model.document_content import Block
from core.model.errors import DocumentRejected
from research.measure.conversion_files import Case, cases

MEASURES = ("words", "headings", "tables", "order")
OURS = "footnote"
OTHERS = """
import json, sys
from pathlib import Path
def reads():
    try:
        from markitdown import MarkItDown
        one = MarkItDown()
        yield "markitdown", lambda path: one.convert(str(path)).text_content
    except ImportError:
        pass
    for name in ("kreuzberg", "xberg"):
        try:
            library = __import__(name)
        except ImportError:
            continue
        if name == "kreuzberg":
            config = library.ExtractionConfig(output_format="markdown")
            yield name, lambda path, l=library, c=config: l.extract_file_sync(str(path), config=c).content
        else:
            yield name, lambda path, l=library: read_xberg(l, path)
def read_xberg(library, path):
    import asyncio
    async def extract():
        made = library.ExtractInput(kind=library.ExtractInputKind.URI, uri=str(path))
        found = await library.extract(made, library.ExtractionConfig(output_format="markdown"))
        return found.results[0].content
    return asyncio.run(extract())
found = {}
for name, read in reads():
    found[name] = {}
    for path in sorted(Path(sys.argv[1]).iterdir()):
        try:
            found[name][path.name] = read(path) or ""
        except Exception as error:
            print(name, path.name, type(error).__name__, str(error)[:100], file=sys.stderr)
            found[name][path.name] = ""
json.dump(found, open(sys.argv[2], "w"))
"""


@dataclass(frozen=True, slots=True)
class Score:
    """One file through one reader; None where the format has nothing of the kind."""

    words: float
    headings: float | None
    tables: float | None
    order: float
    places: float | None = None


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--beside", help="a Python with other libraries installed")
    options.add_argument("--write", type=Path, help="where to leave the files")
    given = options.parse_args()
    made = cases()
    scores: dict[tuple[str, str], list[Score]] = defaultdict(list)
    texts = _others(made, given.beside, given.write) if given.beside or given.write else {}
    for case in made:
        ending = case.file.rpartition(".")[2]
        scores[OURS, ending].append(_ours(case))
        for name, read in texts.items():
            scores[name, ending].append(scored(case, read.get(case.file, "")))
    sys.stdout.write(table(scores, [OURS, *texts]) + "\n")


def _ours(case: Case) -> Score:
    try:
        blocks = reader.read(case.file, case.data).blocks
    except DocumentRejected as rejected:
        sys.stderr.write(f"{case.file} {rejected}\n")
        return scored(case, "")
    score = scored(case, "\n\n".join(block.text for block in blocks))
    right = [_is_right(case, blocks, text, place) for text, place in case.places.items()]
    return Score(score.words, score.headings, score.tables, score.order, mean(right) if right else None)


def _is_right(case: Case, blocks: Iterable[Block], text: str, place: int | str) -> bool:
    """Whether the first block that says this is where it stands."""
    for block in blocks:
        rows = [i for i, line in enumerate(block.text.split("\n")) if bare(text)[:90] in bare(line)]
        if not rows:
            continue
        if isinstance(place, str):
            return _holds(block.label or "", place)
        return place in (block.page, block.source_line(rows[0]))
    return False


def _holds(label: str, cell: str) -> bool:
    """Whether a range such as 'Data!A1:C9' holds a cell of its first column."""
    match = re.fullmatch(r".*!([A-Z]+)(\d+):[A-Z]+(\d+)", label)
    return match is not None and match[1] == cell[0] and int(match[2]) <= int(cell[1:]) <= int(match[3])


def _others(made: list[Case], python: str | None, folder: Path | None) -> dict[str, dict[str, str]]:
    with tempfile.TemporaryDirectory() as scratch:
        files = folder or Path(scratch, "files")
        files.mkdir(exist_ok=True)
        for case in made:
            (files / case.file).write_bytes(case.data)
        if not python:
            return {}
        out = Path(scratch, "texts.json")
        subprocess.run([python, "-W", "ignore", "-c", OTHERS, str(files), str(out)], check=True, timeout=900)
        found: dict[str, dict[str, str]] = json.loads(out.read_text())
        return found


def bare(text: str) -> str:
    """Text without Markdown's signs, white space as one blank."""
    return re.sub(r"\s+", " ", re.sub(r"[*_`#|\\>]|(?m:^\s*(?:[-+•]|\d+[.)]) )|:?-{3,}:?", " ", text)).strip()


def scored(case: Case, text: str) -> Score:
    """How much of the case a text holds."""
    plain = bare(text)
    return Score(_words(case, plain), _headings(case, text), _tables(case, text), _order(case, plain))


def _words(case: Case, plain: str) -> float:
    wanted = Counter(re.findall(r"\w+", " ".join(case.pieces).lower()))
    found = Counter(re.findall(r"\w+", plain.lower()))
    both = sum((wanted & found).values())
    return 2 * both / max(1, sum(wanted.values()) + sum(found.values()))


def _headings(case: Case, text: str) -> float | None:
    if not case.headings:
        return None
    marked = {bare(line) for line in text.split("\n") if re.match(r"#{1,6} ", line)}
    marked |= {bare(a) for a, b in pairwise(text.split("\n")) if re.fullmatch(r"=+|-+", b.strip()) and a.strip()}
    return mean(bare(heading) in marked for heading in case.headings)


def _tables(case: Case, text: str) -> float | None:
    rows = [row for table in case.tables for row in table]
    if not rows:
        return None
    lines = [[bare(cell) for cell in re.split(r"(?<!\\)\|", line)] for line in text.split("\n") if "|" in line]
    return mean(any(_in_order([bare(cell) for cell in row], line) for line in lines) for row in rows)


def _in_order(row: list[str], cells: list[str]) -> bool:
    at = iter(cells)
    return all(any(cell == text for cell in at) for text in row)


def _order(case: Case, plain: str) -> float:
    places = [plain.find(bare(piece)[:60]) for piece in case.pieces]
    pairs = list(pairwise(places))
    return mean(0 <= a < b for a, b in pairs) if pairs else 1.0


def table(scores: dict[tuple[str, str], list[Score]], readers: list[str]) -> str:
    """Return a Markdown table: a row for each format and reader."""
    endings = list(dict.fromkeys(ending for _, ending in scores))
    lines = ["| format | reader | " + " | ".join([*MEASURES, "mean", "places"]) + " |", "|" + " --- |" * 8]
    behind = []
    for ending in endings:
        means = {}
        for name in readers:
            cells = [_mean([getattr(score, measure) for score in scores[name, ending]]) for measure in MEASURES]
            means[name] = mean(value for value in cells if value is not None)
            places = _mean([score.places for score in scores[name, ending]])
            shown = " | ".join("" if value is None else f"{value:.3f}" for value in (*cells, means[name], places))
            lines.append(f"| {ending} | {name} | {shown} |")
        if means[readers[0]] < max(means.values()) - 0.0005:
            behind.append(ending)
    return "\n".join(lines) + f"\n\nbehind the best in: {', '.join(behind) or 'no format'}"


def _mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return mean(known) if known else None


if __name__ == "__main__":
    main()
