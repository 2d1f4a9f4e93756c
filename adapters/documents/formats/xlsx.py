"""XLSX: every visible sheet as tables with their cell ranges; long tables in stretches that repeat the header.

A sheet may hold several tables apart from each other by empty rows or columns; each is found and read by itself.
Values are those that the program which saved the file had calculated.
"""

import re
import zipfile
from collections.abc import Iterator, Sequence
from datetime import date, datetime, time, timedelta
from io import BytesIO
from typing import Any

from adapters.documents.format import Format, Package
from adapters.documents.formats.xlsx_extras import SheetExtras, sheet_extras
from adapters.documents.number_format import shown_number
from adapters.documents.office_package import is_office_xml, open_transitional, without_part
from adapters.documents.tables import stretches
from adapters.documents.titles import choose_title, iso_date
from adapters.documents.zip_package import open_package
from core.model.errors import DocumentRejected, NoText
from core.model.parsed_document import Block, ParsedDocument

MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
MAX_ROWS = 200_000
MAX_COLUMNS = 500
MAX_CELLS = 2_000_000
MAX_MERGED_ROWS = 10_000
_NUMBER = re.compile(r"[-+(]{0,2}[$€£¥]? ?[\d.,]+ ?[%$€£¥]?[KMB]?\)?")
_YEAR = re.compile(r"(?:19|20)\d\d")

Grid = list[list[str]]
Rows = dict[int, list[str]]
"""The rows that hold a value by their number from 0. What a sheet states as its size may be a million empty rows."""


def read(name: str, data: bytes) -> ParsedDocument:
    """The sheets in order, hidden ones left out and named in the notes."""
    data = open_transitional(data)
    with open_package(data) as package:
        extras = sheet_extras(package)
    notes: list[str] = []
    book = _open(data, notes)
    visible = [sheet for sheet in book.worksheets if sheet.sheet_state == "visible"]
    hidden = [sheet.title for sheet in book.worksheets if sheet.sheet_state != "visible"]
    try:
        blocks = [block for sheet in visible for block in _sheet(sheet, extras.get(sheet.title, SheetExtras()), notes)]
    except (KeyError, ValueError, SyntaxError, zipfile.BadZipFile) as error:
        raise DocumentRejected(
            "A sheet of this workbook is damaged and cannot be read.", remedy="Save it again."
        ) from error
    if not blocks:
        raise NoText("This workbook has no filled cells.")
    if hidden:
        notes.append(f"hidden sheets left out: {', '.join(hidden[:10])}")
    facts = book.properties
    return ParsedDocument(
        title=choose_title(name, facts.title),
        blocks=tuple(blocks),
        media_type=MEDIA_TYPE,
        modified=iso_date(facts.modified) if b"dcterms:modified" in _properties(data) else None,
        notes=tuple(notes),
    )


def _open(data: bytes, notes: list[str]) -> Any:
    """The workbook; one whose styles openpyxl does not accept is read without them, which is noted."""
    from openpyxl.utils.exceptions import InvalidFileException

    refused = (InvalidFileException, KeyError, ValueError, TypeError, SyntaxError, AttributeError)
    try:
        return _load(data)
    except refused:
        pass
    try:
        book = _load(without_part(data, "xl/styles.xml"))
    except refused as error:
        raise DocumentRejected("This workbook is damaged and cannot be opened.", remedy="Save it again.") from error
    notes.append("the styles of this workbook are damaged: numbers are read as they are stored, dates among them")
    return book


def _load(data: bytes) -> Any:
    import warnings

    import openpyxl

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # openpyxl's remarks about styles and extensions it leaves out
        return openpyxl.load_workbook(BytesIO(data), data_only=True, read_only=True, keep_links=False)


def _properties(data: bytes) -> bytes:
    with zipfile.ZipFile(BytesIO(data)) as package:
        return package.read("docProps/core.xml") if "docProps/core.xml" in package.namelist() else b""


def _sheet(sheet: Any, extras: SheetExtras, notes: list[str]) -> Iterator[Block]:
    """The tables of one sheet; the first block carries the sheet's name as its heading."""
    rows_of_sheet = _rows(sheet, extras, notes)
    heading = f"## {sheet.title}\n\n"
    for top, left, rows in regions(rows_of_sheet):
        for text, first, last in _table(rows):
            width = max(map(len, rows[first : last + 1]), default=1)
            place = f"{_column(left)}{top + first + 1}:{_column(left + width - 1)}{top + last + 1}"
            yield Block(heading + text, label=f"{sheet.title}!{place}")
            heading = ""
    for place, comment in extras.comments:
        yield Block(f"{heading}Comment on {place}: {comment}", label=f"{sheet.title}!{place}")
        heading = ""


