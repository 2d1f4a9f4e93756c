"""The figures of a text as they stand there: "4.1", "22,000"."""

import re

_FIGURE = re.compile(r"\d[\d.,]*\d|\d")


def figures_in(text: str) -> frozenset[str]:
    """Every run of digits with the points and commas inside it."""
    return frozenset(_FIGURE.findall(text))
