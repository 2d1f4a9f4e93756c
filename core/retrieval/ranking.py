"""The library's evidence in the order in which it bears on the whole question.

The best of each search for the question itself stays first. A later search scores its hits for its own words: that
counts only where a hit has a reason to stand between what the question found, which is that strong evidence names its
title, or that it bears the bridge: it has every word that a later search added to the question's. A hit without a
reason comes after everything the question found. Measured in ``tests/measure/multihop.py``.
"""

from collections.abc import Collection, Iterator, Sequence

from core.model.evidence import Evidence
from core.model.inquiry import Inquiry, Investigate, SearchKnowledge
from core.model.text import content_words, words

_BRIDGED = 0.5  # what a hit of a later search keeps of its score
_NAMED = 0.2  # what it gains when strong evidence names it
_ALSO_NAMED = 0.1  # what a hit of the question's own search gains by the same
_NAMERS = 6  # pieces of evidence whose text counts as strong


def rank_evidence(inquiry: Inquiry) -> tuple[Evidence, ...]:
    """All evidence of the inquiry, best first. Scores are the searches' own, in [0, 1]."""
    asked = inquiry.plan.queries if isinstance(inquiry.plan, Investigate) else (inquiry.question,)
    made = [search.move.query for search in inquiry.searches if isinstance(search.move, SearchKnowledge)]
    bridges = {query: bridge for query in made if (bridge := _bridge(query, inquiry.standalone))}
    searches = [[item for item in inquiry.library.items if item.query == query] for query in asked]
    scores = {item.id: score for own in searches for item, score in _own_scores(own, inquiry, bridges.values())}
    first = {_first(own, inquiry).id for own in searches if own}
    strong = sorted((item for own in searches for item in own), key=lambda it: (it.id not in first, -scores[it.id]))
    texts = {item.id: running(item.passage.text) for item in strong[:_NAMERS]}

    def place(item: Evidence) -> tuple[bool, bool, float, int]:
        """First the best of the own searches, then by worth what has a reason to stand there, then the rest."""
        named = is_named(item, texts)
        if item.id in scores:
            return item.id not in first, False, -(scores[item.id] + _ALSO_NAMED * named), item.id
        reason = named or (item.query in bridges and _bears(item, bridges[item.query]))
        return True, not reason, -(_BRIDGED * item.hit.score + _NAMED * named), item.id

    return tuple(sorted(inquiry.library.items, key=place))


def _own_scores(
    own: Sequence[Evidence], inquiry: Inquiry, bridges: Collection[frozenset[str]]
) -> Iterator[tuple[Evidence, float]]:
    """The hits of one search for the question, as found, with their scores.

    One that a later search scored higher stays below what stood above it, unless it bears a bridge. Evidence that an
    earlier turn knew already is not in the order in which it was found now: its score counts as it is.
    """
    known = _known_before(inquiry)
    ceiling = 1.0
    for item in own:
        raised = item.id > known and item.hit.score > ceiling
        yield item, ceiling if raised and not any(_bears(item, bridge) for bridge in bridges) else item.hit.score
        ceiling = min(ceiling, item.hit.score) if item.id > known else ceiling


def _first(own: Sequence[Evidence], inquiry: Inquiry) -> Evidence:
    """The best hit of one search for the question, as far as the order tells."""
    known = _known_before(inquiry)
    fresh = [item for item in own if item.id > known]
    return max((*fresh[:1], *(item for item in own if item.id <= known)), key=lambda item: item.hit.score)


def _known_before(inquiry: Inquiry) -> int:
    """Up to this id evidence may come from an earlier turn."""
    return max((item.id for item in inquiry.library.items if not item.query), default=0)


def _bridge(query: str, question: str) -> frozenset[str]:
    """The stems that a search added to the question's."""
    return frozenset(content_words(query)) - frozenset(content_words(question))


def _bears(item: Evidence, bridge: frozenset[str]) -> bool:
    """Whether a piece of evidence has all these stems."""
    return bridge <= set(content_words(item.passage.searchable))


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
