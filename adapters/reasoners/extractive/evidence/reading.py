"""The best units read together with the question, by a model that learnt whether the one answers the other.

What is counted of a unit tells which of them come near; whether one of them really says what is asked for, a reader
tells better: a question of the right thing for what no document says of it has every word but the answer.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, takewhile, zip_longest
from typing import Protocol

from adapters.reasoners.extractive import weights
from adapters.reasoners.extractive.evidence.answer_odds import with_odds
from adapters.reasoners.extractive.evidence.scoring import ScoredUnit, WeighedPassage
from adapters.reasoners.extractive.question.answer_type import asks_for_steps, tells_what_to_do
from core.model.errors import Unavailable
from core.model.languages import language_of
from core.model.passage_units import Form, Unit, befores, in_context, units
from core.model.text import words

_QUOTED_LAST, _OTHERS = 1.0, -0.4  # added to the logarithm of the odds


@dataclass(frozen=True, slots=True)
class Leaning:
    """What a question leans on, in the words in which it may be read; all empty where it stands alone.

    ``typed`` is what its person wrote, before anything was put in; ``before`` the question before it, ``behind`` both
    of them, and ``answered`` what was said to the first. ``titles`` are of the documents that were quoted last.
    """

    typed: str = ""
    before: str = ""
    behind: str = ""
    answered: str = ""
    titles: tuple[str, ...] = ()


ALONE = Leaning()


def lean(weighed: Sequence[WeighedPassage], titles: Collection[str]) -> list[WeighedPassage]:
    """The passages with the odds of their units after who quoted them last; as they are where ``titles`` is empty."""
    return [_leant(one, titles) for one in weighed] if titles else list(weighed)


def _leant(passage: WeighedPassage, titles: Collection[str]) -> WeighedPassage:
    more = _QUOTED_LAST if passage.evidence.passage.title in titles else _OTHERS
    units = (with_odds(one, one.odds + more) for one in passage.units)
    return replace(passage, units=tuple(units))


_STRETCH = 350  # what the reader reads at once, but for the headings above
_PROSE = {Form.SENTENCE, Form.ITEM}


def stretch_around(one: ScoredUnit) -> tuple[Unit, ...]:
    """The unit with as many sentences and items before and after it, by turns, as are read at once; in their order."""
    everything = units(one.evidence.passage.text)
    if one.unit.form not in _PROSE or one.unit not in everything:
        return (one.unit,)
    at = everything.index(one.unit)
    before = takewhile(lambda place: everything[place].form in _PROSE, range(at - 1, -1, -1))
    after = takewhile(lambda place: everything[place].form in _PROSE, range(at + 1, len(everything)))
    stretch, length = [at], len(one.unit.text)
    for beside in _by_turns(before, after):
        length += len(everything[beside].text) + 1
        if length > _STRETCH:
            break
        stretch.append(beside)
    return tuple(everything[place] for place in sorted(stretch))


def is_whole(one: ScoredUnit, stretch: Sequence[Unit]) -> bool:
    """Whether a stretch is all that its passage says."""
    return len(stretch) == len(units(one.evidence.passage.text))


def text_of_stretch(one: ScoredUnit, stretch: Sequence[Unit]) -> str:
    """The stretch below its headings, as a reader reads it."""
    joined = Unit(" ".join(unit.text for unit in stretch), Form.SENTENCE, one.unit.block, under=one.unit.under)
    return in_context(one.evidence.passage, joined)


def _by_turns(before: Iterable[int], after: Iterable[int]) -> Iterator[int]:
    return (place for place in chain.from_iterable(zip_longest(before, after)) if place is not None)


_CHARACTERS = 400
_TOPIC = re.compile(r" \([^()]+\)(?=\W*$)")  # as follow_up puts it behind a question


class AnswerReader(Protocol):
    """Reads a question and a text together."""

    async def read(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """The logarithm of the odds that each text answers, in order. Raises Unavailable when it cannot tell."""


async def read_best(
    reader: AnswerReader,
    question: str,
    weighed: Sequence[WeighedPassage],
    leaning: Leaning = ALONE,
    *,
    in_stretches: bool = False,
) -> list[WeighedPassage]:
    """The passages with the odds of their units after reading the most likely ones; as they are where that fails.

    So many are read of all that was found, whether by one search or by several: hand in all of it. A reader of English
    reads no question in another language. ``in_stretches``: where none answers, they are read with what stands around.
    """
    best = sorted((one for passage in weighed for one in passage.units), key=lambda one: -one.odds)
    best = best[: weights.UNITS_READ]
    if not best or language_of(question) != "en":
        return list(weighed)
    try:
        readings = await _read(reader, question, best[: weights.UNITS_READ_FIRST], leaning)
        if _likeliest(best, readings) < weights.CLEAR:
            readings |= await _read(reader, question, best[weights.UNITS_READ_FIRST :], leaning)
        if in_stretches and _likeliest(best, readings) < 0:
            readings |= await _read_with_surroundings(reader, question, best, readings)
    except Unavailable:
        return list(weighed)
    least = _Reading(min(weights.UNREAD, *(reading.odds for reading in readings.values())))
    return [_with_readings(passage, readings, least) for passage in weighed]


async def _read(
    reader: AnswerReader, question: str, some: Sequence[ScoredUnit], leaning: Leaning
) -> dict[int, "_Reading"]:
    """How these units read, by their identity: in each form of the question, and behind the one before it."""
    if not some:
        return {}
    odds = await _read_in_each_form(reader, forms_of(question, leaning.typed), [text_of(one) for one in some])
    if leaning.behind and language_of(leaning.behind) == "en":
        odds = await _read_behind(reader, leaning, some, odds)
    return {id(one): _Reading(value) for one, value in zip(some, odds, strict=True)}


def _likeliest(best: Sequence[ScoredUnit], readings: Mapping[int, "_Reading"]) -> float:
    """The highest log odds of what was read."""
    return max(_joint(one, readings[id(one)]) for one in best if id(one) in readings)


@dataclass(frozen=True, slots=True)
class _Reading:
    """The odds of a unit as it was read, and the stretch of its passage that it was read with."""

    odds: float
    stretch: tuple[Unit, ...] = ()


async def _read_with_surroundings(
    reader: AnswerReader, question: str, best: Sequence[ScoredUnit], readings: Mapping[int, _Reading]
) -> dict[int, _Reading]:
    """Where nothing is as likely as not to answer, the most likely units read with what stands around them.

    The higher odds count, and what was read together is quoted together. Where a way is asked for, it is to be told.
    """
    best = [one for one in best if id(one) in readings]
    likely = sorted(best, key=lambda one: -_joint(one, readings[id(one)]))[: weights.STRETCHES_READ]
    placed = [(one, stretch) for one in likely if len(stretch := stretch_around(one)) > 1]
    if asks_for_steps(question):
        placed = [(one, stretch) for one, stretch in placed if any(tells_what_to_do(unit.text) for unit in stretch)]
    odds = await reader.read(question, [text_of_stretch(*pair) for pair in placed]) if placed else ()
    read: dict[int, _Reading] = {}
    for (one, stretch), value in zip(placed, odds, strict=True):
        doubt = weights.WHOLE_STRETCH if is_whole(one, stretch) else weights.PART_STRETCH
        read[id(one)] = _Reading(value - doubt, stretch)
    return {key: reading for key, reading in read.items() if reading.odds > readings[key].odds}


def forms_of(question: str, typed: str = "") -> tuple[str, ...]:
    """A follow-up with the thread's topic in brackets, as it may be meant, without it, and as it was typed."""
    return tuple(dict.fromkeys(form for form in (question, _TOPIC.sub("", question), typed) if form))


