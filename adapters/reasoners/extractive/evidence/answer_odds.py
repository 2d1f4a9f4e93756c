"""Whether a unit answers the question: one logistic function of a few features, for the two decisions that matter.

Which sentence is quoted is the order of its odds; whether anything is there at all is whether the best of them are
good enough (``grading``). Fitted as one choice among all units of what was found and none of them, over questions whose
answer is there, questions that nothing answers, and the former with their answer taken out
(``research/measure/sentences.py``).
"""

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from operator import attrgetter

from adapters.reasoners.extractive import weights
from adapters.reasoners.extractive.evidence.numbered_entities import contradicts
from adapters.reasoners.extractive.evidence.scoring import ScoredUnit, Words, doubts
from adapters.reasoners.extractive.evidence.subjects import SubjectMatch, Subjects
from adapters.reasoners.extractive.evidence.words_of_names import words_of_names
from adapters.reasoners.extractive.question.answer_type import NEUTRAL, fits, is_strict, thing_asked
from adapters.reasoners.extractive.question.phrases import names
from adapters.reasoners.extractive.weights import Features
from core.model.evidence import Evidence
from core.model.languages import language_of
from core.model.passage_units import Form
from core.model.text import content_words, words

# A number that tells one thing from another: of a version or an error, after a name, with letters in it, a year. Not an
# amount, which lies in a range or is counted.
_NUMBERED = re.compile(
    r"\b(?:[A-Z]\w+|version|release|code|error|port|step|tier|level|severity|section|clause|article|generation|model|exit)"
    r"[ -]#?(\d[\d.]*)\b|\b((?:19|20)\d\d)\b|\b((?=\w*\d)(?=\w*[^\W\d_])\w{2,})\b"
)
_ACRONYM = re.compile(r"[A-Z]{1,4}s?$")


@dataclass(frozen=True, slots=True)
class Asked:
    """What is the same for all units: the question's words, the best score of what was found, what is asked of it.

    ``unknown`` is the share of the question's words that nothing found has. ``layered``: the answer is reached through
    documents that are known by their names, so that what stands on the way need not hold the kind of thing that is
    asked for, nor most of the question's words.
    """

    words: Words
    best: float
    unknown: float
    layered: bool
    names: frozenset[str] = frozenset()  # words of the question that the documents only write as names are written

    @classmethod
    def of(cls, asked: Words, pool: Sequence[Evidence], *, layered: bool) -> "Asked":
        """From everything that was found."""
        there = {word for item in pool for word in content_words(item.passage.searchable)}
        wanted = tuple(dict.fromkeys(asked.topic_words))
        lacking = [word for word in wanted if word not in there]
        open_share = sum(1 - max(asked.near.get(word, _NOTHING).values(), default=0.0) for word in lacking)
        best = max((item.hit.score for item in pool), default=0.0)
        known = words_of_names(item.passage.searchable for item in pool)
        named = frozenset(word for word in words(asked.question) if word.casefold() in known)
        return cls(asked, best, open_share / len(wanted) if wanted else 0.0, layered, named)


_NOTHING: Mapping[str, float] = {}


@dataclass(frozen=True, slots=True)
class Weighable:
    """A passage with its units to be scored, their cosines with the question, and the cosine of the whole."""

    item: Evidence
    units: Sequence[ScoredUnit]
    cosines: Sequence[float]
    whole: float


@dataclass(frozen=True, slots=True)
class Standing:
    """What the units of everything that was found reach, against which each of them stands out or not."""

    near: float  # the mean cosine of the nearest
    placed: tuple[float, float]  # the two best coverages

    @classmethod
    def of(cls, found: Sequence[Weighable]) -> "Standing":
        """From all units of all passages."""
        cosines = sorted((cosine for one in found for cosine in one.cosines), reverse=True)[: weights.NEAREST_UNITS]
        best = sorted((unit.covered for one in found for unit in one.units), reverse=True)[:2]
        first, second = (*best, 0.0, 0.0)[:2]
        return cls(sum(cosines) / len(cosines) if cosines else 0.0, (first, second))

    def lead(self, covered: float) -> float:
        """By how much a unit covers more of the question than the best other; negative where it covers less."""
        first, second = self.placed
        return covered - (second if covered >= first else first)


