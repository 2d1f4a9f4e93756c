"""Puts right what is misspelt in a question, by the words of the passages that were found, then by those of English.

A word that no passage has and no dictionary knows is read as the one word that is a slip away: a letter too many, too
few, another, or two that changed places (Damerau, 1964: four of five slips), or as the one that sounds the same. A rare
word that is written as it should be stays, and so do names, codes, flags and what stands in quotation marks.
"""

import asyncio
import importlib.util
import re
from collections import Counter
from collections.abc import Collection, Iterable
from functools import lru_cache
from typing import Protocol

import structlog

from core.model.languages import language_of
from core.model.text import STOPWORDS, stem

log = structlog.get_logger(__name__)

_USUAL = 100  # counted so often; half of the words have 50, which only says that a dictionary has them
# A word counts so many times where it has every letter of the slip: left out, doubled or swapped they are more often
# than replaced. And so many times as often as the next one has it to be used. Of 4,000 slips (of codespell's list)
# these two put 68 % right and 1.5 % wrong, and leave the others; without the first 65 and 2 %, with 3 for the second
# 69 and 2. At two slips away 5 more would be put right and 3 wrong.
_KEEPS_LETTERS = 100
_CLEARLY = 10
_SHORT_LEXICON = 5  # letters; a shorter word is a slip away from many

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
        if len(slip) < _SHORT_LEXICON:
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


# A word that stands alone between white space, but for the marks of a sentence: no flag, path, address or code.
_WORD = re.compile(r"(?<!\S)(\(?)([^\W\d_]{3,})(?=(?:['’]s)?[.,;:?!)]*(?:\s|$))")
_LETTERS = re.compile(r"[^\W\d_]+")
_VERSION = re.compile(r"(?<!\S)v(\d+(?:\.\d+)*)(?=[.,;:?!)]*(?:\s|$))", re.IGNORECASE)
_ASKING = frozenset(
    {"what", "which", "where", "when", "who", "why", "how", "much", "many", "long", "often", "does", "number", "price"}
)
_SHORTEST_PART = 3  # letters of the first of two words that were typed as one
_SHORT = 5  # letters; a shorter word, which is a slip away from many, is read only as one of asking
_LONG = 8  # letters; from here two slips are forgiven, and one letter earlier where only letters of it were left out
_IN_HASTE = {  # words of asking that are too short to be found by their letters, or are others as well
    re.compile(rf"(?<!\S){typed}(?=[.,;:?!)]*(?:\s|$))"): meant
    for typed, meant in {
        r"[Hh]w(?= (?:many|mny|much|mch|long|lng|old|often|far|do|does|to)\b)": "how",
        r"[Ww][ao]ts": "what's",
        r"[Ww]at": "what",
        r"[Ww]en": "when",
        r"(?<=\b[Hh]ow )dose": "does",
        r"(?<=\b[Ww]hen )dose": "does",
        r"(?<=\b[Ww]ho )leeds": "leads",
        r"(?<=\b(?:am|is|be) )il": "ill",
        r"teh": "the",
        r"hav": "have",
        r"haz": "has",
        r"nite": "night",
        r"til": "until",
        r"min(?:it|uit|ite)": "minute",
        r"secs": "seconds",
        r"mins": "minutes",
        r"hrs": "hours",
        r"yrs": "years",
    }.items()
}
_EUROS = re.compile(r"(?<=\d )(?:eur|EUR|euro|Euro)\b")
# Letters that sound alike in English, in the order in which they are put into one form.
_SOUNDS = tuple(
    (re.compile(pattern), sound)
    for pattern, sound in (
        (r"ph", "f"),
        (r"ck|q", "k"),
        (r"c(?=[eiy])", "s"),
        (r"c(?!h)", "k"),
        (r"z", "s"),
        (r"(?<!^)y", "i"),
        (r"(.)\1", r"\1"),
    )
)


def vocabulary_of(texts: Iterable[str]) -> frozenset[str]:
    """The words of some texts, in lower case, those of names and addresses one by one."""
    return frozenset().union(*map(_words_of, texts))


@lru_cache(maxsize=1024)
def _words_of(text: str) -> frozenset[str]:
    return frozenset(word.casefold() for word in _LETTERS.findall(text))


def unknown_words(question: str, vocabulary: Collection[str]) -> tuple[str, ...]:
    """The words, in lower case, that the vocabulary does not have: slips, or words of the language that it lacks."""
    listed = ((found[2].casefold(), _is_name(found[2], found.start(2))) for found in _WORD.finditer(question))
    return tuple(
        dict.fromkeys(bare for bare, name in listed if not name and bare not in STOPWORDS and bare not in vocabulary)
    )


def with_known_names(question: str, vocabulary: Collection[str]) -> str:
    """The question with each name that lacks a letter, or has two swapped, as the passages write it: "Habour"."""

    def as_written(found: re.Match[str]) -> str:
        before, word = found.groups()
        name = word.casefold()
        if not (word.istitle() and found.start(2) and len(word) >= _SHORT) or name in vocabulary:
            return found.group()
        near = [other for other in vocabulary if keeps_letters(name, other) and _slips(name, other, 1) == 1]
        return f"{before}{near[0].capitalize()}" if len(near) == 1 and near[0][0] == name[0] else found.group()

    return _WORD.sub(as_written, question)


