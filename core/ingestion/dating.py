"""The date that a document states of itself near its top: "Updated 24 March 2026", "Effective from 2026-02-01"."""

import re
from datetime import date

LOOKED_AT = 1_500  # characters from the top
_MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october")
_MONTH_NUMBERS = {name[:3]: number for number, name in enumerate((*_MONTHS, "november", "december"), 1)}
_STATES = (
    r"(?:updated|revised|reviewed|effective|valid|dated|published|released|exported|version of|as of|last changed)"
)
_NAMED = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?\s+(?P<month>[A-Za-z]{3,9})\.?,?\s+(?P<year>(?:19|20)\d\d)"
_AMERICAN = r"(?P<month2>[A-Za-z]{3,9})\.?\s+(?P<day2>\d{1,2})(?:st|nd|rd|th)?,?\s+(?P<year2>(?:19|20)\d\d)"
_ISO = r"(?P<iso>(?:19|20)\d\d-\d\d-\d\d)"
_STATED = re.compile(rf"(?i)\b{_STATES}\b[^\n.]{{0,40}}?\b(?:{_ISO}|{_NAMED}|{_AMERICAN})\b")


def stated_date(text: str) -> str:
    """The first date (ISO) that follows a word such as "updated" or "effective" near the top; empty when none does."""
    for found in _STATED.finditer(text[:LOOKED_AT]):
        try:
            return _iso(found)
        except (KeyError, ValueError):
            continue
    return ""


def _iso(found: re.Match[str]) -> str:
    if found["iso"]:
        return date.fromisoformat(found["iso"]).isoformat()
    day, month, year = found["day"] or found["day2"], found["month"] or found["month2"], found["year"] or found["year2"]
    return date(int(year), _MONTH_NUMBERS[month[:3].casefold()], int(day)).isoformat()
