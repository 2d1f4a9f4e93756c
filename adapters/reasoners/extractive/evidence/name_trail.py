"""Follows a question from quote to quote: what one leaves open is looked up by the name that the other brings up.

"Who approves access to odometer?" is answered by the rule (the lead of the owning team), the row that says which team
owns it, and the row that says who leads that team. Names are followed as they are written; nothing is inferred.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from adapters.reasoners.extractive import weights
from adapters.reasoners.extractive.evidence.word_coverage import coverage, inverse_frequency, topic_words, word_weights
from adapters.reasoners.extractive.question.answer_type import fits
from adapters.reasoners.extractive.question.phrases import names
from core.model.evidence import Evidence
from core.model.passage_units import Form, Unit
from core.model.text import content_words, words

_STEPS = 3  # quotes after the first ones
_LONGEST = 3  # words of a table's cell that may be a name
_FEW = 12  # units; among fewer, every name may be followed
_HELD = (0.5, 0.8, 1.0)  # what ``fits`` gives where nothing particular is asked for, or it is there
_CODE = re.compile(r"`([^\W\d_][\w.-]{2,40})`")
_IN_CODE = re.compile(r"`[^`]*`")
_WHO = re.compile(r"\b(?:who|whom|whose)\b", re.IGNORECASE)
_LETTER = re.compile(r"[^\W\d_]")
_CALENDAR = re.compile(
    r"^(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|january|february|march|april|may|june|july|august|september"
    r"|october|november|december)\b|^(?:19|20)\d\d$",
    re.IGNORECASE,
)
_AMOUNT = re.compile(r"([€$£]?)\s?(\d[\d,]*(?:\.\d+)?)(?:\s?(%|percent\b))?")
_CURRENCIES = tuple(
    (sign, re.compile(rf"(?P<after>\d[\d,.]*)\s?(?:{names})\b|\b(?:{code})\s?(?P<before>\d[\d,.]*)", re.IGNORECASE))
    for sign, names, code in (
        ("€", "euros?|EUR", "EUR"),
        ("£", "pounds?|quid|GBP", "GBP"),
        ("$", "dollars?|bucks|USD", "USD"),
    )
)
_ABOVE, _BELOW = ("above", "over", "more than", "exceeding"), ("below", "under", "less than")
_RANGE = re.compile(
    r"(?:(?:above|over|more than|from)\s+(?P<low>[€$£]?\s?\d[\d,]*(?:\.\d+)?)(?:\s*(?:and|,)?\s*(?:up )?to\s+"
    r"(?P<high>[€$£]?\s?\d[\d,]*(?:\.\d+)?))?|(?:up to|below|under|less than|at most)\s+(?P<most>[€$£]?\s?\d[\d,]*"
    r"(?:\.\d+)?))",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class TrailStep:
    """A unit of the trail, with the passage it stands in."""

    evidence: Evidence
    unit: Unit

    @property
    def text_with_context(self) -> str:
        """The unit with the header of its table and the headings above it."""
        return " ".join((*self.evidence.passage.heading[-1:], *self.unit.head[:1], self.unit.text))

    @property
    def known_by(self) -> str:
        """What is said, and of which document: "the timeout (API reference)" lacks no API in a quote of it."""
        return f"{self.evidence.passage.title} {self.text_with_context}"


@dataclass(frozen=True, slots=True)
class Trail:
    """The steps after the first quotes, and the names at its end while the kind of answer asked for is not there."""

    steps: tuple[TrailStep, ...] = ()
    lacking: tuple[str, ...] = ()  # names of the question that the first quotes do not have
    open_names: tuple[str, ...] = ()
    settled_by: tuple[str, ...] = ()  # the names over which the question's own name led to its answer


def handles(unit: Unit) -> tuple[str, ...]:
    """What a unit names, as written: proper names, code, and the short cells of a row."""
    found: dict[str, None] = {}
    for part in unit.text.strip().strip("|").split("|") if unit.form is Form.ROW else (unit.text,):
        cell = part.strip().strip("*_`").strip()
        if (
            unit.form is Form.ROW
            and 0 < len(words(cell)) <= _LONGEST
            and all(word[0].isupper() for word in words(cell))
        ):
            found[cell] = None
        found.update(dict.fromkeys(_CODE.findall(part)))
        found.update(dict.fromkeys(names(part)))
    return tuple(name for name in found if leads_on(name))


def leads_on(name: str) -> bool:
    """Whether something may be known under this name: not a date, a number or initials."""
    return len(name) > 2 and _LETTER.search(name) is not None and not _CALENDAR.match(name)


def mentions(text: str, name: str) -> bool:
    """Whether the name stands in the text as whole words; one word alone in the same case: "Depot" is not a depot."""
    whole = " " in name
    there = name.casefold() in text.casefold() if whole else name in text
    fold = re.IGNORECASE if whole else re.NOFLAG
    # Hardly a text has the name at all, and a pattern takes long to make.
    return there and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, fold) is not None


def in_range(question: str, text: str) -> bool | None:
    """Whether an amount of the question lies in a range that the text gives; None when it is not about ranges.

    What is above an amount, or below it, has to share some of the range.
    """
    asked = _with_signs(question)
    amounts = [
        (found[1], _number(found[2]), asked[: found.start()].rstrip().casefold()) for found in _AMOUNT.finditer(asked)
    ]
    if not amounts:
        return None
    ranges = list(_RANGE.finditer(_with_signs(text)))
    told = [one for one in ranges if any(sign and sign in one.group() for sign, *_ in amounts)]
    if not told:
        return None
    return any(_within(one, amount, before) for one in told for _, amount, before in amounts)


def gives_range(text: str) -> bool:
    """Whether a text says from which amount to which something holds: "above €250 and up to €2,000"."""
    return _RANGE.search(text) is not None


@lru_cache(maxsize=2048)  # the question is asked for with every unit, a unit with every search and the answer
def _with_signs(text: str) -> str:
    """The text with each amount of money written with the sign of its currency in front: "3,000 euros" as "€3,000"."""
    for sign, named in _CURRENCIES:
        text = named.sub(rf"{sign}\g<after>\g<before>", text)
    return text


def _within(found: re.Match[str], amount: float, before: str) -> bool:
    low = 0.0 if found["most"] else _number(found["low"])
    said = found["most"] or found["high"]
    high = _number(said) if said else math.inf
    if before.endswith(_ABOVE):
        return high > amount
    if before.endswith(_BELOW):
        return low < amount
    return (low < amount or bool(found["most"])) and amount <= high


def _number(text: str) -> float:
    return float(re.sub(r"[^\d.]", "", text).strip(".") or 0)


def trail(question: str, first: Sequence[TrailStep], pool: Sequence[TrailStep]) -> Trail:
    """From the first quotes to what they leave open.

    Nothing is followed when they already name all that the question names and hold the kind of answer it asks for.
    """
    asked = _asked_names(question, pool)
    lacking = [name for name in asked if not any(mentions(step.known_by, name) for step in first)]
    if not first or (not lacking and _holds_answer(question, first)):
        return Trail()
    rarity = inverse_frequency(step.text_with_context for step in pool)
    # Without a name of the question to go by, only a person is worth following names for.
    frontier = lacking or [name for name in _brought(first) if _WHO.search(question) and name not in asked]
    taken, steps, settled = list(first), list[TrailStep](), list[str]()
    while frontier and len(steps) < _STEPS:
        goal = (*topic_words(question), *(word for step in taken for word in content_words(step.text_with_context)))
        found = _best(question, goal, frontier, [step for step in pool if step not in taken], rarity)
        if found is None:
            break
        steps.append(found)
        taken.append(found)
        frontier = [name for name in _brought((found,)) if name not in asked and name not in frontier]
        if _holds_answer(question, taken):
            if said := _said_of(question, frontier, [step for step in pool if step not in taken]):
                steps.extend(said)
                settled = [*lacking, *frontier] if lacking else []
            frontier = []
    if not lacking and not _holds_answer(question, taken):
        steps = []
    return Trail(tuple(steps), tuple(lacking), tuple(frontier), tuple(settled))


def _said_of(question: str, frontier: Sequence[str], pool: Sequence[TrailStep]) -> list[TrailStep]:
    """The one unit that begins with a name from the trail's end and holds the kind of answer that is asked for."""
    begins = [step for step in pool if any(_key(step.unit, name) for name in frontier)]
    return [step for step in begins if fits(question, step.unit.text) == 1.0][:1]


