"""A scanned text that hides the values already read, and readers for its dates, times and weekdays."""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from fractions import Fraction

from core.model.languages import language_of
from core.model.text import MARKER, STOPWORDS
from core.values.units import ABOUT, MONTHS, WEEKDAYS, Kind, Value, YearMonthDay

LANGUAGES = ("en", "de", "fr", "es")
FEWEST_ENGLISH = 2  # different stop words that make a text certainly English
TAKEN = "\x01"  # replaces text that was read; neither a word character nor white space
WORD = re.compile(r"[^\W\d_]+")

_NAMED = "|".join(MONTHS)
_LIST_NUMBER = re.compile(rf"(?mi)^[ \t]*(?:[-*•][ \t]+)?(?:\d{{1,2}}|[a-z])[.)](?=[ \t])(?!\s+(?:{_NAMED})\b)")
_ALWAYS = re.compile(r"\b24/7\b")
_DATES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"(?<![\d.-])(?P<y>(?:19|20)\d\d)-(?P<m>\d\d)(?:-(?P<d>\d\d))?(?![\d-])",
        r"(?<![\d.])(?P<d>\d{1,2})\.\s?(?P<m>\d{1,2})\.\s?(?:(?P<y>(?:19|20)?\d\d)(?!\d|\.\d))?(?=\W|$)",
        r"(?<![\d/])(?P<a>\d{1,2})/(?P<b>\d{1,2})/(?P<y>(?:19|20)?\d\d)(?![\d/])",
    )
)
_DAY_OF = re.compile(r"(?<![\d.,])(?P<d>\d{1,2})(?:st|nd|rd|th|er|º|\.)?(?:\s+(?:of|de|del))?\s*$")
_DAY_AND_YEAR = re.compile(
    r"\.?(?:\s+(?P<d>\d{1,2})(?:st|nd|rd|th)?(?![\d:]|[.,]\d))?(?:(?:,|\s+(?:of|de|del))?\s+(?P<y>(?:19|20)\d\d)(?!\d))?"
)
_YEAR = re.compile(r"\.?(?:(?:,|\s+(?:of|de|del))?\s+(?P<y>(?:19|20)\d\d)(?!\d))?")
_SHORT = frozenset(name for name in MONTHS if len(name) < 5) - {
    "june",
    "july",
    "juni",
    "juli",
    "may",
    "mai",
    "mars",
    "août",
}
_ALSO_WORDS = frozenset("may march mar mars mai dec dic ene jan sep".split())  # noqa: SIM905 - in lower case
# "1–5 August": the first day takes the month of the second. "March 3 to 5": the second takes the month of the first.
_THROUGH = r"(?:-|–|to|and|or|until|bis|und|oder|au|et|al|y|a|hasta)"
_DAY_BEFORE = re.compile(rf"(?<![\d.,])(\d{{1,2}})(?:st|nd|rd|th|er|\.)?\s*{_THROUGH}\s*(?:the\s|le\s|el\s|den\s)?$")
_DAY_AFTER = re.compile(rf"\s*{_THROUGH}\s*(\d{{1,2}})(?:st|nd|rd|th)?(?![\w:%]|[.,]\d)")
_HOURS = "one two three four five six seven eight nine ten eleven twelve".split()  # noqa: SIM905
_TIMES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"(?<![\w.,:])(?P<h>\d{1,2})(?:[:.](?P<m>[0-5]\d))?\s?(?P<half>[ap])\.?\s?m\b\.?",
        r"(?<![\w.,:])(?P<h>\d{1,2})(?:[:.](?P<m>[0-5]\d))?\s?(?:uhr|o'clock|o’clock)(?:\s(?P<m2>[0-5]\d)\b)?",
        r"(?<![\w.,:/])(?P<h>[01]?\d|2[0-4]):(?P<m>[0-5]\d)(?::[0-5]\d)?(?![\d:])",
        r"(?<![\w.,:])(?P<h>[01]?\d|2[0-4])\s?h\s?(?P<m>[0-5]\d)(?!\w)",
        r"(?<![\w.,:])(?P<h>[01]?\d|2[0-4])\s?h(?![\w'’])",
    )
)
_PAST = re.compile(rf"(?i)\b(half|quarter) (past|to) ({'|'.join(_HOURS)})\b")
_NOON = {"noon": 720, "midday": 720, "mittags": 720, "midi": 720, "mediodía": 720, "midnight": 0, "mitternacht": 0}
_NOON |= {"minuit": 0, "medianoche": 0}


