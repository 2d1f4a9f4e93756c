"""Rows of cells as Markdown: pipe tables, or records if a table would be too wide to read.

A long table is split into parts that each repeat the header, so that a row found on its own still says what its cells
mean.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

STRETCH_CHARS = 1_200
"""About one passage of an embedding model with 256 tokens."""

WIDE_ROW_CHARS = 700
"""A row longer than this, with its header, is written as 'Name: value' lines."""

CELL_CHARS = 20_000
"""Longer cells are cut: they are data, not text."""

Row = Sequence[str]


@dataclass(frozen=True, slots=True)
class TablePart:
    """Part of a table with its header.

    Attributes:
        text: Markdown.
        first, last: 0-based indexes of the first and last body row it contains.
        rows: for each line of the text, the 0-based index of its body row, or -1 for the header.
    """

    text: str
    first: int
    last: int
    rows: tuple[int, ...] = ()


def cell(text: str) -> str:
    """Return a cell's text on one line, with pipes escaped."""
    return re.sub(r"\s+", " ", text[:CELL_CHARS]).strip().replace("\\|", "|").replace("|", "\\|")


def pipe_table(header: Row, rows: Sequence[Row]) -> str:
    """Return a Markdown pipe table; short rows are padded, empty columns are dropped."""
    width = max((len(row) for row in (header, *rows)), default=0)
    filled = [[cell(text) for text in row] + [""] * (width - len(row)) for row in (header, *rows)]
    kept = [i for i in range(width) if any(row[i] for row in filled)]
    if not kept:
        return ""
    lines = ["| " + " | ".join(row[i] for i in kept) + " |" for row in filled]
    lines.insert(1, "|" + " --- |" * len(kept))
    return "\n".join(lines)


def table(rows: Sequence[Row]) -> str:
    """Return a Markdown table with the first row as header; "" without rows, plain text for a single column or row."""
    kept = [row for row in rows if any(text.strip() for text in row)]
    if not kept:
        return ""
    if len(kept) == 1:
        return " · ".join(text for text in map(_flat, kept[0]) if text)
    if all(sum(bool(text.strip()) for text in row) <= 1 for row in kept):
        return "\n\n".join(_flat(next(text for text in row if text.strip())) for row in kept)
    return "\n\n".join(stretch.text for stretch in stretches(kept[0], kept[1:]))


def record(header: Row, row: Row) -> str:
    """Return one row as 'Name: value' lines without empty cells."""
    names = [_flat(name) for name in header] + [""] * (len(row) - len(header))
    pairs = zip(names, (_flat(text) for text in row), strict=False)
    return "\n".join(f"- {name}: {text}" if name else f"- {text}" for name, text in pairs if text)


def stretches(header: Row, rows: Sequence[Row], *, size: int = STRETCH_CHARS) -> Iterator[TablePart]:
    """Split a table into parts of about `size` characters, each with the header.

    Rows that would be too wide to read are written as records instead, one list per row.
    """
    head_chars = sum(len(_flat(text)) + 3 for text in header)
    average = sum(len(text) + 3 for row in rows for text in row) // max(len(rows), 1)
    wide = bool(rows) and head_chars + average > WIDE_ROW_CHARS
    first, chars = 0, 0
    for i, row in enumerate(rows):
        length = sum(min(len(text), CELL_CHARS) + 3 for text in row) + (head_chars if wide else 0)
        if i > first and chars + length > size:
            yield _stretch(header, rows, first, i - 1, wide=wide)
            first, chars = i, 0
        chars += length
    if rows:
        yield _stretch(header, rows, first, len(rows) - 1, wide=wide)
    elif any(text.strip() for text in header):
        yield TablePart(" · ".join(text for text in map(_flat, header) if text), 0, 0)


def _stretch(header: Row, rows: Sequence[Row], first: int, last: int, *, wide: bool) -> TablePart:
    body = rows[first : last + 1]
    if not wide:
        return TablePart(pipe_table(header, body), first, last, (-1, -1, *range(first, last + 1)))
    records = [record(header, row) for row in body]
    numbers = [first + i for i, text in enumerate(records) for _ in range(text.count("\n") + 2)]  # and a blank line
    return TablePart("\n\n".join(records), first, last, tuple(numbers[:-1]))


def _flat(text: str) -> str:
    return re.sub(r"\s+", " ", text[:CELL_CHARS]).strip()
