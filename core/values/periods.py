"""Date limits in a question: before August 2026, after 2027, in Q3 2026, not in 2027, between two months."""

import calendar
import re
from dataclasses import dataclass
from datetime import date, timedelta

from core.values.faults import values_in
from core.values.units import MONTHS, Kind

_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "last": 4}
_MONTH = "|".join(sorted(map(re.escape, MONTHS), key=len, reverse=True))
_PERIOD = (
    rf"(?:\d{{4}}-\d\d-\d\d|(?:\d{{1,2}}\s+)?(?:{_MONTH})\.?\s+(?:19|20)\d\d|Q[1-4]\s*(?:of\s+)?(?:19|20)\d\d"
    rf"|(?:the\s+)?(?:{'|'.join(_ORDINALS)})\s+quarter\s+(?:of\s+)?(?:19|20)\d\d|(?:19|20)\d\d)"
)
_LIMIT = re.compile(
    rf"\b(?:(?P<between>between|from)\s+(?P<one>{_PERIOD})\s+(?:and|to)\s+(?P<other>{_PERIOD})"
    r"|(?P<how>before|until|by|after|past|later than|since|from|in|during)\s+(?:the end of\s+)?"
    rf"(?P<period>{_PERIOD}))(?![\w-])",
    re.IGNORECASE,
)
_NOT = re.compile(r"\b(?:not|never|outside|except)\b|n['’]t\b", re.IGNORECASE)
_DAY = timedelta(days=1)
_ONWARDS, _BACKWARDS = {"after", "past", "later than", "since", "from"}, {"before", "until", "by"}


@dataclass(frozen=True, slots=True)
class DateLimit:
    """The days from ``first`` to ``last``, both included, or all other days if ``outside``. ``said`` is the wording."""

    said: str
    first: date = date.min
    last: date = date.max
    outside: bool = False

    def holds(self, day: date) -> bool:
        """Return whether a day is within the limit."""
        return (self.first <= day <= self.last) is not self.outside


def date_limit_in(question: str) -> DateLimit | None:
    """Return the date limit in a question; None if there is none, or more than one."""
    limits = list(_LIMIT.finditer(question))
    if len(limits) != 1:
        return None
    (found,) = limits
    said, outside = found.group(), bool(_NOT.search(question[: found.start()]))
    if found["between"]:
        return DateLimit(said, _days_of(found["one"])[0], _days_of(found["other"])[1], outside)
    first, last = _days_of(found["period"])
    how = found["how"].casefold()
    until = {"before": first - _DAY, "until": last, "by": last}.get(how, date.max if how in _ONWARDS else last)
    onwards = {"after": last + _DAY, "past": last + _DAY, "later than": last + _DAY}
    return DateLimit(said, onwards.get(how, date.min if how in _BACKWARDS else first), until, outside)


def day_in(text: str) -> date | None:
    """Return the only date in a text, or the first day of its month or year; None if there is none or more than one."""
    dates = [value.dates[0] for value in values_in(text) if value.kind is Kind.DATE and value.dates]
    year, month, day = dates[0] if len(dates) == 1 else (None, None, None)
    return date(year, month or 1, day or 1) if year else None


def _days_of(period: str) -> tuple[date, date]:
    """Return the first and the last day of a period."""
    if re.fullmatch(r"\d{4}-\d\d-\d\d", period):
        day = date.fromisoformat(period)
        return day, day
    year = int(re.findall(r"\d{4}", period)[-1])
    if quarter := re.search(rf"(?i)\bQ([1-4])|\b({'|'.join(_ORDINALS)})\s+quarter", period):
        month = 3 * int(quarter[1] or _ORDINALS[quarter[2].casefold()]) - 2
        return date(year, month, 1), date(year, month + 2, calendar.monthrange(year, month + 2)[1])
    if named := re.search(rf"(?i)(?:(\d{{1,2}})\s+)?\b({_MONTH})\b", period):
        month = MONTHS[named[2].casefold()]
        last = calendar.monthrange(year, month)[1]
        first = min(int(named[1] or 1), last) or 1
        return date(year, month, first), date(year, month, first if named[1] else last)
    return date(year, 1, 1), date(year, 12, 31)
