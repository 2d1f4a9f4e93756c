"""Answers that a table gives only as a whole: its longest, its cheapest, how many, all together.

The rows are quoted as they stand; what was worked out from them is said in the line above, and said to be worked out.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from adapters.reasoners.extractive import weights
from adapters.reasoners.extractive.answer.quote_markdown import Quotation
from adapters.reasoners.extractive.evidence.subjects import SubjectMatch, Subjects
from adapters.reasoners.extractive.evidence.units import Form, Unit, cells_of, topic_words, units
from adapters.reasoners.extractive.question.aggregation import Aggregate, Aggregation, aggregation_of
from adapters.reasoners.extractive.question.named_things import thing_picked
from core.model.evidence import Evidence
from core.model.text import content_words, words

_NUMBER = re.compile(r"(?<![\w.])-?\d{1,3}(?:[,\u2009 ]\d{3})+(?:\.\d+)?|(?<![\w])-?\d+(?:\.\d+)?")
_OF_TOPIC = 0.5  # of the question's words, which a table has that is asked about
_FEWEST = 2  # rows that can be compared
_MOST = 40  # rows that are looked at
_PERSON = frozenset(content_words("person people name who member employee colleague"))


@dataclass(frozen=True, slots=True)
class Row:
    """A row with its cells under the names of their columns."""

    evidence: Evidence
    unit: Unit
    names: tuple[str, ...]
    cells: tuple[str, ...]

    def number(self, column: int) -> float | None:
        """The first number of a cell; None where it has none."""
        found = _NUMBER.search(self.cells[column]) if column < len(self.cells) else None
        return float(re.sub(r"[,\u2009 ]", "", found.group())) if found else None


@dataclass(frozen=True, slots=True)
class TableAnswer:
    """What a table answers: the line that says what was worked out, and the rows it was worked out from."""

    lead: str
    quotations: tuple[Quotation, ...]


def compute_answer(
    question: str, asked: Aggregation, evidence: Sequence[Evidence], pool: Sequence[Evidence] = ()
) -> TableAnswer | None:
    """What the table that fits best answers, with those like it in the pool; None when none does."""
    wanted = frozenset(content_words(question))
    tables = sorted(tables_of(evidence), key=lambda rows: -_table_fit(wanted, rows))
    for rows in tables:
        if found := _of_table(question, asked, wanted, _with_siblings(wanted, rows, tables_of(pool))):
            return found
    return None


def tables_that_answer(question: str, evidence: Sequence[Evidence]) -> frozenset[int]:
    """The evidence whose table has the longest, the cheapest or the most that is asked for, and what it is asked of.

    No single row answers such a question, however good it is: the table does.
    """
    asked = aggregation_of(question)
    if asked is None or asked.kind not in {Aggregate.MOST, Aggregate.LEAST} or "date" in asked.column:
        return frozenset()  # the newest is told by versions
    found = compute_answer(question, asked, evidence)
    wanted = frozenset(topic_words(question))
    if found is None or not wanted:
        return frozenset()
    section = found.quotations[0].evidence.passage.section
    there = {
        word for item in evidence if item.passage.section == section for word in content_words(item.passage.searchable)
    }
    picks = _picks_rows(question, found.quotations[0], by_column=bool(asked.column))
    if not picks or len(wanted & there) < _OF_TOPIC * len(wanted):
        return frozenset()
    return frozenset(quotation.evidence.id for quotation in found.quotations)


def _picks_rows(question: str, first: Quotation, *, by_column: bool) -> bool:
    """Whether the rows are what the question picks one of: "vessel" where each row is a vessel, or is said to be one.

    ``by_column``: they are compared by prices, weights or the like; then the rows may be called otherwise.
    """
    passage, row = first.evidence.passage, first.units[0]
    names, cells = cells_of(row.head[0]), cells_of(row.text)
    picked = set(thing_picked(question))
    if picked & set(content_words(" ".join((passage.title, *passage.heading, names[0])))):
        return True
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
    return [row for other in alike for row in other][:_MOST] or rows


def tables_of(evidence: Sequence[Evidence]) -> list[list[Row]]:
    """The tables with names for their columns, put together from the passages that they are spread over."""
    found: dict[tuple[str, str], list[Row]] = {}
    for item in sorted(evidence, key=lambda one: (one.passage.document, one.passage.ordinal)):
        for unit in units(item.passage.text):
            if unit.form is Form.ROW and unit.head and content_words(unit.head[0]):
                names, cells = cells_of(unit.head[0]), cells_of(unit.text)
                found.setdefault((item.passage.section, unit.head[0]), []).append(Row(item, unit, names, cells))
    return [rows[:_MOST] for rows in found.values() if len(rows) >= _FEWEST]


def _table_fit(wanted: frozenset[str], rows: Sequence[Row]) -> float:
    """How many of the question's words a table has: in its place and columns, and in its cells, which count less."""
    passage = rows[0].evidence.passage
    above = set(content_words(" ".join((passage.title, *passage.heading, *rows[0].names))))
    inside = {word for row in rows for word in content_words(row.unit.text)}
    grade = max((row.evidence.grade.score for row in rows if row.evidence.grade), default=1)
    return len(wanted & above) + weights.IN_CELLS * len((wanted & inside) - above) + grade / 10


