"""Answers that a table gives only as a whole: its longest, its cheapest, how many, all together.

The rows are quoted as they stand; what was worked out from them is said in the line above, and said to be worked out.
"""

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from adapters.reasoners.extractive import weights
from adapters.reasoners.extractive.answer.newest import asks_for_newest
from adapters.reasoners.extractive.answer.quote_markdown import Quotation
from adapters.reasoners.extractive.evidence.cell_values import can_be_added, column_values, kind_of
from adapters.reasoners.extractive.evidence.columns import stands_in
from adapters.reasoners.extractive.evidence.name_trail import gives_range
from adapters.reasoners.extractive.evidence.subjects import SubjectMatch, Subjects
from adapters.reasoners.extractive.evidence.units import Form, Unit, cells_of, topic_words, units
from adapters.reasoners.extractive.evidence.versions import other_version
from adapters.reasoners.extractive.question.aggregation import (
    COUNTED,
    Aggregate,
    Aggregation,
    Threshold,
    aggregation_of,
    lists_rows,
    threshold_of,
    without_sum,
)
from adapters.reasoners.extractive.question.named_things import thing_picked
from core.model.evidence import Evidence
from core.model.text import STOPWORDS, content_words, words

_OF_TOPIC = 0.5  # of the question's words, which a table has that is asked about
_FEWEST = 2  # rows that can be compared
_MOST = 400  # rows of one table; of a longer one nothing is worked out, since what is left out might be the most
_YES, _NO = (
    re.compile(r"(?:yes|y|✓|✔)\b|[✓✔]", re.IGNORECASE),
    re.compile(r"(?:no|none|n|not)\b|[–—✗-]?$", re.IGNORECASE),
)
_WITHOUT = re.compile(
    r"\b(?:without|no|not|lacks?|neither|cannot|\w+n['’]t|(?:ca|do|does|is|are|was|were|has|have|wo)nt)\b",
    re.IGNORECASE,
)
_SAYS_NOT = frozenset(content_words("anything anyone cant cannot dont doesnt isnt arent havent hasnt wont lack lacks"))
_SAYS_WHEN = frozenset(content_words("still yet already currently now today"))  # and in no cell
_WHICH_TIME = frozenset(content_words("last next first previous"))  # "last year" does not ask for "Last act ends"
_THAN = re.compile(r"\bthan\b", re.IGNORECASE)
_HAS = frozenset(content_words("serve have run offer cover provide operate own manage hold fly"))
_PERSON = frozenset(content_words("person people name who member employee colleague"))


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


@dataclass(frozen=True, slots=True)
class TableAnswer:
    """What a table answers: the line that says what was worked out, and the rows it was worked out from."""

    lead: str
    quotations: tuple[Quotation, ...]


def compute_answer(
    question: str, asked: Aggregation | None, evidence: Sequence[Evidence], pool: Sequence[Evidence] = ()
) -> TableAnswer | None:
    """What the table that fits best answers, with those like it in the pool; None when none does.

    Where nothing is ``asked`` of it as a whole, it may still list in its rows all that the question asks for.
    """
    if asked is None and not lists_rows(question):
        return None
    wanted = frozenset(content_words(question))
    everything = (*pool, *evidence)
    meant = [item for item in evidence if not other_version(question, item, everything)]
    tables = sorted(tables_of(meant), key=lambda rows: -_table_fit(wanted, rows))
    for rows in tables:
        if found := _of_table(question, asked, wanted, _with_siblings(wanted, rows, tables_of(pool))):
            return found
    return None


def tables_that_answer(question: str, evidence: Sequence[Evidence]) -> frozenset[int]:
    """The evidence whose table as a whole has what is asked for: the cheapest of its rows, how many, which of them.

    No single row answers such a question, however good it is: the table does. What is counted or picked out must be
    all that the question says; of the cheapest, what it is asked of.
    """
    asked = aggregation_of(question)
    if not asked or asked.kind in {Aggregate.COUNT, Aggregate.SUM} or asks_for_newest(question):
        by_rows = asked is None or asked.kind in {Aggregate.COUNT, Aggregate.SUM}
        found = compute_answer(question, asked, evidence) if by_rows else None
        picked = found is not None and _says_all(question, found.quotations)
        if found and asked and asked.kind is Aggregate.SUM:
            added = _names_what_is_added(question, found.quotations[0])
            picked = picked and (added or len(_named_rows(question, _rows_of(found))) >= _FEWEST)
        return frozenset(one.evidence.id for one in found.quotations) if found and picked else frozenset()
    found = compute_answer(question, asked, evidence)
    wanted = frozenset(topic_words(question))
    if found is None or not wanted:
        return frozenset()
    section = found.quotations[0].evidence.passage.section
    there = {
        word for item in evidence if item.passage.section == section for word in content_words(item.passage.searchable)
    }
    picks = _picks_rows(question, asked, found.quotations[0])
    known = sum(stands_in(stem, there) for stem in wanted)
    if not picks or known < _OF_TOPIC * len(wanted):
        return frozenset()
    return frozenset(quotation.evidence.id for quotation in found.quotations)


