"""What the words of every unit of some passages promise for one question, and what speaks against it.

One formula for grading a passage and for choosing what to quote, so that a passage counts for the very sentence that
is quoted from it. The numbers stand in ``weights``.
"""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from adapters.reasoners.extractive import weights
from adapters.reasoners.extractive.question.answer_type import asks_of_document, fits
from adapters.reasoners.extractive.weights import Features
from core.model.evidence import Evidence
from core.model.knowledge import Passage
from core.model.languages import small_words_of
from core.model.markdown_lines import LIST_ITEM
from core.model.passage_units import Form, Unit, announced, befores, text_of_list, units
from core.model.text import content_words, words


def inverse_frequency(texts: Iterable[str]) -> Mapping[str, float]:
    """How rare each stem is among these texts: ``ln(1 + (N - n + 0.5) / (n + 0.5))``, BM25's, never negative."""
    bags = [set(content_words(text)) for text in texts]
    counts = Counter(word for bag in bags for word in bag)
    size = len(bags)
    return {word: math.log(1 + (size - count + 0.5) / (count + 0.5)) for word, count in counts.items()}


def word_weights(wanted: Sequence[str], rarity: Mapping[str, float]) -> Mapping[str, float]:
    """Weigh the wanted stems: rare ones more, and one that no text has as the rarest of all."""
    unseen = weights.UNSEEN_WORD * max(rarity.values(), default=1.0)
    return {word: max(rarity.get(word, unseen), weights.COMMONEST_WORD) for word in wanted}


def coverage(wanted: Mapping[str, float], there: Iterable[str]) -> float:
    """Return the share of the wanted stems that is there, in [0, 1], by what each counts."""
    have, total = set(there), sum(wanted.values())
    return sum(value for word, value in wanted.items() if word in have) / total if total else 0.0


_FRAME = re.compile(
    r"\bhow (?:many|much|long|old|often|far|large|big|high|fast|tall|soon|late|early|quickly|come)\b"
    r"|\bwhat (?:do|does) (?:you|we|they|it) mean by\b|\bwhat (?:does|do) (?=.*\bmean\b)|\bdefin(?:e|ition of)\b"
    r"|\b(?:meaning of|stands? for)\b|\b(?:talk|speak|write|turn|go) to (?:about|for|when|if)\b|\bwhat(?:s|'s)?\b"
    r"|\b(?:cheap|long|short|heav|light|high|low|larg|bigg|small|new|old|dear|fast|slow|great)i?(?:est|er)\b"
    r"|\b(?:most|least|less|more) (?:expensive|recent)\b|\b(?:latest|current|recent|most|least|maximum|minimum)\b"
    r"|\b(?:in total|all ?together|in all)\b|\bcosts?\b(?=\W*$)|\bdifferences?\b"
    r"|(?<=much )\b(?:is|are|do|does)\b|\b(?:costs?|prices?)\b(?= (?:of|for|in|between)\b)|\bin price\b"
    r"|\b(?:page|document|policy|guide|file)\b(?= (?:about|on|called|for)\b)|\b(?:somewhere|there)\b"
    r"|\b(?:comes?|came|coming) (?:out|with|in)\b|\bsince (?=(?:which|what)\b)"
    r"|\b(?:takes?|lasts?)\b(?=\W*(?:$|to\b|until\b|for\b|from\b|in\b|on\b|at\b|before\b|after\b))"
    r"|\bwhat (?:happens|happened|would happen|will happen)\b|\bmeans?\b(?=\W*$)|\b(?:difference between|compare)\b"
    r"|\b(?:max(?:imum)?|min(?:imum)?|(?:number|amount) of)\b|^(?:the )?steps (?:to|for|of)\b|\bhow to\b"
    r"|^(?:please )?(?:summari[sz]e|sum up|explain|describe|outline|an? (?:overview|summary) of"
    r"|(?:list|table|overview) of|(?:list|name|show|give)(?: me| us)?(?: all| the| every)*)\b"
    r"|\b(?:right now|at the moment|currently|nowadays)\b"
    r"|\b\w+['’](?:m|ve|re|d|ll|t)\b|\b(?:somebody|someone|anybody|anyone|person|things?)\b"
    r"|\bwhere (?:can|could|do|should|would) (?:i|we|you|people|one) (?:find|see|look(?: up| for)?)\b"
    r"|(?<=many )people\b|\bpeople (?=who|that|are|do|can|must|have)",
    re.IGNORECASE,
)


