"""What the cells of a table's column are worth beside each other: numbers, amounts with units, dates, times of day.

A column is read as a whole. Where its cells are of different kinds (pounds and euros, a price a month and one a year)
it cannot be compared, and nothing is worked out from it.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

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
_UNITS = {  # by their short names: what they measure, and how many of its smallest one is
    "time": (
        ({"s", "sec", "secs", "second", "seconds"}, 1),
        ({"min", "mins", "minute", "minutes"}, 60),
        ({"h", "hr", "hrs", "hour", "hours"}, 3_600),
        ({"day", "days"}, 86_400),
        ({"week", "weeks"}, 604_800),
        ({"month", "months"}, 2_629_800),
        ({"year", "years"}, 31_557_600),
    ),
    "weight": (({"mg"}, 0.001), ({"g"}, 1), ({"kg"}, 1_000), ({"t", "tonne", "tonnes"}, 1_000_000)),
    "length": (({"mm"}, 1), ({"cm"}, 10), ({"m", "metre", "metres"}, 1_000), ({"km"}, 1_000_000)),
    "volume": (({"ml"}, 1), ({"cl"}, 10), ({"l", "litre", "litres"}, 1_000)),
    "storage": (({"kb"}, 1), ({"mb"}, 1_000), ({"gb"}, 1_000_000), ({"tb"}, 1_000_000_000)),
    "%": (({"%"}, 1),),
}
_FACTORS = {name: (kind, size) for kind, units in _UNITS.items() for names, size in units for name in names}


@dataclass(frozen=True, slots=True)
class _Value:
    """A cell's value in the smallest unit of its kind; ``plain`` is the number as it stands in the cell."""

    worth: float
    plain: float
    kind: str = ""
    unit: str = ""
    period: str = ""


def column_values(cells: Sequence[str]) -> list[float | None]:
    """The cells' values, which can be compared; None where a cell has none, and for all where the column has none."""
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
    """What an amount is of: a currency, "time", "weight", a date; empty for a bare number and where there is none."""
    found = _read(text)
    return found.kind if found else ""


def can_be_added(cells: Sequence[str]) -> bool:
    """Whether every cell has a number, of one unit, that is no date, no time and no share."""
    read = [_read(cell) for cell in cells]
    known = [one for one in read if one is not None]
    return (
        len(known) == len(read)
        and len({(one.kind, one.unit, one.period) for one in known}) == 1
        and not {one.kind for one in known} & {"date", "clock", "%"}
        and all(math.isfinite(one.plain) for one in known)
    )


def _read(cell: str) -> _Value | None:
    if found := _ISO.search(cell):
        day = date(int(found[1]), int(found[2]), 1).toordinal() + int(found[3] or 1) - 1
        return _Value(day, day, "date")
    if found := _WRITTEN.search(cell):
        month = _MONTHS.index(found[2].casefold()) + 1
        day = date(int(found[3]), month, 1).toordinal() + int(found[1] or 1) - 1
        return _Value(day, day, "date")
    if ":" in cell and (found := _CLOCK.match(cell)):
        hour = int(found[1]) % 12 + 12 * (found[3].casefold() == "p") if found[3] else int(found[1])
        minutes = 60 * hour + int(found[2])
        return _Value(minutes, minutes, "clock")
    if _ENDLESS.match(cell):
        return _Value(math.inf, math.inf)
    if _FREE.match(cell):
        return _Value(0.0, 0.0)
    return _amount(cell)


def _amount(cell: str) -> _Value | None:
    found = _NUMBER.search(cell)
    if found is None:
        return None
    number = float(re.sub(r"[,\u2009\u00a0 ]", "", found.group()))
    period = (said := _PERIOD.search(cell)) and said[1].casefold()
    currency = _CURRENCY.search(cell)
    if currency:
        return _Value(number, number, currency.group(), currency.group(), period or "")
    unit = _UNIT.match(cell, found.end())
    name = unit[1].casefold() if unit else ""
    if name in {"working", "calendar"} and unit and (further := _UNIT.match(cell, unit.end())):
        name = further[1].casefold()
    kind, size = _FACTORS.get(name, ("", 1))
    return _Value(number * size, number, kind, f"{kind}{size}" if kind else "", period or "")