def _rows_of(found: TableAnswer) -> list[Row]:
    return [
        Row(one.evidence, unit, cells_of(unit.head[0]), cells_of(unit.text))
        for one in found.quotations
        for unit in one.units
    ]


def _says_all(question: str, quotations: Sequence[Quotation]) -> bool:
    """Whether a table's place and columns and each of the rows together have every word of the question."""
    limit = threshold_of(question)
    wanted = (
        set(topic_words(without_sum(question.replace(limit.said, " ") if limit else question))) - _SAYS_NOT - _SAYS_WHEN
    )
    passage, head = quotations[0].evidence.passage, quotations[0].units[0].head[0]
    above = set(content_words(" ".join((passage.title, *passage.heading, head))))
    left = {stem for stem in wanted if not stands_in(stem, above)}
    if aggregation_of(question) and left & set(thing_picked(question)):
        return False  # four rows with "minibus" in a cell need not be four minibuses
    rows = [unit for one in quotations for unit in one.units]
    if bool(wanted) and _names_each(left, rows):
        return True
    counted = COUNTED.search(question) and set(content_words(cells_of(head)[0])) <= wanted
    left -= _HAS if counted else frozenset()  # "how many destinations does Kestrane serve"
    return bool(wanted) and all(stands_in(stem, content_words(row.text)) for row in rows for stem in left)


def _names_each(left: AbstractSet[str], rows: Sequence[Unit]) -> bool:
    """Whether what is left of a question are the names of these rows, each of them and no other."""
    keys = [set(content_words(cells_of(row.text)[0])) for row in rows]
    return len(rows) >= _FEWEST and all(left & key for key in keys) and left <= set().union(*keys)


def _names_what_is_added(question: str, first: Quotation) -> bool:
    """Whether a question for a sum names a column and also of what it is: "beds over all sites", where rows are sites.

    "How many cages do we own altogether" is not answered by how many each round may take.
    """
    passage, wanted = first.evidence.passage, set(topic_words(without_sum(question)))
    places = (" ".join((passage.title, *passage.heading)), *cells_of(first.units[0].head[0]))
    said = (frozenset(wanted & set(content_words(place))) for place in places)
    return len({stems for stems in said if stems}) > 1


def _picks_rows(question: str, asked: Aggregation, first: Quotation) -> bool:
    """Whether the rows are what the question picks one of: "vessel" where each row is a vessel, or is said to be one.

    Where they are compared by prices, weights or the like the rows may be called otherwise; by dates they may not.
    """
    by_date = "date" in asked.column
    by_column = bool(asked.column) and not by_date
    passage, row = first.evidence.passage, first.units[0]
    names, cells = cells_of(row.head[0]), cells_of(row.text)
    picked = set(thing_picked(question) or content_words(asked.picked))
    if any(stands_in(stem, content_words(" ".join((passage.title, *passage.heading, names[0])))) for stem in picked):
        return True
    if by_date:  # "which lorry leaves earliest", where the row says that it is one
        return bool(picked) and any(picked <= set(content_words(cell)) for cell in cells)
    is_said = any(picked == set(content_words(cell)) for cell in cells)
    return by_column and (is_said or not picked & set(content_words(" ".join(names[1:]))))


def _with_siblings(wanted: frozenset[str], rows: Sequence[Row], tables: Sequence[Sequence[Row]]) -> Sequence[Row]:
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


def tables_of(evidence: Sequence[Evidence]) -> list[list[Row]]:
    """The tables with names for their columns, put together from the passages that they are spread over."""
    found: dict[tuple[str, str], list[Row]] = {}
    for item in sorted(evidence, key=lambda one: (one.passage.document, one.passage.ordinal)):
        for unit in units(item.passage.text):
            if unit.form is Form.ROW and unit.head and content_words(unit.head[0]):
                names, cells = cells_of(unit.head[0]), cells_of(unit.text)
                found.setdefault((item.passage.section, unit.head[0]), []).append(Row(item, unit, names, cells))
    return [rows for rows in found.values() if _FEWEST <= len(rows) <= _MOST]


