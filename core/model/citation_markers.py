"""The markers of a draft and of an answer: ``[evidence id]`` and ``[n]``."""

import re

MARKER = re.compile(r" ?\[ *((?:E|id)?\d{1,4}(?: *[,;] *(?:E|id)?\d{1,4}){0,19}) *\]", re.IGNORECASE)
_NUMBER = re.compile(r"\d{1,4}")


def cited_ids(text: str) -> tuple[int, ...]:
    """The evidence ids that a text names, in order of first mention."""
    found = (int(number) for marker in MARKER.finditer(text) for number in _NUMBER.findall(marker.group(1)))
    return tuple(dict.fromkeys(found))


def without_markers(text: str) -> str:
    """The text without its ``[n]`` markers."""
    return MARKER.sub("", text)
