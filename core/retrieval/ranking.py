"""The library's evidence in the order in which it bears on the whole question.

A search over a bridge scores its hits against the bridge, not against the question: such a hit counts in full only
where evidence found for the question itself names its title. Measured in ``tests/measure/multihop.py``.
"""

from collections.abc import Sequence

from core.evidence import Evidence
from core.inquiry import Inquiry, Investigate
from core.language import words

_BRIDGED = 0.5  # what a hit of a later search keeps of its score
_NAMED = 0.2  # what it gains when strong evidence names it
_ALSO_NAMED = 0.1  # what a hit of the question's own search gains by the same
_NAMERS = 6  # pieces of evidence whose text counts as strong


def rank_evidence(inquiry: Inquiry) -> tuple[Evidence, ...]:
    """All evidence of the inquiry, best first. Scores are the searches' own, in [0, 1]."""
    asked = set(inquiry.plan.queries) if isinstance(inquiry.plan, Investigate) else {inquiry.question}
    own = [item for item in inquiry.library if item.query in asked]
    namers = sorted(own, key=lambda item: -item.hit.score)[:_NAMERS]
    texts = {item.id: running(item.passage.text) for item in namers}

    def worth(item: Evidence) -> float:
        named = is_named(item, texts)
        if item.query in asked:
            return item.hit.score + _ALSO_NAMED * named
        return _BRIDGED * item.hit.score * (1 if named else _BRIDGED) + _NAMED * named

    return tuple(sorted(inquiry.library, key=lambda item: (-worth(item), item.id)))


def is_named(item: Evidence, texts: dict[int, str]) -> bool:
    """Whether another piece of evidence has this one's title in its text; ``texts`` by evidence id, as ``running``."""
    title = running(item.passage.title.split(" (")[0])
    return bool(title.strip()) and any(title in text for other, text in texts.items() if other != item.id)


def running(text: str) -> str:
    """The words of a text, lower-cased, one space around each: so that whole words are found in it."""
    return f" {' '.join(word.casefold() for word in words(text))} "


def titles_of(evidence: Sequence[Evidence]) -> frozenset[str]:
    """The titles that are already there, as ``running``."""
    return frozenset(running(item.passage.title.split(" (")[0]) for item in evidence)