def _table_fit(wanted: frozenset[str], rows: Sequence[Row]) -> float:
    """How many of the question's words a table has: in its place and columns, and in its cells, which count less."""
    passage = rows[0].evidence.passage
    above = set(content_words(" ".join((passage.title, *passage.heading, *rows[0].names))))
    inside = {word for row in rows for word in content_words(row.unit.text)}
    grade = max((row.evidence.grade.score for row in rows if row.evidence.grade), default=1)
    return len(wanted & above) + weights.IN_CELLS * len((wanted & inside) - above) + grade / 10


def _of_table(
    question: str, asked: Aggregation | None, wanted: frozenset[str], rows: Sequence[Row]
) -> TableAnswer | None:
    limit = threshold_of(question)
    rest = question.replace(limit.said, " ") if limit else question  # a limit is not what stands in a cell
    filtered: Sequence[Row] = _filter_rows(question, frozenset(content_words(rest)), rows)
    if asked is None:
        return _list_rows(question, rows, filtered)
    if limit:
        return _rows_within(limit, wanted, rows, filtered)
    if asked.kind is Aggregate.COUNT:
        return _count_rows(question, wanted, rows, filtered)
    named = _named_rows(question, rows)
    filtered = _of_kind(wanted, filtered)
    compared = asked.compares or asked.kind is Aggregate.SUM
    kept = named if compared and len(named) >= _FEWEST else filtered
    column = _column(asked, wanted, rows, kept)
    if asked.kind is Aggregate.SUM:
        counts = column is None and COUNTED.search(question)  # "how many vans are there over all depots"
        across = _sum_across(wanted, kept) if COUNTED.search(question) else None
        added = across or (None if counts else _sum_of(kept, column))
        return added or (_count_rows(question, wanted, rows, filtered) if counts else None)
    if column is None or (_THAN.search(question) and len(named) < _FEWEST):
        return None  # "what if my van is longer than I said" compares no rows
    return _extreme_of(asked, kept, column, with_others=asked.compares and bool(named))


def _of_kind(wanted: frozenset[str], rows: Sequence[Row]) -> Sequence[Row]:
    """The rows that are of what is asked for by a word of their first cell, where several are and others are not."""
    telling = wanted - set(content_words(" ".join(rows[0].names))) if rows else wanted
    some = [row for row in rows if telling & set(content_words(row.cell(0)))]
    return some if _FEWEST <= len(some) < len(rows) else rows


def _sum_of(rows: Sequence[Row], column: int | None) -> TableAnswer | None:
    """The sum of a column, where every row has a figure of the same unit."""
    cells = [] if column is None else [row.cell(column) for row in rows]
    if column is None or len(rows) < _FEWEST or not can_be_added(cells):
        return None
    total = _written_out(sum(value or 0 for value in column_values(cells)))
    return _table_answer(f"Added up from {len(rows)} rows, *{rows[0].names[column]}* comes to {total}:", rows)


def _sum_across(wanted: frozenset[str], rows: Sequence[Row]) -> TableAnswer | None:
    """The sum of several columns of one row, which part what is asked for: passengers at home and abroad.

    Where a column is called no more than what is asked for, it has it already; amounts of money are not parts.
    """
    if len(rows) != 1:
        return None
    (row,) = rows
    columns = [at for at, name in enumerate(row.names) if at and wanted & set(content_words(name))]
    cells = [row.cell(at) for at in columns]
    whole = any(set(content_words(row.names[at])) <= wanted for at in columns)
    if len(columns) < _FEWEST or whole or any(map(kind_of, cells)) or not can_be_added(cells):
        return None
    names = " and ".join(f"*{row.names[at]}*" for at in columns)
    total = _written_out(sum(value or 0 for value in column_values(cells)))
    return _table_answer(f"Added up in the row of {row.cells[0]}, {names} come to {total}:", rows)


def _written_out(value: float) -> str:
    return f"{value:,.2f}".rstrip("0").rstrip(".")


