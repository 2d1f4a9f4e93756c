"""XLSX: every visible sheet as tables with their cell ranges; long tables in stretches that repeat the header.

A sheet may hold several tables apart from each other by empty rows or columns; each is found and read by itself.
Values are those that the program which saved the file had calculated.
"""

import re
import zipfile
from collections.abc import Iterator, Sequence
from datetime import date, datetime, time
from io import BytesIO
from itertools import islice
from typing import Any

from adapters.documents.tables import stretches
from adapters.documents.titles import choose_title, iso_date
from adapters.documents.zip_package import open_package, refuse_declared_entities
from core.model.errors import DocumentRejected
from core.model.parsed_document import Block, Parsed

MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
MAX_ROWS = 200_000
MAX_COLUMNS = 500
MAX_CELLS = 2_000_000
MAX_MERGED = 5_000
IN_MEMORY_BYTES = 8 * 1024 * 1024
"""Sheets with more XML than this are streamed, which knows no merged cells and no comments."""

_NUMBER = re.compile(r"[-+(]?[$€£]?[\d.,]+ ?%?[KMB]?\)?")
_YEAR = re.compile(r"(?:19|20)\d\d")

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
        for start, end in _spans([any(j < len(row) and row[j] for row in rows) for j in range(width)]):
            part = [row[start:end] for row in rows]
            above = next(i for i, row in enumerate(part) if any(row))
            below = next(i for i, row in enumerate(reversed(part)) if any(row))
            yield top + above, start, part[above : len(part) - below]


def _spans(used: list[bool]) -> list[tuple[int, int]]:
    """Runs of used columns; a lone column belongs to the table beside it."""
    runs: list[tuple[int, int]] = []
    for j, filled in enumerate(used):
        if filled and runs and runs[-1][1] == j:
            runs[-1] = (runs[-1][0], j + 1)
        elif filled:
            runs.append((j, j + 1))
    if len(runs) > 1 and any(end - start == 1 for start, end in runs):
        return [(runs[0][0], runs[-1][1])]
    return runs


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
    """A region as (Markdown, first row, last row): lines above the header as text, then stretches of the table."""
    head = 0
    while head < min(len(rows), 5) and sum(map(bool, rows[head])) == 1 and _width(rows) > 1:
        head += 1
    above = "\n\n".join(next(filter(None, row)) for row in rows[:head])
    body = rows[head:]
    if not body:
        yield above, 0, head - 1
    elif _width(body) == 1 or (_filled_columns(body) == 2 and (len(body) == 1 or not _is_header(body))):
        pairs = [": ".join(filter(None, row)) for row in body if any(row)]
        text = "\n".join(f"- {pair}" for pair in pairs) if len(pairs) > 1 else pairs[0]
        yield "\n\n".join(filter(None, (above, text))), 0, len(rows) - 1
    else:
        for i, (text, first, last) in enumerate(_stretches(body)):
            shown = "\n\n".join(filter(None, (above, text))) if i == 0 else text
            yield shown, 0 if i == 0 else head + first, head + last


def _stretches(body: Grid) -> Iterator[tuple[str, int, int]]:
    """A table with its header, which may take two rows or be missing."""
    header: Sequence[str] = body[0]
    start = 1
    if len(body) == 1 or not _is_header(body):
        header, start = [""] * len(body[0]), 0
    elif len(body) > 2 and _is_group_row(body):
        header, start = [" ".join(dict.fromkeys(filter(None, pair))) for pair in _paired(body[0], body[1])], 2
    for stretch in stretches(header, body[start:]):
        yield stretch.text, start + stretch.first, start + stretch.last


def _filled_columns(rows: Grid) -> int:
    return sum(any(j < len(row) and row[j] for row in rows) for j in range(_width(rows)))


def _width(rows: Grid) -> int:
    return max((len(row) for row in rows), default=0)


def _is_header(rows: Grid) -> bool:
    """Whether the first row names the columns: words or years, and not a label beside a value."""
    first = [text for text in rows[0] if text]
    if len(first) == 2 and len(rows) > 1 and _NUMBER.fullmatch(rows[-1][-1] if rows[-1] else ""):
        return not _NUMBER.fullmatch(first[1]) or bool(_YEAR.fullmatch(first[1]))
    numbers = [text for text in first if _NUMBER.fullmatch(text)]
    return not numbers or (len(numbers) < len(first) and all(_YEAR.fullmatch(text) for text in numbers))


def _is_group_row(rows: Grid) -> bool:
    """Whether the first row only groups the second: merged texts repeat side by side above different names."""
    repeated = any(a and a == b for a, b in zip(rows[0], rows[0][1:], strict=False))
    return repeated and _is_header(rows[1:])


def _paired(first: Sequence[str], second: Sequence[str]) -> Iterator[tuple[str, str]]:
    for i in range(max(len(first), len(second))):
        yield first[i] if i < len(first) else "", second[i] if i < len(second) else ""


def cell_text(value: object, number_format: str | None = "General") -> str:
    """A cell's value as a person sees it, near enough: dates in ISO, percentages, currencies, no '5.0'."""
    match value:
        case None:
            return ""
        case bool():
            return "TRUE" if value else "FALSE"
        case int() | float():
            return _number(value, (number_format or "General").partition(";")[0])
        case datetime():
            whole_day = value.time() == time()
            return value.date().isoformat() if whole_day else value.replace(microsecond=0).isoformat(" ")
        case date() | time():
            return value.isoformat()
        case _:
            return str(value).strip()


def _number(value: float, shown: str) -> str:
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
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else f"{value:.12g}"


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
