"""A table as it is put together again from the rows of the passages that it is spread over."""

from collections.abc import Sequence
from dataclasses import dataclass

from adapters.reasoners.extractive import weights
from adapters.reasoners.extractive.answer.quote_markdown import Quotation
from adapters.reasoners.extractive.question.aggregation import Aggregate, Aggregation
from core.model.evidence import Evidence
from core.model.markdown_lines import cells_of
from core.model.passage_units import Form, Unit, units
from core.model.text import content_words, words

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


@dataclass(frozen=True, slots=True)
class TableAnswer:
    """What a table answers: the line that says what was worked out, and the rows it was worked out from."""

    lead: str
    quotations: tuple[Quotation, ...]


def added_up(rows: Sequence[Row], column: int, total: float) -> TableAnswer:
    """The sum of a column."""
    return _over(f"Added up from {len(rows)} rows, *{rows[0].names[column]}* comes to {_written_out(total)}:", rows)


def added_across(row: Row, columns: Sequence[int], total: float) -> TableAnswer:
    """The sum of several columns of one row."""
    names = " and ".join(f"*{row.names[at]}*" for at in columns)
    return _over(f"Added up in the row of {row.cells[0]}, {names} come to {_written_out(total)}:", [row])


def most_or_least(
    asked: Aggregation, name: str, compared: int, best: Sequence[Row], shown: Sequence[Row]
) -> TableAnswer:
    """The rows with the most or least of a column, before others that were compared by name."""
    words_for = ("latest", "earliest") if "date" in asked.column else ("highest", "lowest")
    word = words_for[asked.kind is Aggregate.LEAST]
    title = ", ".join(row.cells[0] for row in best)
    lead = f"The {word} *{name}* of the {compared} rows compared, worked out from the table, is that of {title}:"
    return _over(lead, shown)


def within_limit(name: str, said: str, compared: int, rows: Sequence[Row]) -> TableAnswer:
    """The rows that keep a limit, as the question says it."""
    return _over(f"Worked out from the table, {len(rows)} of the {compared} rows have *{name}* {said}:", rows)


def picked_out(rows: Sequence[Row]) -> TableAnswer:
    """The rows that have what is asked for."""
    there = f"there are {len(rows)} rows" if len(rows) > 1 else "there is one row"
    return _over(f"Picked out of the table, {there}:", rows)


def listed_whole(rows: Sequence[Row]) -> TableAnswer:
    """Every row of a table."""
    return _over(f"The table has {len(rows)} rows:", rows)


def counted(count: int, noun: str, rows: Sequence[Row]) -> TableAnswer:
    """How many there are of what the rows are."""
    return _over(f"Counted in the table, there are {count} {noun}:", rows)


def noun_of(question: str, key: frozenset[str]) -> str:
    """What the rows are called in the question, where their first column is called so: "rounds"."""
    said = (word for word in words(question) if key and set(content_words(word)) == key)
    return next(said, "rows")


def _written_out(value: float) -> str:
    return f"{value:,.2f}".rstrip("0").rstrip(".")


def _over(lead: str, rows: Sequence[Row]) -> TableAnswer:
    quotations: list[Quotation] = []
    for row in rows:
        if quotations and quotations[-1].evidence.id == row.evidence.id:
            quotations[-1] = Quotation(row.evidence, (*quotations[-1].units, row.unit))
        else:
            quotations.append(Quotation(row.evidence, (row.unit,)))
    return TableAnswer(lead, tuple(quotations))
