"""What a superseded document says, where another one speaks of the same: the price of last year's list.

Versions of one document are told by their titles (``versions``). A list that was made anew under another name, or in
another format, is no version by its title; that the old one holds no longer, it says itself.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from adapters.reasoners.extractive import weights
from adapters.reasoners.extractive.evidence.answer_odds import with_odds
from adapters.reasoners.extractive.evidence.clarification import chosen_reading
from adapters.reasoners.extractive.evidence.scoring import ScoredUnit, WeighedPassage
from adapters.reasoners.extractive.evidence.versions import (
    asks_of_old,
    family,
    is_superseded,
    other_version,
    section_name,
)
from core.model.evidence import Evidence, Grade
from core.model.inquiry import Inquiry
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


_QUOTED = re.compile(r"[“„«]\s?([^“”„«»]+?)\s?[”“»]")  # as suggestions name a section (core.service.follow_ups)


def credit_versions(inquiry: Inquiry, grades: Mapping[int, Grade], evidence: Sequence[Evidence]) -> dict[int, Grade]:
    """Grades by evidence id, where the version that holds counts as much as an older one says of the same section.

    What a superseded document answers, its successor has to be asked as well, in whatever other words it says it. Where
    neither answers, the one that holds comes nearer.
    """
    pool = (*inquiry.library.items_found(), *evidence)
    found = dict(grades)
    for old in evidence:
        if not other_version(inquiry.standalone, old, pool):
            continue
        chance = found[old.id].chance
        found[old.id] = replace(found[old.id], chance=chance and chance * weights.OTHER_VERSION)
        if found[old.id].score < inquiry.cutoff:
            continue
        for new in evidence:
            same = family(new.passage) == family(old.passage) and section_name(new.passage) == section_name(old.passage)
            if same and new.id != old.id and not other_version(inquiry.standalone, new, pool):
                found[new.id] = max(found[new.id], replace(found[new.id], score=found[old.id].score), key=_score)
    return _without_old_alone(inquiry, found, evidence, pool)


def _without_old_alone(
    inquiry: Inquiry, grades: Mapping[int, Grade], evidence: Sequence[Evidence], pool: Sequence[Evidence]
) -> dict[int, Grade]:
    """The grades, where a superseded document is no evidence as long as nothing of its successor is."""
    found = dict(grades)
    held = {
        family(item.passage)
        for item in evidence
        if found[item.id].score >= inquiry.cutoff and not other_version(inquiry.standalone, item, pool)
    }
    for old in evidence:
        if family(old.passage) not in held and other_version(inquiry.standalone, old, pool):
            found[old.id] = replace(found[old.id], score=min(found[old.id].score, inquiry.cutoff - 1))
    return found


def _score(grade: Grade) -> int:
    return grade.score


def credit_offered(inquiry: Inquiry, item: Evidence, grade: Grade) -> Grade:
    """A section that was offered counts, whatever its words: a chosen reading's, or one whose names are quoted."""
    question, titles = chosen_reading(inquiry)
    heading = " ".join(item.passage.heading[-1:])
    named = frozenset(content_words(heading))
    chosen = item.passage.title in titles and bool(named) and named <= frozenset(content_words(question))
    quoted = {item.passage.title, heading} <= set(_QUOTED.findall(inquiry.question))
    return replace(grade, score=max(grade.score, inquiry.cutoff)) if chosen or quoted else grade
