"""Answers computed from a whole table: the longest, the cheapest, how many, the sum.

The rows are quoted verbatim. The line above states the computed result and says that it was computed.
"""

import re
from collections.abc import Sequence

from adapters.reasoners.extractive.candidates import stands_in, topic_words
from adapters.reasoners.extractive.decide.versions import other_version
from adapters.reasoners.extractive.tables.aggregation import (
    COUNTED,
    Aggregate,
    Aggregation,
    FigureLimit,
    aggregation_of,
    figure_limit_in,
    lists_rows,
)
from adapters.reasoners.extractive.tables.row_choice import (
    column_of,
    filter_rows,
    is_only_of_its_kind,
    named_rows,
    names_what_is_added,
    numeric_columns,
    of_kind,
    picks_rows,
    says_all,
)
from adapters.reasoners.extractive.tables.rows import (
    FEWEST,
    Row,
    TableAnswer,
    can_be_added,
    column_values,
    noun_of,
    place_of,
    quoting,
    table_fit,
    tables_of,
    with_siblings,
    written_out,
)
from adapters.reasoners.extractive.understand import PHRASES
from adapters.reasoners.extractive.understand.answer_type import thing_asked
from core.model.evidence import Evidence
from core.model.text import content_words
from core.values.periods import DateLimit, date_limit_in, day_in

_OF_TOPIC = 0.5  # least share of the question's words in a table on the topic
_LISTED = 15  # most rows of a table that is quoted whole
_RANGE = re.compile(r"\b(?:above|over|more than|up to|below|under|less than) \S*\d|\d\s?[–-]\s?\d", re.IGNORECASE)
_TO_COME = re.compile(r"\W*(?:tbd|tba|tbc|to be (?:decided|announced|confirmed)|\?*)\W*", re.IGNORECASE)  # no row yet
_THAN = re.compile(r"\bthan\b", re.IGNORECASE)


def compute_answer(
    question: str, asked: Aggregation | None, evidence: Sequence[Evidence], pool: Sequence[Evidence] = ()
) -> TableAnswer | None:
    """Return the answer of the best-fitting table, or None. The pool tells which versions of a document are meant.

    Without an aggregation in ``asked``, its rows may still list everything that the question asks for.
    """
    limit = _limit_of(question)
    if (asked is None and not lists_rows(question)) or (limit and figure_limit_in(question)):
        return None  # a limit of a time and one of a figure are not worked out together
    wanted = frozenset(content_words(question))
    everything = (*pool, *evidence)
    meant = [item for item in evidence if not other_version(question, item, everything)]
    extreme = asked is not None and asked.kind in {Aggregate.MOST, Aggregate.LEAST}
    for rows in sorted(tables_of(meant), key=lambda rows: -table_fit(wanted, rows)):
        whole = with_siblings(wanted, rows, tables_of(pool))
        if limit and (asked is None or asked.kind is Aggregate.COUNT):
            found = _of_days(question, limit, whole)
        else:
            found = _of_table(question, asked, wanted, whole)
        if found and (not extreme or _is_on_topic(question, found, everything)):
            return found
        if extreme and len(named_rows(question, rows)) == 1:
            return None  # "the fastest an engineer comes on the basic plan" asks for a cell in that plan's row
    return None


def tables_that_answer(question: str, evidence: Sequence[Evidence]) -> frozenset[int]:
    """Return the evidence whose whole table answers: the cheapest row, how many, which of them.

    No single row answers such a question. For counts and lists, the rows must have every word of the question. For
    extremes, the rows must be what the question picks from.
    """
    asked = aggregation_of(question)
    found = compute_answer(question, asked, evidence)
    if found is None:
        return frozenset()
    if asked and asked.kind in {Aggregate.MOST, Aggregate.LEAST}:
        picked = picks_rows(question, asked, found.quotations[0])
    elif dated := _limit_of(question):
        picked = _is_on_topic(question.replace(dated.said, " "), found, evidence)
    else:
        picked = says_all(question, found.quotations)
    if asked and asked.kind is Aggregate.SUM:
        named = len(named_rows(question, found.rows)) >= FEWEST
        picked = picked and (named or names_what_is_added(question, found.quotations[0]))
    return frozenset(one.evidence.id for one in found.quotations) if picked else frozenset()


def _limit_of(question: str) -> DateLimit | None:
    """Return the date limit for the wanted rows: "which leases end before 2027?"."""
    return date_limit_in(question) if lists_rows(question) or COUNTED.search(question) else None


