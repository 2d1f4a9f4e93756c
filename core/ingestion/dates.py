"""The date that a document states of itself near its top: "Updated 24 March 2026", "| Date | 2026-03-01 |".

ISO, as far as it is stated: "2026-03-24", "2026-03", "2026". These sort as text. A document that states none has none:
the day on which it was brought in says nothing about what is in it.
"""

import re
from datetime import date

LOOKED_AT = 1_500  # characters from the top
_FIRST_LINES = 6
_MONTHS = (
    "january february march april may june july august september october november december",
    "januar februar märz april mai juni juli august september oktober november dezember",
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
)
_MONTH_NUMBERS = {
    name[:length]: number
    for names in _MONTHS
    for number, name in enumerate(names.split(), 1)
    for length in (3, 4, len(name))
    if length > 3 or name not in ("juin", "juillet")
}
_STATES = (
    r"(?:(?:version|edition|issue|revision)(?: [\d.]+(?=,))?(?= of|,)|state(?=:)|looked through"
    r"|(?:last )?(?:updated|revised|reviewed|changed|modified|edited|amended|corrected)"
    r"|effective|valid|dated?"
    r"|published|released?|released on|exported|issued|written|saved|approved|adopted|in force|as of|as at"
    r"|stand|gültig|aktualisiert|geändert|veröffentlicht|erstellt|datum|mise? à jour|publiée?|modifiée?|en vigueur"
    r"|applicable|rédigée?)"
)
_WORD = r"[^\W\d_]{3,9}"
_NAMED = rf"(?P<day>\d{{1,2}})(?:st|nd|rd|th|er|\.)?\s+(?:of\s+)?(?P<month>{_WORD})\.?,?\s+(?P<year>(?:19|20)\d\d)"
_AMERICAN = rf"(?P<month2>{_WORD})\.?\s+(?P<day2>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<year2>(?:19|20)\d\d)"
_DOTTED = r"(?P<day3>\d{1,2})\.\s?(?P<month3>\d{1,2})\.\s?(?P<year3>(?:19|20)\d\d)"
_ISO = r"(?P<iso>(?:19|20)\d\d-\d\d-\d\d)"
_MONTHLY = rf"(?P<month4>{_WORD})\s+(?P<year4>(?:19|20)\d\d)"
_DATE = rf"(?:{_ISO}|{_NAMED}|{_AMERICAN}|{_DOTTED}|{_MONTHLY})"
# As in: Updated on 24 March 2026; in bold Date, then 2026-03-01; a row of a table with the cells Date and 2026-03-01.
_STATED = re.compile(rf"(?i)\b{_STATES}\b[^\n.]{{0,40}}?(?<![\w.-]){_DATE}(?![\w-])")
# A line that is a date or ends in one, as under a title; a title that has one, as of a report or a meeting.
_ALONE = re.compile(rf"(?im)^[\s*_>|-]*(?:[^\n|.#]{{0,60}}?[\s(,:–—])??\(?{_DATE}[\s)*_|]*$")
_IN_TITLE = re.compile(rf"(?im)^#[^\n]*?(?<![\w.-]){_DATE}(?![\w-])")


def stated_date(text: str) -> str:
    """The date after a word such as "updated" near the top, else one in the title or a line to itself; else empty."""
    top = text[:LOOKED_AT]
    first = "\n".join(top.splitlines()[:_FIRST_LINES])
    for pattern, where in ((_STATED, top), (_IN_TITLE, first), (_ALONE, first)):
        for found in pattern.finditer(where):
            try:
                return _iso(found)
            except (KeyError, ValueError):
                continue
    return ""


def _iso(found: re.Match[str]) -> str:
    if found["iso"]:
        return date.fromisoformat(found["iso"]).isoformat()
    if found["year4"]:
        return f"{found['year4']}-{_month(found['month4']):02}"
    if found["year3"]:
        return date(int(found["year3"]), int(found["month3"]), int(found["day3"])).isoformat()
    day, month, year = found["day"] or found["day2"], found["month"] or found["month2"], found["year"] or found["year2"]
    return date(int(year), _month(month), int(day)).isoformat()


def _month(word: str) -> int:
    """The number of a month, by its name or the beginning of it. Raises KeyError when it is none."""
    bare = word.casefold()
    return _MONTH_NUMBERS.get(bare) or _MONTH_NUMBERS[bare[:3]]
