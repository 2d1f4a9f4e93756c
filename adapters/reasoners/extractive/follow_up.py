"""Follow-ups: a question that leans on the thread becomes one that stands alone; any other is left as it is.

No model: pronouns, demonstratives, ellipsis ("and for enterprise?") and definite mentions ("the refund") are found by
their words, and what they stand for is the most salient phrase of the thread. Whether to search at all is left to
``routing``.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from adapters.reasoners.extractive.phrases import Phrase, names, noun_phrases
from core.conversation import Exchange
from core.language import STOPWORDS, content_words, stem, words

_DECAY = 0.6  # how much less an exchange counts than the one after it
_OPENING = 0.2  # more for what the thread began with, however long ago
_NAME, _NAME_AND_NOUN, _NOUN, _WORD, _RELATION = 1.0, 1.05, 0.8, 0.6, 0.2
_FROM_ANSWER, _FROM_TITLE = 0.2, 0.8
_BESIDE_A_QUESTION = 0.5  # of a title's weight: what was asked says better what "it" is
_FILE = re.compile(r"/|\.[a-z]{2,5}$")  # a path or a file's name is nothing that people speak of
_LOOKED_AT = 400  # characters of an answer
_STEADY = 0.3  # a name that weighs this much is what the thread is about
_DWELT_ON = 1.6  # about as much as a name in each of the last three questions
_ENOUGH_BEFORE = 3  # content words
_UNDRESSED = re.compile(r"\([^)]*\)|[\"“”]|:.*$")
_DATE = re.compile(
    r"^\d+$|\b(?:January|February|March|April|May|June|July|August|September|October|November|December|Monday|Tuesday"
    r"|Wednesday|Thursday|Friday|Saturday|Sunday)\b"
)
_PRONOUN_ONLY = re.compile(r"(?:it|that|this|them|those|these|he|she|they|him|her)", re.IGNORECASE)
_EXCHANGES = 8  # further back, nothing is leaned on

_PERSONAL = re.compile(r"\b(he|she|him|his|her|hers|himself|herself)\b", re.IGNORECASE)
_THING = re.compile(r"\b(it|its|itself|they|them|their|theirs|themselves)\b", re.IGNORECASE)
_POINTING = re.compile(
    r"\b(this|these|those)\b(?!\s+(?:is a question|way|week|month|year|morning|time))"
    r"|\bthat\b(?=\s*(?:[?.,!;]|$|\s(?:work|mean|cost|apply|happen|change|compare|help|cause|include|mean|for|is"
    r"|was|too|one)\b))"
    r"|(?<=\bof )that\b|(?<=\bdo )that\b|(?<=\bdid )that\b|(?<=\bdoes )that\b|(?<=\bis )that\b|(?<=\bwas )that\b"
    r"|(?<=\bafter )that\b|(?<=\bbefore )that\b|(?<=\babout )that\b|(?<=\bfor )that\b|(?<=\bto )that\b",
    re.IGNORECASE,
)
_ONE = re.compile(
    r"(?<=\b(?:new|own) )ones?\b|(?<=\b(?:good|best|next|last|this|that) )ones?\b|(?<=\b(?:which|smart|right) )one\b",
    re.IGNORECASE,
)
_REMARK = re.compile(r"^(?:[^?]*?[.!]\s+)+(?=[^.!?]*\?\s*$)")
# "It" that stands for nothing, as in "is it free to …".
_EMPTY_IT = re.compile(
    r"\bit(?:'s|’s| is| was| would be)?\s+(?:is |was |be )?(?:important|possible|true|necessary|better|worth|safe"
    r"|legal|"
    r"ok|okay|take|takes|took|seems?|rains?|mandatory to|hard to|easy to|common|good to|possible|likely)\b"
    r"|\b(?:is|was) it \w+ to\b|\b(?:is|was|would|will|does|did) it (?:be )?(?:important|possible|true that"
    r"|necessary|better|worth|safe|legal|ok"
    r"|okay|take|hard|easy|common|likely|necessary|normal|bad to|good to)\b",
    re.IGNORECASE,
)
_LEADING = re.compile(
    r"^(?:(?:and|but|so|also|then|or|plus)\b[\s,]*)*(?:what|how)\s+about\s+|^(?:and|but|or|plus)\b[\s,]+", re.IGNORECASE
)
_MORE = re.compile(
    r"\b(?:other|others|else|another|more|next|latter|former|same|both|either|besides|instead|alternatives?|second"
    r"|third|last"
    r"|similar|related|different)\b",
    re.IGNORECASE,
)
_VERBISH = re.compile(
    r"\b(?:is|are|was|were|am|be|been|do|does|did|has|have|had|can|could|will|would|shall|should|may|might|must"
    r"|isn't|"
    r"aren't|wasn't|doesn't|don't|didn't|can't|won't|'s|’s|happened|happens)\b",
    re.IGNORECASE,
)
_ASKING = re.compile(r"\b(?:who|whom|whose|what|which|where|when|why|how)\b", re.IGNORECASE)
# "What is a galaxy?" begins something; "the best player", "all the time" point at nothing said before.
_INTRODUCES = re.compile(
    r"^(?:so |and |then )?(?:what|who)(?:'s|’s| is| are| was| were) (?:an?|the difference)\b|.*\b(?:all the time"
    r"|the (?:best|most|largest|biggest|oldest))\b",
    re.IGNORECASE,
)
_DEFINITE = re.compile(
    r"\bthe\s+(?:[^\W\d_]+\s+)?([^\W\d_]{3,})(?=\s*(?:[?.!,]|$|\b(?:is|are|was|were|do|does|did|work|have|has|in"
    r"|on|get)\b))",
    re.IGNORECASE,
)


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
    cited: bool  # an answer or a cited title has it too


def resolve(question: str, earlier: Sequence[Exchange]) -> Resolved:
    """The question with what it leaves out put in from the thread."""
    window = tuple(earlier)[-_EXCHANGES:]
    if not question.isascii() and not _ASKING.search(question):
        return Resolved(question)  # another language: its words are not ours to move
    topics = _topics(window)
    if not topics:
        return Resolved(question, stuck=_leans(question) and not content_words(question))
    if completed := _completed(question, window):
        return completed
    if pronoun := _pronoun(question):
        return _replaced(question, pronoun, topics)
    if added := _left_out(question, topics):
        return Resolved(_appended(question, added), f"about {added}")
    return Resolved(question)


def _topics(window: Sequence[Exchange]) -> list[_Topic]:
    """What the thread has been about, most salient first."""
    weights: dict[Phrase, float] = {}
    recent: set[Phrase] = set()
    cited: set[str] = set()
    opening = next((exchange for exchange in window if exchange.question), None)
    for back, exchange in enumerate(reversed(window)):
        fade = _DECAY**back
        for phrase, weight in _mentioned(exchange):
            lasting = _OPENING if exchange is opening and back else 0.0
            weights[phrase] = weights.get(phrase, 0.0) + (fade + lasting) * weight
            if back == 0:
                recent.add(phrase)
        cited.update(word for text in (*exchange.titles, exchange.answer[:_LOOKED_AT]) for word in content_words(text))
    asked = {phrase for exchange in window for phrase in noun_phrases(exchange.question)}
    asked.update(_titled(title) for exchange in window for title in exchange.titles if not _FILE.search(title))
    merged = _merged(weights, asked)
    topics = [_Topic(phrase, weight, phrase in recent, phrase.stems <= cited) for phrase, weight in merged.items()]
    return sorted(topics, key=lambda topic: -topic.weight)


def _mentioned(exchange: Exchange) -> Iterator[tuple[Phrase, float]]:
    """The phrases of one exchange: of its question in full, of titles and answer for less."""
    for phrase in noun_phrases(exchange.question):
        if not _DATE.search(phrase.text):
            yield phrase, _weight(phrase)
    for number, title in enumerate(exchange.titles):
        if not any(character.isdigit() for character in title) and not _FILE.search(title):
            share = _BESIDE_A_QUESTION if exchange.question else 1.0
            yield _titled(title), share * _FROM_TITLE / (1 + 2 * number)
    for name in [name for name in names(exchange.answer[:_LOOKED_AT]) if not _DATE.search(name)][:4]:
        yield Phrase(name, name=True), _FROM_ANSWER


def _titled(title: str) -> Phrase:
    return Phrase(_UNDRESSED.sub("", title).strip(), name=True)


def _weight(phrase: Phrase) -> float:
    if phrase.relational:
        return _RELATION
    if phrase.name:
        return _NAME
    if names(phrase.text) or any(part[0].isupper() for part in phrase.text.split()[:-1]):
        return _NAME_AND_NOUN
    return _NOUN if len(phrase.stems) > 1 else _WORD


def _merged(weights: dict[Phrase, float], asked: Collection[Phrase]) -> dict[Phrase, float]:
    """A shorter mention counts for the longest one: Carnegie for Andrew Carnegie.

    What people asked about goes by the name that they or a title gave it, not by a longer one of an answer.
    """
    merged: dict[Phrase, float] = {}
    for phrase in sorted(weights, key=lambda one: (one not in asked, -len(one.stems))):
        if not phrase.stems:
            continue
        known = next((kept for kept in merged if phrase.stems <= kept.stems and _absorbs(kept, phrase)), None)
        if known is None and phrase not in asked:
            known = next((kept for kept in merged if kept.name and phrase.name and kept.stems <= phrase.stems), None)
        merged[known or phrase] = merged.get(known or phrase, 0.0) + weights[phrase]
    return merged


def _absorbs(longer: Phrase, shorter: Phrase) -> bool:
    """Whether they are mentions of one thing: Carnegie of Andrew Carnegie, Venus of Venus flytraps."""
    return longer.name == shorter.name or (
        shorter.name and " " not in shorter.text and longer.text.startswith(shorter.text)
    )


def _person(phrase: Phrase) -> bool:
    parts = phrase.text.split()
    spelled = all(part[0].isupper() or part in {"de", "van", "von", "la"} for part in parts)
    return phrase.name and len(parts) <= 4 and spelled and not re.search(r"\d", phrase.text)


def _pronoun(question: str) -> re.Match[str] | None:
    """The first word that stands for something outside the question."""
    bare = _EMPTY_IT.sub(lambda found: "_" * len(found.group()), question)
    if question.rstrip().endswith("?"):  # what is said before the question is a remark: its pronouns can stay
        bare = _REMARK.sub(lambda found: "_" * len(found.group()), bare)
    candidates = [pattern.search(bare) for pattern in (_PERSONAL, _THING, _POINTING, _ONE)]
    for one in sorted((one for one in candidates if one), key=lambda one: one.start()):
        before = question[: one.start()]
        # A name, or enough said, before the pronoun: it looks back inside the question.
        if not names(before) and len(content_words(before)) < _ENOUGH_BEFORE:
            return one
    return None


def _replaced(question: str, pronoun: re.Match[str], topics: Sequence[_Topic]) -> Resolved:
    word = pronoun.group().casefold()
    after = question[pronoun.end() :]
    noun = re.match(r"\s+([^\W\d_]{3,})", after)
    pointing = word in {"this", "that", "these", "those"}
    if pointing and noun and not _VERBISH.match(after.strip()) and noun.group(1).casefold() not in STOPWORDS:
        added = _meant(question, noun.group(1), topics)
        return Resolved(_appended(question, added), f"about {added}") if added else Resolved(question)
    chosen = _antecedent(question, word, topics)
    if chosen is None:
        return Resolved(question)
    possessive = word in {"his", "its", "their"} or (
        word == "her" and noun and noun.group(1).casefold() not in STOPWORDS
    )
    text = f"{chosen.phrase.text}'s" if possessive else chosen.phrase.text
    return Resolved(f"{question[: pronoun.start()]}{text}{after}", f"“{pronoun.group()}” read as {chosen.phrase.text}")


def _antecedent(question: str, word: str, topics: Sequence[_Topic]) -> _Topic | None:
    known = frozenset(content_words(question))
    fresh = [topic for topic in topics if not topic.phrase.stems <= known]
    if _PERSONAL.fullmatch(word):
        return next((topic for topic in fresh if _person(topic.phrase)), None)
    return fresh[0] if fresh else None


def _meant(question: str, noun: str, topics: Sequence[_Topic]) -> str:
    """What "the movement" is: the thread's own phrase with that noun, else what the thread is about by name."""
    wanted, known = stem(noun), frozenset(content_words(question))
    for topic in topics:
        if topic.phrase.head == wanted and len(topic.phrase.stems) > 1:
            return topic.phrase.text
    if any(topic.phrase.stems & known for topic in topics if topic.recent):
        return ""
    named = (t for t in topics[:2] if t.phrase.name and t.weight >= _STEADY and not t.phrase.stems & known)
    return next((t.phrase.text for t in named if _goes_on(question, t)), "")


