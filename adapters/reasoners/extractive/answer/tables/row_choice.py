"""Which rows of a table a question means: those that it names, and those that have in a cell what it asks for."""

import re
from collections.abc import Sequence

from adapters.reasoners.extractive.answer.tables.rows import FEWEST, Row, place_of
from adapters.reasoners.extractive.evidence.subjects import SubjectMatch, Subjects
from core.model.text import STOPWORDS, content_words

_YES, _NO = (
    re.compile(r"(?:yes|y|✓|✔)\b|[✓✔]", re.IGNORECASE),
    re.compile(r"(?:no|none|n|not)\b|[–—✗-]?$", re.IGNORECASE),
)
ASKS_WITHOUT = re.compile(
    r"\b(?:without|no|not|lacks?|neither|cannot|\w+n['’]t|(?:ca|do|does|is|are|was|were|has|have|wo)nt)\b",
    re.IGNORECASE,
)


def named_rows(question: str, rows: Sequence[Row]) -> list[Row]:
    """The rows that the question names by their first cell."""
    subjects = Subjects(question, ((row.evidence.passage, row.unit) for row in rows))
    return [row for row in rows if subjects.match(row.evidence.passage, row.unit) is SubjectMatch.NAMED]


def of_kind(wanted: frozenset[str], rows: Sequence[Row]) -> Sequence[Row]:
    """The rows that are of what is asked for by a word of their first cell, where several are and others are not."""
    telling = wanted - set(content_words(" ".join(rows[0].names))) if rows else wanted
    some = [row for row in rows if telling & set(content_words(row.cell(0)))]
    return some if FEWEST <= len(some) < len(rows) else rows


def filter_rows(question: str, wanted: frozenset[str], rows: Sequence[Row]) -> list[Row]:
    """The rows that have in a cell what the question asks for of only some: the panels, what is billed monthly.

    Of a column that says yes or no, such as "Lift", those that say what the question does of it.
    """
    kept = list(rows)
    used: set[str] = set()  # by a column before: "lorry" picks the lorries, not what says something of lorries besides
    for column in range(len(rows[0].names)):
        if column and (answer := _yes_or_no(question, [row.cell(column) for row in rows], rows[0].names[column])):
            kept = [row for row in kept if (_YES if answer == "yes" else _NO).match(row.cell(column))]
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


def _yes_or_no(question: str, cells: Sequence[str], name: str) -> str:
    """What the cells under a name must say, "yes" or "no"; nothing where they say more, or it is not asked for.

    "Without a limit" are those that have none, whatever limits the others have.
    """
    there = set(content_words(name)) - STOPWORDS  # "needed" is none, "need" is
    lacking = [cell for cell in cells if _NO.match(cell)]
    if ASKS_WITHOUT.search(question) and there & set(content_words(question)) and 0 < len(lacking) < len(cells):
        return "no"
    if not any(_YES.match(cell) for cell in cells) or not all(_YES.match(cell) or _NO.match(cell) for cell in cells):
        return ""
    if not there or not there <= set(content_words(question)):
        return ""
    return "no" if ASKS_WITHOUT.search(question) else "yes"
