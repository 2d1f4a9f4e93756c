"""Numbers as a sheet shows them: the common number formats of ECMA-376 (part 1, 18.8.31).

Ignored: colours, conditions beyond the sign, fractions (shown as decimals) and padding that only aligns columns.
"""

import re
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache

_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"|\\(?P<escaped>.)|(?P<space>_.|\*.)|\[\$(?P<currency>[^\]-]*+)[^\]]*\]|(?P<condition>\[[^\]]*\])'
    r"|(?P<exponent>[Ee][+-]0+)|(?P<digit>[0#?])|(?P<point>\.)|(?P<comma>,)|(?P<percent>%)|(?P<literal>.)"
)
_SECTION_END = re.compile(r'("[^"]*"|\\.|\[[^\]]*\])|;')
_LETTERS = re.compile(r"[A-Za-z]")


@dataclass(slots=True)
class _Section:
    """One section of a number format: literals around the digits, from left to right."""

    pieces: list[str | None] = field(default_factory=list)
    """Literal text, or None for one digit of the integer part."""

    zeros: int = 0
    decimals: int = 0
    fixed_decimals: int = 0
    after: str = ""
    grouped: bool = False
    thousands: int = 0
    percents: int = 0
    exponent: bool = False
    general: bool = False


def shown_number(value: float, number_format: str | None) -> str:
    """Return the number as its cell shows it; integers without a format never get an exponent."""
    if not number_format or number_format in ("General", "@"):
        return plain_number(value)
    sections = _parse(number_format)
    index = 1 if value < 0 and len(sections) > 1 else 2 if value == 0 and len(sections) > 2 else 0
    section = sections[index]
    if section.general:
        return plain_number(value)
    sign = "-" if value < 0 and index == 0 else ""
    if section.exponent:
        return f"{value:.{section.decimals}E}"
    if None not in section.pieces and not section.decimals:
        return "".join(piece or "" for piece in section.pieces)
    text = _fill_section(section, abs(value))
    return sign + text if re.search(r"[1-9]", text) else text


def plain_number(value: float) -> str:
    """Return a number in full: all digits of an integer, 15 significant digits of a fraction, like spreadsheets."""
    if isinstance(value, int) or (value == int(value) if abs(value) < 1e21 else False):
        return str(int(value))
    text = f"{value:.15g}"
    return f"{Decimal(text):f}" if "e" in text and 1e-9 < abs(value) < 1e21 else text


@lru_cache(maxsize=512)
def _parse(number_format: str) -> tuple[_Section, ...]:
    parts, start = [], 0
    for match in _SECTION_END.finditer(number_format[:255]):
        if match[1] is None:
            parts.append(number_format[start : match.start()])
            start = match.end()
    return tuple(map(_section, [*parts, number_format[start:255]]))


def _section(text: str) -> _Section:
    section = _Section()
    in_decimals = ended = False
    for match in _TOKEN.finditer(text):
        kind, mark = match.lastgroup, match[0]
        if kind == "digit" and not ended:
            if in_decimals:
                section.decimals += 1
                section.fixed_decimals += mark == "0"
            else:
                section.pieces.append(None)
                section.zeros += mark == "0"
        elif kind == "point":
            in_decimals = True
        elif kind == "comma":
            section.grouped, section.thousands = True, section.thousands + 1
            continue
        elif kind == "exponent":
            section.exponent = True
        elif kind not in ("space", "condition"):
            section.percents += kind == "percent"
            _add_literal(section, kind, match, in_decimals=in_decimals)
            if kind == "literal" and mark.strip() and (_LETTERS.match(mark) or mark == "/"):
                section.general = True  # a date, a fraction, 'General' or a word: show the value itself
        if kind == "digit":
            section.thousands = 0  # a comma between digits groups them; a comma after the last digit divides by 1000
    section.grouped = section.grouped and bool(re.search(r"[#0?],[#0?]", text))
    return section


def _add_literal(section: _Section, kind: str | None, match: re.Match[str], *, in_decimals: bool) -> None:
    text = match[kind] if kind in ("quoted", "escaped", "currency") else match[0]
    if in_decimals:
        section.after += text or ""
    else:
        section.pieces.append(text or "")


def _fill_section(section: _Section, value: float) -> str:
    scaled = Decimal(repr(value)) * 100**section.percents / Decimal(1000) ** section.thousands
    rounded = scaled.quantize(Decimal(1).scaleb(-section.decimals), rounding=ROUND_HALF_UP)
    whole, _, decimals = f"{rounded:f}".partition(".")
    while len(decimals) > section.fixed_decimals and decimals.endswith("0"):
        decimals = decimals[:-1]
    whole = whole.zfill(section.zeros) if section.zeros or whole != "0" else ""
    if section.grouped and whole:
        whole = f"{int(whole):,}".rjust(section.zeros, "0")
    return f"{_place_digits(section, whole)}{f'.{decimals}' if decimals else ''}{section.after}"


def _place_digits(section: _Section, whole: str) -> str:
    """Return the digits filled in from the right, so that '000-00-0000' splits a number at its separators."""
    places = section.pieces.count(None)
    if section.grouped or places <= 1:
        first = section.pieces.index(None) if places else len(section.pieces)
        head = "".join(piece or "" for piece in section.pieces[:first])
        return head + whole + "".join(piece or "" for piece in section.pieces[first:])
    digits, found = list(whole), []
    left = places
    for piece in reversed(section.pieces):
        if piece is not None:
            found.append(piece)
            continue
        left -= 1
        found.append("".join(digits) if left == 0 else digits[-1] if digits else "")
        digits = digits[:-1]
    return "".join(reversed(found))
