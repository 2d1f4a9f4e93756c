"""The table of rules: what speaks for or against a unit, whatever its features, added to its log odds.

The first rule: a unit of another thing than the one that is named. Sections side by side speak of things side by side:
the Standard plan's telephone line is not the Extended plan's. When the question names one of them, the others are
about something else, however many of its words they have.

``python -m research.ablation --rules`` leaves out each rule in turn and prints what that costs. A rule that does not
make 3 of 1,000 more questions right than wrong on the sets for choosing is deleted, unless its line says why it stays.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum, auto

from adapters.reasoners.extractive import weights
from adapters.reasoners.extractive.evidence.scoring import ScoredUnit
from core.model.knowledge import Passage
from core.model.passage_units import Form, Unit
from core.model.text import content_words

_LEAD = re.compile(
    r"^\s*(?:[-*+•]|\d{1,3}[.)])?\s*(?:\*\*(?P<bold>[^*]{2,60})\*\*|(?P<code>`[^`]{2,60}`)(?=\s*[:–—-])"
    r"|(?P<plain>[^.:!?|]{2,40}?)(?::\s|\s{3,}))"
)
_LONGEST = 6  # words of a key
_NAME = 2  # words of a title that a question can name: of one word it may be what is asked

Group = tuple[str, ...]


class SubjectMatch(Enum):
    """How a unit's subject stands to the question."""

    NAMED = auto()  # the question names it
    OTHER = auto()  # the question names a neighbour of it
    OPEN = auto()  # the question names none of them


@dataclass(frozen=True, slots=True)
class Key:
    """What tells a unit from its neighbours, and which neighbours."""

    group: Group
    stems: frozenset[str]
    said: str = ""  # as it stands there, in lower case, where that tells more than its words: "reef+" beside "reef"


class Subjects:
    """Which of the things side by side in some passages a question names."""

    def __init__(self, question: str, placed: Iterable[tuple[Passage, Unit]]) -> None:
        """Look at all units that may be quoted."""
        asked = frozenset(content_words(question))
        placed = tuple(placed)
        self._pages = _named_titles(asked, {passage.title for passage, _ in placed})
        named: dict[Group, set[frozenset[str]]] = {}
        signed: dict[tuple[Group, frozenset[str]], set[str]] = {}
        for passage, unit in placed:
            for key in keys_of(passage, unit):
                if key.stems <= asked:
                    named.setdefault(key.group, set()).add(key.stems)
                    signed.setdefault((key.group, key.stems), set()).add(key.said)
        # "Reef+" and "Reef" have the same words.
        self._written = {
            key: {one for one in said if _stands_so(one, question)} for key, said in signed.items() if len(said) > 1
        }
        # "Glow Plus" names the row Glow Plus, not the row Glow.
        self._named = {
            group: {one for one in found if not any(one < other for other in found)} for group, found in named.items()
        }

    def match(self, passage: Passage, unit: Unit) -> SubjectMatch:
        """Where a unit stands: another thing's wherever one group says so, else named where one does."""
        if _is_of_similar_name(frozenset(content_words(passage.title)), self._pages):
            return SubjectMatch.OTHER
        found = SubjectMatch.OPEN
        for key in keys_of(passage, unit):
            if named := self._named.get(key.group):
                if not any(one <= key.stems for one in named) or self._is_written_otherwise(key):
                    return SubjectMatch.OTHER
                found = SubjectMatch.NAMED if key.stems in named else found
        return found

    def _is_written_otherwise(self, key: Key) -> bool:
        """Whether the question has another of the same words, by its sign."""
        written = self._written.get((key.group, key.stems))
        return bool(written) and key.said not in (written or ())


def _named_titles(asked: frozenset[str], titles: Iterable[str]) -> set[frozenset[str]]:
    """The stems of each title that a question has in full, but for those that it has in another's."""
    stems = {frozenset(content_words(title)) for title in titles}
    named = {one for one in stems if len(one) >= _NAME and one <= asked}
    return {one for one in named if not any(one < other for other in named)}


