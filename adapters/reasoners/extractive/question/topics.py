"""What a thread is about: the phrases of its questions, answers and cited titles, most salient first.

Salience fades with every exchange; names count more than nouns, questions more than titles, titles more than answers.
Other weights change nothing that can be told from noise (``research.measure.rewrites`` on the halves not tuned on).
What to do with a topic is ``follow_up``'s.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from adapters.reasoners.extractive import weights
from adapters.reasoners.extractive.question.phrases import Phrase, names, noun_phrases
from core.model.conversation import Exchange
from core.model.text import content_words

_FILE = re.compile(r"/|\.[a-z]{2,5}$")  # a path or a file's name is nothing that people speak of
# "Your first ninety days", "How to use a table": what a page is called, and no thing that "it" would be.
_SAID_TO_READERS = re.compile(r"(?:your|our|my|how|what|when|where|why|who|which)\b", re.IGNORECASE)
_LOOKED_AT = 400  # characters of an answer
_UNDRESSED = re.compile(r"\([^)]*\)|[\"“”]|:.*$")
_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
_DATE = re.compile(rf"^\d+$|\b(?:{_MONTHS}|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)\b")
_TYPED_DATE = re.compile(rf"(?:\d+\s+)?(?:{_MONTHS})(?:\s+\d+)?", re.IGNORECASE)
_NEWEST = re.compile(r"\b(?:latest|newest|most recent|one before|previous one)\b", re.IGNORECASE)
_POSITION = re.compile(r"(?:the\s+)?(?:latest|newest|oldest|previous|current|next|last|first)", re.IGNORECASE)
# "Team Lead" is nobody's name, "Head of People" neither.
_OFFICES = frozenset(
    {"team", "lead", "leader", "head", "officer", "chief", "manager", "director", "department", "office"}
)
# How much of a thing, 800 euros, and none that "it" is said of.
_AMOUNT = re.compile(r"[€$£]?\d[\d.,]*\s[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class Topic:
    """A phrase of the thread and its salience, about 1 for a name in the last question and more when it recurs."""

    phrase: Phrase
    weight: float
    recent: bool  # in the last exchange
    cited: bool  # an answer or a cited title has it too
    asked: bool = True  # a person said it, not a title or an answer alone

    @property
    def is_date(self) -> bool:
        """Whether it is when something was, "march 2024": no thing that "it" is said of, however it is typed."""
        return _TYPED_DATE.fullmatch(self.phrase.text) is not None

    @property
    def is_person(self) -> bool:
        """Whether it is written as people's names are."""
        parts = self.phrase.text.split()
        if {part.casefold() for part in parts} & _OFFICES:
            return False
        spelled = all(part[0].isupper() or part in {"de", "van", "von", "la"} for part in parts)
        return self.phrase.name and len(parts) <= 4 and spelled and not re.search(r"\d", self.phrase.text)


def topics_of(window: Sequence[Exchange]) -> list[Topic]:
    """What the thread has been about, most salient first."""
    found: dict[Phrase, float] = {}
    recent: set[Phrase] = set()
    cited: set[str] = set()
    opening = next((exchange for exchange in window if exchange.question), None)
    left = _left_behind(window)
    for back, exchange in enumerate(reversed(window)):
        fade = weights.EARLIER_EXCHANGE**back
        for phrase, weight in _mentions(exchange):
            if phrase.name and phrase.stems <= left:
                continue
            lasting = weights.OPENING if exchange is opening and back else 0.0
            found[phrase] = found.get(phrase, 0.0) + (fade + lasting) * weight
            if back == 0:
                recent.add(phrase)
        cited.update(word for text in (*exchange.titles, exchange.answer[:_LOOKED_AT]) for word in content_words(text))
    asked = {phrase for exchange in window for phrase in noun_phrases(exchange.question)}
    asked.update(_title_phrase(title) for exchange in window for title in exchange.titles if not _FILE.search(title))
    merged = _merge_mentions(found, asked)
    said = {word for exchange in window for word in content_words(exchange.question)}
    topics = [
        Topic(phrase, weight, phrase in recent, phrase.stems <= cited, phrase.stems <= said)
        for phrase, weight in merged.items()
    ]
    return sorted(topics, key=lambda topic: -topic.weight)


def _left_behind(window: Sequence[Exchange]) -> frozenset[str]:
    """The stems of names that a later question put another in the place of: "how much is Glow?", then "and Spark?"."""
    left: set[str] = set()
    for before, after in pairwise(exchange.question for exchange in window if exchange.question):
        old, new = ({stem for name in names(text) for stem in content_words(name)} for text in (before, after))
        same = set(content_words(before)) - old == set(content_words(after)) - new
        left = (left | (old - new) if same and old and new else left) - new
    return frozenset(left)


def _mentions(exchange: Exchange) -> Iterator[tuple[Phrase, float]]:
    """The phrases of one exchange: of its question in full, of titles and answer for less."""
    for phrase in noun_phrases(exchange.question):
        if not (_DATE.search(phrase.text) or _AMOUNT.fullmatch(phrase.text) or _POSITION.fullmatch(phrase.text)):
            yield phrase, _weight(phrase)
    if exchange.titles and _NEWEST.search(exchange.question) and any(map(str.isdigit, exchange.titles[0])):
        yield Phrase(exchange.titles[0], name=True), weights.NAME_AND_NOUN  # the one that it was asked for by its place
    for number, title in enumerate(exchange.titles):
        named = not (_FILE.search(title) or _SAID_TO_READERS.match(title))
        if named and not any(character.isdigit() for character in title):
            share = weights.BESIDE_A_QUESTION if exchange.question else 1.0
            yield _title_phrase(title), share * weights.FROM_TITLE / (1 + 2 * number)
    for name in [name for name in names(exchange.answer[:_LOOKED_AT]) if not _DATE.search(name)][:4]:
        yield Phrase(name, name=True), weights.FROM_ANSWER


def _title_phrase(title: str) -> Phrase:
    return Phrase(_UNDRESSED.sub("", title).strip(), name=True)


def _weight(phrase: Phrase) -> float:
    if phrase.relational or phrase.generic:
        return weights.RELATION
    if phrase.name:
        return weights.NAME
    if names(phrase.text) or any(part[0].isupper() for part in phrase.text.split()[:-1]):
        return weights.NAME_AND_NOUN
    return weights.NOUN if len(phrase.stems) > 1 else weights.WORD


def _merge_mentions(found: dict[Phrase, float], asked: Collection[Phrase]) -> dict[Phrase, float]:
    """A shorter mention counts for the longest one: Carnegie for Andrew Carnegie.

    What people asked about goes by the name that they or a title gave it, not by a longer one of an answer.
    """
    merged: dict[Phrase, float] = {}
    for phrase in sorted(found, key=lambda one: (one not in asked, -len(one.stems))):
        if not phrase.stems:
            continue
        known = next((kept for kept in merged if phrase.stems <= kept.stems and _absorbs(kept, phrase)), None)
        if known is None and phrase not in asked:
            known = next((kept for kept in merged if kept.name and phrase.name and kept.stems <= phrase.stems), None)
        merged[known or phrase] = merged.get(known or phrase, 0.0) + found[phrase]
    return merged


def _absorbs(longer: Phrase, shorter: Phrase) -> bool:
    """Whether they are mentions of one thing: Carnegie of Andrew Carnegie, Venus of Venus flytraps."""
    return longer.name == shorter.name or (
        shorter.name and " " not in shorter.text and longer.text.startswith(shorter.text)
    )
