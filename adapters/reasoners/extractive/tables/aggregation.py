"""Detection of questions that a whole table answers: the longest, the cheapest, how many, the sum."""

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto

from adapters.reasoners.extractive.understand import PHRASES, word_table


class Aggregate(Enum):
    """Operation on the rows."""

    MOST = auto()
    LEAST = auto()
    COUNT = auto()
    SUM = auto()


@dataclass(frozen=True, slots=True)
class Aggregation:
    """Aggregation over a table. ``column`` has words that the column may have if the question does not name it."""

    kind: Aggregate
    column: frozenset[str] = frozenset()
    compares: bool = False  # whether it compares named things: "which is heavier, A or B?"
    picked: str = ""  # words after the superlative: "theatre set" in "most expensive theatre set"


@dataclass(frozen=True, slots=True)
class FigureLimit:
    """Limit of a figure: "not more than 50 beds". ``said`` is the question's wording, ``shown`` the answer's."""

    said: str
    shown: str
    figure: str
    holds: Callable[[float, float], bool]  # of a value and the limit


_SUPERLATIVES = tuple(
    (Aggregate[kind], re.compile(rf"\b(?:{said})\b", re.IGNORECASE), frozenset(column.split()))
    for kind, said, column in word_table("superlatives")
)
_ASKS = PHRASES["ASKS_ROWS"]
_SUM = PHRASES["SUM"]
_ADDED = PHRASES["ADDED"]  # words that only ask for a sum
COUNTED = re.compile(  # not "the number of his telephone"
    r"\bhow many\b|\bnumber of\b(?! (?:his|her|their|my|our|your|the|an?)\b)|\bcount\b", re.IGNORECASE
)
_STOCK = frozenset({"stock", "quantity", "qty"})  # names of a quantity column, independent of the question's words
_COMPARATIVE = re.compile(r"\b\w+er\b|\bmore\b|\bless\b", re.IGNORECASE)
_FIXED = PHRASES["FIXED"]


_ONESELF = re.compile(r"(?:i|you|we)\b", re.IGNORECASE)
_ALLOWED = re.compile(r"\b(?:can|may|must|should) (?:i|we|you|one)\b|\ballowed\b", re.IGNORECASE)
_LIMIT = PHRASES["FIGURE_LIMIT"]
_MULTIPLE = re.compile(r"\d\s?(?:k|thousand|million|billion|bn)\b", re.IGNORECASE)  # not read in cells
_OPPOSITES = {"gt": "le", "lt": "ge", "ge": "lt", "le": "gt"}


def without_sum(question: str) -> str:
    """Return the question without words that only ask for a sum: "in total", "over all four"."""
    return _ADDED.sub(" ", question)


def figure_limit_in(question: str) -> FigureLimit | None:
    """Return the only limit for the wanted rows: "which sites have more than 50 beds?"; None if there is no such."""
    limits = list(_LIMIT.finditer(question)) if PHRASES["PICKS_ROWS"].match(question) else []
    if len(limits) != 1:
        return None
    (found,) = limits
    how = next((name for name in _OPPOSITES if found[name]), "")
    said, shown, figure = (found[group].strip(" .,") for group in (0, "shown", "figure"))
    if not how or _MULTIPLE.search(figure):
        return None
    if found["outside"]:
        how, shown = _OPPOSITES[how], f"not {shown}"
    return FigureLimit(said, shown, figure, getattr(operator, how))


def lists_rows(question: str) -> bool:
    """Return whether the question asks for all things of a kind, which a table may list."""
    return bool(PHRASES["LISTS_ROWS"].match(question)) and aggregation_of(question) is None


def aggregation_of(question: str) -> Aggregation | None:
    """Return the aggregation that a question asks for, or None for most questions."""
    bare = _FIXED.sub(" ", question)
    if _LIMIT.search(question):
        return Aggregation(Aggregate.COUNT) if figure_limit_in(question) else None
    if _SUM.search(bare):
        return Aggregation(Aggregate.SUM, _STOCK if COUNTED.search(bare) else frozenset())
    for kind, pattern, column in _SUPERLATIVES:
        if (found := pattern.search(bare)) and _ASKS.search(bare):
            compares = bool(_COMPARATIVE.fullmatch(found.group().split()[0])) or " or " in bare
            picked = bare[found.end() :].strip(" ?.!")
            # "the longest I may keep it" asks for a rule, not a row
            return None if _ONESELF.match(picked) else Aggregation(kind, column, compares, picked)
    return Aggregation(Aggregate.COUNT) if COUNTED.search(bare) and not _ALLOWED.search(bare) else None
