"""CSV and TSV: delimiter detection, a header in every part of the table, and source lines."""

import csv
import re
from collections import Counter
from collections.abc import Iterator
from io import StringIO
from itertools import pairwise

from adapters.documents.encodings import decode
from adapters.documents.format import Format
from adapters.documents.tables import stretches
from adapters.documents.titles import choose_title
from core.model.document_content import Block, ParsedDocument
from core.model.errors import DocumentRejected, NoText

MAX_ROWS = 300_000
FIELD_CHARS = 1_000_000
_DELIMITERS = ";\t|,"  # on a tie, not the comma, which may be part of numbers
_NUMBER = re.compile(r"[-+(]?(?:[$€£]|CHF|EUR) ?\d[\d.,'’ \xa0]*\)?|[-+(]?\d[\d.,'’ \xa0]*(?: ?(?:[%€$£]|CHF|EUR))?\)?")
_DECIMAL_COMMA = re.compile(r"\d,\d")


def read(name: str, data: bytes) -> ParsedDocument:
    """Return the rows as tables with source lines."""
    text = decode(data)
    stated = re.match(r"sep=(.)\n", text)
    delimiter = stated[1] if stated else sniff(text)
    if stated:
        text = "\n" + text.split("\n", 1)[1]
    rows, lines, notes = _rows(text, delimiter)
    if not rows:
        raise NoText("There is no text in this file.")
    width = max(map(len, rows))
    blocks = _single_column(rows, lines) if width == 1 else _table(rows, lines)
    return ParsedDocument(
        title=choose_title(name),
        blocks=tuple(blocks),
        media_type="text/tab-separated-values" if delimiter == "\t" else "text/csv",
        notes=tuple(notes),
    )


def sniff(text: str) -> str:
    """Return the delimiter that splits the first lines into equal numbers of fields, preferring more fields."""
    sample = "\n".join(text[:64_000].split("\n")[:60])
    best, best_score = ",", 0.0
    for delimiter in _DELIMITERS:
        try:
            counts = Counter(len(row) for row in csv.reader(StringIO(sample), delimiter=delimiter) if row)
        except csv.Error:
            continue
        if not counts:
            continue
        fields, times = max(counts.items(), key=lambda pair: (pair[1], pair[0]))
        if delimiter == "," and best_score and len(_DECIMAL_COMMA.findall(sample)) > 0.8 * sample.count(","):
            continue
        score = (times / sum(counts.values())) ** 2 * min(fields - 1, 8) ** 0.5 if fields > 1 else 0.0
        if score > best_score + 1e-9:
            best, best_score = delimiter, score
    return best


def _rows(text: str, delimiter: str) -> tuple[list[list[str]], list[int], list[str]]:
    """Return non-empty rows, the 1-based line at which each begins, and notes."""
    csv.field_size_limit(FIELD_CHARS)
    rows: list[list[str]] = []
    lines: list[int] = []
    notes: list[str] = []
    reader = csv.reader(StringIO(text), delimiter=delimiter, skipinitialspace=True)
    before = 0
    try:
        for row in reader:
            if any(field.strip() for field in row):
                rows.append([field.strip() for field in row])
                lines.append(before + 1)
            before = reader.line_num
            if len(rows) >= MAX_ROWS:
                notes.append(f"only the first {MAX_ROWS} rows were read")
                break
    except csv.Error as error:
        raise DocumentRejected(
            f"Line {reader.line_num} of this table has a field over {FIELD_CHARS:,} characters; "
            "a quotation mark may be open."
        ) from error
    return rows, lines, notes


def _table(rows: list[list[str]], lines: list[int]) -> Iterator[Block]:
    header = rows[0]
    named = not any(_NUMBER.fullmatch(field) for field in header) and len(rows) > 1
    body, at = (rows[1:], lines[1:]) if named else (rows, lines)
    for stretch in stretches(header if named else [""] * len(header), body):
        first = lines[0] if stretch.first == 0 else at[stretch.first]
        yield Block(stretch.text, first_line=first, lines=tuple(at[row] if row >= 0 else first for row in stretch.rows))


def _single_column(rows: list[list[str]], lines: list[int]) -> Iterator[Block]:
    """Yield a one-column table as lists of 40 entries, each introduced by the first entry."""
    entries = [row[0] for row in rows]
    for first, last in pairwise([*range(1, len(entries), 40), len(entries)]):
        items = "\n".join(f"- {' '.join(entry.split())}" for entry in entries[first:last])
        begins = lines[first] if first > 1 else lines[0]
        numbers = (begins, begins, *lines[first:last])
        yield Block(f"{entries[0]}:\n\n{items}", first_line=begins, lines=numbers)
    if len(entries) == 1:
        yield Block(entries[0], first_line=lines[0])


FORMATS = (
    Format(media_type="text/csv", read=read, label="CSV", suffixes=("csv",)),
    Format(media_type="text/tab-separated-values", read=read, suffixes=("tsv", "tab")),
)
