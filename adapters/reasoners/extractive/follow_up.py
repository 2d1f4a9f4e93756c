"""Follow-ups: a question that leans on the thread becomes one that stands alone; any other is left as it is.

No model: pronouns, demonstratives, ellipsis ("and for enterprise?") and definite mentions ("the refund") are found by
their words, and what they stand for is the most salient phrase of the thread. Whether to search at all is left to
``routing``.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from adapters.reasoners.extractive.phrases import QUESTION_WORDS, Phrase, names, noun_phrases
from core.language import STOPWORDS, content_words, stem, words

_DECAY = 0.6  # how much less an exchange counts than the one after it
_FROM_ANSWER, _FROM_TITLE = 0.25, 0.5
_EXCHANGES = 8  # further back, nothing is leaned on

_PERSONAL = re.compile(r"\b(he|she|him|his|her|hers|himself|herself)\b", re.IGNORECASE)
_THING = re.compile(r"\b(it|its|itself|they|them|their|theirs|themselves)\b", re.IGNORECASE)
_POINTING = re.compile(
    r"\b(this|these|those)\b(?!\s+(?:is a question|way|week|month|year|morning|time))"
    r"|\bthat\b(?=\s*(?:[?.,!;]|$|\s(?:work|mean|cost|apply|happen|change|compare|help|cause|include|mean|for|is|was|too|one)\b))"
    r"|(?<=\bof )that\b|(?<=\bdo )that\b|(?<=\bdid )that\b|(?<=\bdoes )that\b|(?<=\bis )that\b|(?<=\bwas )that\b"
    r"|(?<=\bafter )that\b|(?<=\bbefore )that\b|(?<=\babout )that\b|(?<=\bfor )that\b|(?<=\bto )that\b",
    re.IGNORECASE,
)
# "It" that stands for nothing.
_EMPTY_IT = re.compile(
    r"\bit(?:'s|’s| is| was| would be)?\s+(?:is |was |be )?(?:important|possible|true|necessary|better|worth|safe|legal|"
    r"ok|okay|take|takes|took|seems?|rains?|mandatory to|hard to|easy to|common|good to|possible|likely)\b"
    r"|\b(?:is|was|would|will|does|did) it (?:be )?(?:important|possible|true that|necessary|better|worth|safe|legal|ok"
    r"|okay|take|hard|easy|common|likely|necessary|normal|bad to|good to)\b",
    re.IGNORECASE,
)
_LEADING = re.compile(
    r"^(?:(?:and|but|so|also|then|or|plus)\b[\s,]*)*(?:what|how)\s+about\s+|^(?:and|but|or|plus)\b[\s,]+", re.IGNORECASE
)
_MORE = re.compile(
    r"\b(?:other|others|else|another|more|next|latter|former|same|both|either|besides|instead|alternatives?|second|third|last"
    r"|similar|related|different)\b",
    re.IGNORECASE,
)
_VERBISH = re.compile(
    r"\b(?:is|are|was|were|am|be|been|do|does|did|has|have|had|can|could|will|would|shall|should|may|might|must|isn't|"
    r"aren't|wasn't|doesn't|don't|didn't|can't|won't|'s|’s|happened|happens)\b",
    re.IGNORECASE,
)
_ASKING = re.compile(r"\b(?:who|whom|whose|what|which|where|when|why|how)\b", re.IGNORECASE)
_DEFINITE = re.compile(r"\b(?:the|such|each|every)\s+((?:[^\W\d_]+[-\s]?){1,3})", re.IGNORECASE)
_SELF = frozenset("i me my we us our".split())


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question as it was understood, what was answered, and the titles that were cited."""

    question: str
    answer: str = ""
    titles: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Resolved:
    """The question standing alone; ``reason`` says what was put in, and is empty when nothing was."""

    question: str
    reason: str = ""
    stuck: bool = False  # it leans on something, and there is nothing to lean on

    @property
    def changed(self) -> bool:
        """Whether anything was put in."""
        return bool(self.reason)


@dataclass(frozen=True, slots=True)
class _Topic:
    phrase: Phrase
    weight: float
    recent: bool  # in the last question


def resolve(question: str, earlier: Sequence[Exchange]) -> Resolved:
    """The question with what it leaves out put in from the thread."""
    window = tuple(earlier)[-_EXCHANGES:]
    if not question.isascii() and not _ASKING.search(question):
        return Resolved(question)  # another language: its words are not ours to move
    topics = _topics(window)
    if not topics:
        return Resolved(question, stuck=_leans(question) and not _substance(question))
    if _fragment(question):
        return _completed(question, window, topics)
    if pronoun := _pronoun(question):
        return _replaced(question, pronoun, topics)
    if added := _left_out(question, window, topics):
        return Resolved(_appended(question, added), f"about {added}")
    return Resolved(question)