def _extreme_of(asked: Aggregation, rows: Sequence[Row], column: int, *, with_others: bool) -> TableAnswer | None:
    """The rows with the highest or lowest figure of a column, among those that have one."""
    figures = zip(column_values([row.cell(column) for row in rows]), rows, strict=True)
    measured = [(value, row) for value, row in figures if value is not None]
    if len(measured) < _FEWEST:
        return None
    extreme = (max if asked.kind is Aggregate.MOST else min)(value for value, _ in measured)
    best = [row for value, row in measured if value == extreme]
    if len(best) == len(measured):
        return None
    words_for = ("latest", "earliest") if "date" in asked.column else ("highest", "lowest")
    word = words_for[asked.kind is Aggregate.LEAST]
    shown = [*best, *(row for row in rows if row not in best)] if with_others else best
    title, name = ", ".join(row.cells[0] for row in best), rows[0].names[column]
    lead = f"The {word} *{name}* of the {len(measured)} rows compared, worked out from the table, is that of {title}:"
    return _table_answer(lead, shown)


def _rows_within(
    limit: Threshold, wanted: frozenset[str], rows: Sequence[Row], kept: Sequence[Row]
) -> TableAnswer | None:
    """The rows whose figure keeps the limit, in the column that is named, or else the one of such figures.

    Only where every row has a figure there: one that was left out would be a wrong answer.
    """
    best: tuple[int, int, list[Row]] | None = None
    for at in range(1, len(rows[0].names)):
        *values, bound = column_values([*(row.cell(at) for row in kept), limit.figure])
        figures = [value for value in values if value is not None]
        if bound is None or len(figures) < len(kept) or len(kept) < _FEWEST or gives_range(kept[0].cell(at)):
            continue
        named = len(wanted & set(content_words(rows[0].names[at])))
        if not named and not _only_of_its_kind(limit, rows, at):
            continue
        if best and best[0] >= named:
            continue
        best = named, at, [row for value, row in zip(figures, kept, strict=True) if limit.holds(value, bound)]
    if best is None or not best[2]:
        return None
    count = f"{len(best[2])} of the {len(kept)} rows have"
    return _table_answer(f"Worked out from the table, {count} *{rows[0].names[best[1]]}* {limit.said}:", best[2])


def _only_of_its_kind(limit: Threshold, rows: Sequence[Row], column: int) -> bool:
    """Whether a column is the only one with such figures as the limit: the only one with pounds."""
    kind = kind_of(limit.figure)
    alike = [at for at in range(1, len(rows[0].names)) if kind in {kind_of(row.cell(at)) for row in rows}]
    return bool(kind) and alike == [column]


def _list_rows(question: str, rows: Sequence[Row], kept: Sequence[Row]) -> TableAnswer | None:
    """All rows that have what is asked for, where table and row say all that the question does."""
    if not (1 if _WITHOUT.search(question) else _FEWEST) <= len(kept) < len(rows):
        return None
    there = f"there are {len(kept)} rows" if len(kept) > 1 else "there is one row"
    found = _table_answer(f"Picked out of the table, {there}:", kept)
    return found if _says_all(question, found.quotations) else None


def _named_rows(question: str, rows: Sequence[Row]) -> list[Row]:
    """The rows that the question names by their first cell."""
    subjects = Subjects(question, ((row.evidence.passage, row.unit) for row in rows))
    return [row for row in rows if subjects.match(row.evidence.passage, row.unit) is SubjectMatch.NAMED]


def _filter_rows(question: str, wanted: frozenset[str], rows: Sequence[Row]) -> list[Row]:
    """The rows that have in a cell what the question asks for of only some: the panels, what is billed monthly.

    Of a column that says yes or no, such as "Lift", those that say what the question does of it.
    """
    kept = list(rows)
    for column in range(len(rows[0].names)):
        if column and (answer := _yes_or_no(question, [row.cell(column) for row in rows], rows[0].names[column])):
            kept = [row for row in kept if (_YES if answer == "yes" else _NO).match(row.cell(column))]
            continue
        values = {row.cells[column] for row in kept if column < len(row.cells)}
        matching = {value for value in values if (stems := set(content_words(value))) and stems <= wanted}
        if not matching and column:  # "jude" for Jude Okoro: a word of some cells of one column
            telling = wanted - set(content_words(" ".join((*rows[0].names, *_place_of(rows)))))
            matching = {value for value in values if telling & set(content_words(value))}
        if matching and (some := [row for row in kept if column < len(row.cells) and row.cells[column] in matching]):
            kept = some
    return kept


def _place_of(rows: Sequence[Row]) -> tuple[str, ...]:
    """What stands over a table, and so holds for all of its rows."""
    passage = rows[0].evidence.passage
    return (passage.title, *passage.heading)


