"""Amounts that lie in a range which a text gives: 3,000 euros in "above €2,000"; and the figures of a text."""

import math
import re
from functools import lru_cache

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