def _completed(question: str, window: Sequence[Exchange]) -> Resolved | None:
    """A fragment put into the question before it; None when the question is no fragment."""
    last = next((one.question for one in reversed(window) if one.question), "").rstrip("?.! ")
    lead = _LEADING.match(question)
    said = _LEADING.sub("", question).strip().rstrip("?.! ")
    short = len(words(said)) <= 3
    bare_asking = short and _ASKING.match(said) and not content_words(said) and not _pronoun(said)
    whole = _VERBISH.search(said) or _ASKING.match(said)
    if not last or not said or not (bare_asking or (lead and not whole)):
        return None
    if len(content_words(said)) > 4 or (_PRONOUN_ONLY.fullmatch(said)):
        return None
    whole_question = _put_in(last, said)
    return Resolved(f"{whole_question}?", f"continues “{last}?”") if whole_question else None


def _put_in(last: str, said: str) -> str:
    """The last question with its parallel part replaced: same noun, same preposition, or name for name; else empty."""
    base = re.sub(r"\s*\([^)]*\)$", "", last)
    new = Phrase(
        re.sub(r"^(?:the|a|an|in|for|on|at|with|to|by|from|of)\s+", "", said, flags=re.IGNORECASE),
        name=bool(names(said) or said[:1].isupper()),
    )
    phrases = noun_phrases(base)
    for phrase in phrases:
        if phrase.head == new.head and phrase.stems != new.stems and len(new.stems) > 1:
            return base.replace(phrase.text, new.text, 1)
    if preposition := re.match(r"(in|for|on|at|with|to|by|from)\s+(?:the\s+)?", said, re.IGNORECASE):
        place = re.search(rf"\b{preposition.group(1)}\s+(?:the\s+)?(?:[A-Z][\w-]*|[\w-]+)(?=\s*$)", base, re.IGNORECASE)
        return f"{base[: place.start()]}{said}" if place else f"{base} {said}"
    if new.name and (replaced := [name for name in names(base) if len(name.split()) <= 4]):
        return base.replace(replaced[-1], new.text, 1)
    if not content_words(said):
        return f"{base}: {said}"
    topical = [phrase for phrase in phrases if not phrase.relational]
    if len(topical) == 1 and len(content_words(base)) > len(topical[0].stems):
        return base.replace(topical[0].text, new.text, 1)
    return ""


