"""Numbers such as 2.16.0 say which version something is of, where the word does not stand beside them."""

import re
from collections.abc import Iterable

from adapters.reasoners.extractive import weights
from adapters.reasoners.extractive.evidence.word_coverage import NOTHING_NEAR, Near
from core.model.text import content_words

_ASKED = re.compile(r"\b(?:which|what) (?:[\w-]+ ){0,2}?(?P<word>version|release)\b", re.IGNORECASE)
_NUMBER = re.compile(r"v?\d+(?:\.\d+)+", re.IGNORECASE)


def numbers_near(question: str, texts: Iterable[str]) -> Near:
    """The version numbers of some texts as words near to "version", where the question asks for one: "as of 2.16.0"."""
    if not (found := _ASKED.search(question)):
        return NOTHING_NEAR
    numbers = {word for text in texts for word in content_words(text) if _NUMBER.fullmatch(word)}
    return {asked: dict.fromkeys(numbers, weights.LIKE_WORD) for asked in content_words(found["word"])}
