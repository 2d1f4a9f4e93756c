"""Selection of the table rows and columns that a question means, by names and by cells."""

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from adapters.reasoners.extractive import weights
from adapters.reasoners.extractive.candidates import stands_in, topic_words
from adapters.reasoners.extractive.compose.quote_markdown import Quotation
from adapters.reasoners.extractive.rules import Subjects
from adapters.reasoners.extractive.tables.aggregation import (
    COUNTED,
    Aggregation,
    FigureLimit,
    aggregation_of,
    figure_limit_in,
    without_sum,
)
from adapters.reasoners.extractive.tables.rows import FEWEST, Row, column_values, kind_of, place_of
from adapters.reasoners.extractive.understand import PHRASES
from adapters.reasoners.extractive.understand.answer_type import thing_asked
from core.model.markdown_lines import cells_of
from core.model.passage_units import Unit
from core.model.text import STOPWORDS, content_words

_CLAUSE = re.compile(r"\b(?:and|but)\b", re.IGNORECASE)
_YES, _NO = re.compile(r"(?:yes|y)\b|[✓✔]", re.IGNORECASE), re.compile(r"(?:no|none|n|not)\b|[–—✗-]?$", re.IGNORECASE)


def named_rows(question: str, rows: Sequence[Row]) -> list[Row]:
    """Return the rows whose first cell the question names."""
    subjects = Subjects(question, ((row.evidence.passage, row.unit) for row in rows))
    return [row for row in rows if subjects.names(row.evidence.passage, row.unit)]


def of_kind(wanted: frozenset[str], rows: Sequence[Row]) -> Sequence[Row]:
    """Return the rows whose first cell has a word of the question, if some but not all rows do."""
    telling = wanted - set(content_words(" ".join(rows[0].names))) if rows else wanted
    some = [row for row in rows if telling & set(content_words(row.cell(0)))]
    return some if FEWEST <= len(some) < len(rows) else rows


def filter_rows(question: str, wanted: frozenset[str], rows: Sequence[Row]) -> list[Row]:
    """Return the rows whose cells match words of the question: the panels, what is billed monthly.

    In a yes/no column such as "Lift", match the question's yes or no.
    """
    kept = list(rows)
    used: set[str] = set()  # words that an earlier column matched: "lorry" picks the lorries, not mentions of lorries
    for column in range(len(rows[0].names)):
        if column and (answer := _answer_in(question, rows[0].names[column], [row.cell(column) for row in rows])):
            kept = [row for row in kept if answer.match(row.cell(column))]
            continue
        values = {row.cells[column] for row in kept if column < len(row.cells)}
        matching = {value for value in values if (stems := set(content_words(value))) and stems <= wanted}
        if not matching and column:  # "jude" for Jude Okoro: a word of some cells of one column
            telling = wanted - used - set(content_words(" ".join((*rows[0].names, *place_of(rows)))))
            matching = {value for value in values if telling & set(content_words(value))}
        if matching and (some := [row for row in kept if column < len(row.cells) and row.cells[column] in matching]):
            kept = some
            used |= wanted & {stem for value in matching for stem in content_words(value)}
    return kept


def _answer_in(question: str, name: str, cells: Sequence[str]) -> re.Pattern[str] | None:
    """Return the answer, yes or no, that the question wants in a column of such answers; None for other columns.

    "Without a limit" wants "no" in a column with limits, too. "A lift but no garden" wants yes, then no.
    """
    stems, asked = set(content_words(name)) - STOPWORDS, set(content_words(question))  # "needed" is none, "need" is
    clauses = (said for said in _CLAUSE.split(question) if stems & set(content_words(said)))
    without = PHRASES["WITHOUT"].search(next(clauses, ""))
    lacking = [cell for cell in cells if _NO.match(cell)]
    if without and 0 < len(lacking) < len(cells):
        return _NO
    answers = len(lacking) + sum(bool(_YES.match(cell)) for cell in cells) == len(cells)
    return (_NO if without else _YES) if answers and stems and stems <= asked else None


_WHICH_TIME = frozenset(content_words("last next first previous"))  # "last year" does not ask for "Last act ends"


def column_of(asked: Aggregation, wanted: frozenset[str], rows: Sequence[Row], kept: Sequence[Row]) -> int | None:
    """Return the wanted column of numbers, by its name or by the words that the aggregation hints at."""
    best: tuple[float, int] | None = None
    key = frozenset(content_words(rows[0].names[0]))  # "which stage has the most" does not ask for "Stage width"
    by_date = "date" in asked.column  # or by the time in a column that is named: "which lorry leaves earliest"
    picked = frozenset(content_words(asked.picked)[:1])
    compared = [at for at in range(1, len(rows[0].names)) if _figures(kept, at) >= min(FEWEST, len(kept))]
    hinted = {at for at in compared if any(_hints(hint, rows[0].names[at], kept[0].cells, at) for hint in asked.column)}
    for at in compared:
        stems = frozenset(content_words(rows[0].names[at])) - (frozenset() if asked.column else key) - _WHICH_TIME
        if by_date and hinted:  # "the oldest vehicle" does not ask for a column "Vehicle"
            stems -= picked
        said = len(stems & wanted) / len(stems) + len(stems & wanted) if stems else 0.0
        fits = at in hinted
        score = said + weights.COLUMN_NAMED * fits
        if (
            score > 0
            and (fits or ((not hinted or by_date) and (not asked.column or stems <= wanted)))
            and (best is None or score > best[0])
        ):
            best = score, at
    return best[1] if best else None