class Scan:
    """A text in which each value is covered once it is read, so that no value is read twice."""

    def __init__(self, text: str, language: str) -> None:
        self.written = text
        self.language = language if language in LANGUAGES else language_of(text)
        english = {word for word in text.casefold().split() if word in STOPWORDS}
        self.certain = language in LANGUAGES or self.language != "en" or len(english) >= FEWEST_ENGLISH
        self.text = text
        self.blank(MARKER)
        self.blank(_LIST_NUMBER)
        self.blank(_ALWAYS)

    def cover(self, start: int, end: int) -> None:
        """Hide words that have been read."""
        self.text = self.text[:start] + TAKEN * (end - start) + self.text[end:]

    def blank(self, pattern: re.Pattern[str]) -> None:
        """Replace matches, which are not values, with spaces."""
        self.text = pattern.sub(lambda found: " " * len(found.group()), self.text)

    def take(self, value: Value) -> Value:
        """Cover a value's words. Return the value with its text, and ``about`` set from the words before it."""
        value = replace(
            value,
            text=self.written[value.start : value.end].strip(),
            about=bool(ABOUT.search(self.text, max(0, value.start - 24), value.start)),
        )
        self.cover(value.start, value.end)
        return value


def read_dates(page: Scan) -> Iterator[Value]:
    """Yield and cover the dates and weekdays of a page, including months without a day."""
    for pattern in _DATES:
        for found in pattern.finditer(page.text):
            readings = tuple(reading for reading in _readings(found.groupdict(), page.language) if _is_date(reading))
            if not found.groupdict().get("y") and page.language != "de":
                continue  # a sentence that ends in "7.3."
            if readings:
                yield page.take(Value(Kind.DATE, "", *found.span(), dates=readings))
    for word in WORD.finditer(page.text):
        plain = word.group().casefold()
        if plain in MONTHS and _is_month(word.group(), page):
            yield from _read_named_date(page, word, MONTHS[plain])
        elif plain in WEEKDAYS and (word.group()[0].isupper() or page.language != "en"):
            yield page.take(Value(Kind.WEEKDAY, "", *word.span(), key=str(WEEKDAYS[plain])))


def _read_named_date(page: Scan, word: re.Match[str], month: int) -> Iterator[Value]:
    before = _DAY_OF.search(page.text, max(0, word.start() - 14), word.start())
    after = (_YEAR if before else _DAY_AND_YEAR).match(page.text, word.end())
    parts = {**(after.groupdict() if after else {}), **(before.groupdict() if before else {})}
    day, year = (int(parts[name]) if parts.get(name) else None for name in ("d", "y"))
    if not _is_date((year, month, day)):
        return
    start, end = (before or word).start(), (after or word).end()
    if day or year:
        yield from _days_beside(page, start if before else None, end, (year, month, day))
        yield page.take(Value(Kind.DATE, "", start, end, dates=((year, month, day),)))
    elif len(word.group()) > 2 and word.group().casefold() not in _SHORT:
        loose = word.group().casefold() in {"may", "march", "mars"}
        yield page.take(Value(Kind.DATE, "", *word.span(), dates=((None, month, None),), loose=loose))


def _is_month(name: str, page: Scan) -> bool:
    return name[0].isupper() or page.language in {"fr", "es"} or name.casefold() not in _ALSO_WORDS


def _readings(parts: dict[str, str], language: str) -> Iterator[YearMonthDay]:
    year = int(parts["y"]) if parts.get("y") else None
    if year is not None and year < 100:
        year += 2000
    if "a" not in parts:
        yield year, int(parts["m"]), int(parts["d"]) if parts.get("d") else None
        return
    one, other = int(parts["a"]), int(parts["b"])
    yield from (
        ((year, one, other), (year, other, one)) if language == "en" else ((year, other, one), (year, one, other))
    )


def _is_date(reading: YearMonthDay) -> bool:
    year, month, day = reading
    try:
        date(year or 2000, month or 1, day or 1)
    except ValueError:
        return False
    return True


def _days_beside(page: Scan, start: int | None, end: int, reading: YearMonthDay) -> Iterator[Value]:
    """Yield the other day of a range that names its month once: before ``start`` if given, otherwise after ``end``."""
    year, month, day = reading
    other = _DAY_AFTER.match(page.text, end)
    if start is not None:
        other = _DAY_BEFORE.search(page.text, max(0, start - 20), start)
    if day and other and _is_date((year, month, int(other[1]))):
        yield page.take(Value(Kind.DATE, "", *other.span(1), dates=((year, month, int(other[1])),)))


def read_times(page: Scan) -> Iterator[Value]:
    """Yield and cover the times of day of a page."""
    for found in _PAST.finditer(page.text):
        apart = (30 if found[1].casefold() == "half" else 15) * (1 if found[2].casefold() == "past" else -1)
        yield page.take(_clock(found, 60 * (_HOURS.index(found[3].casefold()) + 1) + apart))
    for pattern in _TIMES:
        for found in pattern.finditer(page.text):
            parts = found.groupdict()
            hour, minute = int(found["h"]), int(parts.get("m") or parts.get("m2") or 0)
            if half := parts.get("half"):
                hour = hour % 12 + (12 if half.casefold() == "p" else 0)
            if hour <= 24:
                yield page.take(_clock(found, 60 * hour + minute))
    for found in WORD.finditer(page.text):
        if (noon := _NOON.get(found.group().casefold())) is not None:
            yield page.take(_clock(found, noon))


def _clock(found: re.Match[str], minutes: int) -> Value:
    return Value(Kind.TIME, "", *found.span(), numbers=(Fraction(minutes % 1440),), unit="clock")
