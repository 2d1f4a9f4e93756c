"""The words of English and how often each is used: they tell a rare word, which stays, from a slip, which is put right.

From the lists of pyspellchecker, which were counted in subtitles: 160,000 words and their forms.
"""

import asyncio
import importlib.util
import re
from collections import Counter
from functools import lru_cache
from typing import Protocol

import structlog

from core.model.languages import language_of

log = structlog.get_logger(__name__)

_USUAL = 100  # counted so often; half of the words have 50, which only says that a dictionary has them
# A word counts so many times where it has every letter of the slip: left out, doubled or swapped they are more often
# than replaced. And so many times as often as the next one has it to be used. Of 4,000 slips (of codespell's list)
# these two put 68 % right and 1.5 % wrong, and leave the others; without the first 65 and 2 %, with 3 for the second
# 69 and 2. At two slips away 5 more would be put right and 3 wrong.
_KEEPS_LETTERS = 100
_CLEARLY = 10
_SHORT = 5  # letters; a shorter word is a slip away from many

_AMERICAN = (
    (re.compile(r"(?<=\w{4})([iy])s(?=(?:e[ds]?|ers?|ing|ations?)$)"), r"\1z"),
    (re.compile(r"ou(?=r|l)"), "o"),
    (re.compile(r"[ao]e"), "e"),
)
_SAME_BEGINNINGS = {"f": ("ph",), "k": ("c", "ch"), "c": ("k", "s"), "s": ("c", "ps"), "j": ("g",), "n": ("kn",)}
_CONTRACTED = {"who", "what", "where", "when", "why", "how", "that", "it", "there", "here", "he", "she", "let"}
_DOUBLED = re.compile(r"(.)\1")


class Lexicon(Protocol):
    """What is known of the words of a language."""

    def knows(self, word: str) -> bool:
        """Whether it is a word, in lower case, spelt as anywhere."""

    def usual_word(self, slip: str) -> str:
        """The one usual word that is a slip away and begins with the same letter; empty where several are as usual."""


class EnglishLexicon:
    """``Lexicon`` of English."""

    def __init__(self) -> None:
        from spellchecker import SpellChecker

        self._words = SpellChecker(language="en", distance=1)

    def knows(self, word: str) -> bool:
        """See ``Lexicon``. The list has American spellings."""
        written = (word, *(pattern.sub(to, word) for pattern, to in _AMERICAN))
        return any(one in self._words for one in written)

    def usual_word(self, slip: str) -> str:
        """See ``Lexicon``."""
        contraction = f"{slip[:-1]}'{slip[-1]}"  # "who's" where people type "whos"
        if contraction in self._words and (slip.endswith("nt") or slip[:-1] in _CONTRACTED):
            return contraction
        if len(slip) < _SHORT:
            return ""
        near = self._words.known(self._words.edit_distance_1(slip))
        counts: dict[str, float] = {
            word: self._words[word] * (_KEEPS_LETTERS if keeps_letters(slip, word) else 1)
            for word in near
            if word[0] == slip[0] and word.isalpha() and self._words[word] >= _USUAL
        }
        first, second = sorted((*counts.values(), 0, 0), reverse=True)[:2]
        if first and first >= _CLEARLY * second:
            return max(counts, key=lambda word: counts[word])
        return "" if first else self._begun_otherwise(slip)

    def _begun_otherwise(self, slip: str) -> str:
        """The usual word of the same sound that begins with another letter: "pharmacy" for "farmacy"."""
        written = (other + slip[1:] for other in _SAME_BEGINNINGS.get(slip[0], ()))
        return next((word for word in written if self._words[word] >= _USUAL), "")


class NoLexicon:
    """``Lexicon`` of a language whose words nobody has listed here."""

    def knows(self, word: str) -> bool:
        """See ``Lexicon``."""
        del word
        return False

    def usual_word(self, slip: str) -> str:
        """See ``Lexicon``."""
        del slip
        return ""


def keeps_letters(slip: str, word: str) -> bool:
    """Whether no letter of the word was replaced in the slip: "acount" for "account", but not for "amount"."""
    return Counter(_DOUBLED.sub(r"\1", slip)) <= Counter(word)


@lru_cache(maxsize=1)
def english(module: str = "spellchecker") -> Lexicon:
    """The lexicon of English, read once; where its package is not installed, none, which is said once."""
    if importlib.util.find_spec(module) is None:
        log.warning(
            "the words of English are not here: slips are put right by the documents' words alone", lacks=module
        )
        return NoLexicon()
    return EnglishLexicon()


async def lexicon_for(question: str) -> Lexicon:
    """The lexicon of the question's language. English takes a quarter of a second once, beside the loop."""
    return await asyncio.to_thread(english) if language_of(question) == "en" else NoLexicon()