def _left_out(question: str, topics: Sequence[_Topic]) -> str:
    """The topic of a question that mentions something definite, or hardly anything, without saying of what."""
    if names(question) or not (_VERBISH.search(question) or _ASKING.search(question)):
        return ""
    known = frozenset(content_words(question))
    if _INTRODUCES.match(question):
        return ""
    if definite := _DEFINITE.search(question):
        return _meant(question, definite.group(1), topics)
    if any(topic.phrase.stems & known for topic in topics[:3]):
        return ""  # it names what the thread is about
    if len(known) <= 2 or _MORE.search(question):
        named = (t for t in topics[:2] if t.phrase.name and _is_the_topic(t))
        return next((t.phrase.text for t in named if _goes_on(question, t)), "")
    return ""


def _goes_on(question: str, topic: _Topic) -> bool:
    """Whether a question that names no topic is on this one.

    That we cited a document is not enough, because people change the subject: then it must begin as something that
    goes on ("And how many can I carry over?").
    """
    return not topic.cited or bool(_LEADING.match(question))


def _is_the_topic(topic: _Topic) -> bool:
    """Whether the thread is plainly about it: sources have the name, or question after question comes back to it."""
    return topic.weight >= _DWELT_ON or (topic.cited and topic.weight >= _STEADY)


def _appended(question: str, topic: str) -> str:
    stop = len(question.rstrip("?.! "))
    return f"{question[:stop]} ({topic}){question[stop:]}"


def _leans(question: str) -> bool:
    return _pronoun(question) is not None or bool(_LEADING.match(question)) or len(words(question)) <= 2
