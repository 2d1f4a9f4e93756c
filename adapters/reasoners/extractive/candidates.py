"""Candidates for quotes: the units of found passages, ranked by the question's words.

Grading and quoting use the same formula, so that a passage counts because of the sentence that is quoted from it. The
constants are in ``weights``. Features and reader only know English, so passages in other languages are ranked by a
word-by-word translation, even if the question is in the same language. Quotes come from the original passage.
"""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from adapters.reasoners.extractive import weights
from adapters.reasoners.extractive.understand import PHRASES
from adapters.reasoners.extractive.understand.answer_type import fits
from adapters.reasoners.extractive.understand.query_translation import LANGUAGES, dictionary_of
from adapters.reasoners.extractive.weights import Features
from core.model.evidence import Evidence
from core.model.knowledge import Passage
from core.model.languages import language_of, small_words_of
from core.model.markdown_lines import LIST_ITEM
from core.model.passage_units import Form, Unit, announced, befores, text_of_list, units
from core.model.text import content_words, words


def inverse_frequency(texts: Iterable[str]) -> Mapping[str, float]:
    """Return BM25's inverse document frequency of each stem: ``ln(1 + (N - n + 0.5) / (n + 0.5))``, never negative."""
    bags = [set(content_words(text)) for text in texts]
    counts = Counter(word for bag in bags for word in bag)
    size = len(bags)
    return {word: math.log(1 + (size - count + 0.5) / (count + 0.5)) for word, count in counts.items()}


def word_weights(wanted: Sequence[str], rarity: Mapping[str, float]) -> Mapping[str, float]:
    """Return the weights of the wanted stems. Rare stems weigh more, and unseen stems most."""
    unseen = weights.UNSEEN_WORD * max(rarity.values(), default=1.0)
    return {word: max(rarity.get(word, unseen), weights.COMMONEST_WORD) for word in wanted}


def coverage(wanted: Mapping[str, float], there: Iterable[str]) -> float:
    """Return the weighted share of the wanted stems that are in ``there``, in [0, 1]."""
    have, total = set(there), sum(wanted.values())
    return sum(value for word, value in wanted.items() if word in have) / total if total else 0.0


@lru_cache(maxsize=500)  # called for every unit of every passage
def topic_words(question: str) -> tuple[str, ...]:
    """Return the stems of a question's topic, without words that only state the wanted kind of answer."""
    if small := small_words_of(question):  # of another language, whose stop words are not ours
        question = " ".join(word for word in words(question) if word.casefold() not in small)
    return content_words(PHRASES["FRAME"].sub(" ", question)) or content_words(question)


_SAME_STEM = 4  # leading letters that related words share: drive and driver, weigh and weight


def stands_in(stem: str, there: Collection[str]) -> bool:
    """Return whether a stem or a related word is present: "rent" and "rental", "machine" and "machinery"."""
    return stem in there or (
        len(stem) >= _SAME_STEM
        and any(len(one) >= _SAME_STEM and (one.startswith(stem) or stem.startswith(one)) for one in there)
    )


@dataclass(frozen=True)
class Words:
    """Words of one question, and their rarity in the pool."""

    question: str
    rarity: Mapping[str, float]

    @property
    def topic_words(self) -> tuple[str, ...]:
        """Stems of the question's topic."""
        return topic_words(self.question)

    def share(self, there: Collection[str]) -> float:
        """Return the weighted share of the topic stems in ``there``, in [0, 1]."""
        return coverage(self._wanted, there)

    @cached_property
    def _wanted(self) -> Mapping[str, float]:
        """Weights of the topic stems, the same for every unit."""
        return word_weights(self.topic_words, self.rarity)


@dataclass(frozen=True, slots=True)
class ScoredUnit:
    """Unit with its scores. ``promise`` is the lexical one.

    ``covered`` is the share of the question's words in it, its headings and its title.
    """

    evidence: Evidence
    unit: Unit
    promise: float
    covered: float
    own: float = 0.0  # the same share in the unit alone
    cosine: float = 0.0
    odds: float = 0.0  # log odds that it answers, computed from ``features``
    features: Features | None = None
    rules: tuple[str, ...] = ()  # names of the rules that adjusted its odds
    read: float | None = None  # log odds from the reader

    @property
    def text_with_context(self) -> str:
        """The unit with the small heading above it and its last heading, which can have a release date."""
        return " ".join((self.unit.text, self.unit.under, *self.evidence.passage.heading[-1:]))