def _is_of_similar_name(title: frozenset[str], named: set[frozenset[str]]) -> bool:
    """Whether a page is called like one that is named, but for a word: "Diversity team" beside "Diversity circle"."""
    return title not in named and any(title & one and not one <= title and not title <= one for one in named)


def _stands_so(said: str, question: str) -> bool:
    """Whether a question has a name with its sign, or without one: "C" is not in "C++"."""
    return bool(said) and bool(re.search(rf"(?<!\w){re.escape(said)}(?![\w+#*])", question.casefold()))


def keys_of(passage: Passage, unit: Unit) -> Iterator[Key]:
    """The keys of a unit: its headings below the title, the entry it is, its first cell."""
    title = frozenset(content_words(passage.title))
    for level, heading in enumerate(passage.heading):
        if (stems := frozenset(content_words(heading))) and not stems <= title:
            yield Key((passage.document, "heading", *passage.heading[:level]), stems)
    if unit.under and (stems := frozenset(content_words(unit.under))) and len(stems) <= _LONGEST:
        yield Key((passage.document, "under", *passage.heading), stems)
    said = _lead_of(unit)
    if (stems := frozenset(content_words(said))) and len(stems) <= _LONGEST:
        yield Key((passage.section, unit.form.name, *unit.head[:1]), stems, said.strip("*_` ").casefold())


def _lead_of(unit: Unit) -> str:
    """What an entry is of: a row's first cell, bold or coded words in front, words before a colon; else nothing."""
    if unit.form is Form.ROW:
        return unit.text.strip().strip("|").split("|")[0]
    found = _LEAD.match(unit.text)
    return found["bold"] or found["code"] or found["plain"] if found else ""


@dataclass(frozen=True, slots=True)
class JudgedUnit:
    """A unit beside its question, and whether it is of the thing that is named."""

    question: str
    one: ScoredUnit
    subject: SubjectMatch


@dataclass(frozen=True, slots=True)
class Rule:
    """Where it ``applies``, ``adjust`` is added to the unit's log odds. ``effect`` is as measured."""

    name: str
    applies: Callable[[JudgedUnit], bool]
    adjust: float
    effect: str = ""


def adjusted(judged: JudgedUnit) -> float:
    """What all rules together add to a unit's log odds."""
    return sum(rule.adjust for rule in RULES if rule.applies(judged))


_MONEY = re.compile(
    r"[€$£]\s?(\d[\d,]*)|(\d[\d,]*)\s?(?:euros?|pounds?|dollars?|EUR|GBP|USD)\b|\b(?:EUR|GBP|USD)\s?(\d[\d,]*)"
)
_ABOVE = re.compile(r"\b(?:above|over|more than|exceeding)\s+(?:[€$£]|[A-Z]{3})?\s?(\d[\d,]*)", re.IGNORECASE)
_UP_TO = re.compile(r"\b(?:up to|below|under|less than|at most)\s+(?:[€$£]|[A-Z]{3})?\s?(\d[\d,]*)", re.IGNORECASE)


def is_out_of_range(question: str, text: str) -> bool:
    """Whether the one amount of money that a question has lies outside the one range of amounts that a text gives."""
    asked = ["".join(found) for found in _MONEY.findall(question)]
    above, up_to = _ABOVE.findall(text), _UP_TO.findall(text)
    if len(asked) != 1 or not _MONEY.search(text) or max(len(above), len(up_to)) != 1:
        return False
    if _ABOVE.search(question) or _UP_TO.search(question):
        return False  # a range itself
    (amount, *bounds) = (float(one.replace(",", "") or 0) for one in (*asked, *above, *up_to))
    return (bool(above) and amount <= bounds[0]) or (bool(up_to) and amount > bounds[-1])


RULES: tuple[Rule, ...] = (
    Rule(
        "an amount out of the range",
        lambda it: is_out_of_range(it.question, it.one.unit.text),
        weights.OUT_OF_RANGE,
        "kept: changes no verdict of 68 questions, and the row of another amount is a wrong answer",
    ),
    Rule(
        "another thing beside it",
        lambda it: it.subject is SubjectMatch.OTHER,
        weights.OTHER_SUBJECT,
        "+3 right and -3 wrong of 1,000",
    ),
)
