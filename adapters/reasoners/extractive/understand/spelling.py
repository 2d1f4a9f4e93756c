"""Spelling correction and acronym expansion for a question, with the words of found passages.

A word that is in no passage and no dictionary is replaced by the only word at edit distance 1: one letter inserted,
deleted, replaced, or two swapped (Damerau, 1964: four of five errors). Correct rare words, names, codes, flags and
quoted text stay.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from os.path import commonprefix
from typing import TYPE_CHECKING

from core.model.languages import language_of
from core.model.text import STOPWORDS, stem

_USUAL = 100  # least frequency of a common word; half of the words have 50, which only means that a dictionary has them
_KEEPS_LETTERS = 100  # factor for a word with all letters of the misspelling (doubled, omitted or swapped letters)
_CLEARLY = 10  # least ratio of a word's frequency to the next one
_SHORT = 5  # letters; a shorter word is close to many others
_AMERICAN = (
    (re.compile(r"(?<=\w{4})([iy])s(?=(?:e[ds]?|ers?|ing|ations?)$)"), r"\1z"),
    (re.compile(r"ou(?=r|l)"), "o"),
    (re.compile(r"[ao]e"), "e"),
)
_DOUBLED = re.compile(r"(.)\1")
# A word between white space or punctuation, not part of a flag, path, address or code.
_WORD = re.compile(r"(?<!\S)(\(?)([^\W\d_]{3,})(?=(?:['’]s)?[.,;:?!)]*(?:\s|$))")
_LETTERS = re.compile(r"[^\W\d_]+")
_ACRONYM = re.compile(r"(?<![\w-])(?:[A-Z]{2,6}|[a-z]{3,5})(?![\w-])")
_DEFINES = re.compile(r"\s*[:=(–—]\s*[^\W\d_]")
_NEAR = 80  # characters around an acronym that may define it
_LINKS = frozenset({"and", "for", "in", "of", "on", "the", "to"})
_ASKING = frozenset(
    {"what", "which", "where", "when", "who", "why", "how", "much", "many", "long", "often", "does", "number", "price"}
)


class Lexicon:
    """English words, or none for a language without a word list."""

    def __init__(self, words: "SpellChecker | None" = None) -> None:
        """Use these words."""
        self._words = words

    def knows(self, word: str) -> bool:
        """Return whether this is a word, in lower case and British or American spelling."""
        if self._words is None:
            return False
        return any(one in self._words for one in (word, *(pattern.sub(to, word) for pattern, to in _AMERICAN)))

    def usual_word(self, slip: str) -> str:
        """Return the common word at edit distance 1 with the same first letter. Empty if several are equally common."""
        if self._words is None:
            return ""
        if slip.endswith("nt") and (contraction := f"{slip[:-1]}'t") in self._words:
            return contraction
        if len(slip) < _SHORT:
            return ""
        counts: dict[str, float] = {
            word: self._words[word] * (_KEEPS_LETTERS if keeps_letters(slip, word) else 1)
            for word in self._words.known(self._words.edit_distance_1(slip))
            if word[0] == slip[0] and word.isalpha() and self._words[word] >= _USUAL
        }
        first, second = sorted((*counts.values(), 0, 0), reverse=True)[:2]
        return max(counts, key=lambda word: counts[word]) if first and first >= _CLEARLY * second else ""


def keeps_letters(slip: str, word: str) -> bool:
    """Return whether the misspelling replaces no letter of the word: "acount" for "account", but not for "amount"."""
    return Counter(_DOUBLED.sub(r"\1", slip)) <= Counter(word)


@lru_cache(maxsize=1)
def english() -> Lexicon:
    """Return the English lexicon. Loading takes a quarter of a second, and it is cached."""
    from spellchecker import SpellChecker

    return Lexicon(SpellChecker(language="en", distance=1))


NO_LEXICON = Lexicon()


def lexicon_for(question: str) -> Lexicon:
    """Return the lexicon of the question's language."""
    return english() if language_of(question) == "en" else NO_LEXICON


def vocabulary_of(texts: Iterable[str]) -> frozenset[str]:
    """Return the words of some texts in lower case. Names and addresses are split into words."""
    return frozenset().union(*map(_words_of, texts))


@lru_cache(maxsize=1024)
def _words_of(text: str) -> frozenset[str]:
    return frozenset(word.casefold() for word in _LETTERS.findall(text))