def _rows(sheet: Any, extras: SheetExtras, notes: list[str]) -> Rows:
    """The sheet's values as text with merged cells filled; the last row is the last one that holds a value."""
    sheet.reset_dimensions()  # the stated size is often wrong, in both directions
    found: Rows = {}
    cells = 0
    for number, row in enumerate(sheet.iter_rows()):
        texts = [cell_text(cell.value, _number_format(cell)) if cell.value is not None else "" for cell in row]
        while texts and not texts[-1]:
            texts.pop()
        if not texts:
            continue
        if len(found) >= MAX_ROWS or cells > MAX_CELLS:
            notes.append(f"only the first {number} rows of sheet {sheet.title} were read")
            break
        del texts[MAX_COLUMNS:]
        cells += len(texts)
        found[number] = texts
    for top, bottom, left, right in extras.merged:
        _fill(found, top, bottom, left, right)
    return found


def _number_format(cell: Any) -> str:
    """How the cell shows numbers; a cell may name a style that the workbook does not have."""
    try:
        return str(cell.number_format)
    except IndexError:
        return "General"


def _fill(rows: Rows, top: int, bottom: int, left: int, right: int) -> None:
    """A cell merged downwards is repeated in every row, one merged to the right over a group of headers too."""
    first = rows.get(top, [])
    if left >= len(first) or not first[left]:
        return
    text = first[left]
    whole_row = sum(bool(other) for other in first) == 1
    right = min(right, MAX_COLUMNS)
    for number in range(top, min(bottom, top + MAX_MERGED_ROWS) + 1):
        if (row := rows.get(number)) is None:
            continue
        row.extend([""] * (right + 1 - len(row)))
        for j in range(left, right + 1):
            if (number, j) != (top, left) and not row[j] and not whole_row:
                row[j] = text


def regions(found: Rows) -> Iterator[tuple[int, int, Grid]]:
    """Tables apart from each other by an empty row or column: (first row, first column, cells), from 0."""
    for top, rows in _bands(found):
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


def _bands(found: Rows) -> Iterator[tuple[int, Grid]]:
    """Rows that follow each other without an empty one between them: (number of the first, cells)."""
    top, band = 0, list[list[str]]()
    for number in sorted(found):
        if band and number != top + len(band):
            yield top, band
            band = []
        if not band:
            top = number
        band.append(found[number])
    if band:
        yield top, band


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
        header, start = [" ".join(dict.fromkeys(filter(None, pair))) for pair in _pair_cells(body[0], body[1])], 2
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


def _pair_cells(first: Sequence[str], second: Sequence[str]) -> Iterator[tuple[str, str]]:
    for i in range(max(len(first), len(second))):
        yield first[i] if i < len(first) else "", second[i] if i < len(second) else ""


def cell_text(value: object, number_format: str | None = "General") -> str:
    """A cell's value as a person sees it: dates in ISO, numbers in their format, identifiers whole."""
    match value:
        case None:
            return ""
        case bool():
            return "TRUE" if value else "FALSE"
        case int() | float():
            return shown_number(value, number_format)
        case date() | time() | timedelta():
            return _moment_text(value)
        case _:
            return str(value).strip()


def _moment_text(value: date | time | timedelta) -> str:
    """Dates in ISO without a midnight nobody wrote; durations in hours, minutes and seconds."""
    if isinstance(value, timedelta):
        seconds = round(value.total_seconds())
        return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    if isinstance(value, datetime):
        return value.date().isoformat() if value.time() == time() else value.replace(microsecond=0).isoformat(" ")
    return value.isoformat()


def _column(index: int) -> str:
    """0 -> A, 25 -> Z, 26 -> AA."""
    name = ""
    index += 1
    while index:
        index, rest = divmod(index - 1, 26)
        name = chr(65 + rest) + name
    return name


def _is_workbook(package: Package) -> bool:
    if not is_office_xml(package, "xl/"):
        return False
    if "xl/workbook.bin" in package.names:
        raise DocumentRejected("This is a binary Excel workbook (.xlsb).", remedy="Save it as .xlsx.")
    return True


FORMATS = (
    Format(
        media_type=MEDIA_TYPE,
        read=read,
        label="XLSX",
        suffixes=("xlsx",),
        promises="Excel workbook",
        in_package=_is_workbook,
        not_a_title=r"workbook\d*|sheet\d*|microsoft[ ]excel\b.*|.*\.xlsx?",
    ),
)
