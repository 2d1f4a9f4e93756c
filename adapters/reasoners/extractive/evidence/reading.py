"""The best units read together with the question, by a model that learnt whether the one answers the other.

What is counted of a unit tells which of them come near; whether one of them really says what is asked for, a reader
tells better: a question of the right thing for what no document says of it has every word but the answer.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from adapters.reasoners.extractive import weights
from adapters.reasoners.extractive.evidence.scoring import ScoredUnit, WeighedPassage
from core.model.errors import Unavailable
from core.model.languages import language_of
from core.model.passage_units import Form, befores, in_context, units

_QUOTED_LAST, _OTHERS = 1.0, -0.4  # added to the logarithm of the odds
_CHARACTERS = 400
_TOPIC = re.compile(r" \([^()]+\)(?=\W*$)")  # as follow_up puts it behind a question


@dataclass(frozen=True, slots=True)
class Leaning:
    """What a question takes from its thread; empty where it needs nothing.

    ``typed`` is what its person wrote, before anything was put in. ``titles`` are of the documents quoted last.
    """

    typed: str = ""
    titles: tuple[str, ...] = ()


ALONE = Leaning()


class AnswerReader(Protocol):
    """A model that reads a question and a text together."""

    async def read(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """Return the log odds that each text answers, in order. Raises Unavailable when it cannot tell."""


def lean(weighed: Sequence[WeighedPassage], titles: Collection[str]) -> list[WeighedPassage]:
    """Raise the odds of what was quoted last, by title, above the others; nothing changes without titles."""

    def leant(passage: WeighedPassage) -> WeighedPassage:
        more = _QUOTED_LAST if passage.evidence.passage.title in titles else _OTHERS
        return replace(passage, units=tuple(replace(one, odds=one.odds + more) for one in passage.units))

    return [leant(one) for one in weighed] if titles else list(weighed)


async def read_best(
    reader: AnswerReader, question: str, weighed: Sequence[WeighedPassage], typed: str = ""
) -> list[WeighedPassage]:
    """Return the passages with the odds of their units after reading the likeliest; unchanged where that fails.

    The likeliest are chosen from all that is handed in, so hand in what earlier searches found too. A reader of
    English reads no question in another language.
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
    except Unavailable:
        return list(weighed)
    least = min(weights.UNREAD, *readings.values())
    return [_with_readings(passage, readings, least) for passage in weighed]


def forms_of(question: str, typed: str = "") -> tuple[str, ...]:
    """Return a follow-up with the thread's topic in brackets, without it, and as it was typed."""
    return tuple(dict.fromkeys(form for form in (question, _TOPIC.sub("", question), typed) if form))


async def _read(reader: AnswerReader, forms: Sequence[str], some: Sequence[ScoredUnit]) -> dict[int, float]:
    """Read these units; return the log odds by the unit's identity.

    The higher odds of all forms count: what was put in may be the wrong thing, and then it keeps the answer out.
    """
    texts = [text_of(one) for one in some]
    read = [await reader.read(form, texts) for form in forms] if texts else []
    return {id(one): max(odds) for one, *odds in zip(some, *read, strict=True)} if texts else {}


def text_of(one: ScoredUnit) -> str:
    """Return the unit below its headings, as it is compared by meaning."""
    passage = one.evidence.passage
    return in_context(passage, one.unit, befores(units(passage.text)).get(one.unit))[:_CHARACTERS]


def _with_readings(passage: WeighedPassage, readings: Mapping[int, float], least: float) -> WeighedPassage:
    """Join what was read to the odds of each unit; a unit that was not read counts like the worst that was."""
    read = {id(one): readings.get(id(one), least) for one in passage.units}
    done = (replace(one, odds=_joint(one, read[id(one)]), read=read[id(one)]) for one in passage.units)
    return replace(passage, units=tuple(sorted(done, key=lambda one: -one.odds)))


def _joint(one: ScoredUnit, read: float) -> float:
    """Join what is counted and what is read: a logistic function of the two."""
    bias = weights.READING_BIAS_OF_ROWS if one.unit.form is Form.ROW else weights.READING_BIAS
    return weights.COUNTED * one.odds + weights.READ * read + bias
