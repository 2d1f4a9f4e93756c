"""What is worked out over the rows of a table: the most and least, a sum, a count, those within a limit.

Only where every cell that it rests on can be read: one that was left out would make it wrong.
"""

import re
from collections.abc import Sequence

from adapters.reasoners.extractive.answer.tables.row_choice import (
    is_only_of_its_kind,
    numeric_columns,
    quantity_column,
)
from adapters.reasoners.extractive.answer.tables.rows import (
    FEWEST,
    Row,
    TableAnswer,
    added_across,
    added_up,
    can_be_added,
    column_values,
    counted,
    kind_of,
    most_or_least,
    noun_of,
    place_of,
    within_limit,
)
from adapters.reasoners.extractive.question.aggregation import Aggregate, Aggregation, Threshold
from adapters.reasoners.extractive.question.answer_type import thing_picked
from core.model.text import content_words
from core.values.periods import DateLimit, day_in

_PERSON = frozenset(content_words("person people name who member employee colleague"))
_RANGE = re.compile(r"\b(?:above|over|more than|up to|below|under|less than) \S*\d", re.IGNORECASE)  # no one figure


def extreme_of(asked: Aggregation, rows: Sequence[Row], column: int, *, with_others: bool) -> TableAnswer | None:
    """The rows with the highest or lowest figure of a column, among those that have one."""
    figures = zip(column_values([row.cell(column) for row in rows]), rows, strict=True)
    measured = [(value, row) for value, row in figures if value is not None]
    if len(measured) < FEWEST:
        return None
    extreme = (max if asked.kind is Aggregate.MOST else min)(value for value, _ in measured)
    best = [row for value, row in measured if value == extreme]
    if len(best) == len(measured):
        return None
    shown = [*best, *(row for row in rows if row not in best)] if with_others else best
    return most_or_least(asked, rows[0].names[column], len(measured), best, shown)


def sum_of(rows: Sequence[Row], column: int | None) -> TableAnswer | None:
    """The sum of a column, where every row has a figure of the same unit."""
    cells = [] if column is None else [row.cell(column) for row in rows]
    if column is None or len(rows) < FEWEST or not can_be_added(cells):
        return None
    return added_up(rows, column, sum(value or 0 for value in column_values(cells)))


def sum_across(wanted: frozenset[str], rows: Sequence[Row]) -> TableAnswer | None:
    """The sum of several columns of one row, which part what is asked for: passengers at home and abroad.

    Where a column is called no more than what is asked for, it has it already; amounts of money are not parts.
    """
    if len(rows) != 1:
        return None
    (row,) = rows
    columns = [at for at, name in enumerate(row.names) if at and wanted & set(content_words(name))]
    cells = [row.cell(at) for at in columns]
    whole = any(set(content_words(row.names[at])) <= wanted for at in columns)
    if len(columns) < FEWEST or whole or any(map(kind_of, cells)) or not can_be_added(cells):
        return None
    return added_across(row, columns, sum(value or 0 for value in column_values(cells)))


def rows_within(
    limit: Threshold, wanted: frozenset[str], rows: Sequence[Row], kept: Sequence[Row]
) -> TableAnswer | None:
    """The rows whose figure keeps the limit, in the column that is named, or else the one of such figures.

    Only where every row has a figure there: one that was left out would be a wrong answer.
    """
    best: tuple[int, int, list[Row]] | None = None
    for at in range(1, len(rows[0].names)):
        *values, bound = column_values([*(row.cell(at) for row in kept), limit.figure])
        figures = [value for value in values if value is not None]
        if bound is None or len(figures) < len(kept) or len(kept) < FEWEST or _RANGE.search(kept[0].cell(at)):
            continue
        named = len(wanted & set(content_words(rows[0].names[at])))
        if not named and not is_only_of_its_kind(limit, rows, at):
            continue
        if best and best[0] >= named:
            continue
        best = named, at, [row for value, row in zip(figures, kept, strict=True) if limit.holds(value, bound)]
    if best is None or not best[2]:
        return None
    return within_limit(rows[0].names[best[1]], limit.said, len(kept), best[2])


def rows_dated(limit: DateLimit, wanted: frozenset[str], rows: Sequence[Row]) -> TableAnswer | None:
    """The rows whose day keeps the limit, in the column of days that is named, or else the only one."""
    columns = [at for at in range(1, len(rows[0].names)) if all(day_in(row.cell(at)) for row in rows)]
    named = [at for at in columns if wanted & set(content_words(rows[0].names[at]))]
    chosen = named if len(named) == 1 else columns
    if len(chosen) != 1 or len(rows) < FEWEST:
        return None
    held = [row for row in rows if (day := day_in(row.cell(chosen[0]))) and limit.holds(day)]
    if not held:
        return None
    said = f"not {limit.said}" if limit.outside else limit.said
    return within_limit(rows[0].names[chosen[0]], said, len(rows), held)


def _are_counted(question: str, rows: Sequence[Row]) -> bool:
    """Whether each row is one of what is counted: by what the rows are called, or by a cell that says so.

    Plans with a loan machine are no loan machines, and three rows of wind instruments need not be all of them.
    """
    counted = frozenset(thing_picked(question))
    called = set(content_words(" ".join((rows[0].names[0], *place_of(rows)))))
    return counted <= called or all(any(counted == set(content_words(cell)) for cell in row.cells) for row in rows)


def count_rows(question: str, wanted: frozenset[str], rows: Sequence[Row], kept: Sequence[Row]) -> TableAnswer | None:
    """How many rows have in a cell what is asked for; people are counted once."""
    key, title = (frozenset(content_words(said)) for said in (rows[0].names[0], rows[0].evidence.passage.title))
    if title == frozenset(thing_picked(question)):
        key = title  # a table called "Depots" has a depot in each row, whatever its first column is called
    of_all = bool(key) and key <= wanted  # "how many depots are there?"
    if (len(kept) == len(rows) and not of_all) or len(kept) < FEWEST:
        return None
    if any(stem in wanted for stem in numeric_columns(rows)) or not _are_counted(question, kept):
        return None
    if not of_all and (quantity := quantity_column(kept)) is not None:
        return sum_of(kept, quantity)  # three rows of treadmills are not three treadmills where a column says how many
    people = next((at for at, name in enumerate(rows[0].names) if _PERSON & set(content_words(name))), None)
    different = {row.cells[people].casefold() for row in kept} if people is not None else set(range(len(kept)))
    noun = "different entries" if people is not None and len(different) < len(kept) else noun_of(question, key)
    return counted(len(different), noun, kept)
