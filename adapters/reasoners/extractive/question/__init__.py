"""Understanding of a question. Its word tables are tab-separated files in ``dictionaries``; "#" begins a comment."""

from collections.abc import Iterator
from importlib import resources


def word_table(name: str) -> Iterator[list[str]]:
    """Yield the columns of each line of a word table."""
    text = resources.files(__name__).joinpath("dictionaries", f"{name}.tsv").read_text("utf-8")
    return (line.split("\t") for line in text.splitlines() if line and not line.startswith("#"))


def word_sets(name: str) -> dict[str, frozenset[str]]:
    """Return the sets of words of a table, by the name in its first column."""
    return {key: frozenset(words.split()) for key, words in word_table(name)}
