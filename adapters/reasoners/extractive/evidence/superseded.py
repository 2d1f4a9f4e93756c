"""What a superseded document says, where another one speaks of the same: the price of last year's list.

Versions of one document are told by their titles (``versions``). A list that was made anew under another name, or in
another format, is no version by its title; that the old one holds no longer, it says itself.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from adapters.reasoners.extractive import weights
from adapters.reasoners.extractive.evidence.answer_odds import with_odds
from adapters.reasoners.extractive.evidence.scoring import ScoredUnit, WeighedPassage
from adapters.reasoners.extractive.evidence.versions import asks_of_old, is_superseded
from core.model.markdown_lines import cells_of
from core.model.passage_units import Form, Unit
from core.model.text import content_words


def prefer_current(question: str, weighed: Sequence[WeighedPassage]) -> list[WeighedPassage]:
    """With what a superseded document says behind what another says of the same, which has its odds at least.

    As it is where the question is about the old one, or where no other document speaks of it.
    """
    old = {one.evidence.passage.document for one in weighed if is_superseded(one.evidence.passage)}
    old -= {one.evidence.passage.document for one in weighed if asks_of_old(question, one.evidence.passage)}
    current = [unit for one in weighed if one.evidence.passage.document not in old for unit in one.units]
    pairs = [
        (unit, same)
        for one in weighed
        if one.evidence.passage.document in old
        for unit in one.units
        if (same := [other for other in current if _replaces(other, unit)])
    ]
    odds: dict[int, float] = {}
    for unit, same in pairs:
        best = max(same, key=lambda other: other.odds)
        odds[id(best)] = max(odds.get(id(best), best.odds), unit.odds)
    for unit, same in pairs:
        least = max(odds.get(id(other), other.odds) for other in same)
        odds[id(unit)] = min(unit.odds, least) + weights.SUPERSEDED
    return [replace(one, units=_with(odds, one.units)) for one in weighed] if pairs else list(weighed)


def _replaces(other: ScoredUnit, old: ScoredUnit) -> bool:
    """Whether it is of the same, and not much less likely to answer: a plan has a price here, its rate limits there."""
    return other.odds >= old.odds - weights.REPLACES_WITHIN and speaks_of(old.unit, other.unit)


def speaks_of(said: Unit, other: Unit) -> bool:
    """Whether another unit is of the same: a row with the same first cell, a sentence with most of the words."""
    if said.form is Form.ROW or other.form is Form.ROW:
        return said.form is other.form and _key_of(said.text) == _key_of(other.text) != ""
    return has_most_words_of(said.text, other.text)


def has_most_words_of(said: str, other: str) -> bool:
    """Whether a text has most of the words of what is said, whatever its figures."""
    wanted = _words_of(said)
    return bool(wanted) and len(wanted & _words_of(other)) >= weights.SAME_CONTENT * len(wanted)


@lru_cache(maxsize=2048)  # of each unit asked for with every one of the superseded document
def _key_of(row: str) -> str:
    return cells_of(row)[0].strip("*_` ").casefold()


@lru_cache(maxsize=2048)
def _words_of(text: str) -> frozenset[str]:
    """Its stems but for figures, which are what another version changes."""
    return frozenset(word for word in content_words(text) if not word[0].isdigit())


def _with(odds: dict[int, float], units: Sequence[ScoredUnit]) -> tuple[ScoredUnit, ...]:
    judged = (with_odds(one, odds[id(one)]) if id(one) in odds else one for one in units)
    return tuple(sorted(judged, key=lambda one: -one.odds))