def correct_spelling(question: str, vocabulary: Collection[str], slips: Collection[str], lexicon: Lexicon) -> str:
    """The question with each of these slips as the word that is meant, where one is. ``vocabulary`` is lower-cased.

    The passages' words come first: what is asked about stands there. One of English counts where they have none, or
    where theirs is two slips away and that of English one.
    """
    forms: dict[str, list[str]] = {}
    for word in vocabulary:
        forms.setdefault(stem(word), []).append(word)
    meant = {slip: _meant(slip, vocabulary, forms.get(stem(slip), ()), lexicon) for slip in slips}

    def right(found: re.Match[str]) -> str:
        before, word = found.groups()
        if _is_name(word, found.start(2)):
            return found.group()
        if word[0].isupper():  # at the beginning: a name, or a word of asking
            return before + (_nearest(word.casefold(), ()) or word if word.casefold() in meant else word)
        return before + (meant.get(word.casefold()) or word)

    return _WORD.sub(right, question)


def without_haste(question: str, vocabulary: Collection[str]) -> str:
    """An English question with its words of asking written out, "hw mch", "wats"; what the passages have stays."""
    if language_of(question) != "en":
        return question
    question = _EUROS.sub("euros", question)
    for typed, meant in _IN_HASTE.items():
        found = typed.search(question)
        if found and found[0].casefold() not in vocabulary:
            question = typed.sub(meant, question)
    return question


def with_versions(question: str, texts: Collection[str]) -> str:
    """The question with "v1" as "version 1", where some text writes it so; code and paths of these have v1 anyway."""

    def as_written(found: re.Match[str]) -> str:
        written = f"version {found[1]}"
        there = re.compile(rf"\b{re.escape(written)}(?!\w|\.\d)", re.IGNORECASE)
        return written if any(there.search(text) for text in texts) else found[0]

    return _VERSION.sub(as_written, question)


def _meant(slip: str, vocabulary: Collection[str], forms: Collection[str], lexicon: Lexicon) -> str:
    usual = lexicon.usual_word(slip)
    if forms:  # words of the same stem: one of them misspelt ("insurence"), or a form that nobody has listed
        is_slip = len(slip) < _SHORT or (usual and stem(usual) == stem(slip))
        return (_nearest(slip, forms) or usual) if is_slip else ""
    alike, theirs = _sounding_like(slip, vocabulary), _nearest(slip, vocabulary)
    if theirs and not alike and _slips(slip, theirs, 1) == 1:
        return theirs
    return alike or usual or theirs or _two_words(slip, vocabulary)


def _two_words(slip: str, vocabulary: Collection[str]) -> str:
    """Two words of the passages that were typed without the space; the second may be misspelt: "jobaplication"."""
    ends = (end for end in range(_SHORTEST_PART, len(slip) - _SHORT + 1) if slip[:end] in vocabulary)
    read = [
        f"{slip[:end]} {second}"
        for end in ends
        if slip[:end] not in STOPWORDS
        and (second := slip[end:] if slip[end:] in vocabulary else _nearest(slip[end:], vocabulary))
    ]
    return read[0] if len(read) == 1 else ""


def _sounding_like(word: str, vocabulary: Collection[str]) -> str:
    """The one word that sounds the same; empty where none or several do."""
    if len(word) < _SHORT - 1:
        return ""
    sound = _sound_of(word)
    alike = [
        other for other in vocabulary if other[0] in _ALIKE_FIRST.get(word[0], word[0]) and _sound_of(other) == sound
    ]
    return alike[0] if len(alike) == 1 else ""


_ALIKE_FIRST = {"f": "fp", "k": "kcq", "c": "ck", "s": "sc"}


def _sound_of(word: str) -> str:
    for letters, sound in _SOUNDS:
        word = letters.sub(sound, word)
    return word


def _is_name(word: str, start: int) -> bool:
    return (word[0].isupper() and start > 0) or any(letter.isupper() for letter in word[1:])


def _nearest(word: str, vocabulary: Collection[str]) -> str:
    """The one nearest word, of asking before the others; empty when none or several are as near."""
    best: dict[str, int] = {}
    for other in (*_ASKING, *(vocabulary if len(word) >= _SHORT else _with_the_same_letters(word, vocabulary))):
        allowed = 2 if _forgives_two(word, other) else 1
        if (
            other[0] == word[0]
            and abs(len(word) - len(other)) <= allowed
            and (len(other) >= _SHORT - 1 or other in _ASKING)
        ):
            slips = _slips(word, other, allowed)
            if slips <= allowed:
                best[other] = slips - (other in _ASKING)
    nearest = [other for other, slips in best.items() if slips == min(best.values())]
    nearest = [other for other in nearest if keeps_letters(word, other)] or nearest
    if len({stem(other) for other in nearest}) == 1:
        return nearest[0]
    same_length = [other for other in nearest if len(other) == len(word)]
    return same_length[0] if len(same_length) == 1 else ""


def _with_the_same_letters(word: str, vocabulary: Collection[str]) -> list[str]:
    """The words that a short one is with a letter put in ("quiet" for "qiet") or in another order ("days")."""
    letters = sorted(word)
    return [
        other
        for other in vocabulary
        if (len(other) == len(word) + 1 >= _SHORT and keeps_letters(word, other)) or sorted(other) == letters
    ]


def _forgives_two(word: str, other: str) -> bool:
    shorter, longer = sorted((len(word), len(other)))
    return shorter >= _LONG or (longer >= _LONG > len(word) >= _LONG - 1 and keeps_letters(word, other))


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
