"""Whether a question asks for something that a whole table answers: its longest, cheapest, how many, all together."""

import re
from dataclasses import dataclass
from enum import Enum, auto


class Aggregate(Enum):
    """What is to be done with the rows."""

    MOST = auto()
    LEAST = auto()
    COUNT = auto()
    SUM = auto()


@dataclass(frozen=True, slots=True)
class Aggregation:
    """What is asked of a table. ``column`` are words that its column may have, where the question does not say it."""

    kind: Aggregate
    column: frozenset[str] = frozenset()
    compares: bool = False  # of the things that are named: "which is heavier, A or B?"


_PRICE = "price prices cost costs fee fees amount GBP EUR USD £ € $"
_WORDS = (  # longest, longer: what they are said of
    (Aggregate.LEAST, r"cheap(?:est|er)|least expensive|lowest[- ]priced|costs? (?:the )?(?:least|less)", _PRICE),
    (
        Aggregate.MOST,
        r"most expensive|more expensive|dear(?:est|er)|costl(?:iest|ier)|costs? (?:the )?more(?:st)?",
        _PRICE,
    ),
    (Aggregate.MOST, r"heav(?:iest|ier)|weighs? (?:the )?more?st?", "weight kg"),
    (Aggregate.LEAST, r"light(?:est|er)|weighs? (?:the )?le(?:a|s)st?", "weight kg"),
    (Aggregate.MOST, r"long(?:est|er)", "length duration term time days hours years months weeks minutes notice"),
    (Aggregate.LEAST, r"short(?:est|er)", "length duration term time days hours years months weeks minutes notice"),
    (Aggregate.LEAST, r"(?:fast|quick|soon)(?:est|er)", "time duration hours minutes seconds days response"),
    (Aggregate.MOST, r"slow(?:est|er)", "time duration hours minutes seconds days response"),
    (Aggregate.MOST, r"(?:newest|latest|most recent|newer|later)", "date year released since"),
    (Aggregate.LEAST, r"(?:oldest|earliest|older|earlier)", "date year released since"),
    (Aggregate.MOST, r"(?:high|large|bigg|great|strong|tall|wid|deep)(?:est|er)|(?:the )?most(?! of)|maximum|top", ""),
    (Aggregate.LEAST, r"(?:low|small|weak|narrow)(?:est|er)|(?:the )?(?:least|fewest)|fewer|minimum", ""),
)
_SUPERLATIVES = tuple(
    (kind, re.compile(rf"\b(?:{said})\b", re.IGNORECASE), frozenset(column.split())) for kind, said, column in _WORDS
)
_ASKS = re.compile(
    r"\b(?:which|what|who|where)(?:['’]?s)?\b|\b(?:whose|name|list)\b"
    r"|^(?:is|are|was|does|do|has|will)\b.*\bthan\b",  # "is Gull heavier than Tern?" asks which is, and shows it
    re.IGNORECASE,
)
_SUM = re.compile(
    r"\b(?:all ?together|altogether|in total|in all|total(?:s|led)? (?:of|number|cost|price|weight)?|sum(?: of)?"
    r"|combined|added up|put together)\b",
    re.IGNORECASE,
)
_COUNT = re.compile(  # not the number of a telephone, which somebody has
    r"\bhow many\b|\bnumber of\b(?! (?:his|her|their|my|our|your|the|an?)\b)|\bcount\b", re.IGNORECASE
)
_COMPARATIVE = re.compile(r"\b\w+er\b|\bmore\b|\bless\b", re.IGNORECASE)
_FIXED = re.compile(
    r"\bat (?:the )?(?:most|least)\b|\bthe (?:latest|most recent|current)\b(?= \w+ (?:say|of))", re.IGNORECASE
)


def aggregation_of(question: str) -> Aggregation | None:
    """What a question asks of a whole table; None for most."""
    bare = _FIXED.sub(" ", question)
    if _SUM.search(bare):
        return Aggregation(Aggregate.SUM)
    for kind, pattern, column in _SUPERLATIVES:
        if (found := pattern.search(bare)) and _ASKS.search(bare):
            compares = bool(_COMPARATIVE.fullmatch(found.group().split()[0])) or " or " in bare
            return Aggregation(kind, column, compares)
    return Aggregation(Aggregate.COUNT) if _COUNT.search(bare) else None