def score_units(asked: Asked, found: Weighable, standing: Standing, subjects: Subjects) -> list[ScoredUnit]:
    """The units of a passage with their odds and worth, best first."""
    passage, question = found.item.passage, asked.words.question
    thing = thing_asked(question)
    wanted = tuple(dict.fromkeys(asked.words.topic_words))
    common = {
        "passage_cosine": found.whole,
        "covered": asked.words.share(content_words(passage.searchable)),
        "named": _named_share(question, passage.searchable, asked.names),
        "strict": float(is_strict(question) and not asked.layered),
        "rank": min(1.0, found.item.hit.score / asked.best) if asked.best else 1.0,
        "length": min(1.0, len(wanted) / weights.LONG_QUESTION),
        "unknown": asked.unknown,
    }
    done = []
    for one, cosine in zip(found.units, found.cosines, strict=True):
        subject = subjects.match(passage, one.unit)
        kind = fits(question, one.text_with_context)
        said = " ".join((passage.title, *passage.heading[-1:], one.unit.under, one.unit.text))
        features = Features(
            cosine=cosine,
            own=one.own,
            placed=one.covered,
            subject=float(subject is SubjectMatch.NAMED),
            contradicts=float(contradicts(question, said)),
            fits=max(kind, NEUTRAL) if asked.layered else kind,
            nearer=cosine - standing.near,
            lead=standing.lead(one.covered),
            row=float(one.unit.form is Form.ROW),
            focus=_focus_share(thing, one),
            **common,
        )
        factor = doubts(question, one) * (weights.OTHER_SUBJECT if subject is SubjectMatch.OTHER else 1.0)
        if asked.names and one.unit.form is Form.ROW and not common["named"]:
            factor *= weights.EMPTY_CELL  # a table of other things than the one that is named
        odds = odds_of(features) + (weights.ON_THE_WAY if asked.layered else 0.0)
        scored = replace(one, worth=worth_of(odds, factor), doubt=factor, odds=odds + math.log(factor))
        done.append(replace(scored, cosine=cosine, features=features))
    return sorted(done, key=lambda one: -one.worth)


def doubted(one: ScoredUnit, factor: float) -> ScoredUnit:
    """The unit with something more that speaks against it, whatever its words."""
    return replace(one, worth=one.worth * factor, doubt=one.doubt * factor, odds=one.odds + math.log(factor))


def with_odds(one: ScoredUnit, odds: float) -> ScoredUnit:
    """The unit with other odds, and the worth that goes with them."""
    return replace(one, odds=odds, worth=worth_of(odds, one.doubt))


_LEAST = 0.01


def worth_of(odds: float, doubt: float) -> float:
    """What a unit with these odds counts beside others, times what speaks against it."""
    return max(_LEAST, (odds - weights.WORTH_FROM) / weights.WORTH_STEP) * doubt


_values = attrgetter(*(one.name for one in fields(Features)))


def odds_of(features: Features, by: Features = weights.ANSWERING, bias: float = weights.ANSWERING_BIAS) -> float:
    """The logarithm of the odds that a unit answers."""
    return float(bias + sum(weight * value for weight, value in zip(_values(by), _values(features), strict=True)))


def _focus_share(thing: Sequence[str], one: ScoredUnit) -> float:
    """The share of the stems of the thing that is asked for in a unit and what stands right above it."""
    there = content_words(" ".join((*one.unit.head[:1], one.text_with_context)))
    return sum(word in there for word in thing) / len(thing) if thing else 1.0


def _named_share(question: str, text: str, written_as_names: Collection[str] = ()) -> float:
    """The share of the question's names and telling numbers that a text has, in [0, 1]; 1 where it has none."""
    capitals = () if language_of(question) == "de" else names(question)  # all nouns have one there
    said = {part for name in capitals for part in words(name) if not _ACRONYM.match(part)}
    said |= {number for found in _NUMBERED.findall(question) for number in found if number}
    said |= set(written_as_names)
    wanted = {found for word in said for found in content_words(word)}
    return len(wanted & set(content_words(text))) / len(wanted) if wanted else 1.0
