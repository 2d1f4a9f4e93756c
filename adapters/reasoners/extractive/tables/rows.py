"""Tables rebuilt from the passages that they are split over, and the values of their columns.

A column is parsed as a whole. If its cells have different kinds (pounds and euros, prices per month and per year), they
cannot be compared and nothing is computed.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from itertools import groupby

from adapters.reasoners.extractive import weights
from adapters.reasoners.extractive.compose.quote_markdown import Quotation
from core.model.evidence import Evidence
from core.model.markdown_lines import cells_of
from core.model.passage_units import Form, Unit, units
from core.model.text import content_words, words
from core.values.units import UNITS

FEWEST = 2  # fewest rows to compare
_MOST = 400  # rows of one table; nothing is computed from a longer one, since missing rows might change the result


@dataclass(frozen=True, slots=True)
class Row:
    """Table row with its cells and column names."""

    evidence: Evidence
    unit: Unit
    names: tuple[str, ...]
    cells: tuple[str, ...]

    def cell(self, column: int) -> str:
        """Return the cell in a column, or an empty string if the row is too short."""
        return self.cells[column] if column < len(self.cells) else ""


def tables_of(evidence: Sequence[Evidence]) -> list[list[Row]]:
    """Return the tables that have column names, rebuilt from the passages that they are split over."""
    found: dict[tuple[str, str], list[Row]] = {}
    for item in sorted(evidence, key=lambda one: (one.passage.document, one.passage.ordinal)):
        for unit in units(item.passage.text):
            if unit.form is Form.ROW and unit.head and content_words(unit.head[0]):
                names, cells = cells_of(unit.head[0]), cells_of(unit.text)
                found.setdefault((item.passage.section, unit.head[0]), []).append(Row(item, unit, names, cells))
    return [rows for rows in found.values() if FEWEST <= len(rows) <= _MOST]


def with_siblings(wanted: frozenset[str], rows: Sequence[Row], tables: Sequence[Sequence[Row]]) -> Sequence[Row]:
    """Join a document's tables with the same columns, unless the question names one of them.

    "What is the cheapest to rent?" asks about linen, towels and garments together. "The cheapest towel" does not.
    """
    first = rows[0]
    if wanted & set(content_words(" ".join(first.evidence.passage.heading[-1:]))):
        return rows
    alike = [
        other
        for other in tables
        if other[0].names == first.names and other[0].evidence.passage.document == first.evidence.passage.document
    ]
    return [row for other in alike for row in other] or rows


def table_fit(wanted: frozenset[str], rows: Sequence[Row]) -> float:
    """Return how many of the question's words a table has. Words in cells count less than in headings and columns.

    Add 1 if the question has its whole title.
    """
    passage = rows[0].evidence.passage
    above = set(content_words(" ".join((passage.title, *passage.heading, *rows[0].names))))
    inside = {word for row in rows for word in content_words(row.unit.text)}
    grade = max((row.evidence.grade.score for row in rows if row.evidence.grade), default=1)
    titled = set(content_words(passage.title)) <= wanted  # "how many sites are there" is asked of the table "Sites"
    return titled + len(wanted & above) + weights.IN_CELLS * len((wanted & inside) - above) + grade / 10


def place_of(rows: Sequence[Row]) -> tuple[str, ...]:
    """Return the title and headings of a table, which apply to all rows."""
    passage = rows[0].evidence.passage
    return (passage.title, *passage.heading)


@dataclass(frozen=True, slots=True)
class TableAnswer:
    """Answer from a table: the line with the computed result, and the rows that it was computed from."""

    lead: str
    quotations: tuple[Quotation, ...]
    rows: Sequence[Row] = ()


def noun_of(question: str, key: frozenset[str]) -> str:
    """Return the question's word for the rows if it matches the first column's name: "rounds"."""
    said = (word for word in words(question) if key and set(content_words(word)) == key)
    return next(said, "rows")


def written_out(value: float) -> str:
    """Format a figure with at most two decimals."""
    return f"{value:,.2f}".rstrip("0").rstrip(".")


def quoting(lead: str, rows: Sequence[Row]) -> TableAnswer:
    """Return an answer that quotes these rows below a line with the computed result."""
    groups = groupby(rows, key=lambda row: row.evidence)
    return TableAnswer(lead, tuple(Quotation(item, tuple(row.unit for row in some)) for item, some in groups), rows)


_NUMBER = re.compile(r"(?<![\w.])-?\d{1,3}(?:[,\u2009\u00a0 ]\d{3})+(?:\.\d+)?(?!\d)|(?<![A-Za-z\d.])-?\d+(?:\.\d+)?")
_UNIT = re.compile(r"\s*(%|[A-Za-zµ]+)")
_CLOCK = re.compile(r"^\W*([01]?\d|2[0-4])[:.]([0-5]\d)(?:\s*([ap])\.?m\b)?", re.IGNORECASE)
_ISO = re.compile(r"\b((?:19|20)\d\d)-(0[1-9]|1[0-2])(?:-(0[1-9]|[12]\d|3[01]))?\b")
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_WRITTEN = re.compile(
    rf"\b(?:(\d{{1,2}})(?:st|nd|rd|th)? )?({'|'.join(_MONTHS)})[a-z]*\.? ((?:19|20)\d\d)\b", re.IGNORECASE
)
_YEAR = re.compile(r"(?:19|20)\d\d")
_CURRENCY = re.compile(r"[£€$]|\b(?:GBP|EUR|USD|CHF)\b")
_PERIOD = re.compile(r"(?:\b(?:an?|per|each|every)\s+|/\s*)(hour|day|night|week|month|quarter|year)\b", re.IGNORECASE)
_ENDLESS = re.compile(r"^\W*unlimited\b", re.IGNORECASE)
_FREE = re.compile(r"^\W*(?:free|no charge)\b", re.IGNORECASE)
_SECONDS_OF_MONTH = 2_629_800


@dataclass(frozen=True, slots=True)
class CellValue:
    """Value of a cell in the base unit of its kind. ``plain`` is the number as written in the cell."""

    worth: float
    plain: float
    kind: str = ""
    unit: str = ""
    period: str = ""


def column_values(cells: Sequence[str]) -> list[float | None]:
    """Return the cells' comparable values. None for a cell without one, and for all cells if kinds differ."""
    read = [_read(cell) for cell in cells]
    known = [one for one in read if one is not None]
    if (
        known
        and {one.kind for one in known} == {"date", ""}
        and all(_YEAR.fullmatch(f"{one.plain:g}") for one in known if not one.kind)
    ):
        days = {one: one.worth if one.kind else float(date(int(one.plain), 1, 1).toordinal()) for one in known}
        return [None if one is None else days[one] for one in read]
    kinds = {one.kind for one in known if one.kind}
    units = {one.unit for one in known}
    lacks_unit = len(units) > 2 and "" in units
    if len(kinds) > 1 or len({one.period for one in known if one.period}) > 1 or lacks_unit:
        return [None] * len(cells)
    factor = "" not in units
    return [None if one is None else one.worth if factor else one.plain for one in read]