def _key(unit: Unit, name: str) -> bool:
    return unit.text.lstrip("|*_`- ").startswith(name)


def _holds_answer(question: str, quotes: Iterable[TrailStep]) -> bool:
    """Whether a quote holds the kind of answer that is asked for, or no particular kind is."""
    return any(fits(question, quote.unit.text) in _HELD for quote in quotes)


def _asked_names(question: str, pool: Sequence[TrailStep]) -> list[str]:
    """The names of the pool that the question has as well, the uncommon ones."""
    there = dict.fromkeys(name for step in pool for name in handles(step.unit))
    return [name for name in there if mentions(question, name) and not _common(name, pool) and not _a_word(name, pool)]


def _a_word(name: str, pool: Sequence[TrailStep]) -> bool:
    """Whether a name of code is an ordinary word as well: the planner, beside `planner`."""
    return name.islower() and any(mentions(_IN_CODE.sub("", step.unit.text), name) for step in pool)


def _brought(steps: Iterable[TrailStep]) -> list[str]:
    return list(dict.fromkeys(name for step in steps for name in handles(step.unit)))


def _common(name: str, pool: Sequence[TrailStep]) -> bool:
    having = sum(mentions(step.unit.text, name) for step in pool)
    return having > weights.COMMON_NAME * len(pool) if len(pool) > _FEW else False


def _best(
    question: str, goal: Sequence[str], frontier: Sequence[str], pool: Sequence[TrailStep], rarity: Mapping[str, float]
) -> TrailStep | None:
    """The unit that speaks of a name at the trail's end and most of what the trail is about."""
    scored: list[tuple[float, int, TrailStep]] = []
    wanted = word_weights(goal, rarity)
    for at, step in enumerate(pool):
        named = [name for name in frontier if mentions(step.text_with_context, name)]
        if not named or in_range(question, step.unit.text) is False:
            continue
        key = any(_key(step.unit, name) for name in named)
        covered = coverage(wanted, content_words(step.text_with_context))
        worth = covered + weights.STEP_FITS * fits(question, step.unit.text)
        worth += weights.STEP_KEY * key + weights.STEP_NAMES * math.log1p(len(named))
        scored.append((worth, -at, step))
    best = max(scored, default=None)
    return best[2] if best and best[0] >= weights.GOOD_STEP else None
