"""How much of a question's words a text has, rare words and words of like meaning counted for what they are."""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache

from adapters.reasoners.extractive import weights
from core.model.languages import language_of, small_words_of
from core.model.text import content_words, words

Near = Mapping[str, Mapping[str, float]]
"""For a stem, the stems of like meaning and how much they count for it, in (0, 1)."""
NOTHING_NEAR: Near = {}


def inverse_frequency(texts: Iterable[str]) -> Mapping[str, float]:
    """How rare each stem is among these texts: ``ln(1 + (N - n + 0.5) / (n + 0.5))``, BM25's, never negative."""
    bags = [set(content_words(text)) for text in texts]
    counts = Counter(word for bag in bags for word in bag)
    size = len(bags)
    return {word: math.log(1 + (size - count + 0.5) / (count + 0.5)) for word, count in counts.items()}


def word_weights(wanted: Sequence[str], rarity: Mapping[str, float]) -> Mapping[str, float]:
    """What each wanted stem counts: rare ones more, and one that no text of the pool has as the rarest of all."""
    unseen = weights.UNSEEN_WORD * max(rarity.values(), default=1.0)
    return {word: max(rarity.get(word, unseen), weights.COMMONEST_WORD) for word in wanted}


def coverage(wanted: Mapping[str, float], there: Iterable[str], near: Near = NOTHING_NEAR) -> float:
    """The share of the wanted stems that is there, in [0, 1], by what each counts.

    One that is not there counts in part for a word near it.
    """
    have = set(there)
    total = sum(wanted.values())
    return sum(value * _presence(word, have, near) for word, value in wanted.items()) / total if total else 0.0


def _presence(word: str, have: set[str], near: Near) -> float:
    if word in have:
        return 1.0
    kin = near.get(word)
    return max((share for other, share in kin.items() if other in have), default=0.0) if kin else 0.0


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
    """The stems that say what a question is about, without those that only say what kind of answer is wanted."""
    if small := small_words_of(question):  # of another language, whose stop words are not ours
        question = " ".join(word for word in words(question) if word.casefold() not in small)
    return content_words(_FRAME.sub(" ", question)) or content_words(question)


_WITHIN = re.compile(r"(?<=[a-z0-9,;)] )[A-Z][^\W\d_]{2,}")  # a capital where no sentence begins
_SMALL = re.compile(r"(?<![\w’'-])[a-zß-ÿ][^\W\d_]{2,}")


def words_of_names(texts: Iterable[str]) -> frozenset[str]:
    """The words, in lower case, that stand in these texts with a capital within a sentence, and never without one."""
    names: set[str] = set()
    small: set[str] = set()
    for text in texts:
        here, there = _capitals_of(text)
        names |= here
        small |= there
    return frozenset(names - small)


@lru_cache(maxsize=1024)
def _capitals_of(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """The words with a capital within a sentence, in lower case, and those that begin with a small letter."""
    if language_of(text) == "de":
        return frozenset(), frozenset()
    return frozenset(word.casefold() for word in _WITHIN.findall(text)), frozenset(_SMALL.findall(text))


_SAME_STEM = 4  # letters that two words of one family share: drive and driver, weigh and weight


def stands_in(stem: str, there: Collection[str]) -> bool:
    """Whether a word is there, or one of its family: "rent" and "rental", "machine" and "machinery"."""
    return stem in there or (
        len(stem) >= _SAME_STEM
        and any(len(one) >= _SAME_STEM and (one.startswith(stem) or stem.startswith(one)) for one in there)
    )
