"""Whether a row of a table has what is asked for: in a column that the question names, or in a cell of the right kind.

A row of the right thing has most of the question's words, and answers only what it has a column for: the row of a
customer with its stock has no telephone number. What the question itself says, such as the customer's name, is no
answer, so that a kind of answer counts only in the other cells.
"""

import re
from collections.abc import Collection, Sequence

from adapters.reasoners.extractive import weights
from adapters.reasoners.extractive.evidence.answer_odds import doubted
from adapters.reasoners.extractive.evidence.scoring import ScoredUnit, Words, is_asked_cell_empty
from adapters.reasoners.extractive.evidence.word_coverage import topic_words
from adapters.reasoners.extractive.question.aggregation import Aggregate, aggregation_of
from adapters.reasoners.extractive.question.answer_type import asks_who, fits_cell, is_strict, thing_held, thing_picked
from core.model.knowledge import Passage
from core.model.markdown_lines import cells_of
from core.model.passage_units import Form, Unit
from core.model.text import content_words

_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_CODE = re.compile(r"\b(?=[\w-]*\d)[A-Za-z]{1,4}-?\d{1,4}[a-zA-Z]?\b")
_SAME_STEM = 4  # letters that two words of one family share: drive and driver, weigh and weight
_LIKE = 0.3  # of a word of the question, from which on another stands for it


def doubt_rows(asked: Words, ranked: Collection[ScoredUnit]) -> list[ScoredUnit]:
    """The units of a passage, best first, where a row that has nothing of what is asked for hardly counts.

    Nor does another row of its table, where the one that is meant has nothing there: it has what is asked of another.
    """
    whole = aggregation_of(asked.question) is not None
    empty = () if whole else [one for one in ranked if is_asked_cell_empty(asked.question, one.unit)]
    lacking = {one.unit.head: one.own for one in sorted(empty, key=lambda one: one.own)}

    def may(one: ScoredUnit) -> bool:
        return may_answer(asked, one) and one.own >= lacking.get(one.unit.head, 0.0)

    done = [one if may(one) else doubted(one, weights.EMPTY_CELL) for one in ranked]
    return sorted(done, key=lambda one: -one.odds)


def may_answer(asked: Words, one: ScoredUnit) -> bool:
    """Whether a unit is no row, or a row with what is asked for; one that is to be compared with others may be any."""
    question, unit, passage = asked.question, one.unit, one.evidence.passage
    if unit.form is not Form.ROW or not unit.head or not content_words(unit.head[0]):
        return True
    above = " ".join((passage.title, *passage.heading, unit.under))
    of_year = set(_YEAR.findall(question)) <= set(_YEAR.findall(f"{above} {unit.text} {passage.dated}"))
    if not of_year or _is_of_another_code(question, unit.text):
        return False
    aggregation = aggregation_of(question)
    if aggregation and aggregation.kind is not Aggregate.COUNT:
        return True
    cells = list(zip(cells_of(unit.head[0]), cells_of(unit.text), strict=False))
    if not _has_thing(asked, content_words(" ".join((above, unit.text, *(name for name, cell in cells if cell))))):
        return False
    if aggregation and set(thing_picked(question)) <= set(content_words(f"{above} {cells[0][0]}")):
        return True  # the rows are what is counted
    holds = not is_strict(question) or _holds_kind(asked, cells)
    return holds and not _is_of_something_else(asked, above, cells)


