"""Which units of the evidence are quoted for one need, by words, meaning and kind of answer, and what completes them.

How they look is ``quote_markdown``'s business.
"""

import math
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from adapters.reasoners.extractive import weights
from adapters.reasoners.extractive.answer.neighbours import (
    is_quoted_whole,
    list_of,
    parts_of_list,
    with_neighbours,
)
from adapters.reasoners.extractive.answer.quote_markdown import Quotation
from adapters.reasoners.extractive.evidence.scoring import ScoredUnit, WeighedPassage, topic_words
from adapters.reasoners.extractive.evidence.versions import family, other_version
from adapters.reasoners.extractive.question.answer_type import fits, is_broad
from core.model.evidence import Evidence, Grade
from core.model.inquiry import Inquiry
from core.model.markdown_lines import cells_of
from core.model.passage_units import Form, Unit, announced, units
from core.model.text import content_words, words

_SEVERAL = re.compile(
    r"^(?:which|what) (?!(?:is|was|does|has|this|was)\b)[\w-]*[^siu\W]s\b|^what are\b|^who are\b|^(?:list|name)\b"
    r"|^all\b|^(?:please |can you |could you )*(?:list|name|show|give)\b.*\b(?:all|every|each)\b"
    r"|\bwhat(?:'s|’s|s| is| was) new\b|^what (?:has )?(?:changed|changes|came)\b"
    r"|^(?:which|what) (?:\w+ )?(?:\w+s) (?:are|were|do|does|can|must|may|have|need)\b",
    re.IGNORECASE,
)
_BARE_PLURAL = re.compile(r"(?:[\w'’-]+ ){0,3}[\w'’-]*[^siu\W]s\??$", re.IGNORECASE)  # "official client libraries?"


def rank_units(
    inquiry: Inquiry,
    weighed: Sequence[WeighedPassage],
    grades: Sequence[Grade | None],
    chosen: Collection[str],
    *,
    of_many: bool,
) -> list[ScoredUnit]:
    """The units of all passages for one need, best first.

    What stands in a document that a person chose, by its title, counts more. One need ``of_many`` is met only by
    passages that count for it by themselves.
    """
    found: list[ScoredUnit] = []
    pool = inquiry.library.items_found()
    for one, grade in zip(weighed, grades, strict=True):
        if of_many and grade and grade.score < inquiry.cutoff and not inquiry.caveats:
            continue
        other = other_version(one.asked.question, one.evidence, pool)
        more = weights.OF_OTHER_VERSION if other else 0.0
        more += weights.CHOSEN if one.evidence.passage.title in chosen else 0.0
        item = replace(one.evidence, grade=grade)
        found.extend(replace(unit, evidence=item, odds=unit.odds + more, other_version=other) for unit in one.units)
    return sorted(found, key=lambda unit: -unit.odds)


def choose_quotations(
    need: str, found: Sequence[ScoredUnit], limit: int, library: Sequence[Evidence] = ()
) -> list[Quotation]:
    """The best units for one need: the first, others nearly as good, and any that covers what is still open."""
    found = _of_meant_versions(found)
    kept: list[ScoredUnit] = []
    open_words = frozenset(topic_words(need))
    held = fits(need, found[0].unit.text) if found else 0.0
    for one in found:
        if len(kept) == limit:
            break
        own = frozenset(content_words(" ".join((*one.unit.head[:1], one.unit.text))))
        new = bool(own & open_words) or fits(need, one.unit.text) > held
        if kept and _behind(found[0], one) > (weights.NEW if new else weights.ENOUGH):
            continue
        if all(one.unit.text != other.unit.text for other in kept):
            kept.append(one)
            open_words -= own
            held = max(held, fits(need, one.unit.text))
    whole = bool(found) and _asks_of_rows(need, found[0].unit)
    lists = bool(_SEVERAL.match(need)) or (is_broad(need) and bool(_BARE_PLURAL.match(need)))
    picked = [(one.evidence, one.unit) for one in kept]
    return _group_by_passage(need, picked, library, whole_lists=lists, whole_tables=whole)


def _behind(best: ScoredUnit, one: ScoredUnit) -> float:
    """By how much a unit is less likely than the best; more where another passage has it."""
    beside = 0.0 if one.evidence.id == best.evidence.id else weights.OF_OTHER_PASSAGE
    return best.odds - one.odds + beside


def _asks_of_rows(need: str, best: Unit) -> bool:
    """Whether several rows are asked for: several things, or what the first column holds, in the plural: "tiers"."""
    if _SEVERAL.match(need):
        return True
    if best.form is not Form.ROW or not best.head:
        return False
    name = cells_of(best.head[0])[0]
    kind = set(content_words(name))
    said = (word for word in words(need) if word.endswith("s") and word.casefold() not in name.casefold())
    return any(kind == set(content_words(word)) for word in said if kind)


def _of_meant_versions(found: Sequence[ScoredUnit]) -> list[ScoredUnit]:
    """Without what another version than the one that is meant says of the same: it would stand against it."""
    best: dict[str, float] = {}
    for one in found:
        if not one.other_version:
            own = family(one.evidence.passage)
            best[own] = max(best.get(own, one.odds), one.odds)
    return [
        one for one in found if not one.other_version or best.get(family(one.evidence.passage), -math.inf) < one.odds
    ]


def _group_by_passage(
    need: str,
    kept: Sequence[tuple[Evidence, Unit]],
    library: Sequence[Evidence],
    *,
    whole_lists: bool,
    whole_tables: bool,
) -> list[Quotation]:
    picked: dict[int, list[Unit]] = {}
    items: dict[int, Evidence] = {}
    for item, unit in kept:
        items[item.id] = item
        picked.setdefault(item.id, []).append(unit)
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
    """What other passages have of the lists that are quoted whole, and the passages of these lists in their order."""
    led = announced(item.passage.text)
    for unit in picked:
        first = led[unit][0] if unit in led else unit
        parts = parts_of_list(first, item, library)
        every = [one for _, part in parts for one in part]
        if len(parts) > 1 and is_quoted_whole(need, first, every, whole=whole or first is not unit):
            yield from parts
