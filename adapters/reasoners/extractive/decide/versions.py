"""Versions of one document: which one is valid, and which one a question is about.

Titles of versions differ by a number, a year or words in brackets. Versions are ordered by their stated dates. The
newest is valid, unless the question names an older one or a time at which that one was valid.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from adapters.reasoners.extractive.understand import PHRASES
from core.model.evidence import Evidence, Grade
from core.model.inquiry import Inquiry
from core.model.knowledge import Passage
from core.model.passage_units import Form, Unit

_SIGNS = re.compile(r"[\W_]+")
_YEARS = re.compile(r"(?<!\d)(?:19|20)\d\d(?:-\d\d){0,2}(?!\d)")
_BESIDE = re.compile(r"\([^)]*\)|\b(?:version|v|release|edition|rev(?:ision)?)\.? ?[\d.]+", re.IGNORECASE)
YEAR = re.compile(r"\b(?:19|20)\d\d\b")
NUMBERED = re.compile(r"\b(?:version|v|release|edition|issue|revision|terms)\.? ?(\d+(?:\.\d+)*)\b", re.IGNORECASE)
_OLD = PHRASES["OLD"]
# Statements of a document about itself: "Superseded by version 4", "This policy was replaced on 1 May".
_SUPERSEDED = re.compile(
    r"^\W*(?:superseded|replaced|withdrawn|out of date|obsolete)\b"
    r"|\bthis (?:policy|document|version|page|agreement|list|edition|notice)\b[^.]{0,30}\b(?:was|is|has been)"
    r" (?:superseded|replaced|withdrawn)\b",
    re.IGNORECASE | re.MULTILINE,
)
_OUTDATED = PHRASES["OUTDATED"]
_OF_ONE_VERSION = re.compile(r"^\W*(?:version |release |v|[a-z]{1,2})?\d+(?:\.\d+)*\b", re.IGNORECASE)


def calls_itself_outdated(passage: Passage, unit: Unit) -> bool:
    """Return whether a sentence says that its own document is outdated.

    Rows and items say it about a key or a card, and text below a changelog version about that version.
    """
    of_one = any(_OF_ONE_VERSION.match(heading) and "." in heading for heading in (*passage.heading[-2:], unit.under))
    return unit.form is Form.SENTENCE and not of_one and bool(_OUTDATED.search(unit.text))


def family(passage: Passage) -> str:
    """Return the title without its version number, year and brackets, which is the same for all versions.

    Other numbers stay: manuals of the models A3 and A5 are not versions of each other.
    """
    return _unversioned(passage.title)


@lru_cache(maxsize=1024)  # called for every pair of found passages
def _unversioned(title: str) -> str:
    return _SIGNS.sub("", _YEARS.sub(" ", _BESIDE.sub(" ", title))).casefold() or title.casefold()


_BEFORE = re.compile(
    r"\b(?:before|until|prior to|up to) (?:the year )?((?:19|20)\d\d)\b(?! (?:terms|edition))", re.IGNORECASE
)
HEAD = 300  # characters of a document in which it states its version


def other_version(question: str, item: Evidence, pool: Sequence[Evidence]) -> bool:
    """Return whether a passage is from a version that the question is not about, while the right version was found."""
    versions = _versions_of(item, pool)
    named = set(NUMBERED.findall(question))
    if len(versions) < 2 or len(named) > 1:
        return False  # if the question names two versions, it is about both
    numbered = {one.document: _number_stated(one.document, (item, *pool)) for one in versions}
    return item.passage.document != _select_version(question, versions, numbered).document


# A mark after the name: "Price list (superseded)", "API v2, deprecated". "Deprecated features" is not outdated.
_OLD_TITLE = PHRASES["OLD_TITLE"]


def _number_stated(document: str, pool: Iterable[Evidence]) -> str:
    """Return the version number that a document states at its start: 6 of "Edition 6, …"."""
    heads = (one.passage for one in pool if one.passage.document == document and one.passage.ordinal == 0)
    found = (NUMBERED.search(passage.text[:HEAD]) for passage in heads)
    return next((one[1] for one in found if one), "")


def _versions_of(item: Evidence, pool: Iterable[Evidence]) -> list[Passage]:
    """Return one passage of each version, newest first. Empty if dates or the documents' words give no order.

    Without dates, use the years or numbers in titles: the price list 2026 is newer than that of 2025.
    """
    own = family(item.passage)
    found: dict[str, Passage] = {}
    superseded: set[str] = set()
    for other in (item, *pool):
        if family(other.passage) == own:
            found.setdefault(other.passage.document, other.passage)
            if _SUPERSEDED.search(other.passage.text) or _OLD_TITLE.search(other.passage.title):
                superseded.add(other.passage.document)
    dated = all(passage.dated or passage.document in superseded for passage in found.values())

    def order(passage: Passage) -> tuple[bool, str, tuple[int, ...]]:
        if dated:
            return passage.document not in superseded, passage.dated, ()
        return passage.document not in superseded, "", _number_of(passage.title)

    listed = sorted(found.values(), key=order, reverse=True)
    told_apart = len({order(passage) for passage in listed}) == len(listed)
    open_order = [passage for passage in listed if passage.document not in superseded]
    numbered = len(open_order) == 1 or all(_number_of(passage.title) for passage in open_order)
    return listed if told_apart and (dated or numbered) else []


def _number_of(title: str) -> tuple[int, ...]:
    """Return the year in a title, or its version number. Empty if it has neither."""
    said = YEAR.findall(title) or NUMBERED.findall(title)
    return tuple(int(part) for part in said[-1].split(".") if part) if said else ()


def _select_version(question: str, versions: Sequence[Passage], numbered: Mapping[str, str]) -> Passage:
    """Select the version by number or year, the second newest for "the old", or else the newest.

    If no title has the year, select the version that was valid at its end.
    """
    numbers = set(NUMBERED.findall(question))
    years = YEAR.findall(question)
    if until := _BEFORE.search(question):
        return next((passage for passage in versions if "" < passage.dated[:4] < until[1]), versions[-1])
    for passage in versions:
        if numbers & set(re.findall(r"\d+(?:\.\d+)*", passage.title)) or any(year in passage.title for year in years):
            return passage
    # The title first: the head of version 1 may say that version 2 has replaced it.
    if numbers and (of_number := [passage for passage in versions if numbered[passage.document] in numbers]):
        return of_number[0]
    if years:
        held = [passage for passage in versions if passage.dated[:4] <= max(years)]
        return held[0] if held else versions[-1]
    return versions[1] if _OLD.search(question) else versions[0]


def without_old_alone(inquiry: Inquiry, grades: Mapping[int, Grade], evidence: Sequence[Evidence]) -> dict[int, Grade]:
    """Return the grades, with superseded documents below the cutoff unless their successor is evidence."""
    found, pool = dict(grades), (*inquiry.library.items_found(), *evidence)
    held = {
        family(item.passage)
        for item in evidence
        if found[item.id].score >= inquiry.cutoff and not other_version(inquiry.standalone, item, pool)
    }
    for old in evidence:
        if family(old.passage) not in held and other_version(inquiry.standalone, old, pool):
            found[old.id] = replace(found[old.id], score=min(found[old.id].score, inquiry.cutoff - 1))
    return found
