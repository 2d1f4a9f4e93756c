"""Whether a table has all that a question says, so that it answers as a whole where no row of it does alone."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from adapters.reasoners.extractive.answer.quote_markdown import Quotation
from adapters.reasoners.extractive.answer.tables.rows import FEWEST
from adapters.reasoners.extractive.evidence.columns import stands_in
from adapters.reasoners.extractive.evidence.word_coverage import topic_words
from adapters.reasoners.extractive.question.aggregation import (
    COUNTED,
    Aggregation,
    aggregation_of,
    threshold_of,
    without_sum,
)
from adapters.reasoners.extractive.question.named_things import thing_picked
from core.model.markdown_lines import cells_of
from core.model.passage_units import Unit
from core.model.text import content_words

_SAYS_NOT = frozenset(content_words("anything anyone cant cannot dont doesnt isnt arent havent hasnt wont lack lacks"))
_SAYS_WHEN = frozenset(content_words("still yet already currently now today"))  # and in no cell
_HAS = frozenset(content_words("serve have run offer cover provide operate own manage hold fly"))


def says_all(question: str, quotations: Sequence[Quotation]) -> bool:
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
    return len(rows) >= FEWEST and all(left & key for key in keys) and left <= set().union(*keys)


def names_what_is_added(question: str, first: Quotation) -> bool:
    """Whether a question for a sum names a column and also of what it is: "beds over all sites", where rows are sites.

    "How many cages do we own altogether" is not answered by how many each round may take.
    """
    passage, wanted = first.evidence.passage, set(topic_words(without_sum(question)))
    places = (" ".join((passage.title, *passage.heading)), *cells_of(first.units[0].head[0]))
    said = (frozenset(wanted & set(content_words(place))) for place in places)
    return len({stems for stems in said if stems}) > 1


def picks_rows(question: str, asked: Aggregation, first: Quotation) -> bool:
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
        kind = picked - set(content_words(" ".join(names)))
        return bool(kind) and any(kind <= set(content_words(cell)) for cell in cells)
    is_said = any(picked == set(content_words(cell)) for cell in cells)
    return by_column and (is_said or not picked & set(content_words(" ".join(names[1:]))))
