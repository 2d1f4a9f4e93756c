"""Selection of the units to quote for one need, by words, meaning and answer type, and of units that complete them.

``quote_markdown`` formats them.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import takewhile

from adapters.reasoners.extractive import weights
from adapters.reasoners.extractive.candidates import ScoredUnit, WeighedPassage, topic_words
from adapters.reasoners.extractive.compose.quote_markdown import BARE_ANSWER, Quotation
from adapters.reasoners.extractive.decide.clarification import chosen_reading
from adapters.reasoners.extractive.decide.versions import other_version
from adapters.reasoners.extractive.understand import PHRASES
from adapters.reasoners.extractive.understand.answer_type import (
    fits,
    is_broad,
    is_strict,
)
from core.model.evidence import Evidence, Grade
from core.model.inquiry import Inquiry
from core.model.passage_units import Form, Unit, announced, looks_back, units
from core.model.text import content_words, words

_SEVERAL = PHRASES["SEVERAL"]
_BARE_PLURAL = re.compile(r"(?:[\w'’-]+ ){0,3}[\w'’-]*[^siu\W]s\??$", re.IGNORECASE)  # "official client libraries?"


def rank_units(
    inquiry: Inquiry,
    weighed: Sequence[WeighedPassage],
    grades: Sequence[Grade | None],
    *,
    of_many: bool,
) -> list[ScoredUnit]:
    """Return the units of all passages for one need, best first.

    Units in the document of the reading that a person chose score higher. If the need is one ``of_many``, only
    passages that count as evidence for it are used.
    """
    found: list[ScoredUnit] = []
    pool, chosen = inquiry.library.items_found(), chosen_reading(inquiry)[1]
    for one, grade in zip(weighed, grades, strict=True):
        if of_many and grade and grade.score < inquiry.cutoff and not inquiry.caveats:
            continue
        more = weights.OF_OTHER_VERSION if other_version(one.asked.question, one.evidence, pool) else 0.0
        more += weights.CHOSEN if one.evidence.passage.title in chosen else 0.0
        item = replace(one.evidence, grade=grade)
        found.extend(replace(unit, evidence=item, odds=unit.odds + more) for unit in one.units)
    return sorted(found, key=lambda unit: -unit.odds)


def choose_quotations(
    need: str, found: Sequence[ScoredUnit], limit: int, library: Sequence[Evidence] = ()
) -> list[Quotation]:
    """Return the quotes for one need: the best unit, others nearly as good, and units that cover open words."""
    kept: list[ScoredUnit] = []
    open_words = frozenset(topic_words(need))
    held = fits(need, found[0].unit.text) if found else 0.0
    for one in found:
        if len(kept) == limit:
            break
        own = frozenset(content_words(" ".join((*one.unit.head[:1], one.unit.text))))
        new = bool(own & open_words) or fits(need, one.unit.text) > held
        beside = 0.0 if one.evidence.id == found[0].evidence.id else weights.OF_OTHER_PASSAGE
        if kept and found[0].odds - one.odds + beside > (weights.NEW if new else weights.ENOUGH):
            continue
        if all(one.unit.text != other.unit.text for other in kept):
            kept.append(one)
            open_words -= own
            held = max(held, fits(need, one.unit.text))
    several = bool(_SEVERAL.match(need))
    lists = several or (is_broad(need) and bool(_BARE_PLURAL.match(need)))
    return _group_by_passage(need, kept, library, whole_lists=lists, whole_tables=several)


def _group_by_passage(
    need: str,
    kept: Sequence[ScoredUnit],
    library: Sequence[Evidence],
    *,
    whole_lists: bool,
    whole_tables: bool,
) -> list[Quotation]:
    picked: dict[int, list[Unit]] = {}
    items: dict[int, Evidence] = {}
    for one in kept:
        items[one.evidence.id] = one.evidence
        picked.setdefault(one.evidence.id, []).append(one.unit)
    wanted: dict[int, set[Unit]] = {}
    for evidence_id, chosen in picked.items():
        lists = whole_lists and not wanted
        for part, its_items in _parts_of_lists(need, items[evidence_id], chosen, library, whole=lists):
            items.setdefault(part.id, part)
            wanted.setdefault(part.id, set()).update(its_items)
        everything = units(items[evidence_id].passage.text)
        found = with_neighbours(need, chosen, items[evidence_id].passage.text, whole_tables=whole_tables)
        found |= list_of(chosen[0], everything) if lists else set()
        wanted.setdefault(evidence_id, set()).update(found)
    texts = {at: units(items[at].passage.text) for at in wanted}
    return [Quotation(items[at], tuple(one for one in texts[at] if one in wanted[at])) for at in wanted]


def _parts_of_lists(
    need: str, item: Evidence, picked: Sequence[Unit], library: Sequence[Evidence], *, whole: bool
) -> Iterator[tuple[Evidence, tuple[Unit, ...]]]:
    """Yield the parts of whole quoted lists that other passages have, in order."""
    led = announced(item.passage.text)
    for unit in picked:
        first = led[unit][0] if unit in led else unit
        parts = parts_of_list(first, item, library)
        every = [one for _, part in parts for one in part]
        of_several = (whole or first is not unit) and len(every) <= _WHOLE_LIST
        if len(parts) > 1 and (of_several or _is_read_whole(need, first, every)):
            yield from parts


_LIST_ITEMS = 8
_WHOLE_LIST = 15
_ROWS = 4
_SHORT_PARAGRAPH = 300  # characters
_LOOKING_BACK = 2  # sentences after one that say more of it
_SMALL_TABLE = 10  # rows
_COUNT_ASKED = re.compile(r"\bhow many\b|\b(?:number|count) of\b", re.IGNORECASE)
_NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight")


def with_neighbours(need: str, picked: Sequence[Unit], text: str, *, whole_tables: bool) -> set[Unit]:
    """Return the picked units of a passage with the units that they need to be understood."""
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
            found.discard(unit)  # the list shows it as its introduction
    return found


def _is_read_whole(need: str, item: Unit, block: Sequence[Unit]) -> bool:
    """Return whether a short list has the wanted steps, or as many items as its introduction announces."""
    if len(block) > _LIST_ITEMS:
        return False
    steps = item.text.lstrip()[:1].isdigit()
    announced_size = {word.casefold() for word in words(item.under)} & {str(len(block)), *_NUMBERS[len(block) :][:1]}
    counted = _COUNT_ASKED.search(need) and announced_size  # "three different formats:"
    return bool(counted) or (steps and _leaves_open(need, item))  # an item that has the figure is not a step


def parts_of_list(unit: Unit, item: Evidence, library: Sequence[Evidence]) -> list[tuple[Evidence, tuple[Unit, ...]]]:
    """Return the passages that a list was split into, each with its items, in reading order.

    Each part has the same introduction (``core.ingestion.chunking``).
    """
    if unit.form is not Form.ITEM or not unit.under.rstrip("*_ ").endswith(":"):
        return []
    pool = {one.id: one for one in (*library, item) if one.passage.section == item.passage.section}
    placed = sorted(pool.values(), key=lambda one: one.passage.ordinal)
    listed = ((one, [u for u in units(one.passage.text) if u.form is Form.ITEM]) for one in placed)
    parts = ((one, tuple(u for u in items if u.under == unit.under)) for one, items in listed)
    return [(one, part) for one, part in parts if part]


def list_of(unit: Unit, everything: Sequence[Unit]) -> set[Unit]:
    """Return the units of the list or table that a unit is in, unless it is too long."""
    block = [one for one in everything if one.block == unit.block and one.form is unit.form]
    return set(block) if unit.form in {Form.ITEM, Form.ROW} and len(block) <= _WHOLE_LIST else set()


def _mostly(block: Sequence[Unit], picked: Sequence[Unit]) -> bool:
    """Return whether several rows of a very small table are quoted, or most of a small one."""
    there = len([one for one in block if one in picked])
    return (there > 1 and len(block) <= _ROWS) or (2 * there > len(block) and len(block) <= _SMALL_TABLE and there > 1)


def _leaves_open(need: str, unit: Unit) -> bool:
    """Return whether a sentence misses the wanted answer type, which a neighbour may have ("Ticket offices: no.")."""
    return not (is_strict(need) and fits(need, unit.text) == 1.0)


def _around(unit: Unit, block: Sequence[Unit]) -> Iterator[Unit]:
    """Yield the neighbours that a sentence refers to or that refer to it, and the answer after a question."""
    at = block.index(unit)
    if at and looks_back(unit):
        yield block[at - 1]
        if at > 1 and BARE_ANSWER.match(block[at - 1].text):
            yield block[at - 2]
    elif at and BARE_ANSWER.match(block[at - 1].text):
        yield block[at - 1]
    if unit.text.rstrip().endswith("?"):
        yield from block[at + 1 : at + 3]
    yield from takewhile(looks_back, block[at + 1 : at + 1 + _LOOKING_BACK])