def is_only_of_its_kind(limit: FigureLimit, rows: Sequence[Row], column: int) -> bool:
    """Return whether a column is the only one with figures of the limit's kind, for example pounds."""
    kind = kind_of(limit.figure)
    alike = [at for at in range(1, len(rows[0].names)) if kind in {kind_of(row.cell(at)) for row in rows}]
    return bool(kind) and alike == [column]


def numeric_columns(rows: Sequence[Row]) -> set[str]:
    """Return the stems of the names of number columns, whose values are read, not counted."""
    columns = [at for at in range(1, len(rows[0].names)) if _figures(rows, at) > len(rows) / 2]
    return {stem for at in columns for stem in content_words(rows[0].names[at])}


def _figures(rows: Sequence[Row], column: int) -> int:
    """Return how many rows have a comparable figure in a column."""
    return sum(value is not None for value in column_values([row.cell(column) for row in rows]))


def _hints(hint: str, name: str, cells: Sequence[str], at: int) -> bool:
    """Return whether a column's name or first cell has a hint word or sign."""
    return (
        hint in name.casefold().split()
        or hint in content_words(name)
        or (not hint.isalpha() and (hint in name or (at < len(cells) and hint in cells[at])))
        or (hint.isupper() and (hint in name or hint.casefold() in content_words(name)))
    )


_SAYS_NOT = frozenset(content_words("anything anyone cant cannot dont doesnt isnt arent havent hasnt wont lack lacks"))
_SAYS_WHEN = frozenset(content_words("still yet already currently now today"))  # and in no cell
_HAS = frozenset(content_words("serve have run offer cover provide operate own manage hold fly"))


def says_all(question: str, quotations: Sequence[Quotation]) -> bool:
    """Return whether the table's headings and columns, with each row, have every word of the question."""
    limit = figure_limit_in(question)
    unlimited = question.replace(limit.said, " ") if limit else question
    wanted = set(topic_words(without_sum(unlimited))) - _SAYS_NOT - _SAYS_WHEN
    passage, head = quotations[0].evidence.passage, quotations[0].units[0].head[0]
    above = set(content_words(" ".join((passage.title, *passage.heading, head))))
    left = {stem for stem in wanted if not stands_in(stem, above)}
    if aggregation_of(question) and left & set(thing_asked(question)):
        return False  # four rows with "minibus" in a cell need not be four minibuses
    rows = [unit for one in quotations for unit in one.units]
    if bool(wanted) and _names_each(left, rows):
        return True
    counted = COUNTED.search(question) and set(content_words(cells_of(head)[0])) <= wanted
    left -= _HAS if counted else frozenset()  # "how many destinations does Kestrane serve"
    return bool(wanted) and all(stands_in(stem, content_words(row.text)) for row in rows for stem in left)


def _names_each(left: AbstractSet[str], rows: Sequence[Unit]) -> bool:
    """Return whether the remaining words of a question name exactly these rows."""
    keys = [set(content_words(cells_of(row.text)[0])) for row in rows]
    return len(rows) >= FEWEST and all(left & key for key in keys) and left <= set().union(*keys)


def names_what_is_added(question: str, first: Quotation) -> bool:
    """Return whether a question for a sum names a column and what the rows are: "beds over all sites".

    The number of cages that each round may take does not answer "How many cages do we own altogether".
    """
    passage, wanted = first.evidence.passage, set(topic_words(without_sum(question)))
    places = (" ".join((passage.title, *passage.heading)), *cells_of(first.units[0].head[0]))
    said = (frozenset(wanted & set(content_words(place))) for place in places)
    return len({stems for stems in said if stems}) > 1


def picks_rows(question: str, asked: Aggregation, first: Quotation) -> bool:
    """Return whether the question picks from what the rows are: "vessel" if each row is a vessel or says so.

    For prices, weights and the like, the rows may have another name. For dates, they may not.
    """
    passage, names = first.evidence.passage, cells_of(first.units[0].head[0])
    picked = set(thing_asked(question) or content_words(asked.picked))
    above = content_words(" ".join((passage.title, *passage.heading, names[0])))
    by_column = bool(asked.column) and "date" not in asked.column
    other = picked & set(content_words(" ".join(names[1:])))
    return any(stands_in(stem, above) for stem in picked) or (by_column and not other)
