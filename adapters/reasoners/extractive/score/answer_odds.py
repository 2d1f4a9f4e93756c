"""Log odds that a unit answers the question: one logistic function of a few features.

The order of the odds selects the quotes. Whether the best odds are good enough decides if there is an answer
(``sufficiency``). The function is fitted as a choice between all found units and none of them. The questions are ones
with an answer, ones without, and the former with their answer removed (``research/measure/sentences.py``).
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from itertools import chain, repeat
from operator import attrgetter

from adapters.reasoners.extractive import weights
from adapters.reasoners.extractive.candidates import (
    ScoredUnit,
    WeighedPassage,
    Words,
    scored_by_words,
    tells_by_itself,
)
from adapters.reasoners.extractive.rules import Subjects
from adapters.reasoners.extractive.understand.answer_type import NEUTRAL, fits, is_strict, thing_asked
from adapters.reasoners.extractive.understand.names import names
from adapters.reasoners.extractive.weights import Features
from core.model.evidence import Evidence, Grade
from core.model.languages import language_of
from core.model.passage_units import Form, units
from core.model.text import content_words, words

# A number that identifies something: a version or error, a number after a name or with letters, a year. Amounts do not
# identify anything.
_NUMBERED = re.compile(
    r"\b(?:[A-Z]\w+|version|release|code|error|port|step|tier|level|severity|section|clause|article|generation|model|exit)"
    r"[ -]#?(\d[\d.]*)\b|\b((?:19|20)\d\d)\b|\b((?=\w*\d)(?=\w*[^\W\d_])\w{2,})\b"
)
_ACRONYM = re.compile(r"[A-Z]{1,4}s?$")


@dataclass(frozen=True, slots=True)
class Found:
    """Statistics of all found units, to compare each unit with the others.

    ``unknown`` is the share of the question's words that no passage has. ``near`` is the mean cosine of the nearest
    units. ``covered`` has the two best coverages. ``layered`` marks a multi-hop question over documents named by their
    titles. Units on the way to its answer need not have the answer type or most of the words.
    """

    words: Words
    best: float
    unknown: float
    near: float
    covered: tuple[float, float]
    layered: bool

    @classmethod
    def of(cls, asked: Words, pool: Sequence[Evidence], found: Sequence[WeighedPassage], *, layered: bool) -> "Found":
        """Count over all units of all passages."""
        there = {word for item in pool for word in content_words(item.passage.searchable)}
        wanted = set(asked.topic_words)
        unknown = len(wanted - there) / len(wanted) if wanted else 0.0
        best = max((item.hit.score for item in pool), default=0.0)
        cosines = sorted((unit.cosine for one in found for unit in one.units), reverse=True)[: weights.NEAREST_UNITS]
        covered = sorted((unit.covered for one in found for unit in one.units), reverse=True)
        first, second = (*covered[:2], 0.0, 0.0)[:2]
        return cls(asked, best, unknown, sum(cosines) / (len(cosines) or 1), (first, second), layered)

    def lead(self, covered: float) -> float:
        """Return a unit's coverage of the question minus that of the best other unit."""
        first, second = self.covered
        return covered - (second if covered >= first else first)


def score_units(everything: Found, found: WeighedPassage, subjects: Subjects) -> tuple[ScoredUnit, ...]:
    """Return the units of a passage with their odds, best first."""
    passage, question = found.evidence.passage, everything.words.question
    thing = thing_asked(question)
    common = {
        "passage_cosine": found.cosine,
        "covered": everything.words.share(content_words(passage.searchable)),
        "named": _named_share(question, passage.searchable),
        "strict": float(is_strict(question) and not everything.layered),
        "rank": min(1.0, found.evidence.hit.score / everything.best) if everything.best else 1.0,
        "length": min(1.0, len(set(everything.words.topic_words)) / weights.LONG_QUESTION),
        "unknown": everything.unknown,
    }
    done = []
    for one in found.units:
        kind = fits(question, one.text_with_context)
        features = Features(
            cosine=one.cosine,
            own=one.own,
            subject=float(subjects.names(passage, one.unit)),
            fits=max(kind, NEUTRAL) if everything.layered else kind,
            nearer=one.cosine - everything.near,
            lead=everything.lead(one.covered),
            row=float(one.unit.form is Form.ROW),
            focus=_focus_share(thing, one),
            **common,
        )
        odds = odds_of(features) + (weights.ON_THE_WAY if everything.layered else 0.0)
        done.append(replace(one, odds=odds, features=features))
    return tuple(sorted(done, key=lambda one: -one.odds))


_NAMES = tuple(one.name for one in fields(Features))
_values = attrgetter(*_NAMES)