def _of_days(question: str, limit: DateLimit, rows: Sequence[Row]) -> TableAnswer | None:
    """Return the rows within a date limit, among those that the rest of the question names."""
    bare = question.replace(limit.said, " ")
    wanted = frozenset(content_words(bare))
    return rows_dated(limit, wanted, filter_rows(bare, wanted, rows)) or rows_dated(limit, wanted, rows)


def _is_on_topic(question: str, found: TableAnswer, evidence: Sequence[Evidence]) -> bool:
    """Return whether a table's section has half of the question's topic words."""
    wanted = frozenset(topic_words(question))
    section = found.quotations[0].evidence.passage.section
    there = {
        word for item in evidence if item.passage.section == section for word in content_words(item.passage.searchable)
    }
    return bool(wanted) and sum(stands_in(stem, there) for stem in wanted) >= _OF_TOPIC * len(wanted)


def _of_table(
    question: str, asked: Aggregation | None, wanted: frozenset[str], rows: Sequence[Row]
) -> TableAnswer | None:
    limit = figure_limit_in(question)
    rest = question.replace(limit.said, " ") if limit else question  # don't match a limit with a cell
    filtered: Sequence[Row] = filter_rows(rest, frozenset(content_words(rest)), rows)
    if asked is None:
        return _list_rows(question, rows, filtered)
    if limit:
        return rows_within(limit, wanted, rows, filtered)
    if asked.kind is Aggregate.COUNT:
        return count_rows(question, wanted, rows, filtered)
    filtered = of_kind(wanted, [row for row in filtered if not _TO_COME.fullmatch(row.cells[0])])
    named = named_rows(question, rows)
    compared = asked.compares or asked.kind is Aggregate.SUM
    kept = named if compared and len(named) >= FEWEST else filtered
    column = column_of(asked, wanted, rows, kept)
    if asked.kind is Aggregate.SUM:
        counts = column is None and COUNTED.search(question)  # "how many vans are there over all depots"
        return count_rows(question, wanted, rows, filtered) if counts else sum_of(kept, column)
    if column is None or (_THAN.search(question) and len(named) < FEWEST):
        return None  # "what if my van is longer than I said" compares no rows
    return extreme_of(asked, kept, column, with_others=asked.compares and bool(named))


def _list_rows(question: str, rows: Sequence[Row], kept: Sequence[Row]) -> TableAnswer | None:
    """Return all rows that match the question, if the table and each row have every word of it.

    Return a whole table only if its first column names what is listed: "list the webhook events", column "Event".
    """
    key = set(content_words(rows[0].names[0]))
    if len(kept) == len(rows) and not (key and key <= set(content_words(question)) and len(rows) <= _LISTED):
        return None
    if len(kept) < (1 if PHRASES["WITHOUT"].search(question) else FEWEST):
        return None
    there = f"there are {len(kept)} rows" if len(kept) > 1 else "there is one row"
    lead = f"The table has {len(rows)} rows:" if len(kept) == len(rows) else f"Picked out of the table, {there}:"
    found = quoting(lead, kept)
    return found if says_all(question, found.quotations) else None


_QUANTITY = frozenset(content_words("count quantity qty pieces pcs stock"))
_PERSON = frozenset(content_words("person people name who member employee colleague"))


def extreme_of(asked: Aggregation, rows: Sequence[Row], column: int, *, with_others: bool) -> TableAnswer | None:
    """Return the rows with the highest or lowest figure in a column."""
    figures = zip(column_values([row.cell(column) for row in rows]), rows, strict=True)
    measured = [(value, row) for value, row in figures if value is not None]
    if len(measured) < FEWEST:
        return None
    extreme = (max if asked.kind is Aggregate.MOST else min)(value for value, _ in measured)
    best = [row for value, row in measured if value == extreme]
    if len(best) == len(measured):
        return None
    shown = [*best, *(row for row in rows if row not in best)] if with_others else best
    words = ("latest", "earliest") if "date" in asked.column else ("highest", "lowest")
    compared = (
        f"The {words[asked.kind is Aggregate.LEAST]} *{rows[0].names[column]}* of the {len(measured)} rows compared"
    )
    return quoting(
        f"{compared}, worked out from the table, is that of {', '.join(row.cells[0] for row in best)}:", shown
    )


