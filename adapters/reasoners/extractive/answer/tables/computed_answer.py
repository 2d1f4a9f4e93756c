"""Answers that a table gives only as a whole: its longest, its cheapest, how many, all together.

The rows are quoted as they stand; what was worked out from them is said in the line above, and said to be worked out.
"""

import re
from collections.abc import Sequence

from adapters.reasoners.extractive.answer.tables.operations import (
    count_rows,
    extreme_of,
    rows_dated,
    rows_within,
    sum_across,
    sum_of,
)
from adapters.reasoners.extractive.answer.tables.row_choice import (
    ASKS_WITHOUT,
    column_of,
    filter_rows,
    named_rows,
    names_what_is_added,
    of_kind,
    picks_rows,
    says_all,
)
from adapters.reasoners.extractive.answer.tables.rows import (
    FEWEST,
    Row,
    TableAnswer,
    listed_whole,
    picked_out,
    table_fit,
    tables_of,
    with_siblings,
)
from adapters.reasoners.extractive.evidence.scoring import stands_in, topic_words
from adapters.reasoners.extractive.evidence.versions import other_version
from adapters.reasoners.extractive.question.aggregation import (
    COUNTED,
    Aggregate,
    Aggregation,
    aggregation_of,
    lists_rows,
    threshold_of,
)
from core.model.evidence import Evidence
from core.model.markdown_lines import cells_of
from core.model.text import content_words
from core.values.periods import DateLimit, date_limit_in

_OF_TOPIC = 0.5  # of the question's words, which a table has that is asked about
_LISTED = 15  # rows of a table that is quoted whole
_TO_COME = re.compile(r"\W*(?:tbd|tba|tbc|to be (?:decided|announced|confirmed)|\?*)\W*", re.IGNORECASE)  # no row yet
_THAN = re.compile(r"\bthan\b", re.IGNORECASE)


def compute_answer(
    question: str, asked: Aggregation | None, evidence: Sequence[Evidence], pool: Sequence[Evidence] = ()
) -> TableAnswer | None:
    """What the table that fits best answers, with those like it in the pool; None when none does.

    Where nothing is ``asked`` of it as a whole, it may still list in its rows all that the question asks for.
    """
    limit = _limit_of(question)
    if asked is None and not lists_rows(question):
        return None
    wanted = frozenset(content_words(question))
    tables = _tables_by_fit(question, evidence, pool)
    extreme = asked is not None and asked.kind in {Aggregate.MOST, Aggregate.LEAST}
    for rows in tables:
        whole = with_siblings(wanted, rows, tables_of(pool))
        dated = limit and (asked is None or asked.kind is Aggregate.COUNT)
        found = _of_days(question, limit, whole) if limit and dated else _of_table(question, asked, wanted, whole)
        if found and (not extreme or _is_on_topic(question, found, (*evidence, *pool))):
            return found
        if extreme and len(named_rows(question, rows)) == 1:
            return None  # "the fastest an engineer comes on the basic plan" asks what stands in the row of that plan
    return None


def _tables_by_fit(question: str, evidence: Sequence[Evidence], pool: Sequence[Evidence]) -> list[list[Row]]:
    """The tables of the versions that are meant, best first."""
    wanted = frozenset(content_words(question))
    everything = (*pool, *evidence)
    meant = [item for item in evidence if not other_version(question, item, everything)]
    return sorted(tables_of(meant), key=lambda rows: -table_fit(wanted, rows))


def tables_that_answer(question: str, evidence: Sequence[Evidence]) -> frozenset[int]:
    """The evidence whose table as a whole has what is asked for: the cheapest of its rows, how many, which of them.

    No single row answers such a question, however good it is: the table does. What is counted or picked out must be
    all that the question says; of the cheapest, what it is asked of.
    """
    asked = aggregation_of(question)
    if not asked or asked.kind in {Aggregate.COUNT, Aggregate.SUM}:
        by_rows = asked is None or asked.kind in {Aggregate.COUNT, Aggregate.SUM}
        found = compute_answer(question, asked, evidence) if by_rows else None
        picked = found is not None and says_all(question, found.quotations)
        if found and (dated := _limit_of(question)):
            picked = _is_on_topic(question.replace(dated.said, " "), found, evidence)
        if found and asked and asked.kind is Aggregate.SUM:
            added = names_what_is_added(question, found.quotations[0])
            picked = picked and (added or len(named_rows(question, _rows_of(found))) >= FEWEST)
        return frozenset(one.evidence.id for one in found.quotations) if found and picked else frozenset()
    found = compute_answer(question, asked, evidence)
    if found is None or not picks_rows(question, asked, found.quotations[0]):
        return frozenset()
    return frozenset(quotation.evidence.id for quotation in found.quotations)


