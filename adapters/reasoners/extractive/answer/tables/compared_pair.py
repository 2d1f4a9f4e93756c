"""The two rows of one table that a question sets against each other: "which pass lasts longer, green or red"."""

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from adapters.reasoners.extractive.answer.quote_markdown import Quotation
from adapters.reasoners.extractive.answer.tables.operations import extreme_of
from adapters.reasoners.extractive.answer.tables.row_choice import column_between
from adapters.reasoners.extractive.answer.tables.rows import FEWEST, Row, TableAnswer, listed_beside
from adapters.reasoners.extractive.evidence.word_coverage import stands_in, topic_words
from adapters.reasoners.extractive.question.aggregation import Aggregation
from adapters.reasoners.extractive.question.answer_type import thing_picked
from core.model.markdown_lines import cells_of
from core.model.text import content_words, words

_OR = re.compile(r",? or (?:(?:in|at|on|for|of|from|with) )?(?:the |a |an |our )?", re.IGNORECASE)
_DIFFERENCE = re.compile(
    r"\b(?:differences? between|compare)\s+(?:the |an? |our )?(?P<one>.+?)\s+(?:and|with|to)\s+(?:the |an? |our )?"
    r"(?P<other>[^?.!]+)",
    re.IGNORECASE,
)
_THAN = re.compile(  # asked of the one thing, and of the other
    r"^(?:is|are|was|were|do|does|did|has|have|will|would)\b(?P<one>.+?)\b(?:[^\W\d_]+er|more|less)\b.*?\bthan\b",
    re.IGNORECASE,
)
_TURNED = re.compile(r"\b(?:not?|never)\b", re.IGNORECASE)  # "is Fleet not cheaper than Depot?"
_LONGEST = 4  # words of a name
_KNOWN = 0.65  # of what is asked beside the two names, which the table must have to answer though no row does


def compare_pair(question: str, asked: Aggregation, rows: Sequence[Row]) -> TableAnswer | None:
    """Both rows, the one with the most or least first; None where they are not both there, or nothing fits."""
    pair = _pair_in(question, rows) or _only_two(question, rows)
    if pair is None:
        return None
    column = column_between(asked, frozenset(content_words(question)), rows, pair)
    return None if column is None else extreme_of(asked, pair, column, with_others=True)


def with_verdict(question: str, found: TableAnswer) -> TableAnswer:
    """What was compared, behind the yes or no that it comes to: "is Fleet cheaper than Depot?"."""
    asked = _THAN.match(question)
    rows = [unit for one in found.quotations for unit in one.units]  # the one with most or least first
    if asked is None or _TURNED.search(question) or len(rows) != FEWEST:
        return found
    said = set(content_words(asked["one"]))
    keys = [set(content_words(cells_of(row.text)[0])) for row in rows]
    named = [bool(key) and key <= said for key in keys]
    if sum(named) != 1:
        return found
    return replace(found, lead=f"{'Yes' if named[0] else 'No'}. {found.lead}")


def asks_difference(question: str) -> bool:
    """Whether it is asked in what two things differ: "the difference between Depot and Fleet"."""
    return _DIFFERENCE.search(question) is not None


def set_beside(question: str, rows: Sequence[Row]) -> TableAnswer | None:
    """The rows of the two things whose difference is asked for, each by its first cell; None where one is not there."""
    sides = _DIFFERENCE.search(question)
    pair = [_keyed(words(sides[side]), rows) for side in ("one", "other")] if sides else []
    one, other = (*pair, None, None)[:2]
    return listed_beside([one, other]) if one and other and one != other else None


def _keyed(said: Sequence[str], rows: Sequence[Row]) -> Row | None:
    """The one row whose first cell is the longest beginning of these words: "Depot" of "Depot plan"."""
    for size in range(min(len(said), _LONGEST), 0, -1):
        stems = content_words(" ".join(said[:size]))
        found = [row for row in rows if stems and stems == content_words(row.cells[0])]
        if found:
            return found[0] if len(found) == 1 else None
    return None


def _pair_in(question: str, rows: Sequence[Row]) -> list[Row] | None:
    """The rows that the words right before and right after an "or" name, if each side names one and not the same."""
    joint = next(iter(_OR.finditer(question)), None)
    if joint is None:
        return None
    before, after = words(question[: joint.start()]), words(question[joint.end() :])
    wanted = set(content_words(question))
    one = _named([before[-size:] for size in range(_LONGEST, 0, -1)], rows, wanted)
    other = _named([after[:size] for size in range(_LONGEST, 0, -1)], rows, wanted)
    return [one, other] if one and other and one != other else None


def _only_two(question: str, rows: Sequence[Row]) -> list[Row] | None:
    """The rows of the kind that a question picks one of, where there are just two: "which tunnel washer is bigger"."""
    picked = set(thing_picked(question))
    kind = [row for row in rows if picked and any(picked == set(content_words(cell)) for cell in row.cells)]
    return kind if len(kind) == FEWEST else None


def _named(names: Sequence[Sequence[str]], rows: Sequence[Row], wanted: AbstractSet[str]) -> Row | None:
    """The one row that has the longest of these names in a cell; of several, the one with most of what is asked for.

    "A grass pitch at Oxwater" is one of its two rows. None where several have as much.
    """
    for name in names:
        stems = set(content_words(" ".join(name)))
        found = [row for row in rows if stems and any(stems <= set(content_words(cell)) for cell in row.cells)]
        exact = [row for row in found if any(stems == set(content_words(cell)) for cell in row.cells)]
        if found:
            shared = [len(wanted & set(content_words(row.unit.text))) for row in exact or found]
            meant = [row for row, count in zip(exact or found, shared, strict=True) if count == max(shared)]
            return meant[0] if len(meant) == 1 else None
    return None


def has_most_of(question: str, quotations: Sequence[Quotation]) -> bool:
    """Whether a table's place and columns and the rows that were compared have most of what the question says."""
    passage, rows = quotations[0].evidence.passage, [unit for one in quotations for unit in one.units]
    said = (passage.title, *passage.heading, *rows[0].head[:1], *(row.text for row in rows))
    there, wanted = set(content_words(" ".join(said))), topic_words(question)
    return sum(stands_in(stem, there) for stem in wanted) >= _KNOWN * len(wanted)