def sum_of(rows: Sequence[Row], column: int | None) -> TableAnswer | None:
    """Return the sum of a column, if every row has a figure of the same unit."""
    cells = [] if column is None else [row.cell(column) for row in rows]
    if column is None or len(rows) < FEWEST or not can_be_added(cells):
        return None
    total = written_out(sum(value or 0 for value in column_values(cells)))
    return quoting(f"Added up from {len(rows)} rows, *{rows[0].names[column]}* comes to {total}:", rows)


def rows_within(
    limit: FigureLimit, wanted: frozenset[str], rows: Sequence[Row], kept: Sequence[Row]
) -> TableAnswer | None:
    """Return the rows whose figure is within the limit, in the named column or the only one of that kind.

    Every row must have a figure there, because leaving out a row would be a wrong answer.
    """
    found: list[tuple[int, int, list[Row]]] = []
    if len(kept) < FEWEST:
        return None
    for at, name in enumerate(rows[0].names[1:], 1):
        *values, bound = column_values([*(row.cell(at) for row in kept), limit.figure])
        figures = [value for value in values if value is not None]
        if bound is None or len(figures) < len(kept) or any(_RANGE.search(row.cell(at)) for row in kept):
            continue  # "5 to 10" is no one figure
        if (named := len(wanted & set(content_words(name)))) or is_only_of_its_kind(limit, rows, at):
            held = [row for value, row in zip(figures, kept, strict=True) if limit.holds(value, bound)]
            found.append((named, -at, held))
    _, at, held = max(found, key=lambda one: one[:2], default=(0, 0, []))
    return _within(rows[0].names[-at], limit.shown, len(kept), held) if held else None


def _within(name: str, said: str, compared: int, held: Sequence[Row]) -> TableAnswer:
    return quoting(f"Worked out from the table, {len(held)} of the {compared} rows have *{name}* {said}:", held)


def rows_dated(limit: DateLimit, wanted: frozenset[str], rows: Sequence[Row]) -> TableAnswer | None:
    """Return the rows whose date is within the limit, in the named date column or the only one."""
    columns = [at for at in range(1, len(rows[0].names)) if all(day_in(row.cell(at)) for row in rows)]
    named = [at for at in columns if wanted & set(content_words(rows[0].names[at]))]
    chosen = named if len(named) == 1 else columns
    if len(chosen) != 1 or len(rows) < FEWEST:
        return None
    held = [row for row in rows if (day := day_in(row.cell(chosen[0]))) and limit.holds(day)]
    if not held:
        return None
    said = f"not {limit.said}" if limit.outside else limit.said
    return _within(rows[0].names[chosen[0]], said, len(rows), held)


def _are_counted(question: str, rows: Sequence[Row]) -> bool:
    """Return whether each row is one of the counted things, by the column or table name or by a cell.

    Plans with a loan machine are not loan machines, and three rows of wind instruments may not be all of them.
    """
    counted = frozenset(thing_asked(question))
    called = set(content_words(" ".join((rows[0].names[0], *place_of(rows)))))
    return counted <= called or all(any(counted == set(content_words(cell)) for cell in row.cells) for row in rows)


def count_rows(question: str, wanted: frozenset[str], rows: Sequence[Row], kept: Sequence[Row]) -> TableAnswer | None:
    """Count the rows that match the question. Count each person once."""
    key, title = (frozenset(content_words(said)) for said in (rows[0].names[0], rows[0].evidence.passage.title))
    if title == frozenset(thing_asked(question)):
        key = title  # a table called "Depots" has a depot in each row, whatever its first column is called
    of_all = bool(key) and key <= wanted  # "how many depots are there?"
    if (len(kept) == len(rows) and not of_all) or len(kept) < FEWEST:
        return None
    by_quantity = not of_all and any(_QUANTITY & set(content_words(name)) for name in rows[0].names[1:])
    if by_quantity or wanted & numeric_columns(rows) or not _are_counted(question, kept):
        return None  # three rows of treadmills are not three treadmills where a column says how many
    people = next((at for at, name in enumerate(rows[0].names) if _PERSON & set(content_words(name))), None)
    different = {row.cells[people].casefold() for row in kept} if people is not None else set(range(len(kept)))
    noun = "different entries" if people is not None and len(different) < len(kept) else noun_of(question, key)
    return quoting(f"Counted in the table, there are {len(different)} {noun}:", kept)
