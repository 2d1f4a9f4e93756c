"""What a question names, or says in words unlike common ones, that no passage has."""

import re
from collections.abc import Iterable

from adapters.reasoners.extractive.evidence.other_languages import in_english
from adapters.reasoners.extractive.question.names import names
from core.model.evidence import Evidence
from core.model.languages import language_of
from core.model.text import content_words, words

_THOUSANDS = re.compile(r"\d[\d.,]*k", re.IGNORECASE)
_MEASURE = re.compile(r"(\d[\d.,]*)([a-z]{1,4})", re.IGNORECASE)


def open_names(question: str, evidence: Iterable[Evidence], typed: str = "") -> tuple[str, ...]:
    """What of the question is named, or unlike common words, and in none of these passages, in whichever language.

    ``typed`` is the question before it was read in English: in German all nouns have a capital, and what is left of
    them is no name.
    """
    written = tuple(evidence)
    found = (*written, *map(in_english, written))
    lacking = {word for word in uncovered_words(question, found) if not _numbered_so(word, found)}
    lacking -= {word for word in lacking if _is_amount(word, found)}
    capitals = () if typed != question and language_of(typed) == "de" else names(question)
    named = {part for name in capitals for part in name.split()}
    telling = re.compile(r"^(?:19|20)\d\d$|(?=.*\d)(?=.*[^\W\d_])")  # a year, or letters with digits
    return tuple(word for word in words(question) if word in lacking and (word in named or telling.search(word)))


def _numbered_so(word: str, evidence: Iterable[Evidence]) -> bool:
    """Whether "v2" stands there as "version 2", and any of "2.x" as "2.20.15"."""
    if any_of := re.fullmatch(r"[vVrR]?(\d+(?:\.\d+)*)\.[xX]", word):
        one_of_them = re.compile(rf"(?<![\d.])[vVrR]?{re.escape(any_of[1])}\.\d")
        return any(one_of_them.search(item.passage.searchable) for item in evidence)
    told = re.fullmatch(r"[vVrR](\d+(?:\.\d+)*)", word)
    if told is None:
        return False
    long = re.compile(rf"\b(?:version|release) {re.escape(told[1])}\b", re.IGNORECASE)
    return any(long.search(item.passage.searchable) for item in evidence)


def _is_amount(word: str, evidence: Iterable[Evidence]) -> bool:
    """Whether it is no name but an amount: "20k", which lies in a range, or "9mm" where "9 mm" stands."""
    if _THOUSANDS.fullmatch(word):
        return True
    told = _MEASURE.fullmatch(word)
    if told is None:
        return False
    apart = re.compile(rf"(?<![\w.,]){re.escape(told[1])}\s{re.escape(told[2])}\b", re.IGNORECASE)
    return any(apart.search(item.passage.searchable) for item in evidence)


def uncovered_words(question: str, evidence: Iterable[Evidence]) -> tuple[str, ...]:
    """The question's content words, as they stand in it, that no passage has."""
    there = {word for item in evidence for word in content_words(item.passage.searchable)}
    lacking = [word for word in words(question) if (found := content_words(word)) and not set(found) & there]
    return tuple(dict.fromkeys(lacking))