@dataclass(frozen=True, slots=True)
class WeighedPassage:
    """Passage with its units for one need, best first, and the cosine of the whole passage."""

    evidence: Evidence
    asked: Words
    units: tuple[ScoredUnit, ...]
    cosine: float


def rarity_of(evidence: Sequence[Evidence]) -> Mapping[str, float]:
    """Return the rarity of each word in this pool."""
    return inverse_frequency(item.passage.searchable for item in evidence)


def scored_by_words(asked: Words, item: Evidence) -> list[ScoredUnit]:
    """Return the units of a passage, ordered by their coverage of the question, alone and with headings."""
    passage = item.passage
    above = content_words(" ".join((passage.title, *passage.heading)))
    everything, led = units(passage.text), announced(passage.text)
    before = befores(everything)
    scored: list[ScoredUnit] = []
    for unit in everything:
        own = content_words(" ".join((*unit.head[:1], unit.text, text_of_list(led.get(unit, ())))))
        context = (*own, *content_words(f"{unit.under} {before[unit].text if unit in before else ''}"))
        alone, covered = asked.share(own), asked.share((*context, *above))
        promise = (
            weights.OWN_WORDS * alone
            + weights.WORDS_IN_CONTEXT * asked.share(context)
            + weights.WORDS_IN_PLACE * covered
            + weights.KIND_OF_ANSWER * fits(asked.question, unit.text)
        )
        scored.append(ScoredUnit(item, unit, promise, covered, alone))
    return sorted(scored, key=lambda one: -one.promise)


def tells_by_itself(one: ScoredUnit) -> bool:
    """Return whether a unit can be an answer, alone or with the list or code block that it introduces."""
    led = announced(one.evidence.passage.text).get(one.unit, ())
    if led and led[0].form is not Form.ROW:  # table rows are scored one by one
        return True
    return says_something(one.unit)


def says_something(unit: Unit) -> bool:
    """Return False for an introduction with a colon, a picture or a single word."""
    if _PICTURE.fullmatch(LIST_ITEM.sub("", unit.text)):
        return False
    if unit.form is Form.SENTENCE and unit.text.rstrip("*_ ").endswith(":"):
        return False
    return len(content_words(unit.text)) >= (1 if _DENIES.match(unit.text) else 2)


_PICTURE = re.compile(r"(?:!\[[^\]]*\]\([^)]*\)|\[Image: [^\]]*\])\W*")
_DENIES = re.compile(r"\W*no\b", re.IGNORECASE)  # "No cheques." says all


def in_english(items: Sequence[Evidence]) -> list[Evidence]:
    """Return the evidence with its passages translated word by word. Those without a dictionary stay."""
    return [replace(item, hit=replace(item.hit, passage=_glossed(item.passage))) for item in items]


@lru_cache(maxsize=1024)
def _glossed(passage: Passage) -> Passage:
    language = language_of(passage.text)
    if language not in LANGUAGES:
        return passage
    dictionary = dictionary_of(language)
    glossed = replace(
        passage, text=dictionary.gloss(passage.text), heading=tuple(map(dictionary.gloss, passage.heading))
    )
    return glossed if len(units(glossed.text)) == len(units(passage.text)) else passage


def as_written(weighed: Sequence[WeighedPassage], evidence: Sequence[Evidence]) -> list[WeighedPassage]:
    """Return the scored passages with their original text and units."""
    items, done = {item.id: item for item in evidence}, list[WeighedPassage]()
    for one in weighed:
        item = items[one.evidence.id]
        if one.evidence == item:
            done.append(one)
            continue
        pairs = zip(units(one.evidence.passage.text), units(item.passage.text), strict=True)
        written = dict(reversed(list(pairs)))
        found = (replace(unit, evidence=item, unit=written[unit.unit]) for unit in one.units)
        done.append(replace(one, evidence=item, units=tuple(found)))
    return done
