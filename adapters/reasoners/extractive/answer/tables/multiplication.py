"""So many of a thing at a price a piece, a year at a price a month: worked out from the one row that is quoted.

Only where the row has one such price, and none for the whole already; what is worked out is said to be.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from adapters.reasoners.extractive.answer.quote_markdown import Quotation
from core.model.markdown_lines import cells_of
from core.model.passage_units import Form, Unit
from core.model.text import content_words

_ASKS_PRICE = re.compile(r"\b(?:costs?|price|pay|charged?|fees?|how much|total)\b|^(?:the )?rent\b", re.IGNORECASE)
_COUNT = re.compile(
    r"(?<![\w.,/£€$-])(?P<count>[1-9]\d{0,2}(?:,\d{3})+|[2-9]|[1-9]\d{1,4})(?![\w.,/%:-]) (?=[^\W\d_]{3})"
)
_NUMBER = re.compile(r"\d[\d,./]*")
_MONTHS = re.compile(r"\b(?P<count>[2-9]|[1-9]\d) months\b", re.IGNORECASE)
_YEAR = re.compile(r"\b(?:a|one|per|whole|full) year\b", re.IGNORECASE)
_PRICE = re.compile(r"(?P<sign>[£€$]?)\s?(?P<amount>\d{1,3}(?:,\d{3})+(?:\.\d\d)?|\d+(?:\.\d\d)?)")
_A_PIECE = re.compile(r"\b(?:an? piece|each|per (?:piece|item|unit))\b", re.IGNORECASE)
_A_MONTH = re.compile(r"\b(?:an?|per)[ _]month|\bmonthly", re.IGNORECASE)
_A_YEAR = re.compile(r"\b(?:an?|per)[ _]year|\b(?:yearly|annual)", re.IGNORECASE)
_OTHER_UNITS = re.compile(
    r"(?:years?|months?|weeks?|days?|hours?|minutes?|nights?|kg|km|pounds?|euros?)\b", re.IGNORECASE
)

_COUNTED = frozenset(content_words("month year piece item unit"))


@dataclass(frozen=True, slots=True)
class _Times:
    """How many times which price is asked for."""

    count: int
    price_for_one: re.Pattern[str]


def multiply(question: str, quotations: Sequence[Quotation]) -> str:
    """The line that says what so many cost, over the row it was worked out from; empty where it is not certain."""
    rows = [unit for one in quotations for unit in one.units]
    times = _times_in(question)
    if times is None or len(rows) != 1 or rows[0].form is not Form.ROW or not rows[0].head:
        return ""
    named = _price_of_one(question, times, rows[0])
    if named is None:
        return ""
    name, found = named
    total = times.count * float(found["amount"].replace(",", ""))
    return f"Worked out from the row, {times.count:,} times *{name}* comes to {found['sign']}{total:,.2f}:"


def _times_in(question: str) -> _Times | None:
    if not _ASKS_PRICE.search(question):
        return None
    if found := _MONTHS.search(question):
        return _Times(int(found["count"]), _A_MONTH)
    if _YEAR.search(question):
        return _Times(12, _A_MONTH)
    count = _COUNT.search(question)
    if count is None or len(_NUMBER.findall(question)) > 1 or _OTHER_UNITS.match(question[count.end() :]):
        return None
    return _Times(int(count["count"].replace(",", "")), _A_PIECE)


def _price_of_one(question: str, times: _Times, row: Unit) -> tuple[str, re.Match[str]] | None:
    """The column with the price of one, and the price: the only such column, or the only one that is named."""
    cells = list(zip(cells_of(row.head[0]), cells_of(row.text), strict=False))
    if times.price_for_one is _A_MONTH and any(_A_YEAR.search(name) for name, _ in cells):
        return None
    priced = [
        (name, found) for name, cell in cells if (found := _PRICE.fullmatch(cell)) and times.price_for_one.search(name)
    ]
    said = set(content_words(question)) - _COUNTED
    others = [name for name, cell in cells if _PRICE.fullmatch(cell) and (name not in dict(priced))]
    if any(said & _stems_of(name) for name in others):
        return None  # the deposit is paid once
    named = [(name, found) for name, found in priced if said & _stems_of(name.split(",")[0])]
    only = priced if len(priced) == 1 else named
    return only[0] if len(only) == 1 else None


def _stems_of(name: str) -> set[str]:
    """The words of a column's name, also of one written with underscores."""
    return set(content_words(name.replace("_", " "))) - _COUNTED
