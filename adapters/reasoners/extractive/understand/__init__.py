"""Understanding of a question. Its word tables are tab-separated files in ``dictionaries``; "#" begins a comment."""

import re
from collections.abc import Iterator
from importlib import resources


def word_table(name: str) -> Iterator[list[str]]:
    """Yield the columns of each line of a word table."""
    text = resources.files(__name__).joinpath("dictionaries", f"{name}.tsv").read_text("utf-8")
    return (line.split("\t") for line in text.splitlines() if line and not line.startswith("#"))


def word_sets(name: str) -> dict[str, frozenset[str]]:
    """Return the sets of words of a table, by the name in its first column."""
    return {key: frozenset(words.split()) for key, words in word_table(name)}


def word_patterns(name: str) -> dict[str, re.Pattern[str]]:
    """Return the patterns of a table by name. Lines of one name are alternatives; "@NAME@" is an earlier pattern."""
    written: dict[str, str] = {}
    for key, line in word_table(name):
        whole = re.sub(r"@([A-Z_]+)@", lambda part: f"(?:{written[part[1]]})", line)
        written[key] = f"{written[key]}|{whole}" if key in written else whole
    return {key: re.compile(said, re.IGNORECASE) for key, said in written.items()}


PHRASES = word_patterns("phrases")
