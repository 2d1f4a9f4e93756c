"""What is quoted along with a unit, because only together they tell somebody who has not seen the page.

The sentence that "they" looks back to, the list that a colon announces, the steps before and after a step. Which units
answer is ``selection``'s.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile

from adapters.reasoners.extractive.answer.quote_markdown import BARE_ANSWER
from adapters.reasoners.extractive.question.answer_type import (
    NEUTRAL,
    asks_for_steps,
    fits,
    is_strict,
    tells_what_to_do,
)
from core.model.evidence import Evidence
from core.model.passage_units import Form, Unit, announced, looks_back, units
from core.model.text import words

_LIST_ITEMS = 8
_WHOLE_LIST = 15
_ROWS = 4
_SHORT_PARAGRAPH = 300  # characters
_LOOKING_BACK = 2  # sentences after one that say more of it
_SMALL_TABLE = 10  # rows
_OF_IT = re.compile(r"(?:[\w'’-]+ ){1,6}(?:it|them|this)\.", re.IGNORECASE)  # "Your team lead approves it."
_POINTS_BACK = re.compile(r"(?:[\w'’-]+ ){1,4}(?:this|these|such)\b|in that case\b", re.IGNORECASE)
_COUNT_ASKED = re.compile(r"\bhow many\b|\b(?:number|count) of\b", re.IGNORECASE)
_NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight")


def with_neighbours(need: str, picked: Sequence[Unit], text: str, *, whole_tables: bool) -> set[Unit]:
    """The units that were picked of a passage's text, with what reads only together with them."""
    everything, led = units(text), announced(text)
    found = set(picked)
    for unit in picked:
        block = [one for one in everything if one.block == unit.block]
        if unit.form is Form.ITEM and (_mostly(block, picked) or _is_read_whole(need, unit, block)):
            found.update(block)
        elif unit.form is Form.ROW and whole_tables and _mostly(block, picked):
            found.update(block)  # half a small table is harder to read than all of it
        elif unit.form is Form.SENTENCE:
            found.update(_around(unit, block))
            if sum(one in picked for one in block) == 1 and _leaves_open(need, unit):
                found.update(block if sum(len(one.text) for one in block) <= _SHORT_PARAGRAPH else ())
    for unit in [one for one in found if one in led]:
        block = [one for one in everything if one.block == unit.block]
        found |= set(led[unit]) if unit in picked or len(led[unit]) <= _LIST_ITEMS else set()
        if len(block) == 1 and led[unit][0].form is Form.ITEM:
            found.discard(unit)  # stands over its list anyway
    return found


def _is_read_whole(need: str, item: Unit, block: Sequence[Unit]) -> bool:
    """Whether a short list tells the steps that are asked for, or as many things as the words over it announce."""
    if len(block) > _LIST_ITEMS:
        return False
    steps = item.text.lstrip()[:1].isdigit() or _are_steps(need, block)
    counted = _COUNT_ASKED.search(need) and _announces(item.under, len(block))
    return bool(counted) or (steps and _leaves_open(need, item))  # a clause that has the figure is no step


def _are_steps(need: str, block: Sequence[Unit]) -> bool:
    """Whether a way of doing something is asked for, and most items, or the words over them, tell what to do."""
    told = sum(fits(need, one.text) > NEUTRAL for one in block)
    return asks_for_steps(need) and (2 * told > len(block) or tells_what_to_do(block[0].under))


def _announces(lead: str, number: int) -> bool:
    """Whether words that lead to a list say how long it is: "three different formats:"."""
    said = {word.casefold() for word in words(lead)}
    return bool(said & {str(number), *_NUMBERS[number : number + 1]})


def _leads(text: str) -> bool:
    return text.rstrip("*_ ").endswith(":")


def parts_of_list(unit: Unit, item: Evidence, library: Sequence[Evidence]) -> list[tuple[Evidence, tuple[Unit, ...]]]:
    """The passages that a list was cut into, each with its items, in reading order.

    Each part of it stands below the same words that lead to it (``core.ingestion.chunking``).
    """
    if unit.form is not Form.ITEM or not _leads(unit.under):
        return []
    pool = {one.id: one for one in (*library, item) if one.passage.section == item.passage.section}
    placed = sorted(pool.values(), key=lambda one: one.passage.ordinal)
    parts = ((one, tuple(_items_under(unit.under, units(one.passage.text)))) for one in placed)
    return [(one, part) for one, part in parts if part]


def _items_under(lead: str, everything: Sequence[Unit]) -> Iterator[Unit]:
    return (one for one in everything if one.form is Form.ITEM and one.under == lead)


def is_quoted_whole(need: str, item: Unit, every: Sequence[Unit], *, whole: bool) -> bool:
    """Whether all items of a list are quoted with one; ``whole``: where several things are asked for."""
    return _is_read_whole(need, item, every) or (whole and len(every) <= _WHOLE_LIST)


def list_of(unit: Unit, everything: Sequence[Unit]) -> set[Unit]:
    """The list or table that a unit stands in, where several things are asked for."""
    block = [one for one in everything if one.block == unit.block and one.form is unit.form]
    return set(block) if unit.form in {Form.ITEM, Form.ROW} and len(block) <= _WHOLE_LIST else set()


def _mostly(block: Sequence[Unit], picked: Sequence[Unit]) -> bool:
    """Whether several rows of a very small table are quoted, or most of a small one."""
    there = len([one for one in block if one in picked])
    return (there > 1 and len(block) <= _ROWS) or (2 * there > len(block) and len(block) <= _SMALL_TABLE and there > 1)


def _leaves_open(need: str, unit: Unit) -> bool:
    """Whether a sentence does not have the kind that is asked for: it may stand beside it ("Ticket offices: no.")."""
    return not (is_strict(need) and fits(need, unit.text) == 1.0)


def _around(unit: Unit, block: Sequence[Unit]) -> Iterator[Unit]:
    """The sentence before one that looks back, those after one that look back to it, and what follows a question."""
    at = block.index(unit)
    if at and (_looks_back(unit) or _OF_IT.fullmatch(unit.text)):
        yield block[at - 1]
        if at > 1 and BARE_ANSWER.match(block[at - 1].text):
            yield block[at - 2]
    elif at and BARE_ANSWER.match(block[at - 1].text):
        yield block[at - 1]
    if unit.text.rstrip().endswith("?"):
        yield from block[at + 1 : at + 3]
    yield from takewhile(_looks_back, block[at + 1 : at + 1 + _LOOKING_BACK])


def _looks_back(unit: Unit) -> bool:
    return looks_back(unit) or (unit.form is Form.SENTENCE and bool(_POINTS_BACK.match(unit.text)))