def _of_table(question: str, asked: Aggregation, wanted: frozenset[str], rows: Sequence[Row]) -> TableAnswer | None:
    named = _named_rows(question, rows)
    kept = named if asked.compares and len(named) >= _FEWEST else _filter_rows(wanted, rows)
    if asked.kind is Aggregate.COUNT:
        return _count_rows(question, wanted, rows, kept)
    column = _column(asked, wanted, rows, kept)
    if column is None:
        return None
    measured = [(value, row) for row in kept if (value := row.number(column)) is not None]
    if len(measured) < _FEWEST:
        return None
    name = rows[0].names[column]
    if asked.kind is Aggregate.SUM:
        total = f"{sum(value for value, _ in measured):,.2f}".rstrip("0").rstrip(".")
        return _table_answer(
            f"Added up from {len(measured)} rows, *{name}* comes to {total}:", [row for _, row in measured]
        )
    extreme = (max if asked.kind is Aggregate.MOST else min)(value for value, _ in measured)
    best = [row for value, row in measured if value == extreme]
    if len(best) == len(measured):
        return None
    word = "highest" if asked.kind is Aggregate.MOST else "lowest"
    shown = [*best, *(row for row in kept if row not in best)] if asked.compares and named else best
    title = ", ".join(row.cells[0] for row in best)
    lead = f"The {word} *{name}* of the {len(measured)} rows compared, worked out from the table, is that of {title}:"
    return _table_answer(lead, shown)


def _named_rows(question: str, rows: Sequence[Row]) -> list[Row]:
    """The rows that the question names by their first cell."""
    subjects = Subjects(question, ((row.evidence.passage, row.unit) for row in rows))
    return [row for row in rows if subjects.match(row.evidence.passage, row.unit) is SubjectMatch.NAMED]


def _filter_rows(wanted: frozenset[str], rows: Sequence[Row]) -> list[Row]:
    """The rows that have in a cell what the question asks for of only some: the panels, what is billed monthly."""
    kept = list(rows)
    for column in range(len(rows[0].names)):
        values = {row.cells[column] for row in kept if column < len(row.cells)}
        matching = {value for value in values if (stems := set(content_words(value))) and stems <= wanted}
        if not matching and column:  # "jude" for Jude Okoro: a word of some cells of one column
            telling = wanted - set(content_words(" ".join(rows[0].names)))
            matching = {value for value in values if telling & set(content_words(value))}
        if matching and (some := [row for row in kept if column < len(row.cells) and row.cells[column] in matching]):
            kept = some
    return kept


def _column(asked: Aggregation, wanted: frozenset[str], rows: Sequence[Row], kept: Sequence[Row]) -> int | None:
    """The column of numbers that is asked for: by its name, else by what such a question is about."""
    best: tuple[float, int] | None = None
    hinted = {
        at
        for at in range(1, len(rows[0].names))
        if any(_hints(hint, rows[0].names[at], kept[0].cells, at) for hint in asked.column)
    }
    for at in range(1, len(rows[0].names)):
        if sum(row.number(at) is not None for row in kept) < min(_FEWEST, len(kept)):
            continue
        stems = frozenset(content_words(rows[0].names[at]))
        said = len(stems & wanted) / len(stems) + len(stems & wanted) if stems else 0.0
        fits = at in hinted
        score = said + weights.COLUMN_NAMED * fits
        if (
            score > 0
            and (fits or (not hinted and (not asked.column or said >= weights.COLUMN_NAMED)))
            and (best is None or score > best[0])
        ):
            best = score, at
    return best[1] if best else None


def _hints(hint: str, name: str, cells: Sequence[str], at: int) -> bool:
    """Whether a column is of the kind that a word or a sign stands for: by its name, or by its first cell."""
    return (
        hint in name.casefold().split()
        or hint in content_words(name)
        or (not hint.isalpha() and (hint in name or (at < len(cells) and hint in cells[at])))
        or (hint.isupper() and hint in name)
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
    columns = [
        at for at in range(1, len(rows[0].names)) if sum(row.number(at) is not None for row in rows) > len(rows) / 2
    ]
    return {stem for at in columns for stem in content_words(rows[0].names[at])}


def _table_answer(lead: str, rows: Sequence[Row]) -> TableAnswer:
    quotations: list[Quotation] = []
    for row in rows:
        if quotations and quotations[-1].evidence.id == row.evidence.id:
            quotations[-1] = Quotation(row.evidence, (*quotations[-1].units, row.unit))
        else:
            quotations.append(Quotation(row.evidence, (row.unit,)))
    return TableAnswer(lead, tuple(quotations))
