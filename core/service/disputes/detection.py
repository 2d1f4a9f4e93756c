"""Detection of two current sources that give different values for the same thing.

It prefers precision over recall. Two statements are about the same thing if all their words except the values match,
and exactly one value differs. An extra word on one side may be a period, a region or a group.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import PurePosixPath

from core.model.answer import Answer, Outcome
from core.model.evidence import Evidence, EvidenceLibrary
from core.model.languages import language_of
from core.model.text import STOPWORDS
from core.service.disputes.statements import Statement, statements_of, stems_of
from core.values import Kind, Value
from core.values.arithmetic import same

ABOUT_IT = 0.3  # share of the question's words that both statements have
FEWEST = 2  # words that both share; one is enough if it is in the question
PREFIX = 5  # letters that a verb and its noun share
MOST_PASSAGES = 40
MOST_FILLER = 3  # words of a name, a place or a tool
_WHO = re.compile(r"(?i)^\W*(?:who|whose|wer|wem|wessen|qui|quién)\b")
_WHERE = re.compile(r"(?i)^\W*(?:where|wo|wohin|où|dónde|(?:in|at|on|from|to) (?:which|what)|in welche[rmn]?)\b")
_WHICH = re.compile(r"(?i)^\W*(?:\w+ )?(?:which|what|welche[rsmn]?|was|womit|quel\w*|cuál|qué)\b")
# Questions that "not" does not answer.
_HOW_MUCH = re.compile(
    r"(?i)^\W*(?:how \w+|when|wie ?(?:viel\w*|lange?|oft|hoch|groß|weit)|wann|combien|quand|cuánt\w*)\b"
)
# Words after which several names may be right: members, offers, options.
_OF_MANY = re.compile(
    r"(?i)\b(?:supports?|supported|can|may|also|offers?|provides?|includ\w+|works?|contribut\w+|members?|wrote|written"
    r"|unterstütz\w+|kann|können|darf|dürfen|auch|bietet|gehör\w+|arbeite\w+|mitglied\w*)\b"
)
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
# Kinds of documents in titles. A different kind is not a different subject.
_KINDS = frozenset(
    """guide handbook manual policy rules list page faq notes overview plan info book table sheet docs documentation
    reference runbook readme terms letter news calendar config setup process policies guidelines regulations report
    update memo catalogue catalog index wiki file contract basics help""".split()  # noqa: SIM905
)


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Two statements that cannot both be true. ``dated`` is whether their dates say which is newer."""

    newer: Statement
    older: Statement

    @property
    def dated(self) -> bool:
        """Whether it is known which is newer."""
        new, old = self.newer.source.passage.dated, self.older.source.passage.dated
        return bool(new and old) and new[: len(old)] > old[: len(new)]


def find_disagreement(question: str, answer: Answer, library: EvidenceLibrary) -> Disagreement | None:
    """Return the clearest disagreement of an answer's sources with the other evidence; None without one.

    ``library`` holds only what the asker may read.
    """
    if answer.outcome is not Outcome.ANSWERED or not answer.citations:
        return None
    cited: list[Statement] = []
    for citation in answer.citations:
        item = library.get(citation.evidence)
        if item is not None:
            cited += statements_of(item, within=citation.quote)
    others = [one for item in _found(library) for one in statements_of(item)]
    found = map(_ordered, _pairs(question, cited, others))
    return max(found, key=lambda pair: (pair.dated, pair.newer.source.passage.dated), default=None)


def _found(library: EvidenceLibrary) -> Iterable[Evidence]:
    looked_at = library.items_found()
    further = (Evidence(0, hit, "") for hit in library.further)
    return (*looked_at, *further)[:MOST_PASSAGES]


def _pairs(
    question: str, cited: Sequence[Statement], others: Sequence[Statement]
) -> Iterable[tuple[Statement, Statement]]:
    asked = stems_of(question, cited[0].language if cited else language_of(question))
    return (
        (one, other)
        for one, other in product(cited, others)
        if one.source.passage.document != other.source.passage.document and disagree(question, one, other, asked)
    )


def _ordered(pair: tuple[Statement, Statement]) -> Disagreement:
    one, other = pair
    if other.source.passage.dated > one.source.passage.dated:
        one, other = other, one
    return Disagreement(one, other)


def disagree(question: str, one: Statement, other: Statement, asked: frozenset[str]) -> bool:
    """Return whether two statements of different documents answer a question with different values."""
    if not _are_alike(one, other) or not _answer(one, other, asked) or _are_siblings(one, other):
        return False
    values = _different_figures(one, other)
    if values == _NOT_COMPARABLE:
        return False
    denied = one.denies != other.denies
    if denied and any(asks.search(question) for asks in (_HOW_MUCH, _WHO, _WHERE)):
        return False
    differs = bool(values) + denied
    mine, theirs = _left_over(one, other, asked), _left_over(other, one, asked)
    if not mine and not theirs:
        return differs == 1
    if not (mine and theirs):  # a name that is also in the other's title
        mine, theirs = _left_over(one, other, asked, strictly=True), _left_over(other, one, asked, strictly=True)
    return not differs and _other_name(question, one, mine, other, theirs)


def _are_alike(one: Statement, other: Statement) -> bool:
    """Return whether both have the same kind of limit, rate and relation: "at most", "per month", "our"."""
    if one.relation and other.relation and one.relation != other.relation:
        return False
    same_rate = not (one.rates and other.rates) or one.rates == other.rates
    return one.bound == other.bound and same_rate


