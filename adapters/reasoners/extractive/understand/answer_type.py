"""Answer type of a question (amount, date, person, steps, reason) and how well a text has it.

Only words decide. ``units`` and the sentence vectors decide whether the text is about the question at all.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from adapters.reasoners.extractive.understand import PHRASES, word_table
from core.model.text import content_words


@dataclass(frozen=True, slots=True)
class AnswerType:
    """Answer type: a pattern for its questions, and patterns for its answers with their fit in [0, 1].

    If ``strict``, a text without any match does not answer.
    """

    asked: re.Pattern[str]
    said: tuple[tuple[re.Pattern[str], float], ...]
    strict: bool = True


def _read_types() -> tuple[dict[str, re.Pattern[str]], tuple[AnswerType, ...]]:
    """Return the patterns of texts by name, and the answer types in order, from ``answer_types.tsv``."""
    parts: dict[str, str] = {}
    said: dict[str, re.Pattern[str]] = {}
    types: list[AnswerType] = []

    def pattern(written: str) -> re.Pattern[str]:
        return re.compile(re.sub(r"@([A-Z]+)@", lambda part: parts[part[1]], written))

    for line in word_table("answer_types"):
        match line:
            case ["part", name, written]:
                parts[name] = written
            case ["said", name, written]:
                said[name] = pattern(written)
            case [_, strict, fits, written]:
                pairs = (one.split("=") for one in fits.split())
                answers = tuple((said[name], float(fit)) for name, fit in pairs)
                types.append(AnswerType(pattern(written), answers, strict == "strict"))
    return said, tuple(types)


_SAID, _TYPES = _read_types()
_DENIED = re.compile(r"\b(?:no|not|none|never|cannot|nobody)\b|n['’]t\b", re.IGNORECASE)
_NOTHING = AnswerType(re.compile(""), (), strict=False)
NEUTRAL = 0.5


@lru_cache(maxsize=256)
def kind_asked(question: str) -> AnswerType:
    """Return the answer type of a question, or ``_NOTHING`` if it has none."""
    return next((kind for kind in _TYPES if kind.asked.search(question)), _NOTHING)


def fits(question: str, text: str) -> float:
    """Return how well a text has the question's answer type, in [0, 1]. 0.5 if it has none."""
    kind = kind_asked(question)
    if not kind.said:
        return NEUTRAL
    return next((value for pattern, value in kind.said if pattern.search(text)), 0.0)


def denies(text: str) -> bool:
    """Return whether a text says that there is none of something."""
    return bool(_DENIED.search(text))


def is_strict(question: str) -> bool:
    """Return whether an answer must have the answer type: "how long" needs a time."""
    return kind_asked(question).strict


_BROAD = PHRASES["BROAD"]


def is_broad(question: str) -> bool:
    """Return whether a whole section may be the answer: how to do something, what something is, a bare topic."""
    return not is_strict(question) and bool(_BROAD.match(question))


_SMALL = (
    r"(?:of|for|in|to|on|at|when|if|that|do|does|did|is|are|was|were|per|with|can|must|may|should|will|has|have|had|from"
    r"|by|and|or|until|before|after|between|under|i|we|you|they|there|about|not|the|a|an)"
)
_NOUNS = rf"((?:(?!{_SMALL}\b)[\w'-]++\s*){{1,3}})"
_ARTICLE = r"(?:(?:the|an?|our|your|my)\s+)?"
_THINGS = (
    re.compile(rf"\bhow many\s+{_NOUNS}", re.IGNORECASE),
    re.compile(rf"\b(?:which|what(?:['’]?s)?)\s+(?:(?:is|are|was|were)\s+)?{_ARTICLE}{_NOUNS}", re.IGNORECASE),
)
_NO_NOUN = PHRASES["NO_NOUN"]  # words that name no column, or that another rule handles: prices, people, times
_TO_PLURAL = re.compile(r"^.*?\b\w+[^s\W]s\b")  # a verb follows it: "passengers travel"


@lru_cache(maxsize=256)
def thing_asked(question: str) -> tuple[str, ...]:
    """Return the stems of the wanted thing: "lifeboats" in "how many lifeboats has she?".

    A text without it is not an answer, even if it has all other words. Empty if no thing is named.
    """
    if found := next(filter(None, (pattern.search(question) for pattern in _THINGS)), None):
        said = _NO_NOUN.sub(" ", found[1])
        plural = _TO_PLURAL.match(said)
        return tuple(dict.fromkeys(content_words(plural.group() if plural else said)))
    return ()
