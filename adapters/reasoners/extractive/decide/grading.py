"""Grades of passages: by the best unit, then by what only several passages together show."""

from collections.abc import Sequence
from dataclasses import replace

from adapters.reasoners.extractive.candidates import WeighedPassage
from adapters.reasoners.extractive.decide.clarification import credit_offered, is_about_reading
from adapters.reasoners.extractive.decide.versions import without_old_alone
from adapters.reasoners.extractive.score.answer_odds import grade_of
from adapters.reasoners.extractive.tables.computed_answer import tables_that_answer
from adapters.reasoners.extractive.tables.releases import releases_that_answer
from core.model.evidence import Evidence, Grade
from core.model.inquiry import Inquiry, Investigate


def grade_found(inquiry: Inquiry, found: Sequence[WeighedPassage]) -> list[Grade]:
    """Return the grade of each passage for the need that it was scored for."""
    if not found:
        return []
    question, evidence = found[0].asked.question, [one.evidence for one in found]
    grades = {
        one.evidence.id: credit_offered(inquiry, one.evidence, grade_of(one.units, one.evidence.hit.rerank))
        for one in found
    }
    asked_of = inquiry
    if isinstance(inquiry.plan, Investigate) and len(inquiry.plan.queries) > 1:
        asked_of = replace(inquiry, plan=replace(inquiry.plan, question=question))
    grades = without_old_alone(asked_of, grades, evidence)
    releases = releases_that_answer(question, evidence)
    quoted = releases.quotations if releases else ()
    for known in tables_that_answer(question, evidence) | {one.evidence.id for one in quoted}:
        grades[known] = replace(grades[known], score=max(grades[known].score, inquiry.cutoff))
    return list(grades.values())


def best_grades(inquiry: Inquiry, graded: Sequence[Sequence[Grade]], evidence: Sequence[Evidence]) -> list[Grade]:
    """Return each passage's best grade over the needs, or the lowest grade if it is not about the chosen reading."""
    best = [max(options, key=lambda grade: grade.score) for options in zip(*graded, strict=True)]
    return [
        grade if is_about_reading(inquiry, item) else replace(grade, score=1, chance=0.0)
        for grade, item in zip(best, evidence, strict=True)
    ]