def _answer(one: Statement, other: Statement, asked: frozenset[str]) -> bool:
    """Return whether both are about what was asked."""
    shared = one.stems & other.stems
    near = shared | ((one.stems | one.context) & (other.stems | other.context))
    if len(shared) < FEWEST and not shared & asked:
        return False
    return _of_one_row(one, other, asked) and len(asked & near) >= ABOUT_IT * len(asked)


def _of_one_row(one: Statement, other: Statement, asked: frozenset[str]) -> bool:
    """Return whether cells are of one row and column, or a sentence has all words that name the row and its column."""
    if one.row and other.row:
        return one.key == other.key and one.column == other.column
    prose, row = (other, one) if one.row else (one, other)
    column = stems_of(row.column, row.language)
    return all(_has(prose.stems | prose.context, word) for word in row.key) and all(
        _has(prose.stems | asked, word) for word in column
    )


def _left_over(one: Statement, other: Statement, asked: frozenset[str], *, strictly: bool = False) -> tuple[int, ...]:
    """Return the positions of words that the other statement lacks and, unless ``strictly``, so does its title."""
    known = other.stems if strictly else other.stems | other.context
    terse = (one.row or other.row) and not strictly
    return tuple(
        word.at
        for word in one.said
        if not _has(known, word.stem) and not (terse and word.stem in asked and not word.name)
    )


def _has(known: frozenset[str], stem: str) -> bool:
    """Return whether a word or its noun or verb is known: deliver, delivery."""
    if stem in known:
        return True
    return len(stem) >= PREFIX and any(
        len(one) >= PREFIX and (one.startswith(stem) or stem.startswith(one)) for one in known
    )


_NOT_COMPARABLE = (None, None)


def _different_figures(one: Statement, other: Statement) -> tuple[Value | None, Value | None] | tuple[()]:
    """Return the one pair of values that differ, () if none do, otherwise ``_NOT_COMPARABLE``."""
    ours, others = one.figures, other.figures
    if len(ours) != len(others):  # "one reviewer" beside "two reviewers"
        ours, others = ours or one.ones, others or other.ones
    mine = [value for value in ours if not any(_equal(value, known) for known in others)]
    theirs = [value for value in others if not any(_equal(value, known) for known in ours)]
    if not mine and not theirs:
        return ()
    if len(mine) != 1 or len(theirs) != 1 or len(ours) != len(others):
        return _NOT_COMPARABLE
    (a,), (b,) = mine, theirs
    if a.about or b.about or not _of_one_kind(a, b):
        return _NOT_COMPARABLE
    return a, b


def _equal(one: Value, other: Value) -> bool:
    return same(one, other) or same(other, one)


def _of_one_kind(one: Value, other: Value) -> bool:
    measured = {Kind.NUMBER, Kind.MONEY, Kind.PERCENT, Kind.DURATION, Kind.QUANTITY}
    if one.kind in measured and other.kind in measured:
        same_number = bool(set(one.numbers) & set(other.numbers))
        return one.kind is other.kind or same_number
    calendar = {Kind.DATE, Kind.NUMBER}
    years = one.dates and other.dates
    return one.kind is other.kind or bool(years and {one.kind, other.kind} <= calendar)


def _other_name(question: str, one: Statement, mine: Sequence[int], other: Statement, theirs: Sequence[int]) -> bool:
    """Return whether the statements differ only in one name, place or tool that the question asks for."""
    if not (_is_run(mine) and _is_run(theirs)) or min(mine) < one.lead or min(theirs) < other.lead:
        return False
    if one.language == "en" and all(word.name and word.at for word in one.said if word.stem in other.stems):
        return False  # they share a name but say different things about it
    if _OF_MANY.search(one.quote) or _OF_MANY.search(other.quote):
        return False
    names = [[word for word in side.said if word.at in places] for side, places in ((one, mine), (other, theirs))]
    if _WHERE.search(question):
        return all(one.row or other.row or words[0].placed for words in names)
    if not (_WHO.search(question) or _WHICH.search(question)):
        return False
    return all(word.name for words in names for word in words)


def _is_run(places: Sequence[int]) -> bool:
    return 0 < len(places) <= MOST_FILLER and places[-1] - places[0] < MOST_FILLER


def _are_siblings(one: Statement, other: Statement) -> bool:
    """Return whether two documents are of one kind but for another country, team, year or product."""
    mine, theirs = one.source.passage, other.source.passage
    ways = PurePosixPath(mine.source), PurePosixPath(theirs.source)
    if ways[0].name == ways[1].name and ways[0].parent != ways[1].parent:
        return True
    if mine.title == theirs.title and mine.dated and theirs.dated and mine.dated != theirs.dated:
        return True  # two editions, which an answer names anyway
    years = [frozenset(_YEAR.findall(f"{passage.title} {' '.join(passage.heading)}")) for passage in (mine, theirs)]
    if all(years) and not years[0] & years[1]:
        return True
    headings = zip((mine.title, *mine.heading[-1:]), (theirs.title, *theirs.heading[-1:]), strict=False)
    return any(_is_other_of_kind(here, there) for here, there in headings)


def _is_other_of_kind(one: str, other: str) -> bool:
    """Return whether two titles name two of a kind: guides of two countries, leave for crews and for the office."""
    mine, theirs = (re.findall(r"\w+", title.casefold()) for title in (one, other))
    own, others = set(mine) - set(theirs) - _KINDS - STOPWORDS, set(theirs) - set(mine) - _KINDS - STOPWORDS
    if (set(mine) & set(theirs)) - _KINDS - STOPWORDS:
        return bool(own or others)
    apart = [pair for pair in zip(mine, theirs, strict=False) if pair[0] != pair[1]]
    return len(mine) == len(theirs) > 1 and len(apart) == 1 and not _KINDS.intersection(apart[0])
