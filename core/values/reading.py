"""Reader for the figures of a text: numbers in digits or words with their units, dates and times.

text2num reads number words: four languages in a few lines, no dependencies, 0.02 s to import, MIT. Tried and not used:
quantulum3 (English only: reads "1.800 €" as 1.8; 15 times slower), dateparser (92 ms a passage; takes "may" and "45
días" for dates), babel (parses a number but finds none in a text), pint (0.22 s to import; converts units, which a
table does here).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from text_to_num import find_numbers

from core.values.dates import LANGUAGES, TAKEN, WORD, Scan, read_dates, read_times
from core.values.units import SCALES, UNITS, Kind, UnitOfMeasure, Value

_MARKUP = re.compile(r"\*{1,3}|__|`")
_DIGITS = r"\d{1,3}(?:(?P<g>[ \u00a0\u202f'’.,])\d{3}(?:(?P=g)\d{3})*)(?!\d)(?:[.,]\d{1,2}(?!\d))?|\d+(?:[.,]\d+)?"
_NUMBER = re.compile(
    rf"(?P<sign>(?:US\$|R\$|[€$£¥₹]|\b(?:EUR|USD|GBP|CHF|SEK|NOK|DKK|JPY|INR))\s?)?"
    rf"(?<![\w.])(?<!\d,)(?P<digits>{_DIGITS})(?P<half>\s?[½¼¾])?(?P<ordinal>(?:st|nd|rd|th|er|ère|e|ème|º|ª|(?<=\d\d\d0)['’]?s)\b)?"
    r"(?P<half_word>\s+(?:and a half|et demie?|y medi[oa]|einhalb)\b)?"
    rf"(?:[ \u00a0]?(?P<scale>(?:{'|'.join(sorted(SCALES, key=len, reverse=True))})\b\.?|[mM]\b))?"
)
_FRACTION = re.compile(r"(?<![\w./])(\d)/(\d{1,2})(?![\w/])")
_GLYPHS = {"½": Fraction(1, 2), "¼": Fraction(1, 4), "¾": Fraction(3, 4)}
_UNIT = r"(?:de |d'|d’)?(?P<unit>US\$|R\$|[%€$£¥₹]|°[CF]|m²|(?:pour|por) ?ci?ento?\b|[^\W\d_]+\b(?!['’]\w))"
_UNIT_NEXT = re.compile(r"[ \u00a0\n]{0,3}-?" + _UNIT)
# "45 business days": one word may be between number and unit, unless it belongs to another unit: "3 per day".
_UNIT_AFTER_WORD = re.compile(
    r"[ \u00a0\n]{1,3}(?!(?:per|pro|par|por|the|and|for|each|every|und|oder|bis|chaque|cada|times|mal|fois|veces)\b)"
    r"[^\W\d_]{3,15}[ -](?=[^\W\d_]{3})" + _UNIT
)
# The noun that a number counts: one to three words, unless the first leads on to another number.
_NOUN = re.compile(
    r"[ \u00a0](?!(?:to|and|or|bis|und|oder|à|et|ou|a|y|o|u|of|out|von|de|per|in|is|are|on|at|for|by|if|when|then)\b)"
    r"[^\W\d_]{3,}(?: [^\W\d_]+){0,2}"
)
# "a quarter of an hour", "eine halbe Stunde", "trois quarts d'heure", "un an et demi", "anderthalb Jahre".
_PART = re.compile(
    r"(?i)(?<!and a )\b(?:(?P<three>three[ -]quarters|drei ?viertel|trois quarts|tres cuartos)"
    r"|(?P<quarter>(?:an?|one|eine?|une?)?[ -]?(?:quarter|viertel|quart|cuarto))"
    r"|(?P<half>half|halbe[nrms]?|demi(?:e)?|medi[oa])|(?P<more>anderthalb|eineinhalb)"
    r"|(?P<two>zweieinhalb))[ -]?(?:of )?(?:an? |d['’]|de |una? )?(?P<unit>[^\W\d_]+)"
)
_PART_SIZES = {
    "three": Fraction(3, 4), "quarter": Fraction(1, 4), "half": Fraction(1, 2), "more": Fraction(3, 2),
    "two": Fraction(5, 2),
}  # fmt: skip
_AND_HALF = re.compile(
    r"(?i)\b(?:an?|one|eine?|une?|una)\s(?P<unit>[^\W\d_]+)\s"
    r"(?:and a half|und (?:eine? )?halbe[srn]?|et demie?|y medi[oa])\b"
)
_ARTICLE = re.compile(r"(?i)\b(?:an?|one|each|per|every|pro|par|por|eine?[rmns]?|une?|una|cada)\s(?P<unit>[^\W\d_]+)")
# A share in words. It may support "50 %", but is not a hard fact itself.
_SHARE = re.compile(r"(?i)\b(?:(?P<half>half|hälfte|moitié|mitad)|(?P<third>third|drittel|tiers|tercio)|(?P<quarter>"
                    r"quarter|viertel|quart))\b")  # fmt: skip
_SHARES = {"half": Fraction(50), "third": Fraction(100, 3), "quarter": Fraction(25)}


@dataclass(frozen=True, slots=True)
class _Word:
    """A word in the form that text2num expects. ``apart``: it does not continue the number before it."""

    word: str
    apart: bool

    def text(self) -> str:
        return self.word

    def nt_separated(self, _previous: "_Word") -> bool:
        return self.apart

    def not_a_number_part(self) -> bool:
        return False


def read_figures(page: Scan) -> Iterator[Value]:
    """Yield the dates, times, weekdays and numbers of a page, in no order."""
    page.blank(_MARKUP)
    yield from read_dates(page)
    yield from read_times(page)
    yield from _merge(page, [*_read_parts(page), *_read_numbers(page), *_read_number_words(page), *_read_loose(page)])


# --- numbers --------------------------------------------------------------------------------------------------------


def _read_parts(page: Scan) -> Iterator[Value]:
    for pattern in (_AND_HALF, _PART):
        for found in pattern.finditer(page.text):
            unit = UNITS.get(found["unit"].casefold()) or UNITS.get(found["unit"].casefold() + "s")
            if unit and unit.kind is Kind.DURATION:
                size = next((one for name, one in _PART_SIZES.items() if found.groupdict().get(name)), Fraction(3, 2))
                yield page.take(_measured((size,), unit, found.span(), size))


def _read_numbers(page: Scan) -> Iterator[Value]:
    for found in _FRACTION.finditer(page.text):
        if 0 < int(found[1]) < int(found[2]):
            size = Fraction(int(found[1]), int(found[2]))
            yield page.take(replace(_with_unit(page, (size,), size, found), loose=True))
    for found in _NUMBER.finditer(page.text):
        numbers, step = parse_digits(found["digits"], page.language, certain=page.certain)
        scale = Fraction(SCALES.get((found["scale"] or "").strip("."), 1))
        if found["scale"] in {"m", "M"}:
            scale = Fraction(1_000_000) if found["sign"] else scale
        extra = _GLYPHS.get((found["half"] or "").strip(), Fraction(0)) or Fraction(bool(found["half_word"]), 2)
        if extra:
            numbers = tuple(number + extra for number in numbers)
        value = _with_unit(page, tuple(number * scale for number in numbers), step * scale, found)
        yield page.take(replace(value, loose=bool(found["ordinal"])) if found["ordinal"] else value)


def parse_digits(digits: str, language: str, *, certain: bool) -> tuple[tuple[Fraction, ...], Fraction]:
    """Return the possible readings of a number in digits, the likeliest first, and the weight of its last digit."""
    plain = re.sub(r"[ \u00a0\u202f'’]", "", digits)
    marks = re.findall(r"[.,]", plain)
    if not marks:
        return (Fraction(plain),), Fraction(1)
    *_, last = marks
    tail = len(plain) - plain.rindex(last) - 1
    decimal = Fraction(re.sub(r"[.,]", "", plain[: plain.rindex(last)]) + "." + plain[plain.rindex(last) + 1 :])
    grouped = Fraction(re.sub(r"[.,]", "", plain))
    step = Fraction(1, 10**tail)
    if len(marks) > 1 and len(set(marks)) == 1:
        return (grouped,), Fraction(1)
    if len(marks) > 1 or tail != 3 or plain.startswith("0") or plain.index(last) > 3:
        return (decimal,), step
    if last == {"en": ",", "de": ".", "es": "."}.get(language):
        return ((grouped,), Fraction(1)) if certain else ((grouped, decimal), Fraction(1))
    return ((grouped, decimal), Fraction(1)) if language == "fr" and last == "." else ((decimal, grouped), step)


def _with_unit(page: Scan, numbers: tuple[Fraction, ...], step: Fraction, found: re.Match[str]) -> Value:
    """Return the number with the unit written next to it."""
    sign = found.groupdict().get("sign")
    end = found.end()
    if (scale := found.groupdict().get("scale")) in {"m", "M"} and not sign:
        end -= len(scale or "")
    unit, after = (unit_of(sign.strip()), end) if sign else _unit_after(page, end)
    if not unit and (named := _UNIT_OF_SETTING.search(_line_around(page.written, found.start()))):
        unit = unit_of(named[1])
    span = found.start(), after
    return _measured(numbers, unit, span, step) if unit else _plain(page, numbers, span, step)


def _line_around(text: str, at: int) -> str:
    end = text.find("\n", at)
    return text[text.rfind("\n", 0, at) + 1 : end if end >= 0 else len(text)]


def _unit_after(page: Scan, at: int) -> tuple[UnitOfMeasure | None, int]:
    """Return the unit that follows a number, and where it ends."""
    for pattern in (_UNIT_NEXT, _UNIT_AFTER_WORD):
        found = pattern.match(page.text, at)
        if found and (unit := unit_of(found["unit"])):
            return unit, found.end()
    return None, at


_UNIT_OF_SETTING = re.compile(
    r"[a-z]_(ms|s|seconds|secs|min|minutes|mins|h|hours|days|weeks|months|kb|mb|gb)\b", re.IGNORECASE
)
_PLURAL = re.compile(r"(?:[^s]s|people|men|children|staff)\b")
_COMPOUND = re.compile(r"[^\W\d_]{3,}(tage|tagen|stunden|wochen|monate|monaten|jahre|jahren|minuten)$")


def unit_of(word: str) -> UnitOfMeasure | None:
    """Return the unit that a word or a sign means."""
    if word == "SEK":
        return UNITS["nok"]
    if re.fullmatch(r"(?:pour|por) ?ci?ento?", word):
        return UNITS["%"]
    compound = _COMPOUND.search(word)  # Urlaubstage
    return UNITS.get(compound[1] if compound else word.casefold())


def _measured(numbers: tuple[Fraction, ...], unit: UnitOfMeasure, span: tuple[int, int], step: Fraction) -> Value:
    return Value(unit.kind, "", *span, numbers, unit.base, unit.factor, step * unit.factor)


def _plain(page: Scan, numbers: tuple[Fraction, ...], span: tuple[int, int], step: Fraction) -> Value:
    year = numbers[0] if span[1] - span[0] == 4 and 1900 <= numbers[0] < 2100 else None
    dates = ((int(year), None, None),) if year else ()
    following = _NOUN.match(page.text, span[1])
    if following and page.language == "en" and not _PLURAL.search(following.group()):
        following = None  # "18 may not enter", "four calls at 35 make 140"
    counts = bool(following) and not year and not any(map(unit_of, following.group().split() if following else ()))
    return Value(Kind.NUMBER, "", *span, numbers, step=step, dates=dates, counts=counts)


def _read_number_words(page: Scan) -> Iterator[Value]:
    for dozen in _DOZEN.finditer(page.text):
        size = Fraction(6 if dozen[1] else 12)
        yield page.take(_plain(page, (size,), dozen.span(), Fraction(1)))
    found: list[re.Match[str]] = list(WORD.finditer(page.text))
    ends = [0, *(one.end() for one in found)]
    tokens = [
        _Word(one.group().casefold(), apart=page.text[end : one.start()].strip() not in {"", "-"})
        for end, one in zip(ends, found, strict=False)
    ]
    # Short texts may be in any language. A number with a unit shows which: "vierzig Tage", "cuarenta días".
    languages = [page.language] if page.certain else LANGUAGES
    for number in (one for language in languages for one in find_numbers(tokens, language, 0.0)):
        first, last = found[number.start], found[number.end - 1]
        size = Fraction(number.value)
        if number.is_ordinal or TAKEN in page.text[first.start() : last.end()]:
            continue
        start, end = first.start(), last.end()
        half = _HALF_AFTER.match(page.text, end)
        if half:
            size, end = size + Fraction(1, 2), half.end()
        unit, end = _unit_after(page, end)
        span, step = (start, end), Fraction(1)
        value = _measured((size,), unit, span, step) if unit else _plain(page, (size,), span, step)
        yield page.take(replace(value, loose=size < 2))  # "one" may also be an article or a pronoun


_DOZEN = re.compile(r"(?i)\b(half (?:a )?|halbes |demi-|media )?(?:dozen|dutzend|douzaine|docena)\b(?: de\b| of\b)?")
_HALF_AFTER = re.compile(r"(?i)\s(?:and a half|et demie?|y medi[oa])\b")


def _read_loose(page: Scan) -> Iterator[Value]:
    for found in _ARTICLE.finditer(page.text):
        unit = UNITS.get(found["unit"].casefold())
        if unit and len(found["unit"]) > 1 and unit.kind is Kind.DURATION:
            value = _measured((Fraction(1),), unit, found.span(), Fraction(1))
            yield page.take(replace(value, loose=True))
    for found in _SHARE.finditer(page.text):
        size = _SHARES[str(found.lastgroup)]
        yield page.take(replace(_measured((size,), UNITS["%"], found.span(), Fraction(1)), loose=True))


def _merge(page: Scan, values: list[Value]) -> Iterator[Value]:
    """Yield the values, with compound durations such as "1 hour 30 minutes" merged into one."""
    values.sort(key=lambda value: value.start)
    at = 0
    while at < len(values):
        value = values[at]
        at += 1
        while at < len(values):
            after = values[at]
            between = page.written[value.end : after.start].strip()
            alike = value.kind is after.kind is Kind.DURATION and value.unit == after.unit
            if not alike or after.factor >= value.factor or between not in {"", "and", "und", "et", "y", ","}:
                break
            total = (value.amounts[0] + after.amounts[0]) / after.factor
            text = page.written[value.start : after.end]
            value = replace(
                value, text=text, end=after.end, numbers=(total,), factor=after.factor, step=after.step,
            )  # fmt: skip
            at += 1
        yield value
