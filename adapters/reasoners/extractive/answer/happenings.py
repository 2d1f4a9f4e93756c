"""What happened on the day, or in the month, that a question names: what stands below a heading of that date.

No sentence there has the question's words: "14 January 2026: sign-in unavailable" is the heading, and what happened is
whatever stands below it.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from adapters.reasoners.extractive.answer.quote_markdown import Quotation
from adapters.reasoners.extractive.evidence.word_coverage import topic_words
from core.model.evidence import Evidence
from core.model.passage_units import Form, Unit, units
from core.model.text import content_words

_ASKS = re.compile(
    r"^(?:so |and )?what(?:['’]?s| has| had)? "
    r"(?:happened|went wrong|gone wrong|broke|failed|was (?:wrong|broken|(?:the|our) \w+))\b",
    re.IGNORECASE,
)
_SAID_OF_ANY = frozenset(
    content_words(
        "what happened went gone wrong broke broken failed problem problems incident outage matter issue trouble us"
    )
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DATE = re.compile(
    r"(?:\b(?P<day>\d{1,2})(?:st|nd|rd|th)?(?: of)? )?\b"
    r"(?P<month>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)"
    r"(?:uary|ruary|ch|il|e|y|ust|t(?:ember)?|tember|ober|ember)?\b(?:,? (?P<year>(?:19|20)\d\d)\b)?",
    re.IGNORECASE,
)
_STOPPED = re.compile(r"[.!?:;][*_\"”’)]*\s*$")
_SHOWN = 4  # units below one heading
_DAYS = 3  # that are quoted of one month


@dataclass(frozen=True, slots=True)
class Date:
    """A day, or a month; what is left open is empty."""

    month: str
    day: str
    year: str

    def meets(self, other: "Date") -> bool:
        """Whether another date is this one, as far as this one says."""
        parts = ((self.day, other.day), (self.year, other.year))
        return self.month == other.month and all(said in {"", told} for said, told in parts)


def happened(question: str, evidence: Sequence[Evidence]) -> tuple[Quotation, ...]:
    """What stands below the headings of the date on which a question asks what happened; empty where it asks more."""
    date = _date_asked(question)
    if date is None:
        return ()
    found = ((item, tuple(_below(date, item))[:_SHOWN]) for item in evidence)
    return tuple(Quotation(item, told) for item, told in found if told)[:_DAYS]


def _date_asked(question: str) -> Date | None:
    """The one date on which a question asks what happened, if it asks no more than that."""
    found = list(_dates_in(question)) if _ASKS.match(question) else []
    rest = set(topic_words(_DATE.sub(" ", question))) - _SAID_OF_ANY
    return found[0] if len(found) == 1 and not rest and (found[0].day or found[0].year) else None


def _below(date: Date, item: Evidence) -> Iterator[Unit]:
    """The units of a passage that stand below a heading of this date, which may be a line of its own."""
    over = " ".join(item.passage.heading[-1:])
    for unit in units(item.passage.text):
        if unit.form is Form.SENTENCE and any(_dates_in(unit.text)) and not _STOPPED.search(unit.text):
            over = unit.text
        above = unit.under if any(_dates_in(unit.under)) else over
        if any(one.day and date.meets(one) for one in _dates_in(above)):
            yield unit


def _dates_in(text: str) -> Iterator[Date]:
    for found in _DATE.finditer(text):
        month = _MONTHS.index(found["month"].casefold()) + 1
        yield Date(f"{month}", (found["day"] or "").lstrip("0"), found["year"] or "")
