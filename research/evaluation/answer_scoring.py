"""Scores an answer by its words: the facts that it should contain, and those that it must not.

Words, numbers and quotation marks are compared as a reader would: ``1,000`` is ``1000``, ``**27** days`` is
``27 days``. Citation markers, Markdown marks and case do not count.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from bot.evaluation.asking import Prediction, comparable, place_of, says_not_covered
from core.model.answer import Outcome
from core.model.text import sentences
from research.evaluation.question_sets import LabelledQuestion, Polarity

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
class ScoredReply:
    """A verdict and why: the facts that are missing (each by its first alternative), what is there and must not be."""

    verdict: AnswerVerdict
    missing: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()
    reason: str = ""


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
    """Return the verdict on a reply that claims something: ``missing`` facts, and what is ``said`` and must not be."""
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
