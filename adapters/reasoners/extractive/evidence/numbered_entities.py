"""Things that are told apart by a number: version 5, tier 2, severity 1, error 409, March 2025, release 2026.1."""

import re
from collections.abc import Iterator
from functools import lru_cache

from core.model.text import STOPWORDS, stem

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
