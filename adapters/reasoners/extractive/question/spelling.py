"""Puts right what is misspelt in a question, by the words of the passages that were found and the words of asking.

A word that no passage has is read as the one word of theirs that is a slip away: a letter too many, too few, another,
or two that changed places (Damerau, 1964: four of five slips). Names and numbers are left as they are.
"""

import re
from collections.abc import Collection

from core.model.text import STOPWORDS, stem

_WORD = re.compile(r"[^\W\d_]{3,}")
_ASKING = frozenset(
    {"what", "which", "where", "when", "who", "why", "how", "much", "many", "long", "often", "does", "number", "price"}
)
_SHORT = 5  # letters; a shorter word, which is a slip away from many, is read only as one of asking
_LONG = 8  # letters; from here two slips are forgiven


def unknown_words(question: str, vocabulary: Collection[str]) -> tuple[str, ...]:
    """The words, in lower case, that the vocabulary does not have: slips, or words of the language that it lacks."""
    known_stems = {stem(word) for word in vocabulary}
    listed = ((found.group().casefold(), _is_name(found.group(), found.start())) for found in _WORD.finditer(question))
    return tuple(
        dict.fromkeys(
            bare
            for bare, name in listed
            if not name and bare not in STOPWORDS and bare not in vocabulary and stem(bare) not in known_stems
        )
    )


def correct_spelling(question: str, vocabulary: Collection[str], slips: Collection[str] | None = None) -> str:
    """The question with each unknown word as the nearest known one. ``vocabulary`` is lower-cased.

    ``slips`` are those of the unknown words that are none of the language; all of them where nobody can tell.
    """
    wrong = unknown_words(question, vocabulary) if slips is None else slips

    def right(found: re.Match[str]) -> str:
        word = found.group()
        bare = word.casefold()
        if bare not in wrong or _is_name(word, found.start()):
            return word
        return _nearest(bare, vocabulary) or word

    return _WORD.sub(right, question)


def _is_name(word: str, start: int) -> bool:
    return (word[0].isupper() and start > 0) or any(letter.isupper() for letter in word[1:])


def _nearest(word: str, vocabulary: Collection[str]) -> str:
    """The one nearest word, of asking before the others; empty when none or several are as near."""
    best: dict[str, int] = {}
    for other in _ASKING if len(word) < _SHORT else (*_ASKING, *vocabulary):
        allowed = 2 if min(len(word), len(other)) >= _LONG else 1
        if (
            other[0] == word[0]
            and abs(len(word) - len(other)) <= allowed
            and (len(other) >= _SHORT - 1 or other in _ASKING)
        ):
            slips = _slips(word, other, allowed)
            if slips <= allowed:
                best[other] = slips - (other in _ASKING)
    nearest = [other for other, slips in best.items() if slips == min(best.values())]
    if len({stem(other) for other in nearest}) == 1:
        return nearest[0]
    same_length = [other for other in nearest if len(other) == len(word)]
    return same_length[0] if len(same_length) == 1 else ""


def _slips(one: str, other: str, most: int) -> int:
    """The optimal string alignment distance; ``most + 1`` when it is more."""
    before_last: list[int] = []
    last = list(range(len(other) + 1))
    for at, letter in enumerate(one, 1):
        row = [at]
        for to, target in enumerate(other, 1):
            cost = min(last[to] + 1, row[to - 1] + 1, last[to - 1] + (letter != target))
            if at > 1 and to > 1 and letter == other[to - 2] and one[at - 2] == target:
                cost = min(cost, before_last[to - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
        before_last, last = last, row
    return last[-1]
