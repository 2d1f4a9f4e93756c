"""Rules that adjust a unit's log odds regardless of its features and the reader.

``python -m research.ablation --rules`` leaves out each rule in turn and prints the effect. A rule stays if it makes at
least 3 of 1,000 more questions right than wrong on the development sets, or if its line says why it stays.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto

from adapters.reasoners.extractive import weights
from adapters.reasoners.extractive.candidates import ScoredUnit, WeighedPassage
from adapters.reasoners.extractive.understand.answer_type import denies
from core.model.evidence import Evidence
from core.model.knowledge import Passage
from core.model.passage_units import Form, Unit, units
from core.model.text import content_words

_LEAD = re.compile(
    r"^\s*(?:[-*+•]|\d{1,3}[.)])?\s*(?:\*\*(?P<bold>[^*]{2,60})\*\*|(?P<code>`[^`]{2,60}`)(?=\s*[:–—-])"
    r"|(?P<plain>[^.:!?|]{2,40}?)(?::\s|\s{3,}))"
)
_LONGEST = 6  # words of a key
_SUBJECT = re.compile(  # "Contractors are not entitled …"
    r"^(?:All |The |Our )?([A-Za-z][\w'’-]*(?: [\w'’-]+){0,2}?) (?:are|is|have|has|gets?|receives?|may|must|can|cannot"
    r"|needs?|do|does|will|should|pays?|earns?|includes?)\b"
)
_ASKED_OF = r"(?:do|does|did|can|may|must|will|should|are|is|have|has|for|of|on|in|with|under)"

Neighbours = tuple[str, ...]
Key = tuple[Neighbours, frozenset[str]]  # a group of neighbours, and the words that distinguish a unit from the others


class Subjects:
    """Things in parallel sections, items or rows, and which of them a question names.

    Parallel sections are about different things: the Standard plan's telephone line is not the Extended plan's.
    """

    def __init__(self, question: str, placed: Iterable[tuple[Passage, Unit]]) -> None:
        """Collect the named things from all units that may be quoted."""
        asked = frozenset(content_words(question))
        named: dict[Neighbours, set[frozenset[str]]] = {}
        for passage, unit in placed:
            for group, stems in keys_of(passage, unit):
                if stems <= asked:
                    named.setdefault(group, set()).add(stems)
        # "Glow Plus" names the row Glow Plus, not the row Glow.
        self._named = {
            group: {one for one in found if not any(one < other for other in found)} for group, found in named.items()
        }

    def names(self, passage: Passage, unit: Unit) -> bool:
        """Return whether the question names a unit's subject and does not name a neighbour instead."""
        found = False
        for group, stems in keys_of(passage, unit):
            if named := self._named.get(group):
                if not any(one <= stems for one in named):
                    return False
                found = found or stems in named
        return found


def keys_of(passage: Passage, unit: Unit) -> Iterator[Key]:
    """Yield the keys of a unit: its headings below the title, its entry's key, its first cell."""
    title = frozenset(content_words(passage.title))
    for level, heading in enumerate(passage.heading):
        if (stems := frozenset(content_words(heading))) and not stems <= title:
            yield (passage.document, "heading", *passage.heading[:level]), stems
    if unit.under and (stems := frozenset(content_words(unit.under))) and len(stems) <= _LONGEST:
        yield (passage.document, "under", *passage.heading), stems
    if (stems := frozenset(content_words(_lead_of(unit)))) and len(stems) <= _LONGEST:
        yield (passage.section, unit.form.name, *unit.head[:1]), stems


def _lead_of(unit: Unit) -> str:
    """Return a row's first cell, leading bold or code words, or words before a colon. Empty otherwise."""
    if unit.form is Form.ROW:
        return unit.text.strip().strip("|").split("|")[0]
    found = _LEAD.match(unit.text)
    return found["bold"] or found["code"] or found["plain"] if found else ""


class GroupMatch(Enum):
    """Relation of a sentence's group of people or things to the group in the question."""

    NONE = auto()
    OTHER = auto()  # it says about another group what a neighbour says about the question's group
    DENIED = auto()  # it says that the group has none


class Groups:
    """Groups that sentences are about: "Contractors are not entitled to …" and "Staff have 26 days of …"."""

    def __init__(self, question: str, placed: Iterable[tuple[Passage, Unit]]) -> None:
        """Find the sentences about the question's group."""
        self._asked = frozenset(content_words(question))
        self._own: dict[str, set[str]] = {}  # by section: the question's words in such sentences, without the group's
        for passage, unit in placed:
            if (group := _subject_of(unit)) and _asks_of(question, group):
                said = set(content_words(unit.text)) & self._asked - set(content_words(group))
                self._own.setdefault(passage.section, set()).update(said)

    def match(self, passage: Passage, unit: Unit) -> GroupMatch:
        """Compare a unit's group with the question's group."""
        group, own = _subject_of(unit), self._own.get(passage.section)
        if not group or own is None:
            return GroupMatch.NONE
        stems, said = set(content_words(group)), set(content_words(unit.text))
        if not stems <= self._asked:
            return GroupMatch.OTHER if said & own else GroupMatch.NONE
        rest = said - stems
        about = 2 * len(rest & self._asked) >= len(rest) > 0
        return GroupMatch.DENIED if about and denies(unit.text) else GroupMatch.NONE


def _subject_of(unit: Unit) -> str:
    found = _SUBJECT.match(unit.text) if unit.form is Form.SENTENCE else None
    return found[1] if found and content_words(found[1]) else ""


def _asks_of(question: str, group: str) -> bool:
    """Return whether a question asks about this group: "do contractors get", "for interns"."""
    return bool(re.search(rf"\b{_ASKED_OF} (?:the |our |an? )?{re.escape(group)}\b", question, re.IGNORECASE))


@dataclass(frozen=True, slots=True)
class Rule:
    """Rule that adds ``adjust`` to the log odds of a unit with this relation. ``effect`` is the measured effect."""

    name: str
    applies: Callable[[GroupMatch], bool]
    adjust: float
    effect: str = ""


RULES: tuple[Rule, ...] = (
    Rule(
        "of another group",
        lambda group: group is GroupMatch.OTHER,
        weights.OTHER_GROUP,
        "kept: changes no verdict of 575 questions, and another group's figure is a wrong answer",
    ),
    Rule(
        "the group has none",
        lambda group: group is GroupMatch.DENIED,
        weights.GROUP_HAS_NONE,
        "kept: changes no verdict of 575 questions, and the reader takes it for no answer",
    ),
)


def adjusted(question: str, weighed: Sequence[WeighedPassage], pool: Sequence[Evidence]) -> list[WeighedPassage]:
    """Return the passages with their units' odds adjusted by all rules."""
    groups = Groups(question, ((item.passage, unit) for item in pool for unit in units(item.passage.text)))

    def judged(passage: Passage, one: ScoredUnit) -> ScoredUnit:
        group = groups.match(passage, one.unit)
        applied = [rule for rule in RULES if rule.applies(group)]
        more = sum(rule.adjust for rule in applied)
        return replace(one, odds=one.odds + more, rules=tuple(rule.name for rule in applied)) if applied else one

    done = (replace(one, units=tuple(judged(one.evidence.passage, unit) for unit in one.units)) for one in weighed)
    return [replace(one, units=tuple(sorted(one.units, key=lambda unit: -unit.odds))) for one in done]
