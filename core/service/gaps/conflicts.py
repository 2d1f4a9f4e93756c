"""Whether two documents that an answer cited together disagree: the same statement with another number, or denied.

Made to be right rather than complete: a pair that is named here makes somebody read two documents. Two sentences are
the same statement when nearly all their words are, numbers and denials aside. Of two editions of one document, or two
reports of one kind, it cannot know that both are right; a report says that they may disagree.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from core.model.text import content_words

SAME = 0.8  # of all the words of two sentences, those that both have
FEWEST = 3  # words without which a sentence states nothing that could be compared
_ADDRESS = re.compile(r"\S+://\S+")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_DENIAL = re.compile(r"\b(?:not|no|never|nobody|nothing|without|cannot)\b|n['’]t\b", re.IGNORECASE)
_WRITTEN = {
    word: str(number)
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve".split()  # noqa: SIM905
    )
}


@dataclass(frozen=True, slots=True)
class _Statement:
    words: frozenset[str]
    numbers: frozenset[str]
    denied: bool


def disagree(one: str, other: str) -> bool:
    """Whether a sentence of one text and a sentence of the other cannot both hold."""
    mine, theirs = _statements(one), _statements(other)
    return any(_apart(this, that) for this in mine for that in theirs)


def _apart(this: _Statement, that: _Statement) -> bool:
    if min(len(this.words), len(that.words)) < FEWEST:
        return False
    if len(this.words & that.words) < SAME * len(this.words | that.words):
        return False
    other_numbers = bool(this.numbers and that.numbers) and not this.numbers & that.numbers
    return other_numbers or (this.denied != that.denied and this.numbers == that.numbers)


def _statements(text: str) -> Sequence[_Statement]:
    return [_statement(sentence) for sentence in _SENTENCE.split(_ADDRESS.sub(" ", text)) if sentence.strip()]


def _statement(sentence: str) -> _Statement:
    plain = " ".join(_WRITTEN.get(word.casefold(), word) for word in sentence.split())
    numbers = frozenset(found.replace(",", "").rstrip(".") for found in _NUMBER.findall(plain))
    bare = _DENIAL.sub(" ", _NUMBER.sub(" ", plain))
    return _Statement(frozenset(content_words(bare)), numbers, bool(_DENIAL.search(plain)))