def names_cell(question: str, passage: Passage, unit: Unit) -> bool:
    """Whether a question asks for one cell in so many words: with its column, its row, and nothing that is not there.

    "Lift height of KP-01", of a row that begins with KP-01 in a table with a column "Lift height m".
    """
    topic = set(topic_words(question))
    if unit.form is not Form.ROW or not unit.head or aggregation_of(question):
        return False
    above = set(content_words(" ".join((passage.title, *passage.heading, unit.under))))
    cells = list(zip(cells_of(unit.head[0]), cells_of(unit.text), strict=False))
    said = set(content_words(question))
    known = {stem for _, cell in cells if (stems := set(content_words(cell))) and stems <= said for stem in stems}
    for name, cell in cells[1:]:
        column = {stem for stem in topic if stands_in(stem, content_words(name))}
        row = {stem for stem in topic - column if stands_in(stem, known)}
        holds = bool(cell) and not set(content_words(cell)) <= said
        if column and row and holds and all(stands_in(stem, above) for stem in topic - column - row):
            return True
    return False


def stands_in(stem: str, there: Collection[str]) -> bool:
    """Whether a word is there, or one of its family: "rent" and "rental", "machine" and "machinery"."""
    return stem in there or (
        len(stem) >= _SAME_STEM
        and any(len(one) >= _SAME_STEM and (one.startswith(stem) or stem.startswith(one)) for one in there)
    )


def _is_of_another_code(question: str, row: str) -> bool:
    """Whether the question names a code such as T8, and the row is of one of the same form, such as T2, without it."""
    key = cells_of(row)[0].strip("*_` ").casefold()
    if not _CODE.fullmatch(key):
        return False
    asked = {code.casefold() for code in _CODE.findall(question)}
    alike = {code for code in asked if _form_of(code) == _form_of(key)}
    return bool(alike) and not alike & {code.casefold() for code in _CODE.findall(row)}


def _form_of(code: str) -> str:
    """Its letters with one sign for each run of digits: T8 as T2, L-05 as L-03."""
    return re.sub(r"\d+", "0", code)


def _is_of_something_else(asked: Words, above: str, cells: Sequence[tuple[str, str]]) -> bool:
    """Whether a question says more than the table's place and columns do, and the row has nothing of it.

    "Deposit for a tuba", of the row of a trombone.
    """
    over = content_words(" ".join((above, *(name for name, _ in cells))))
    left = [stem for stem in asked.topic_words if not _stands_in(asked, stem, over)]
    inside = content_words(" ".join(cell for _, cell in cells))
    return bool(left) and not any(_stands_in(asked, stem, inside) for stem in left)


def _has_thing(asked: Words, there: Collection[str]) -> bool:
    """Whether the thing that is asked for by name is there: all that tells what is picked, a word of what is held."""
    held = thing_held(asked.question)
    return all(_stands_in(asked, stem, there) for stem in thing_picked(asked.question)) and (
        not held or any(_stands_in(asked, stem, there) for stem in held)
    )


def _holds_kind(asked: Words, cells: Sequence[tuple[str, str]]) -> bool:
    """Whether what is asked for stands in a column that the question names, or where it names none in any cell."""
    said = set(content_words(asked.question))
    wanted = set(asked.topic_words)
    other = [(name, cell) for name, cell in cells if cell and not _is_said(asked.question, cell, said)]
    named = [
        (name, cell)
        for name, cell in other
        if name != cells[0][0] and any(_stands_in(asked, stem, wanted) for stem in content_words(name))
    ]
    return any(fits_cell(asked.question, name, cell, named=bool(named)) for name, cell in named or other)


def _is_said(question: str, cell: str, said: Collection[str]) -> bool:
    """Whether a cell says only what the question does; who is asked for is nobody that it names in part."""
    stems = set(content_words(cell))
    return bool(stems & set(said)) if asks_who(question) else bool(stems) and stems <= set(said)


def _stands_in(asked: Words, stem: str, there: Collection[str]) -> bool:
    """Whether a word, one of its family or one of like meaning is there."""
    if stem in there or (len(stem) >= _SAME_STEM and any(_kin(stem, other) for other in there)):
        return True
    return max((share for other, share in asked.near.get(stem, {}).items() if other in there), default=0.0) >= _LIKE


def _kin(one: str, other: str) -> bool:
    return one in other or (len(other) >= _SAME_STEM and one.startswith(other))
