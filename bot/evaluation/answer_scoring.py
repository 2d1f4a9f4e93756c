"""Scores an answer by its words: the facts that it should contain, and those that it must not.

Words, numbers and quotation marks are compared as a reader would: ``1,000`` is ``1000``, ``**27** days`` is
``27 days``. Citation markers, Markdown marks and case do not count.
"""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from bot.evaluation.question_sets import LabelledQuestion, Polarity
from core.model.answer import Outcome
from core.model.text import sentences

_MARKERS = re.compile(r"\s*(?:\[\d{1,3}(?:\s*[,–-]\s*\d{1,3})*\]|【\d{1,3}】)")
_LINKS = re.compile(r"\[([^\]]*)\]\([^)\s]*\)")
_MARKS = re.compile(r"[*`]|(?<!\w)_+|_+(?!\w)|^\s*(?:>|#+|[-+•])\s+", re.MULTILINE)
_QUOTES = str.maketrans("“”„‟«»‘’‚‛‹›", '""""""' + "''''''")
_DASHES = re.compile(r"[‐‑‒–—−]")
_THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?:[,'\u00a0\u2009\u202f]\d{3})+(?!\d)")
_SEPARATORS = re.compile(r"\D")
_UNITS = re.compile(r"(?<=\d)\s+(?=[%°])")
_CURRENCY_BEFORE = re.compile(r"([€$£])\s+(?=\d)")
_CURRENCY_AFTER = re.compile(r"(?<![\w€$£.,])(\d[\d.,]*)\s?([€$£])(?!\s?\d)")
_RANGE = re.compile(r"(?<=\d)\s+-\s+(?=\d)")
_SPACE = re.compile(r"\s+")

# Ways to say that the documents do not answer, in the languages of the questions. A document is always the subject:
# "frost is not covered" is an answer.
_DOCUMENTS = r"(?:documents?|docs|sources?|passages?|knowledge|they|I|dokumente?n?|quellen?|unterlagen|ich|je)"
_NOT_SAID = re.compile(
    rf"\b{_DOCUMENTS}\b[^.!?]{{0,60}}\b(?:do|does|did|could|can)(?: not|n't|not)\b[^.!?]{{0,25}}"
    r"\b(?:say|mention|cover|state|tell|contain|have|answer|give|name|specify|find|know)\b"
    r"|\b(?:found|find|finds|says?|say|have|know) nothing\b"
    r"|\bnothing (?:about|on|for|in)\b[^.!?]{0,60}\b(?:documents|found)\b"
    r"|\bnot (?:(?:found|covered|mentioned|stated|said|documented) )?(?:in|by) (?:the|these|your|my|any) "
    r"(?:docu|sourc|passag)"
    rf"|\bno {_DOCUMENTS} (?:says?|mentions?|covers?|answers?|states?|about|on)\b"
    rf"|\b{_DOCUMENTS}\b[^.!?]{{0,80}}\b(?:nicht|nichts|kein\w*)\b"
    r"|\b(?:sagen|steht|stehen)\b[^.!?]{0,40}\bdokument\w* (?:nicht|nichts)"
    rf"|\b{_DOCUMENTS}\b[^.!?]{{0,40}}\bn(?:e\b|')[^.!?]{{0,40}}\b(?:pas|rien|aucun\w*)\b|\brien (?:trouvé|sur|dans)\b",
    re.IGNORECASE,
)
_OPENING = {
    Polarity.YES: re.compile(r"^\W*(?:yes|yep|ja|jawohl|doch|oui|si)\b"),
    Polarity.NO: re.compile(r"^\W*(?:no|nope|nein|non)\b(?! (?:one|more|longer|other|later|earlier|fee|charge)\b)"),
}


class AnswerVerdict(StrEnum):
    """What came of a question, for the person who asked it."""

    RIGHT = "right"
    HALF = "half"
    REFUSED = "refused"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class Prediction:
    """What was answered. ``cited`` are the sources of its citations."""

    outcome: Outcome
    text: str
    cited: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ScoredReply:
    """A verdict and why: the facts that are missing (each by its first alternative), what is there and must not be."""

    verdict: AnswerVerdict
    missing: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()
    reason: str = ""


@lru_cache(maxsize=4_096)
def comparable(text: str) -> str:
    """A text as it is compared: without markers and marks, in lower case, with one way to write a number."""
    bare = _LINKS.sub(r"\1", _MARKERS.sub("", text)).replace("\\", "")
    bare = _MARKS.sub("", bare).replace("|", " ").translate(_QUOTES)
    bare = _THOUSANDS.sub(lambda number: _SEPARATORS.sub("", number.group()), bare)
    bare = _DASHES.sub("-", unicodedata.normalize("NFKC", bare)).translate(_QUOTES)
    bare = _CURRENCY_AFTER.sub(r"\2\1", _CURRENCY_BEFORE.sub(r"\1", _UNITS.sub("", bare)))
    return _SPACE.sub(" ", _RANGE.sub("-", bare)).strip().casefold()


def place_of(fact: str, text: str) -> int | None:
    """Where a fact first stands in a text, both comparable, as whole words and numbers; None where it does not."""
    found = re.search(rf"(?<!\w)(?<!\d[.,]){re.escape(fact)}(?!\w)(?![.,]\d)", text)
    return found.start() if found else None


def states(text: str, fact: str) -> bool:
    """Whether a text contains a fact, however both are written."""
    return place_of(comparable(fact), comparable(text)) is not None


def says_not_covered(text: str) -> bool:
    """Whether a sentence says that the documents do not answer."""
    return bool(_NOT_SAID.search(text.translate(_QUOTES)))


def score_reply(question: LabelledQuestion, reply: Prediction, titles: Mapping[str, str]) -> ScoredReply:
    """Judge a reply; ``titles`` are those of the documents, by source.

    A reply that claims nothing is a refusal, which is right where nothing answers. A checkpoint claims nothing; to ask
    back, to fail or to be stopped is a refusal in either case.
    """
    if reply.outcome is not Outcome.ANSWERED:
        knows = question.unanswerable and reply.outcome in {Outcome.ABSTAINED, Outcome.PARKED}
        return ScoredReply(AnswerVerdict.RIGHT if knows else AnswerVerdict.REFUSED, reason=str(reply.outcome))
    opening = next(iter(sentences(reply.text)), "")
    if question.unanswerable:
        return _score_without_answer(opening, reply.text)
    return _score_claims(question, reply, titles, declines=says_not_covered(opening))


def _score_without_answer(opening: str, text: str) -> ScoredReply:
    """Where nothing answers: right when that is said first, half when it is said below something else."""
    if says_not_covered(opening):
        return ScoredReply(AnswerVerdict.RIGHT, reason="says that it is not covered")
    if any(says_not_covered(sentence) for sentence in sentences(text)):
        return ScoredReply(AnswerVerdict.HALF, reason="says below something else that it is not covered")
    return ScoredReply(AnswerVerdict.WRONG, reason="answers what nothing answers")


def _score_claims(
    question: LabelledQuestion, reply: Prediction, titles: Mapping[str, str], *, declines: bool
) -> ScoredReply:
    text = comparable(reply.text)
    places = [_first_of(alternatives, text) for alternatives in question.facts]
    missing = [one[0] for one, place in zip(question.facts, places, strict=True) if place is None]
    missing += [name for name in question.names if not _names(name, reply, text, titles)]
    said = [fact for fact in question.wrong if place_of(comparable(fact), text) is not None]
    earliest = min((place for place in places if place is not None), default=len(text))
    said += [fact for fact in question.only_after if _first_of((fact,), text[:earliest]) is not None]
    if question.polarity and _OPENING[Polarity.NO if question.polarity is Polarity.YES else Polarity.YES].match(text):
        said.append(f"does not begin with {question.polarity}")
    return _verdict(question, reply.text, tuple(missing), tuple(said), declines=declines)


def _verdict(
    question: LabelledQuestion, text: str, missing: tuple[str, ...], said: tuple[str, ...], *, declines: bool
) -> ScoredReply:
    """The verdict on a reply that claims something: ``missing`` facts, and what is ``said`` and must not be."""
    if said:
        return ScoredReply(AnswerVerdict.WRONG, missing, said, "contains what is wrong")
    if len(missing) == len(question.facts) + len(question.names):
        if declines:
            return ScoredReply(AnswerVerdict.REFUSED, missing, reason="says that it is not covered")
        return ScoredReply(AnswerVerdict.WRONG, missing, reason="none of the facts")
    lacks = ""
    if missing:
        lacks = "some of the facts"
    elif question.uncovered and not _says_uncovered(question.uncovered, text):
        lacks = "does not say what is not covered"
    elif declines and not question.uncovered:
        lacks = "says that it is not covered, and answers"
    return ScoredReply(AnswerVerdict.HALF if lacks else AnswerVerdict.RIGHT, missing, reason=lacks)


def _first_of(alternatives: tuple[str, ...], text: str) -> int | None:
    places = [place_of(comparable(one), text) for one in alternatives]
    return min((place for place in places if place is not None), default=None)


def _names(source: str, reply: Prediction, text: str, titles: Mapping[str, str]) -> bool:
    """Whether a document is cited, or named by its path, its file's name or its title."""
    known_as = (source, source.rsplit("/", 1)[-1], titles.get(source, ""))
    return source in reply.cited or any(place_of(comparable(name), text) is not None for name in known_as if name)


def _says_uncovered(uncovered: tuple[str, ...], text: str) -> bool:
    """Whether one sentence says that something is not covered, and of which part."""
    return any(
        says_not_covered(sentence) and _first_of(uncovered, comparable(sentence)) is not None
        for sentence in sentences(text)
    )
