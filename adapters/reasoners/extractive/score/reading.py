"""Reading of the best units by a model that estimates whether a text answers the question.

The features find the nearest units. The reader better decides whether one of them really answers: a unit can have
every word of the question and still miss the answer.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from adapters.reasoners.extractive import weights
from adapters.reasoners.extractive.candidates import ScoredUnit, WeighedPassage
from core.model.errors import ModelFailure, ModelUnavailable, Unavailable
from core.model.languages import language_of
from core.model.passage_units import Form, befores, in_context, units

_QUOTED_LAST, _OTHERS = 1.0, -0.4  # added to the logarithm of the odds
_CHARACTERS = 400
_TOPIC = re.compile(r" \([^()]+\)(?=\W*$)")  # the topic that follow_up appends to a question


@dataclass(frozen=True, slots=True)
class Leaning:
    """Context that a question takes from its thread. Empty if it needs none.

    ``typed`` is the message before follow-up resolution. ``titles`` are those of the documents quoted last.
    """

    typed: str = ""
    titles: tuple[str, ...] = ()


ALONE = Leaning()


class AnswerReader(Protocol):
    """Model that reads a question and a text together."""

    async def read(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """Return the log odds that each text answers, in order. Raises Unavailable."""


def lean(weighed: Sequence[WeighedPassage], titles: Collection[str]) -> list[WeighedPassage]:
    """Raise the odds of units in the documents quoted last, and lower others. Without titles, change nothing."""
    leant = list(weighed)
    for at, passage in enumerate(weighed if titles else ()):
        more = _QUOTED_LAST if passage.evidence.passage.title in titles else _OTHERS
        leant[at] = replace(passage, units=tuple(replace(one, odds=one.odds + more) for one in passage.units))
    return leant


async def read_best(
    reader: AnswerReader, question: str, weighed: Sequence[WeighedPassage], typed: str = ""
) -> list[WeighedPassage]:
    """Return the passages with new odds after reading the likeliest units. Unchanged if the reader fails.

    The likeliest units are chosen from all given passages, so include those of earlier searches. The reader knows
    only English, so questions in other languages are not read. Raises TimeoutError if the reader has no time.
    """
    best = sorted((one for passage in weighed for one in passage.units), key=lambda one: -one.odds)
    best = best[: weights.UNITS_READ]
    if not best or language_of(question) != "en":
        return list(weighed)
    forms = forms_of(question, typed)
    try:
        readings = await _read(reader, forms, best[: weights.UNITS_READ_FIRST])
        if max(_joint(one, readings[id(one)]) for one in best if id(one) in readings) < weights.CLEAR:
            readings |= await _read(reader, forms, best[weights.UNITS_READ_FIRST :])
    except Unavailable as error:
        if is_timeout(error):
            raise TimeoutError from error
        return list(weighed)
    least = min(weights.UNREAD, *readings.values())
    return [_with_readings(passage, readings, least) for passage in weighed]


def is_timeout(error: Exception) -> bool:
    """Return whether a model took too long, rather than failed."""
    late = isinstance(error, ModelUnavailable) and error.kind is ModelFailure.TIMEOUT
    return late or isinstance(error, TimeoutError)


def forms_of(question: str, typed: str = "") -> tuple[str, ...]:
    """Return a follow-up with the thread's topic in brackets, without it, and as typed."""
    return tuple(dict.fromkeys(form for form in (question, _TOPIC.sub("", question), typed) if form))


async def _read(reader: AnswerReader, forms: Sequence[str], some: Sequence[ScoredUnit]) -> dict[int, float]:
    """Read these units. Return the log odds by the unit's ``id()``.

    Use the highest odds of all forms, because a wrong topic in one form would hide the answer.
    """
    texts = [text_of(one) for one in some]
    read = [await reader.read(form, texts) for form in forms] if texts else []
    return {id(one): max(odds) for one, *odds in zip(some, *read, strict=True)} if texts else {}


def text_of(one: ScoredUnit) -> str:
    """Return the unit with its headings, as for sentence vectors."""
    passage = one.evidence.passage
    return in_context(passage, one.unit, befores(units(passage.text)).get(one.unit))[:_CHARACTERS]


def _with_readings(passage: WeighedPassage, readings: Mapping[int, float], least: float) -> WeighedPassage:
    """Combine the readings with the odds of each unit. An unread unit gets the ``least`` log odds."""
    read = {id(one): readings.get(id(one), least) for one in passage.units}
    done = (replace(one, odds=_joint(one, read[id(one)]), read=read[id(one)]) for one in passage.units)
    return replace(passage, units=tuple(sorted(done, key=lambda one: -one.odds)))


def _joint(one: ScoredUnit, read: float) -> float:
    """Return the weighted sum of a unit's log odds and its reading, plus a bias."""
    bias = weights.READING_BIAS_OF_ROWS if one.unit.form is Form.ROW else weights.READING_BIAS
    return weights.COUNTED * one.odds + weights.READ * read + bias