def unknown_words(question: str, vocabulary: Collection[str]) -> tuple[str, ...]:
    """Return the words of a question, in lower case, that are not in the vocabulary."""
    listed = (found[2].casefold() for found in _WORD.finditer(question) if not _is_name(found[2], found.start(2)))
    return tuple(dict.fromkeys(bare for bare in listed if bare not in STOPWORDS and bare not in vocabulary))


def correct_spelling(question: str, vocabulary: Collection[str], slips: Collection[str], lexicon: Lexicon) -> str:
    """Return the question with these misspellings corrected, if possible.

    Prefer words of the passages (``vocabulary``, in lower case), because the question is about them. Otherwise use
    English words.
    """
    stems = {stem(word) for word in vocabulary}

    def meant(slip: str) -> str:
        usual = lexicon.usual_word(slip)
        if stem(slip) in stems and not (usual and stem(usual) == stem(slip)):
            return ""  # an inflected form that is not listed
        near = _nearest(slip, vocabulary)
        return near if near and (not usual or _is_slip(slip, near)) else usual

    corrected = {slip: meant(slip) for slip in slips}

    def right(found: re.Match[str]) -> str:
        before, word = found.groups()
        bare = word.casefold()
        if _is_name(word, found.start(2)) or bare not in corrected:
            return found.group()
        # A capitalised first word is a name or a question word.
        return before + ((_nearest(bare, ()) if word[0].isupper() else corrected[bare]) or word)

    return _WORD.sub(right, question)


def _is_name(word: str, start: int) -> bool:
    return (word[0].isupper() and start > 0) or any(letter.isupper() for letter in word[1:])


def _nearest(word: str, vocabulary: Collection[str]) -> str:
    """Return the nearest word, question words first. Empty if none or several are equally near."""
    near = [one for one in (*_ASKING, *(vocabulary if len(word) >= _SHORT else ())) if _is_slip(word, one)]
    nearest = [one for one in near if one in _ASKING] or near
    nearest = [other for other in nearest if keeps_letters(word, other)] or nearest
    return nearest[0] if len({stem(other) for other in nearest}) == 1 else ""


def _is_slip(word: str, meant: str) -> bool:
    """Return whether the words differ by one inserted, deleted, replaced or swapped letter, not the first one."""
    same = len(commonprefix((word, meant)))  # noqa: RUF071 - of letters
    rest, right = word[same:], meant[same:]
    swapped = rest[:2] == right[1::-1] and rest[2:] == right[2:]
    return bool(same) and word != meant and (swapped or right == rest[1:] or right[1:] in {rest, rest[1:]})


def spell_out(question: str, texts: Sequence[str], lexicon: Lexicon) -> str:
    """Return the question with acronyms expanded as the texts define them: "PTO: paid time off", "… (PTO)".

    Keep an acronym that the texts use more than its expansion.
    """

    def spelt(found: re.Match[str]) -> str:
        word = found.group()
        if not word.isupper() and lexicon.knows(word.casefold()):
            return word
        whole = re.compile(rf"(?<!\w){word}(?!\w)", re.IGNORECASE)
        there = [(text, at.start(), at.end()) for text in texts for at in whole.finditer(text)]
        defined = (_definition(word, text[max(0, start - _NEAR) : start], text[end:]) for text, start, end in there)
        meant = next(filter(None, defined), "")
        return meant if meant and sum(meant in text.casefold() for text in texts) >= len(there) else word

    return _ACRONYM.sub(spelt, question)


def _definition(acronym: str, before: str, after: str) -> str:
    """Return the words right after an acronym, or before its bracket, with its initials."""
    if before.endswith("(") and after.startswith(")"):
        said = _LETTERS.findall(before)
        runs = [said[start:] for start in range(len(said) - 1)]
    elif _DEFINES.match(after):
        said = _LETTERS.findall(after[:_NEAR])
        runs = [said[: end + 1] for end in range(1, len(said))]
    else:
        return ""
    for run in runs:
        for some in (run, [word for word in run if word.casefold() not in _LINKS]):
            if "".join(word[0] for word in some).casefold() == acronym.casefold():
                return " ".join(run).casefold()
    return ""


if TYPE_CHECKING:
    from spellchecker import SpellChecker