async def _read_in_each_form(reader: AnswerReader, forms: Sequence[str], texts: Sequence[str]) -> Sequence[float]:
    """The higher odds count: what was put in may be the wrong thing, and then it keeps the answer out."""
    read = [await reader.read(form, texts) for form in forms]
    return [max(odds) for odds in zip(*read, strict=True)]


async def _read_behind(
    reader: AnswerReader, leaning: Leaning, units: Sequence[ScoredUnit], odds: Sequence[float]
) -> Sequence[float]:
    """With the units read for the question behind the one before it: "who does valuations? what does he charge".

    The higher odds count. What was quoted for the one before is half of an answer anyway: it counts as much less as it
    answers both worse than the one.
    """
    texts = [text_of(one) for one in units]
    both = list(await reader.read(leaning.behind, texts))
    said = _bare_words(leaning.answered)
    quoted = [at for at, one in enumerate(units) if _bare_words(one.unit.text) in said]
    one_alone = await reader.read(leaning.before, [texts[at] for at in quoted]) if quoted else ()
    for at, alone in zip(quoted, one_alone, strict=True):
        both[at] -= max(0.0, alone - both[at])
    return [max(pair) for pair in zip(odds, both, strict=True)]


def _bare_words(text: str) -> str:
    """The words of a text with but spaces between them: as they stand in a table and in an answer that quotes it."""
    return f" {' '.join(words(text)).casefold()} "


def text_of(one: ScoredUnit) -> str:
    """The unit below its headings, as it is compared by meaning."""
    passage = one.evidence.passage
    return in_context(passage, one.unit, befores(units(passage.text)).get(one.unit))[:_CHARACTERS]


def _with_readings(passage: WeighedPassage, readings: Mapping[int, _Reading], least: _Reading) -> WeighedPassage:
    """A unit that was not read counts like the worst that was."""
    done = [_with_reading(one, readings.get(id(one), least)) for one in passage.units]
    return replace(passage, units=tuple(sorted(done, key=lambda one: -one.odds)))


def _with_reading(one: ScoredUnit, reading: _Reading) -> ScoredUnit:
    """Both opinions as one; their order is that of the odds, doubts and all."""
    return with_odds(replace(one, stretch=reading.stretch), _joint(one, reading))


def _joint(one: ScoredUnit, reading: _Reading) -> float:
    """What is counted and what is read as one: a logistic function of the two."""
    bias = weights.READING_BIAS_OF_ROWS if one.unit.form is Form.ROW else weights.READING_BIAS
    return weights.COUNTED * one.odds + weights.READ * reading.odds + bias
