"""Comparison of a past answer with the present one: whether a value in it has changed.

It prefers precision over recall: a new wording of the same fact is no change. A change is a different value in a
sentence or row about the same thing, or an added or removed negation. A different name counts if the rest is the same.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.model.answer import Answer, Citation, Outcome
from core.model.conversation import Turn
from core.model.evidence import Evidence, Hit
from core.model.knowledge import Passage
from core.model.languages import language_of
from core.model.markdown_lines import cells_of
from core.model.passage_units import Form, Unit, units
from core.model.text import content_words, without_markers, words
from core.service.disputes.detection import disagree
from core.service.disputes.statements import Statement, statements_of, stems_of
from core.values import Kind, Value, polarity_conflict, values_in
from core.values.arithmetic import same
from core.values.names import fold

ALIKE = 0.6  # share of words, without values, that both versions of a sentence have
ABOUT_IT = 0.5  # share of question words that a sentence needs, relative to the nearest one
_NUMBERED = re.compile(r"^\s*(?:\d{1,3}[.)]|[a-z][.)]|[-*•+])\s+")
_ELLIPSIS = re.compile(r"\s*…\s*")
_MEASURED = frozenset({Kind.NUMBER, Kind.MONEY, Kind.PERCENT, Kind.DURATION, Kind.QUANTITY})


@dataclass(frozen=True, slots=True)
class AnswerChange:
    """What somebody was told, and what is true now. ``was`` and ``now`` are empty if not a single value changed."""

    before: str
    after: str
    citation: Citation
    was: str = ""
    now: str = ""


def missing_units(citation: Citation, text: str) -> tuple[Unit, ...]:
    """Return the quoted units that a text no longer contains, ignoring case, layout and punctuation."""
    present = f" {_plain(text)} "
    return tuple(one for one in _quoted(citation) if f" {_plain(one.text)} " not in present)


def find_change(question: str, turn: Turn, missing: Sequence[Unit], answer: Answer) -> AnswerChange | None:
    """Return how a new answer differs from that of ``turn``, which quotes ``missing``; None if it is still right.

    ``answer`` is the current answer to the same question.
    """
    if answer.outcome is not Outcome.ANSWERED:
        return None
    nearest = max((_about(question, one) for citation in turn.citations for one in _quoted(citation)), default=0)
    current = [(citation, one) for citation in answer.citations for one in _quoted(citation)]
    still = {_plain(one.text) for _, one in current}
    for old in sorted(missing, key=lambda one: -_about(question, one)):
        share = _about(question, old) / nearest if nearest else 1.0
        if share < (1.0 if old.form is Form.ROW else ABOUT_IT) or _plain(old.text) in still:
            continue
        for citation, new in sorted(current, key=lambda pair: -_likeness(old, pair[1])):
            if change := _compare(question, turn, old, new, citation, answer):
                return change
    return None


def _compare(
    question: str, turn: Turn, old: Unit, new: Unit, citation: Citation, answer: Answer
) -> AnswerChange | None:
    before, after = _bare(old), _bare(new)
    if old.form is Form.ROW and new.form is Form.ROW and _plain(cells_of(old.text)[0]) != _plain(cells_of(new.text)[0]):
        return None
    if _likeness(old, new) >= ALIKE:
        if values := _exchanged(before, after):
            was, now = values
            told = _says(turn.answer, was) and _says(answer.text, now)
            return AnswerChange(before, after, citation, was.text, now.text) if told else None
        if polarity_conflict(before, after) or polarity_conflict(after, before):
            return AnswerChange(before, after, citation)
    asked = stems_of(question, language_of(question))
    pairs = ((one, two) for one in _statements(old, citation) for two in _statements(new, citation))
    if any(disagree(question, one, two, asked) for one, two in pairs):
        return AnswerChange(before, after, citation)
    return None


def _exchanged(before: str, after: str) -> tuple[Value, Value] | None:
    """Return a value that only the first text has, and the one of the same kind that replaced it."""
    language = language_of(f"{before} {after}")
    was, now = _values(before, language), _values(after, language)
    gone = [one for one in was if not any(_equal(one, other) for other in now)]
    came = [one for one in now if not any(_equal(one, other) for other in was)]
    pairs = [(one, other) for one in gone for other in came if _of_one_kind(one, other)]
    named = [pair for pair in pairs if pair[0].kind is Kind.NAME]
    return next((pair for pair in pairs if pair not in named or len(gone) == len(came) == 1), None)


def _values(text: str, language: str) -> list[Value]:
    return [value for value in values_in(text, language) if not value.loose]


def _equal(one: Value, other: Value) -> bool:
    return same(one, other) or same(other, one) or (bool(one.key) and _plain(one.key) == _plain(other.key))


def _of_one_kind(one: Value, other: Value) -> bool:
    if one.kind in _MEASURED and other.kind in _MEASURED:
        return one.unit == other.unit or not (one.unit and other.unit) or one.kind is other.kind
    return one.kind is other.kind or {one.kind, other.kind} == {Kind.DATE, Kind.NUMBER}


def _says(text: str, value: Value) -> bool:
    return f" {_plain(value.text)} " in f" {_plain(text)} " or any(_equal(value, one) for one in values_in(text))


def _likeness(one: Unit, other: Unit) -> float:
    """Return the share in [0, 1] of words, without values, that two units have in common."""
    mine, theirs = _subject(one), _subject(other)
    return len(mine & theirs) / max(len(mine), len(theirs), 1)


def _subject(unit: Unit) -> frozenset[str]:
    text = _bare(unit)
    for value in reversed(values_in(text)):
        if value.kind not in {Kind.NAME, Kind.CODE}:
            text = f"{text[: value.start]} {text[value.end :]}"
    return frozenset(content_words(text))


def _about(question: str, unit: Unit) -> int:
    return len(frozenset(content_words(question)) & frozenset(content_words(f"{unit.under} {unit.text}")))


def _statements(unit: Unit, citation: Citation) -> Iterator[Statement]:
    text = "\n".join((*unit.head, unit.text)) if unit.head else unit.text
    passage = Passage("", citation.knowledge_base, "", "", "", 0, citation.title, text, (citation.place,))
    return statements_of(Evidence(0, Hit(passage, 1.0), ""))


def _quoted(citation: Citation) -> Iterator[Unit]:
    for stretch in _ELLIPSIS.split(citation.quote):
        yield from units(stretch)


def _bare(unit: Unit) -> str:
    return " ".join(_NUMBERED.sub("", without_markers(unit.text)).split())


def _plain(text: str) -> str:
    return " ".join(words(fold(text)))
