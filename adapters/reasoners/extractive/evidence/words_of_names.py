"""Words that documents only write as names are written: "Gotha", and "Travel" where a page never has it small."""

import re
from collections.abc import Iterable
from functools import lru_cache

from core.model.languages import language_of

_WITHIN = re.compile(r"(?<=[a-z0-9,;)] )[A-Z][^\W\d_]{2,}")  # a capital where no sentence begins
_SMALL = re.compile(r"(?<![\w’'-])[a-zß-ÿ][^\W\d_]{2,}")


def words_of_names(texts: Iterable[str]) -> frozenset[str]:
    """The words, in lower case, that stand in these texts with a capital within a sentence, and never without one."""
    names: set[str] = set()
    small: set[str] = set()
    for text in texts:
        here, there = _capitals_of(text)
        names |= here
        small |= there
    return frozenset(names - small)


@lru_cache(maxsize=1024)
def _capitals_of(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """The words with a capital within a sentence, in lower case, and those that begin with a small letter."""
    if language_of(text) == "de":
        return frozenset(), frozenset()
    return frozenset(word.casefold() for word in _WITHIN.findall(text)), frozenset(_SMALL.findall(text))
