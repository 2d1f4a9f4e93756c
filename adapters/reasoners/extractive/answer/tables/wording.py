"""How what was worked out from a table is told: the line over its rows, which says that it was worked out."""

from collections.abc import Sequence
from dataclasses import dataclass

from adapters.reasoners.extractive.answer.quote_markdown import Quotation
from adapters.reasoners.extractive.answer.tables.rows import Row
from adapters.reasoners.extractive.question.aggregation import Aggregate, Aggregation
from core.model.text import content_words, words


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


def listed_beside(rows: Sequence[Row]) -> TableAnswer:
    """Two rows whose difference is asked for: nothing is worked out."""
    return _over("", rows)


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
