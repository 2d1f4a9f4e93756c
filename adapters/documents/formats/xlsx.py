"""XLSX: every visible sheet as tables with cell ranges; long tables in parts that repeat the header.

A sheet may contain several tables, separated by empty rows or columns. Each is detected and read separately. Values are
those stored by the program that saved the file; a formula without a stored value is shown and noted.
"""

import re
import zipfile
from collections.abc import Iterator, Sequence
from datetime import date, datetime, time, timedelta
from io import BytesIO
from typing import Any

from adapters.documents.format import Format, Package
from adapters.documents.formats.sheet_tables import Rows, regions, sheet_table
from adapters.documents.formats.xlsx_extras import MAX_COLUMNS, SheetExtras, sheet_extras
from adapters.documents.number_format import shown_number
from adapters.documents.titles import choose_title, iso_date, with_address
from adapters.documents.zip_package import is_office_xml, open_package, open_transitional, without_part
from core.model.document_content import Block, ParsedDocument
from core.model.errors import DocumentRejected, NoText

MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
MAX_ROWS = 200_000
MAX_CELLS = 2_000_000
MAX_MERGED_ROWS = 10_000


def read(name: str, data: bytes) -> ParsedDocument:
    """Return the visible sheets in order; hidden ones are named in the notes."""
    data = open_transitional(data)
    with open_package(data) as package:
        extras = sheet_extras(package)
        core = "docProps/core.xml"
        stated = package.read(core) if core in package.namelist() else b""
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
        modified=iso_date(facts.modified) if b"dcterms:modified" in stated else None,
        notes=tuple(notes),
        uncomputed=sum(len(extras[sheet.title].uncomputed) for sheet in visible if sheet.title in extras),
    )


def _open(data: bytes, notes: list[str]) -> Any:
    """Open the workbook; if openpyxl rejects its styles, read it without them and add a note."""
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
        warnings.simplefilter("ignore")  # openpyxl warns about styles and extensions that it ignores
        return openpyxl.load_workbook(BytesIO(data), data_only=True, read_only=True, keep_links=False)


def _sheet(sheet: Any, extras: SheetExtras, notes: list[str]) -> Iterator[Block]:
    """Yield the tables of one sheet; the first block has the sheet's name as its heading."""
    rows_of_sheet = _rows(sheet, extras, notes)
    notes.extend(_named(sheet.title, extras))
    heading = f"## {sheet.title}\n\n"
    for top, left, rows in regions(rows_of_sheet):
        for text, first, last in sheet_table(rows):
            width = max(map(len, rows[first : last + 1]), default=1)
            place = f"{_column(left)}{top + first + 1}:{_column(left + width - 1)}{top + last + 1}"
            yield Block(heading + text, label=f"{sheet.title}!{place}")
            heading = ""
    for place, comment in extras.comments:
        yield Block(f"{heading}Comment on {place}: {comment}", label=f"{sheet.title}!{place}")
        heading = ""


def _rows(sheet: Any, extras: SheetExtras, notes: list[str]) -> Rows:
    """Return the sheet's non-empty rows as text, with merged cells filled."""
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
    _fill_in(found, extras)
    for top, bottom, left, right in extras.merged:
        _fill(found, top, bottom, left, right)
    return found


def _fill_in(found: Rows, extras: SheetExtras) -> None:
    """Insert formulas without a stored value, and link addresses."""
    for (number, column), formula in extras.uncomputed.items():
        if column >= MAX_COLUMNS or (number not in found and len(found) >= MAX_ROWS):
            continue
        row = found.setdefault(number, [])
        row.extend([""] * (column + 1 - len(row)))
        row[column] = row[column] or (f"={formula} (not computed)" if formula else "(not computed)")
    for (number, column), address in extras.links.items():
        if column < len(row := found.get(number, [])):
            row[column] = with_address(row[column], address)


def _named(sheet: str, extras: SheetExtras) -> Iterator[str]:
    """Yield notes on hidden rows and columns and on formulas without a stored value."""
    if extras.hidden_rows:
        yield f"sheet {sheet}: hidden rows read too: {_ranges([row + 1 for row in extras.hidden_rows])}"
    if extras.hidden_columns:
        names = ", ".join(_column(column) for column in extras.hidden_columns[:10])
        more = f" and {len(extras.hidden_columns) - 10} more" if len(extras.hidden_columns) > 10 else ""
        yield f"sheet {sheet}: hidden columns read too: {names}{more}"
    if extras.uncomputed:
        count = len(extras.uncomputed)
        yield f"sheet {sheet}: {count} formula{'s' * (count > 1)} without a stored value, not computed"


def _ranges(numbers: Sequence[int]) -> str:
    """Return 3, 4, 5, 9 as '3-5, 9'; at most ten ranges."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1][1:] = [number]
        else:
            runs.append([number])
    shown = ", ".join("-".join(map(str, run)) for run in runs[:10])
    return f"{shown} and more" if len(runs) > 10 else shown


def _number_format(cell: Any) -> str:
    """Return the cell's number format; a cell may refer to a style that does not exist."""
    try:
        return str(cell.number_format)
    except IndexError:
        return "General"


def _fill(rows: Rows, top: int, bottom: int, left: int, right: int) -> None:
    """Repeat a merged cell in every row and column of its area, unless it is a full-width heading."""
    first = rows.get(top, [])
    if left >= len(first) or not first[left]:
        return
    text = first[left]
    whole_row = sum(bool(other) for other in first) == 1 and not any(rows.get(bottom + 1, [])[:left])
    right = min(right, MAX_COLUMNS)
    for number in range(top, min(bottom, top + MAX_MERGED_ROWS) + 1):
        if (row := rows.get(number)) is None:
            continue
        row.extend([""] * (right + 1 - len(row)))
        for j in range(left, right + 1):
            if (number, j) != (top, left) and not row[j] and not whole_row:
                row[j] = text


def cell_text(value: object, number_format: str | None = "General") -> str:
    """Return a cell's value as displayed: dates in ISO, numbers in their format, identifiers in full."""
    match value:
        case None:
            return ""
        case bool():
            return "TRUE" if value else "FALSE"
        case int() | float():
            return shown_number(value, number_format)
        case date() | time() | timedelta():
            return _moment_text(value, number_format or "")
        case _:
            return str(value).strip()


def _moment_text(value: date | time | timedelta, number_format: str) -> str:
    """Return dates in ISO, without a time or day that the cell hides; durations as hours:minutes:seconds."""
    if isinstance(value, timedelta):
        seconds = round(value.total_seconds())
        return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    if isinstance(value, date) and (shown := _month_or_year(value, number_format)):
        return shown
    if isinstance(value, datetime):
        return value.date().isoformat() if value.time() == time() else value.replace(microsecond=0).isoformat(" ")
    return value.isoformat()


def _month_or_year(value: date, number_format: str) -> str:
    """Return the date as month and year or as year, if the cell shows no more; otherwise ""."""
    tokens = set(re.sub(r'"[^"]*"|\\.|\[[^\]]*\]|AM/PM|_.|\*.', "", number_format, flags=re.IGNORECASE).lower())
    if "y" not in tokens or tokens & set("dhs"):
        return ""
    return f"{value:%B %Y}" if "m" in tokens else f"{value:%Y}"


def _column(index: int) -> str:
    """Return the letters of a 0-based column."""
    from openpyxl.utils import get_column_letter

    return str(get_column_letter(index + 1))


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