def _yes_or_no(question: str, cells: Sequence[str], name: str) -> str:
    """What the cells under a name must say, "yes" or "no"; nothing where they say more, or it is not asked for.

    "Without a limit" are those that have none, whatever limits the others have.
    """
    there = set(content_words(name)) - STOPWORDS  # "needed" is none, "need" is
    lacking = [cell for cell in cells if _NO.match(cell)]
    if _WITHOUT.search(question) and there & set(content_words(question)) and 0 < len(lacking) < len(cells):
        return "no"
    if not any(_YES.match(cell) for cell in cells) or not all(_YES.match(cell) or _NO.match(cell) for cell in cells):
        return ""
    if not there or not there <= set(content_words(question)):
        return ""
    return "no" if _WITHOUT.search(question) else "yes"


def _column(asked: Aggregation, wanted: frozenset[str], rows: Sequence[Row], kept: Sequence[Row]) -> int | None:
    """The column of numbers that is asked for: by its name, else by what such a question is about."""
    best: tuple[float, int] | None = None
    key = frozenset(content_words(rows[0].names[0]))  # "which stage has the most" does not ask for "Stage width"
    by_date = "date" in asked.column  # or by the time in a column that is named: "which lorry leaves earliest"
    picked = frozenset(content_words(asked.picked)[:1])
    hinted = {
        at
        for at in range(1, len(rows[0].names))
        if any(_hints(hint, rows[0].names[at], kept[0].cells, at) for hint in asked.column)
    }
    for at in range(1, len(rows[0].names)):
        if _figures(kept, at) < min(_FEWEST, len(kept)):
            continue
        stems = frozenset(content_words(rows[0].names[at])) - (frozenset() if asked.column else key) - _WHICH_TIME
        if by_date and hinted:  # "the oldest vehicle" does not ask for a column "Vehicle"
            stems -= picked
        said = len(stems & wanted) / len(stems) + len(stems & wanted) if stems else 0.0
        fits = at in hinted
        score = said + weights.COLUMN_NAMED * fits
        if (
            score > 0
            and (fits or ((not hinted or by_date) and (not asked.column or said >= weights.COLUMN_NAMED)))
            and (best is None or score > best[0])
        ):
            best = score, at
    return best[1] if best else None


def _figures(rows: Sequence[Row], column: int) -> int:
    """How many rows have a figure in a column that can be compared."""
    return sum(value is not None for value in column_values([row.cell(column) for row in rows]))


def _hints(hint: str, name: str, cells: Sequence[str], at: int) -> bool:
    """Whether a column is of the kind that a word or a sign stands for: by its name, or by its first cell."""
    return (
        hint in name.casefold().split()
        or hint in content_words(name)
        or (not hint.isalpha() and (hint in name or (at < len(cells) and hint in cells[at])))
        or (hint.isupper() and (hint in name or hint.casefold() in content_words(name)))
    )


def _count_rows(question: str, wanted: frozenset[str], rows: Sequence[Row], kept: Sequence[Row]) -> TableAnswer | None:
    """How many rows have in a cell what is asked for; people are counted once."""
    of_all = bool(key := frozenset(content_words(rows[0].names[0]))) and key <= wanted  # "how many depots are there?"
    if (len(kept) == len(rows) and not of_all) or len(kept) < _FEWEST:
        return None
    if any(stem in wanted for stem in _numeric(rows)):
        return None
    people = next((at for at, name in enumerate(rows[0].names) if _PERSON & set(content_words(name))), None)
    counted = {row.cells[people].casefold() for row in kept} if people is not None else set(range(len(kept)))
    noun = "different entries" if people is not None and len(counted) < len(kept) else _noun_of(question, key)
    return _table_answer(f"Counted in the table, there are {len(counted)} {noun}:", kept)


def _noun_of(question: str, key: frozenset[str]) -> str:
    """What the rows are called in the question, where their first column is called so: "rounds"."""
    said = (word for word in words(question) if key and set(content_words(word)) == key)
    return next(said, "rows")


def _numeric(rows: Sequence[Row]) -> set[str]:
    """The stems of the names of columns that hold numbers: these are read off, not counted."""
    columns = [at for at in range(1, len(rows[0].names)) if _figures(rows, at) > len(rows) / 2]
    return {stem for at in columns for stem in content_words(rows[0].names[at])}


def _table_answer(lead: str, rows: Sequence[Row]) -> TableAnswer:
    quotations: list[Quotation] = []
    for row in rows:
        if quotations and quotations[-1].evidence.id == row.evidence.id:
            quotations[-1] = Quotation(row.evidence, (*quotations[-1].units, row.unit))
        else:
            quotations.append(Quotation(row.evidence, (row.unit,)))
    return TableAnswer(lead, tuple(quotations))
