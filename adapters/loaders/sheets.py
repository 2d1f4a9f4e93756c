"""XLSX: every visible sheet as tables with their cell ranges; long tables in stretches that repeat the header.

A sheet may hold several tables apart from each other by empty rows or columns; each is found and read by itself.
Values are those that the program which saved the file had calculated.
"""

import re
import zipfile
from collections.abc import Iterator, Sequence
from datetime import date, datetime, time, timedelta
from io import BytesIO
from itertools import islice
from typing import Any

from adapters.loaders.package import open_package, refuse_declared_entities
from adapters.loaders.tables import stretches
from adapters.loaders.titles import choose_title, iso_date
from core.errors import DocumentRejected
from core.ingestion.parsed import Block, Parsed

MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
MAX_ROWS = 200_000
MAX_COLUMNS = 500
MAX_CELLS = 2_000_000
MAX_MERGED = 5_000
IN_MEMORY_BYTES = 8 * 1024 * 1024
"""Sheets with more XML than this are streamed, which knows no merged cells and no comments."""

Grid = list[list[str]]


def read(name: str, data: bytes) -> Parsed:
    """The sheets in order, hidden ones left out and named in the notes."""
    with open_package(data) as package:
        refuse_declared_entities(package)
        size = sum(m.file_size for m in package.infolist() if m.filename.startswith("xl/worksheets/"))
    book = _opened(data, streamed=size > IN_MEMORY_BYTES)
    visible = [sheet for sheet in book.worksheets if sheet.sheet_state == "visible"]
    hidden = [sheet.title for sheet in book.worksheets if sheet.sheet_state != "visible"]
    notes: list[str] = []
    try:
        blocks = [block for sheet in visible for block in _sheet(sheet, notes)]
    except (KeyError, ValueError, SyntaxError, zipfile.BadZipFile) as error:
        raise DocumentRejected(
            "A sheet of this workbook is damaged and cannot be read.", remedy="Save it again."
        ) from error
    if not blocks:
        raise DocumentRejected("This workbook has no filled cells.")
    if hidden:
        notes.append(f"hidden sheets left out: {', '.join(hidden[:10])}")
    facts = book.properties
    return Parsed(
        title=choose_title(name, facts.title),
        blocks=tuple(blocks),
        media_type=MEDIA_TYPE,
        modified=iso_date(facts.modified) if b"dcterms:modified" in _properties(data) else None,
        notes=tuple(notes),
    )


def _opened(data: bytes, *, streamed: bool) -> Any:
    import warnings

    import openpyxl
    from openpyxl.utils.exceptions import InvalidFileException

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # openpyxl's remarks about styles and extensions it leaves out
            return openpyxl.load_workbook(BytesIO(data), data_only=True, read_only=streamed, keep_links=False)
    except (InvalidFileException, KeyError, ValueError, TypeError, SyntaxError, AttributeError) as error:
        raise DocumentRejected("This workbook is damaged and cannot be opened.", remedy="Save it again.") from error


def _properties(data: bytes) -> bytes:
    with zipfile.ZipFile(BytesIO(data)) as package:
        return package.read("docProps/core.xml") if "docProps/core.xml" in package.namelist() else b""


def _sheet(sheet: Any, notes: list[str]) -> Iterator[Block]:
    """The tables of one sheet; the first block carries the sheet's name as its heading."""
    grid = _grid(sheet, notes)
    heading = f"## {sheet.title}\n\n"
    for top, left, rows in regions(grid):
        for text, first, last in _table(rows):
            width = max(map(len, rows[first : last + 1]), default=1)
            place = f"{_column(left)}{top + first + 1}:{_column(left + width - 1)}{top + last + 1}"
            yield Block(heading + text, label=f"{sheet.title}!{place}")
            heading = ""
    for place, comment in _comments(sheet):
        yield Block(f"{heading}Comment on {place}: {comment}", label=f"{sheet.title}!{place}")
        heading = ""


def _grid(sheet: Any, notes: list[str]) -> Grid:
    """The sheet's values as text, merged cells filled, empty rows kept so that places are right."""
    if hasattr(sheet, "reset_dimensions"):
        sheet.reset_dimensions()  # some programs state a wrong size
    grid: Grid = []
    cells = 0
    for row in sheet.iter_rows(max_col=min(sheet.max_column or MAX_COLUMNS, MAX_COLUMNS)):
        if len(grid) >= MAX_ROWS or cells > MAX_CELLS:
            notes.append(f"only the first {len(grid)} rows of sheet {sheet.title} were read")
            break
        texts = [cell_text(cell.value, cell.number_format) if cell.value is not None else "" for cell in row]
        while texts and not texts[-1]:
            texts.pop()
        cells += len(texts)
        grid.append(texts)
    for area in islice(getattr(getattr(sheet, "merged_cells", None), "ranges", ()), MAX_MERGED):
        _fill(grid, area.min_row - 1, area.max_row - 1, area.min_col - 1, area.max_col - 1)
    while grid and not grid[-1]:
        grid.pop()
    return grid


def _fill(grid: Grid, top: int, bottom: int, left: int, right: int) -> None:
    """A cell merged downwards is repeated in every row, one merged to the right over a group of headers too."""
    if top >= len(grid) or left >= len(grid[top]) or not grid[top][left]:
        return
    text = grid[top][left]
    whole_row = sum(bool(other) for other in grid[top]) == 1
    for i in range(top, min(bottom, len(grid) - 1) + 1):
        row = grid[i]
        row.extend([""] * (min(right, MAX_COLUMNS) + 1 - len(row)))
        for j in range(left, min(right, MAX_COLUMNS) + 1):
            if (i, j) != (top, left) and not row[j] and not whole_row:
                row[j] = text


