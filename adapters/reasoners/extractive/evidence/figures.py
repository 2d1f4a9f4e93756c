"""Figures of question and text: amounts in a stated range ("above €2,000"), and things told apart by a number."""

import math
import re
from collections.abc import Iterator
from functools import lru_cache

from core.model.text import STOPWORDS, stem

_FIGURE = re.compile(r"\d[\d.,]*\d|\d")
_AMOUNT = re.compile(r"([€$£]?)\s?(\d[\d,]*(?:\.\d+)?)(?:\s?(%|percent\b))?")
_CURRENCIES = tuple(
    (sign, re.compile(rf"(?P<after>\d[\d,.]*)\s?(?:{names})\b|\b(?:{code})\s?(?P<before>\d[\d,.]*)", re.IGNORECASE))
    for sign, names, code in (
        ("€", "euros?|EUR", "EUR"),
        ("£", "pounds?|quid|GBP", "GBP"),
        ("$", "dollars?|bucks|USD", "USD"),
    )
)
_ABOVE, _BELOW = ("above", "over", "more than", "exceeding"), ("below", "under", "less than")
_RANGE = re.compile(
    r"(?:(?:above|over|more than|from)\s+(?P<low>[€$£]?\s?\d[\d,]*(?:\.\d+)?)(?:\s*(?:and|,)?\s*(?:up )?to\s+"
    r"(?P<high>[€$£]?\s?\d[\d,]*(?:\.\d+)?))?|(?:up to|below|under|less than|at most)\s+(?P<most>[€$£]?\s?\d[\d,]*"
    r"(?:\.\d+)?))",
    re.IGNORECASE,
)


def figures_in(text: str) -> frozenset[str]:
    """Every run of digits with the points and commas inside it: "4.1", "22,000"."""
    return frozenset(_FIGURE.findall(text))


def in_range(question: str, text: str) -> bool | None:
    """Whether an amount of the question lies in a range that the text gives; None when it is not about ranges.

    What is above an amount, or below it, has to share some of the range.
    """
    asked = _with_signs(question)
    amounts = [
        (found[1], _number(found[2]), asked[: found.start()].rstrip().casefold()) for found in _AMOUNT.finditer(asked)
    ]
    if not amounts:
        return None
    ranges = list(_RANGE.finditer(_with_signs(text)))
    told = [one for one in ranges if any(sign and sign in one.group() for sign, *_ in amounts)]
    if not told:
        return None
    return any(_within(one, amount, before) for one in told for _, amount, before in amounts)


def gives_range(text: str) -> bool:
    """Whether a text says from which amount to which something holds: "above €250 and up to €2,000"."""
    return _RANGE.search(text) is not None


@lru_cache(maxsize=2048)  # the question is asked for with every unit, a unit with every search and the answer
def _with_signs(text: str) -> str:
    """The text with each amount of money written with the sign of its currency in front: "3,000 euros" as "€3,000"."""
    for sign, named in _CURRENCIES:
        text = named.sub(rf"{sign}\g<after>\g<before>", text)
    return text


def _within(found: re.Match[str], amount: float, before: str) -> bool:
    low = 0.0 if found["most"] else _number(found["low"])
    said = found["most"] or found["high"]
    high = _number(said) if said else math.inf
    if before.endswith(_ABOVE):
        return high > amount
    if before.endswith(_BELOW):
        return low < amount
    return (low < amount or bool(found["most"])) and amount <= high


def _number(text: str) -> float:
    return float(re.sub(r"[^\d.]", "", text).strip(".") or 0)


_NUMBERED = re.compile(r"\b([A-Za-z][a-z]{2,})s?(?:[ -]|[*_]* *\| *)(?:no\.? ?|number )?#?(\d+(?:\.\d+)*)\b(?![ -]?%)")
_COUNTED_AFTER = re.compile(r"[ -](?:[a-z]+[ -])?(?:percent|seconds?|minutes?|hours?|days?|weeks?|months?|years?)\b")
_RELEASE = re.compile(r"(?<![\w.,€$£-])\d{1,4}\.\d{1,3}(?:\.\d{1,3})*(?![\w.]*\w|,\d| ?(?:%|percent|million|EUR))")
_MOST = 4  # digits; longer numbers are amounts or ids of their own


def contradicts(question: str, text: str) -> bool:
    """Whether the question asks for a numbered thing, and the text speaks only of others of its kind.

    "Version 5" is met by version 5.4, not by version 1.
    """
    if (asked := _RELEASE.findall(question)) and (told := _RELEASE.findall(text)):
        return not any(_is(one, other) for one in asked for other in told)
    there: dict[str, set[str]] = {}
    for kind, number in _find_numbered(text):
        there.setdefault(kind, set()).add(number)
    return any(
        kind in there and not any(_is(number, other) for other in there[kind])
        for kind, number in _find_numbered(question)
    )


@lru_cache(maxsize=2048)  # the question's are asked for with every unit, a unit's with every search and the answer
def _find_numbered(text: str) -> tuple[tuple[str, str], ...]:
    return tuple(_numbered_in(text))


def _numbered_in(text: str) -> Iterator[tuple[str, str]]:
    for found in _NUMBERED.finditer(text):
        kind = found[1].casefold()
        if kind in STOPWORDS or len(found[2]) > _MOST or _COUNTED_AFTER.match(text, found.end()):
            continue
        yield stem(kind), found[2]


def _is(asked: str, other: str) -> bool:
    return other == asked or other.startswith(f"{asked}.") or asked.startswith(f"{other}.")
