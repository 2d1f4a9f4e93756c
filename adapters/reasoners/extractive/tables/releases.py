"""Answers from changelogs: releases by version, by date, the latest, or which of two came first.

A changelog is a list of changes below headings with a version or a date. It seldom has the question's words: the text
below the newest heading answers "what changed in the latest release?".
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date

from adapters.reasoners.extractive.compose.quote_markdown import Quotation
from adapters.reasoners.extractive.tables.rows import TableAnswer
from adapters.reasoners.extractive.understand import PHRASES
from core.model.evidence import Evidence
from core.model.passage_units import Form, Unit, units
from core.model.text import content_words
from core.values.periods import date_limit_in, day_in

_KEPT_IN = re.compile(r"\b(?:change ?log|releases?|what['’]?s new|version history|history of changes)\b", re.IGNORECASE)
_VERSION = re.compile(r"(?<![\w.])v?(\d+(?:\.\d+)+)(?![\w-])|\b(?:v|version |release )(\d+)\b", re.IGNORECASE)
_DAY = re.compile(r"\d{4}-\d\d|\d{1,2}\.\d{1,2}\.\d{4}|[A-Z][a-z]{2,}\.? (?:\d{1,2},? )?\d{4}")
_NEWS = PHRASES["NEWS"]
_RELEASED = re.compile(r"\b(?:releas|shipp|launch)\w*|\bcame out\b|\bchangelog\b", re.IGNORECASE)
_LATEST = PHRASES["LATEST"]
_ASKED_VERSION = PHRASES["ASKED_VERSION"]
_ORDER = PHRASES["ORDER"]
_EARLIER = {"first", "earlier", "older"}
_MOST = 8  # releases quoted at once


@dataclass(slots=True)
class Release:
    """One release in a changelog. ``label`` is its heading."""

    label: str
    title: str
    version: tuple[int, ...]
    day: date | None
    said: list[tuple[Evidence, Unit]] = field(default_factory=list)

    @property
    def quotations(self) -> tuple[Quotation, ...]:
        """Its units by passage."""
        passages = {item.id: item for item, _ in self.said}
        return tuple(Quotation(one, tuple(u for at, u in self.said if at.id == one.id)) for one in passages.values())


def asks_of_releases(question: str) -> bool:
    """Return whether a question may ask for releases."""
    numbered = _NEWS.search(question) and _ASKED_VERSION.search(question)
    dated = _RELEASED.search(question) and date_limit_in(question)
    return bool(numbered or dated or _LATEST.search(question) or _ORDER.match(question))


def releases_that_answer(question: str, evidence: Sequence[Evidence]) -> TableAnswer | None:
    """Return the wanted releases of the best-fitting changelog, or None if the question asks for none."""
    if not asks_of_releases(question):
        return None
    found = _releases(question, evidence)
    if not found:
        return None
    title = found[0].title
    if order := _ORDER.match(question):
        return _first_or_last(order, found)
    if (limit := date_limit_in(question)) and _RELEASED.search(question):
        chosen = [one for one in found if one.day and limit.holds(one.day)]
        lead = f"Released {limit.said}, by the dates in *{title}*:"
    elif numbers := [next(filter(None, one)) for one in _ASKED_VERSION.findall(question)]:
        wanted = _numbers(numbers[0])
        chosen, lead = [one for one in found if one.version[: len(wanted)] == wanted], ""
    else:
        chosen = [max(found, key=lambda one: (one.day or date.min, one.version))]
        lead = f"The latest release that I found in *{title}* is {chosen[0].label}:"
    quotations = tuple(quotation for one in chosen[:_MOST] for quotation in one.quotations)
    return TableAnswer(lead, quotations) if quotations else None


def _releases(question: str, evidence: Sequence[Evidence]) -> list[Release]:
    """Return the releases of the changelog that best fits the question, in document order."""
    by_document: dict[str, dict[str, Release]] = {}
    for item in sorted(evidence, key=lambda one: one.passage.ordinal):
        for label, unit in _labelled(item):
            there = by_document.setdefault(item.passage.document, {})
            version = _VERSION.search(label)
            number = _numbers(version[1] or version[2]) if version else ()
            release = there.setdefault(label, Release(label, item.passage.title, number, _day_of(label)))
            release.said.append((item, unit))
    wanted = set(content_words(question))

    def fit(document: str) -> tuple[int, float]:
        items = [item for item in evidence if item.passage.document == document]
        said = {word for item in items for word in content_words(item.passage.title)}
        return len(wanted & said), max(item.hit.score for item in items)

    best = max(by_document, key=fit, default="")
    return list(by_document.get(best, {}).values())


def _labelled(item: Evidence) -> Iterator[tuple[str, Unit]]:
    """Yield the units below release headings, each with its heading."""
    passage = item.passage
    kept_there = _KEPT_IN.search(" ".join((passage.title, *passage.heading)))
    for unit in units(passage.text):
        for label in (unit.under.strip("*_# "), *reversed(passage.heading)):
            told = bool(_VERSION.search(label)), _day_of(label) is not None
            if unit.form is not Form.ROW and (any(told) if kept_there else all(told)):
                yield label, unit
                break


def _day_of(label: str) -> date | None:
    return day_in(label) if _DAY.search(label) else None


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def _first_or_last(order: re.Match[str], found: Sequence[Release]) -> TableAnswer | None:
    """Return the releases of the two things, ordered as the question asks."""
    chosen: list[Release] = []
    for side in (order["one"], order["other"]):
        wanted = set(content_words(side))
        for release in found:
            said = [(item, unit) for item, unit in release.said if wanted <= set(content_words(unit.text))]
            if said:
                chosen.append(Release(release.label, release.title, release.version, release.day, said))
                break
    if len(chosen) < 2 or chosen[0].label == chosen[1].label:
        return None
    by_age = sorted(chosen, key=lambda one: (one.day or date.min, one.version))
    first = order["order"].casefold() in _EARLIER
    by_age = by_age if first else by_age[::-1]
    lead = f"By the order of releases in *{by_age[0].title}*, {by_age[0].label} came {'first' if first else 'last'}:"
    return TableAnswer(lead, tuple(quotation for one in by_age for quotation in one.quotations))
