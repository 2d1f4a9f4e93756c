"""Grades that a passage has for what another says: the version that holds, a link of a chain, what was offered."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from adapters.reasoners.extractive import weights
from adapters.reasoners.extractive.evidence.clarification import chosen_reading
from adapters.reasoners.extractive.evidence.versions import family, other_version, section_name
from core.model.evidence import Evidence, Grade
from core.model.inquiry import Inquiry
from core.model.text import content_words

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
