"""What a question names: names that no passage has, and documents that are known by such a name."""

import re
from collections.abc import Iterable, Sequence

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


_BESIDE = re.compile(r" \(|, ")  # what tells a title from others of its name begins here: "(film)", ", Ohio"
_SHORTEST = 3  # letters of a title that may be a name
# A question that asks for something by way of something else, or for several things at once.
_LAYERED = re.compile(
    r"^(?:when|where|who|whom|which)\b[^?]*?\bthe \w+ of\b|"
    r"\b(?:of|by|in|from|to|with|at|for|on) (?:the|a|an) [^?]*?\b(?:of|that|who|which|whose|where|in|by|from"
    r"|for)\b|\b(?:whose|both|same|older|younger|"
    r"earlier|later|first|before|after)\b|\b(?:that|which|who|where) (?:is|was|are|were|has|had|did|does|have)\b"
    r"|[’']s [^?]*\b(?:of|in|for|per|that|who|which)\b|[’']s? \w+[’']s?\b| or ",
    re.IGNORECASE,
)


def is_layered(question: str) -> bool:
    """Whether the question reaches its answer through something else that has to be found first."""
    return bool(_LAYERED.search(question)) or len([name for name in names(question) if not name.isupper()]) > 1


def known_by_name(question: str, evidence: Iterable[Evidence]) -> bool:
    """Whether the question names a document that was found: by its title, in any case, written as a name.

    Only where documents are about what their titles name does a name lead to one. In a manual, whose titles say what a
    page is for, searches over the names in it bring more of the same.
    """
    asked = [_without_s(word) for word in words(question)]
    titles = dict.fromkeys(_BESIDE.split(item.passage.title)[0] for item in evidence)
    return any(_stands_in(asked, [_without_s(word) for word in words(title)]) for title in titles)


def _stands_in(asked: Sequence[str], title: Sequence[str]) -> bool:
    """Whether these words stand together in the question, one of them with a capital that is not a sentence's first."""
    size = len(title)
    if sum(map(len, title)) < _SHORTEST:
        return False
    wanted = [word.casefold() for word in title]
    return any(
        [word.casefold() for word in asked[at : at + size]] == wanted
        and any(word[0].isupper() for word in asked[max(at, 1) : at + size])
        for at in range(len(asked) - size + 1)
    )


def _without_s(word: str) -> str:
    return re.sub(r"['’]s$", "", word, flags=re.IGNORECASE)