def odds_of(features: Features, by: Features = weights.ANSWERING, bias: float = weights.ANSWERING_BIAS) -> float:
    """Return the logarithm of the odds that a unit answers."""
    return float(bias + sum(weight * value for weight, value in zip(_values(by), _values(features), strict=True)))


def _focus_share(thing: Sequence[str], one: ScoredUnit) -> float:
    """Return the share of the wanted thing's stems in a unit and the text right above it."""
    there = content_words(" ".join((*one.unit.head[:1], one.text_with_context)))
    return sum(word in there for word in thing) / len(thing) if thing else 1.0


def _named_share(question: str, text: str) -> float:
    """Return the share of the question's names and identifying numbers in a text, in [0, 1]. 1 without any."""
    capitals = () if language_of(question) == "de" else names(question)  # all nouns have one there
    said = {part for name in capitals for part in words(name) if not _ACRONYM.match(part)}
    said |= {number for found in _NUMBERED.findall(question) for number in found if number}
    wanted = {found for word in said for found in content_words(word)}
    return len(wanted & set(content_words(text))) / len(wanted) if wanted else 1.0


def promising_in(asked: Words, found: Sequence[Evidence]) -> list[list[ScoredUnit]]:
    """Return the most promising units of each passage, by words."""
    worded = [[one for one in scored_by_words(asked, item) if tells_by_itself(one)] for item in found]
    return most_promising(found, worded)


def most_promising(found: Sequence[Evidence], worded: Sequence[Sequence[ScoredUnit]]) -> list[list[ScoredUnit]]:
    """Return the most promising units of each search, grouped by passage. The given units are sorted, best first."""
    far = min((item.hit.dense for item in found if item.hit.dense is not None), default=0.0)

    def promise(one: ScoredUnit) -> float:
        dense = one.evidence.hit.dense
        return one.promise + (far if dense is None else dense)

    by_search = defaultdict[str, list[ScoredUnit]](list)
    rooms = defaultdict[str, Iterator[int]](lambda: chain(weights.UNITS_OF_FIRST, repeat(weights.UNITS_OF_PASSAGE)))
    for item, listed in zip(found, worded, strict=True):
        by_search[item.query].extend(listed[: next(rooms[item.query])])
    ranked = (sorted(of_one, key=promise, reverse=True)[: weights.UNITS_COMPARED] for of_one in by_search.values())
    kept = {id(one) for one in chain.from_iterable(ranked)}
    return [[one for one in listed if id(one) in kept] for listed in worded]


NEAR = 1  # grade of passages that are not evidence, but show the meanings that a word has in the documents
_SUMMARY, _SHOWN = 400, 80  # characters
_TOLD = 4  # features in a trace


def chance(units: Sequence[ScoredUnit]) -> float:
    """Return the probability in [0, 1] that the best of these units answers the question."""
    odds = max((one.odds for one in units), default=-math.inf)
    return 1 / (1 + math.exp(-max(odds, -_SURE)))


_SURE = 50.0


def score_of(value: float) -> int:
    """Return a probability as a grade from 1 to 10: ten times it, rounded down, so that even odds are 5."""
    return max(1, min(10, int(value * 10)))


def grade_of(units: Sequence[ScoredUnit], rerank: float | None) -> Grade:
    """Return the grade: ten times the probability, at least 1. A cross-encoder's score, if any, counts half."""
    value = chance(units)
    if rerank is not None:
        value = (value + rerank) / 2
    best = units[0] if units else None
    summary, why = (best.unit.text[:_SUMMARY], explain(best)) if best else ("", "")
    return Grade(score_of(value), summary, round(value, 3), why)


def explain(one: ScoredUnit) -> str:
    """Explain a unit's odds: the features that count most, the reader, and the rules."""
    told = []
    if one.features:
        counts = {name: getattr(weights.ANSWERING, name) * getattr(one.features, name) for name in _NAMES}
        most = sorted(counts, key=lambda name: -abs(counts[name]))[:_TOLD]
        told.append("counted " + ", ".join(f"{name} {counts[name]:+.1f}" for name in most))
    if one.read is not None:
        told.append(f"read {one.read:+.1f}")
    told.extend(f"rule: {name}" for name in one.rules)
    return f"“{one.unit.text[:_SHOWN]}” {chance([one]):.0%}: {'; '.join(told)}"


def weigh_units(
    asked: Words,
    pool: Sequence[Evidence],
    weighable: Sequence[WeighedPassage],
    some: Sequence[WeighedPassage],
    *,
    layered: bool,
) -> list[WeighedPassage]:
    """Score the units of some passages relative to all units."""
    subjects = Subjects(asked.question, ((item.passage, unit) for item in pool for unit in units(item.passage.text)))
    everything = Found.of(asked, pool, weighable, layered=layered)
    return [replace(one, units=score_units(everything, one, subjects)) for one in some]