def kind_of(text: str) -> str:
    """Return the kind of an amount: a currency, "second", "date". Empty for a bare number or none."""
    found = _read(text)
    return found.kind if found else ""


def can_be_added(cells: Sequence[str]) -> bool:
    """Return whether every cell has a number of one unit, except dates, times and percentages."""
    read = [_read(cell) for cell in cells]
    known = [one for one in read if one is not None]
    return (
        len(known) == len(read)
        and len({(one.kind, one.unit, one.period) for one in known}) == 1
        and not {one.kind for one in known} & {"date", "clock", "percent"}
        and all(math.isfinite(one.plain) for one in known)
    )


def _read(cell: str) -> CellValue | None:
    if found := _ISO.search(cell):
        day = date(int(found[1]), int(found[2]), 1).toordinal() + int(found[3] or 1) - 1
        return CellValue(day, day, "date")
    if found := _WRITTEN.search(cell):
        month = _MONTHS.index(found[2].casefold()) + 1
        day = date(int(found[3]), month, 1).toordinal() + int(found[1] or 1) - 1
        return CellValue(day, day, "date")
    if ":" in cell and (found := _CLOCK.match(cell)):
        hour = int(found[1]) % 12 + 12 * (found[3].casefold() == "p") if found[3] else int(found[1])
        minutes = 60 * hour + int(found[2])
        return CellValue(minutes, minutes, "clock")
    if _ENDLESS.match(cell):
        return CellValue(math.inf, math.inf)
    if _FREE.match(cell):
        return CellValue(0.0, 0.0)
    return _amount(cell)


def _amount(cell: str) -> CellValue | None:
    found = _NUMBER.search(cell)
    if found is None:
        return None
    number = float(re.sub(r"[,\u2009\u00a0 ]", "", found.group()))
    period = (said := _PERIOD.search(cell)) and said[1].casefold()
    currency = _CURRENCY.search(cell)
    if currency:
        return CellValue(number, number, currency.group(), currency.group(), period or "")
    unit = _UNIT.match(cell, found.end())
    name = unit[1].casefold() if unit else ""
    if name in {"working", "calendar"} and unit and (further := _UNIT.match(cell, unit.end())):
        name = further[1].casefold()
    if not (known := UNITS.get(name)):
        return CellValue(number, number, period=period or "")
    kind, size = known.base, float(known.factor)
    if kind == "month":  # in one column with days
        kind, size = "second", size * _SECONDS_OF_MONTH
    return CellValue(number * size, number, kind, f"{kind}{size}", period or "")
