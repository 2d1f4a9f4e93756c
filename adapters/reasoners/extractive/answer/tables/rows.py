"""A table as it is put together again from the rows of the passages that it is spread over."""

from collections.abc import Sequence
from dataclasses import dataclass

from adapters.reasoners.extractive import weights
from core.model.evidence import Evidence
from core.model.markdown_lines import cells_of
from core.model.passage_units import Form, Unit, units
from core.model.text import content_words

FEWEST = 2  # rows that can be compared
_MOST = 400  # rows of one table; of a longer one nothing is worked out, since what is left out might be the most


@dataclass(frozen=True, slots=True)
class Row:
    """A row with its cells under the names of their columns."""

    evidence: Evidence
    unit: Unit
    names: tuple[str, ...]
    cells: tuple[str, ...]

    def cell(self, column: int) -> str:
        """What stands in a column; empty where the row is too short."""
        return self.cells[column] if column < len(self.cells) else ""


def tables_of(evidence: Sequence[Evidence]) -> list[list[Row]]:
    """The tables with names for their columns, put together from the passages that they are spread over."""
    found: dict[tuple[str, str], list[Row]] = {}
    for item in sorted(evidence, key=lambda one: (one.passage.document, one.passage.ordinal)):
        for unit in units(item.passage.text):
            if unit.form is Form.ROW and unit.head and content_words(unit.head[0]):
                names, cells = cells_of(unit.head[0]), cells_of(unit.text)
                found.setdefault((item.passage.section, unit.head[0]), []).append(Row(item, unit, names, cells))
    return [rows for rows in found.values() if FEWEST <= len(rows) <= _MOST]


def with_siblings(wanted: frozenset[str], rows: Sequence[Row], tables: Sequence[Sequence[Row]]) -> Sequence[Row]:
    """The table with those of the same document that have the same columns, where the question names none of them.

    "What is the cheapest to rent?" is asked of the linen, the towels and the garments; "the cheapest towel" is not.
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
    """How many of the question's words a table has: in its place and columns, and in its cells, which count less.

    One more where it is called just as the question says.
    """
    passage = rows[0].evidence.passage
    above = set(content_words(" ".join((passage.title, *passage.heading, *rows[0].names))))
    inside = {word for row in rows for word in content_words(row.unit.text)}
    grade = max((row.evidence.grade.score for row in rows if row.evidence.grade), default=1)
    titled = set(content_words(passage.title)) <= wanted  # "how many sites are there" is asked of the table "Sites"
    return titled + len(wanted & above) + weights.IN_CELLS * len((wanted & inside) - above) + grade / 10


def place_of(rows: Sequence[Row]) -> tuple[str, ...]:
    """What stands over a table, and so holds for all of its rows."""
    passage = rows[0].evidence.passage
    return (passage.title, *passage.heading)