def regions(grid: Grid) -> Iterator[tuple[int, int, Grid]]:
    """Tables apart from each other by an empty row or column: (first row, first column, cells), from 0."""
    for top, rows in _bands(grid):
        width = max(map(len, rows))
        used = [any(j < len(row) and row[j] for row in rows) for j in range(width)]
        start = 0
        while start < width:
            if not used[start]:
                start += 1
                continue
            end = start
            while end < width and used[end]:
                end += 1
            part = [row[start:end] for row in rows]
            above = next(i for i, row in enumerate(part) if any(row))
            below = next(i for i, row in enumerate(reversed(part)) if any(row))
            yield top + above, start, part[above : len(part) - below]
            start = end


def _bands(grid: Grid) -> Iterator[tuple[int, Grid]]:
    top = 0
    while top < len(grid):
        if not any(grid[top]):
            top += 1
            continue
        end = top
        while end < len(grid) and any(grid[end]):
            end += 1
        yield top, grid[top:end]
        top = end


def _table(rows: Grid) -> Iterator[tuple[str, int, int]]:
    """A region as (Markdown, first row, last row): titles above the header as text, then stretches of the table."""
    head = 0
    while head < len(rows) and sum(bool(text) for text in rows[head]) == 1 and head < 5 and _width(rows) > 1:
        yield next(text for text in rows[head] if text), head, head
        head += 1
    body = rows[head:]
    if not body:
        return
    if _width(body) == 1:
        yield (
            "\n".join(f"- {row[0]}" if len(body) > 1 else row[0] for row in body if row and row[0]),
            head,
            len(rows) - 1,
        )
        return
    header: Sequence[str] = body[0]
    start = 1
    if len(body) == 1 or not _is_header(body):
        header, start = [""] * len(body[0]), 0
    elif len(body) > 2 and _is_group_row(body):
        header, start = [" ".join(dict.fromkeys(filter(None, pair))) for pair in _paired(body[0], body[1])], 2
    for stretch in stretches(header, body[start:]):
        yield stretch.text, head + (0 if stretch.first == 0 else start + stretch.first), head + start + stretch.last


def _width(rows: Grid) -> int:
    return max((len(row) for row in rows), default=0)


def _is_header(rows: Grid) -> bool:
    """Whether the first row names the columns: words, no numbers, and not just a pair of label and value."""
    first = [text for text in rows[0] if text]
    numeric = sum(bool(re.fullmatch(r"[-+(]?[$€£]?[\d.,]+ ?%?\)?", text)) for text in first)
    return numeric == 0 or (
        numeric < len(first) and all(re.fullmatch(r"(19|20)\d\d", t) for t in first if t[0].isdigit())
    )


def _is_group_row(rows: Grid) -> bool:
    """Whether the first row only groups the second: merged texts repeat side by side above different names."""
    repeated = any(a and a == b for a, b in zip(rows[0], rows[0][1:], strict=False))
    return repeated and _is_header(rows[1:])


def _paired(first: Sequence[str], second: Sequence[str]) -> Iterator[tuple[str, str]]:
    for i in range(max(len(first), len(second))):
        yield first[i] if i < len(first) else "", second[i] if i < len(second) else ""


def cell_text(value: object, number_format: str = "General") -> str:
    """A cell's value as a person sees it, near enough: dates in ISO, percentages, currencies, no '5.0'."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, (int, float)):
        return _number(value, number_format or "General")
    if isinstance(value, datetime):
        return value.date().isoformat() if value.time() == time() else value.replace(microsecond=0).isoformat(" ")
    if isinstance(value, (date, time)):
        return value.isoformat()
    if isinstance(value, timedelta):
        return str(value)
    return str(value).strip()


def _number(value: float, number_format: str) -> str:
    shown = number_format.split(";")[0]
    if "%" in shown:
        return f"{value * 100:.{_places(shown)}f}%"
    currency = re.search(r'\[\$([^\]-]+)|"?([$€£¥])"?', shown)
    text = f"{value:.{_places(shown)}f}" if re.search(r"\.0+", shown) else _plain(value)
    if currency:
        sign = (currency[1] or currency[2]).strip()
        return f"{text} {sign}" if currency.start() > max(shown.rfind("0"), shown.rfind("#")) else f"{sign}{text}"
    return text


def _places(number_format: str) -> int:
    match = re.search(r"\.(0+)", number_format)
    return len(match[1]) if match else 0


def _plain(value: float) -> str:
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def _column(index: int) -> str:
    """0 -> A, 25 -> Z, 26 -> AA."""
    name = ""
    index += 1
    while index:
        index, rest = divmod(index - 1, 26)
        name = chr(65 + rest) + name
    return name


def _comments(sheet: Any) -> Iterator[tuple[str, str]]:
    if hasattr(sheet, "reset_dimensions"):  # streamed: comments are not read
        return
    for row in sheet.iter_rows():
        for cell in row:
            if cell.comment is not None and cell.comment.text.strip():
                yield cell.coordinate, re.sub(r"\s+", " ", cell.comment.text).strip()
