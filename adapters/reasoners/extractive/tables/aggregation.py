"""Detection of questions that a whole table answers: the longest, the cheapest, how many, the sum."""

import re
from dataclasses import dataclass
from enum import Enum, auto

from adapters.reasoners.extractive.understand import word_table


class Aggregate(Enum):
    """Operation on the rows."""

    MOST = auto()
    LEAST = auto()
    COUNT = auto()
    SUM = auto()


@dataclass(frozen=True, slots=True)
class Threshold:
    """Limit for a figure: "more than 50", "at least two years". ``said`` is the question's wording."""

    said: str
    figure: str
    above: bool
    inclusive: bool

    def holds(self, value: float, limit: float) -> bool:
        """Return whether a value is within the limit."""
        return (self.inclusive and value == limit) or (value > limit if self.above else value < limit)


@dataclass(frozen=True, slots=True)
class Aggregation:
    """Aggregation over a table. ``column`` has words that the column may have if the question does not name it."""

    kind: Aggregate
    column: frozenset[str] = frozenset()
    compares: bool = False  # whether it compares named things: "which is heavier, A or B?"
    picked: str = ""  # words after the superlative: "theatre set" in "most expensive theatre set"


_SUPERLATIVES = tuple(
    (Aggregate[kind], re.compile(rf"\b(?:{said})\b", re.IGNORECASE), frozenset(column.split()))
    for kind, said, column in word_table("superlatives")
)
_ASKS = re.compile(
    r"\b(?:which|what|who|where)(?:['’]?s)?\b|\b(?:whose|name|list)\b"
    r"|^(?:is|are|was|does|do|has|will)\b.*\b(?:than|or)\b"  # "is Gull heavier than Tern?" asks which, and shows it
    r"|^(?:more|fewer|less)\b.*\bor\b"  # "more cracks in 2023 or 2024"
    r"|^(?:(?:the|our|your|my) )?(?:\w+est|most|least)\b",  # "our oldest machine?"
    re.IGNORECASE,
)
_SUM = re.compile(
    r"\b(?:all ?together|altogether|in total|in all|total(?:s|led)? (?:of|number|cost|price|weight)?|sum(?: of)?"
    r"|combined|added up|put together|(?:over|across) all)\b"
    r"|^how (?:many|much)\b.*\btogether\b|^how many\b(?! of\b).*\ball (?:of )?(?:the |our |your )?"
    r"(?:two|three|four|five|six|seven|eight|nine|ten|\d+)\b",  # "to man all six stations"
    re.IGNORECASE,
)
_ADDED = re.compile(  # words that only ask for a sum
    r"\b(?:all ?together|altogether|together|in total|in all|total(?:s|led)?(?: of)?|sum(?: of)?|combined|added up"
    r"|(?:(?:over|across|of|in|to|on) )?all (?:of )?(?:the |our |your )?"
    r"(?:two|three|four|five|six|seven|eight|nine|ten|\d+)?|(?:over|across) all)\b",
    re.IGNORECASE,
)
COUNTED = re.compile(  # not "the number of his telephone"
    r"\bhow many\b|\bnumber of\b(?! (?:his|her|their|my|our|your|the|an?)\b)|\bcount\b", re.IGNORECASE
)
_STOCK = frozenset({"stock", "quantity", "qty"})  # names of a quantity column, independent of the question's words
_COMPARATIVE = re.compile(r"\b\w+er\b|\bmore\b|\bless\b", re.IGNORECASE)
_FIXED = re.compile(
    r"\bat (?:the )?(?:most|least)\b|\bthe (?:latest|most recent|current)\b(?= \w+ (?:say|of))", re.IGNORECASE
)


_ONESELF = re.compile(r"(?:i|you|we)\b", re.IGNORECASE)
_ALLOWED = re.compile(r"\b(?:can|may|must|should) (?:i|we|you|one)\b|\ballowed\b", re.IGNORECASE)
_AMOUNT = r"(?P<figure>[£€$]?\s?\d[\d,.]*\d?(?:\s?(?:%|[a-zA-Z]+))?)"
_THRESHOLD = re.compile(
    r"\b(?:(?P<above>more than|over|above|exceed(?:s|ing)?|(?:long|high|heavi|great|larg|bigg|old|wid|tall)er than)"
    r"|(?P<below>less than|fewer than|under|below|(?:cheap|short|low|light|small|young)er than)"
    rf"|(?P<least>at least|no less than)|(?P<most>at most|up to|no more than))\s+{_AMOUNT}",
    re.IGNORECASE,
)
_PICKS = re.compile(
    r"^(?:please |can you |could you )*(?:which|what|who|how many|list|name|show|give me|all)\b", re.IGNORECASE
)
_LISTS = re.compile(
    r"^(?:please |can you |could you )*(?:(?:list|name|show|give me|all)\b"
    r"|(?:which|what) (?!is\b|was\b|does\b|has\b|this\b)(?:[\w-]+ ){0,2}[\w-]*[^siu\W]s\b)",
    re.IGNORECASE,
)

_LACKING = re.compile(
    r"^(?:which|what) (?:[\w-]+ ){1,3}?"
    r"(?:(?:is|are|was|were|has|have|does|do|can) (?:not|no)\b|\w+n['’]?t\b|without\b)",
    re.IGNORECASE,
)


def threshold_of(question: str) -> Threshold | None:
    """Return the limit for the wanted rows: "which sites have more than 50 beds?"."""
    found = _THRESHOLD.search(question) if _PICKS.match(question) else None
    if found is None:
        return None
    above, inclusive = bool(found["above"] or found["least"]), bool(found["least"] or found["most"])
    return Threshold(found.group(), found["figure"].strip(" .,"), above, inclusive)


def without_sum(question: str) -> str:
    """Return the question without words that only ask for a sum: "in total", "over all four"."""
    return _ADDED.sub(" ", question)


def lists_rows(question: str) -> bool:
    """Return whether the question asks for all things of a kind, which a table may list."""
    asks = _LISTS.match(question) or _LACKING.match(question)
    return bool(asks) and aggregation_of(question) is None


def aggregation_of(question: str) -> Aggregation | None:
    """Return the aggregation that a question asks for, or None for most questions."""
    bare = _FIXED.sub(" ", question)
    if threshold_of(question):
        return Aggregation(Aggregate.COUNT)
    if _SUM.search(bare):
        return Aggregation(Aggregate.SUM, _STOCK if COUNTED.search(bare) else frozenset())
    for kind, pattern, column in _SUPERLATIVES:
        if (found := pattern.search(bare)) and _ASKS.search(bare):
            compares = bool(_COMPARATIVE.fullmatch(found.group().split()[0])) or " or " in bare
            picked = bare[found.end() :].strip(" ?.!")
            # "the longest I may keep it" asks for a rule, not a row
            return None if _ONESELF.match(picked) else Aggregation(kind, column, compares, picked)
    return Aggregation(Aggregate.COUNT) if COUNTED.search(bare) and not _ALLOWED.search(bare) else None