def _limit_of(question: str) -> DateLimit | None:
    """The limit of time that the rows which are asked for keep: "which leases end before 2027?"."""
    return date_limit_in(question) if lists_rows(question) or COUNTED.search(question) else None


def _of_days(question: str, limit: DateLimit, rows: Sequence[Row]) -> TableAnswer | None:
    """The rows that keep a limit of time, among those that the rest of the question names."""
    bare = question.replace(limit.said, " ")
    wanted = frozenset(content_words(bare))
    return rows_dated(limit, wanted, filter_rows(bare, wanted, rows)) or rows_dated(limit, wanted, rows)


def _is_on_topic(question: str, found: TableAnswer, evidence: Sequence[Evidence]) -> bool:
    """Whether the section of a table has half of what the question speaks of: the table may be of something else."""
    wanted = frozenset(topic_words(question))
    section = found.quotations[0].evidence.passage.section
    there = {
        word for item in evidence if item.passage.section == section for word in content_words(item.passage.searchable)
    }
    return bool(wanted) and sum(stands_in(stem, there) for stem in wanted) >= _OF_TOPIC * len(wanted)


def _rows_of(found: TableAnswer) -> list[Row]:
    return [
        Row(one.evidence, unit, cells_of(unit.head[0]), cells_of(unit.text))
        for one in found.quotations
        for unit in one.units
    ]


def _of_table(
    question: str, asked: Aggregation | None, wanted: frozenset[str], rows: Sequence[Row]
) -> TableAnswer | None:
    limit = threshold_of(question)
    rest = question.replace(limit.said, " ") if limit else question  # a limit is not what stands in a cell
    filtered: Sequence[Row] = filter_rows(question, frozenset(content_words(rest)), rows)
    if asked is None:
        return _list_rows(question, rows, filtered)
    if limit:
        return rows_within(limit, wanted, rows, filtered)
    if asked.kind is Aggregate.COUNT:
        return count_rows(question, wanted, rows, filtered)
    filtered = [row for row in filtered if not _TO_COME.fullmatch(row.cells[0])]
    named = named_rows(question, rows)
    filtered = of_kind(wanted, filtered)
    compared = asked.compares or asked.kind is Aggregate.SUM
    kept = named if compared and len(named) >= FEWEST else filtered
    column = column_of(asked, wanted, rows, kept)
    if asked.kind is Aggregate.SUM:
        counts = column is None and COUNTED.search(question)  # "how many vans are there over all depots"
        across = sum_across(wanted, kept) if COUNTED.search(question) else None
        added = across or (None if counts else sum_of(kept, column))
        return added or (count_rows(question, wanted, rows, filtered) if counts else None)
    if column is None or (_THAN.search(question) and len(named) < FEWEST):
        return None  # "what if my van is longer than I said" compares no rows
    return extreme_of(asked, kept, column, with_others=asked.compares and bool(named))


def _list_rows(question: str, rows: Sequence[Row], kept: Sequence[Row]) -> TableAnswer | None:
    """All rows that have what is asked for, where table and row say all that the question does.

    Of a whole table only where its rows are called what is listed: "list the webhook events", of a column "Event".
    """
    key = set(content_words(rows[0].names[0]))
    if len(kept) == len(rows) and not (key and key <= set(content_words(question)) and len(rows) <= _LISTED):
        return None
    if len(kept) < (1 if ASKS_WITHOUT.search(question) else FEWEST):
        return None
    found = listed_whole(rows) if len(kept) == len(rows) else picked_out(kept)
    return found if says_all(question, found.quotations) else None
