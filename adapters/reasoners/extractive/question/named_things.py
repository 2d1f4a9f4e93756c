"""The thing that a question asks for by name, as a table would have it in a column: what is counted, picked or held."""

import re
from collections.abc import Iterable
from functools import lru_cache

from core.model.text import content_words

_SMALL = (
    r"(?:of|for|in|to|on|at|when|if|that|do|does|did|is|are|was|were|per|with|can|must|may|should|will|has|have|had|from"
    r"|by|and|or|until|before|after|between|under|i|we|you|they|there|about|not|the|a|an)"
)
_NOUNS = rf"((?:(?!{_SMALL}\b)[\w'-]++\s*){{1,3}})"
_ARTICLE = r"(?:(?:the|an?|our|your|my)\s+)?"
_PICKED = (
    re.compile(rf"\bhow many\s+{_NOUNS}", re.IGNORECASE),
    re.compile(rf"\b(?:which|what(?:['’]?s)?)\s+(?:(?:is|are|was|were)\s+)?{_ARTICLE}{_NOUNS}", re.IGNORECASE),
)
_HELD = (
    re.compile(rf"\bwho(?:['’]?s| is| are| was| were)\s+{_ARTICLE}{_NOUNS}", re.IGNORECASE),
    re.compile(
        rf"^{_ARTICLE}(?!(?:who|what|which|where|when|why|how|whose)\b){_NOUNS}(?:of|for|at|in)\b", re.IGNORECASE
    ),
)
_NO_NOUN = re.compile(  # what no column is called by, or what another rule looks for: a price, a person, a time
    r"\b(?:responsible|charge|prices?|costs?|fees?|kinds?|sorts?|types?|differences?|wrong|ways?|matter|happen\w*"
    r"|(?:second|minute|hour|day|week|month|year|time)s|people|persons?|new|current|last|next|first|\w+ed|\w+est)\b",
    re.IGNORECASE,
)
_TO_PLURAL = re.compile(r"^.*?\b\w+[^s\W]s\b")  # what follows it is a verb: "passengers travel"


@lru_cache(maxsize=256)
def thing_picked(question: str) -> tuple[str, ...]:
    """The stems of what is counted or picked: "lifeboats" in "how many lifeboats has she?", "yard" in "which yard".

    A table answers only where it has all of them. Empty where no thing is named.
    """
    return _nouns(question, _PICKED)


@lru_cache(maxsize=256)
def thing_held(question: str) -> tuple[str, ...]:
    """The stems of what somebody is or something has: "account manager", "phone number"; a table needs one of them."""
    return _nouns(question, _HELD)


def _nouns(question: str, patterns: Iterable[re.Pattern[str]]) -> tuple[str, ...]:
    for pattern in patterns:
        if found := pattern.search(question):
            said = _NO_NOUN.sub(" ", found[1])
            plural = _TO_PLURAL.match(said)
            return tuple(dict.fromkeys(content_words(plural.group() if plural else said)))
    return ()