@lru_cache(maxsize=500)  # asked for with every unit of every passage
def topic_words(question: str) -> tuple[str, ...]:
    """Return the stems that say what a question is about, without those that only say what kind of answer is wanted."""
    if small := small_words_of(question):  # of another language, whose stop words are not ours
        question = " ".join(word for word in words(question) if word.casefold() not in small)
    return content_words(_FRAME.sub(" ", question)) or content_words(question)


_SAME_STEM = 4  # letters that two words of one family share: drive and driver, weigh and weight


def stands_in(stem: str, there: Collection[str]) -> bool:
    """Whether a word is there, or one of its family: "rent" and "rental", "machine" and "machinery"."""
    return stem in there or (
        len(stem) >= _SAME_STEM
        and any(len(one) >= _SAME_STEM and (one.startswith(stem) or stem.startswith(one)) for one in there)
    )


STAMP = re.compile(
    r"^[*_]{0,2}(?:last (?:reviewed|updated|changed|rehearsed)|applies to|owner|updated|effective date"
    r"|version\b(?! \S+ (?:is|was|are|will|has|had|can|cannot|does|did|gets|stops|ends|needs|of)\b)"
    r"|published|exported|rolled out|saved on|generated)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Words:
    """The words of one question, and how rare each is in the pool."""

    question: str
    rarity: Mapping[str, float]

    @property
    def topic_words(self) -> tuple[str, ...]:
        """The stems that say what the question is about."""
        return topic_words(self.question)

    def share(self, there: Collection[str]) -> float:
        """Return the share of the wanted stems that is there, in [0, 1], rare ones counting more."""
        return coverage(self._wanted, there)

    @cached_property
    def _wanted(self) -> Mapping[str, float]:
        """The wanted stems with what each counts: the same for every unit."""
        return word_weights(self.topic_words, self.rarity)


@dataclass(frozen=True, slots=True)
class ScoredUnit:
    """A unit and how much its words promise.

    ``covered`` is the share of the question's words in it, its headings and its title.
    """

    evidence: Evidence
    unit: Unit
    promise: float
    covered: float
    own: float = 0.0  # the share of them in it alone
    cosine: float = 0.0
    odds: float = 0.0  # the logarithm of the odds that it answers, and what they were told from
    features: Features | None = None
    rules: tuple[str, ...] = ()  # the names of those that adjusted its odds
    read: float | None = None  # the log odds by the reader
    other_version: bool = False  # of its document than the question is about

    @property
    def text_with_context(self) -> str:
        """The unit with the small heading over it and the last of its headings: where a release's date stands."""
        return " ".join((self.unit.text, self.unit.under, *self.evidence.passage.heading[-1:]))


@dataclass(frozen=True, slots=True)
class WeighedPassage:
    """A passage with its units for one need, best first, and the cosine of the whole."""

    evidence: Evidence
    asked: Words
    units: tuple[ScoredUnit, ...]
    cosine: float


def rarity_of(evidence: Sequence[Evidence]) -> Mapping[str, float]:
    """How rare each word is in this pool."""
    return inverse_frequency(item.passage.searchable for item in evidence)


def scored_by_words(asked: Words, item: Evidence) -> list[ScoredUnit]:
    """Return the units of a passage by how much of the question they cover, by themselves and under their headings."""
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


def tells_by_itself(one: ScoredUnit, question: str) -> bool:
    """Whether it can be an answer: it says something, also by the list or the listing that it leads to."""
    led = announced(one.evidence.passage.text).get(one.unit, ())
    if led and led[0].form is not Form.ROW:  # a table's rows are weighed one by one
        return True
    return says_something(one.unit, question) and not repeats_title(one.unit, one.evidence.passage)


def says_something(unit: Unit, question: str = "") -> bool:
    """Not a lead-in that ends in a colon, a picture, nor a stamp ("Last reviewed 12 January 2026.") not asked for."""
    if _PICTURE.fullmatch(LIST_ITEM.sub("", unit.text)):
        return False
    if unit.form is Form.SENTENCE:
        if unit.text.rstrip("*_ ").endswith(":"):
            return False
        if STAMP.match(unit.text) and not asks_of_document(question):
            return False
    return len(content_words(unit.text)) >= (1 if _DENIES.match(unit.text) else 2)


_PICTURE = re.compile(r"(?:!\[[^\]]*\]\([^)]*\)|\[Image: [^\]]*\])\W*")
_DENIES = re.compile(r"\W*no\b", re.IGNORECASE)  # "No cheques." says all


def repeats_title(unit: Unit, passage: Passage) -> bool:
    """Whether it only says again what stands above it; a message kept as a document has its statement as its title."""
    text = unit.text.strip("*_# ")
    titles = {part.casefold() for part in (passage.title, *passage.heading)}
    return text.casefold() in titles and not text.endswith(".")