def _topics(window: Sequence[Exchange]) -> list[_Topic]:
    """What the thread has been about, most salient first."""
    weights: dict[Phrase, float] = {}
    recent: set[Phrase] = set()
    for back, exchange in enumerate(reversed(window)):
        fade = _DECAY**back
        for phrase in noun_phrases(exchange.question):
            weights[phrase] = weights.get(phrase, 0.0) + fade * (1.0 if phrase.name else 0.7)
            if back == 0:
                recent.add(phrase)
        for number, title in enumerate(exchange.titles):
            phrase = Phrase(title, name=True)
            weights[phrase] = weights.get(phrase, 0.0) + fade * _FROM_TITLE / (1 + number)
        for name in names(exchange.answer[:600])[:6]:
            phrase = Phrase(name, name=True)
            weights[phrase] = weights.get(phrase, 0.0) + fade * _FROM_ANSWER
    merged = _merged(weights)
    topics = [_Topic(phrase, weight, phrase in recent) for phrase, weight in merged.items()]
    return sorted(topics, key=lambda topic: -topic.weight)


def _merged(weights: dict[Phrase, float]) -> dict[Phrase, float]:
    """A name's shorter mentions count for the longest one: Carnegie for Andrew Carnegie."""
    merged: dict[Phrase, float] = {}
    for phrase in sorted(weights, key=lambda one: -len(one.stems)):
        if not phrase.stems:
            continue
        longer = next((kept for kept in merged if kept.name and phrase.stems <= kept.stems), None)
        merged[longer or phrase] = merged.get(longer or phrase, 0.0) + weights[phrase]
    return merged


def _person(phrase: Phrase) -> bool:
    parts = phrase.text.split()
    return phrase.name and 1 <= len(parts) <= 4 and all(part[0].isupper() for part in parts) and not any(
        character.isdigit() for character in phrase.text
    )


def _pronoun(question: str) -> re.Match[str] | None:
    """The first word that stands for something outside the question."""
    bare = _EMPTY_IT.sub(lambda found: "_" * len(found.group()), question)
    candidates = [pattern.search(bare) for pattern in (_PERSONAL, _THING, _POINTING)]
    found = sorted((one for one in candidates if one), key=lambda one: one.start())
    for one in found:
        if not _stands_inside(question, one):
            return one
    return None


def _stands_inside(question: str, pronoun: re.Match[str]) -> bool:
    """Whether something before the pronoun, in the question, is what it stands for."""
    before = question[: pronoun.start()]
    if names(before):
        return True
    return len(content_words(before)) >= 3  # noqa: PLR2004 - enough said for the pronoun to look back inside


def _replaced(question: str, pronoun: re.Match[str], topics: Sequence[_Topic]) -> Resolved:
    word = pronoun.group().casefold()
    chosen = _antecedent(question, word, topics)
    if chosen is None:
        return Resolved(question)
    text = chosen.phrase.text
    after = question[pronoun.end() :]
    if word in {"his", "its", "their"} or (word == "her" and re.match(r"\s+[^\W\d_]", after) and not re.match(r"\s+(?:to|in|for|and|as|on|at|with)\b", after)):
        text = f"{text}'s"
    elif word in {"this", "that", "these", "those"} and re.match(r"\s+[^\W\d_]{3,}", after) and not _VERBISH.match(after.strip()):
        return Resolved(_appended(question, text), f"about {chosen.phrase.text}")
    return Resolved(f"{question[: pronoun.start()]}{text}{after}", f"“{pronoun.group()}” read as {chosen.phrase.text}")


def _antecedent(question: str, word: str, topics: Sequence[_Topic]) -> _Topic | None:
    known = frozenset(content_words(question))
    fresh = [topic for topic in topics if not topic.phrase.stems <= known]
    if word in {"he", "she", "him", "his", "her", "hers", "himself", "herself"}:
        return next((topic for topic in fresh if _person(topic.phrase)), None)
    return fresh[0] if fresh else None


def _fragment(question: str) -> bool:
    """Whether it is no sentence of its own: "and for enterprise?", "what about X?", "why?"."""
    if _LEADING.match(question) and len(content_words(question)) <= 4:
        return True
    return len(words(question)) <= 3 and not _VERBISH.search(question)


def _completed(question: str, window: Sequence[Exchange], topics: Sequence[_Topic]) -> Resolved:
    said = _LEADING.sub("", question).strip().rstrip("?.! ")
    last = next((one.question for one in reversed(window) if one.question), "").rstrip("?.! ")
    if not last:
        return Resolved(question)
    return Resolved(f"{last}, {said}?", f"continues “{last}?”")


def _left_out(question: str, window: Sequence[Exchange], topics: Sequence[_Topic]) -> str:
    """The topic of a question that mentions something definite, or hardly anything, without saying of what."""
    if names(question):
        return ""
    known = frozenset(content_words(question))
    fresh = [topic for topic in topics if not topic.phrase.stems & known]
    if not fresh:
        return ""
    if len(known) <= 2 or _MORE.search(question) or _DEFINITE.search(question):
        return fresh[0].phrase.text
    return ""


def _appended(question: str, topic: str) -> str:
    stop = len(question.rstrip("?.! "))
    return f"{question[:stop]} ({topic}){question[stop:]}"


def _leans(question: str) -> bool:
    return _pronoun(question) is not None or _fragment(question)


def _substance(question: str) -> bool:
    return len(content_words(question)) >= 2  # noqa: PLR2004 - a pair of words is something to search for
