"""Which units are compared by meaning: of each search the most promising, by what is known without encoding them.

The more are compared, the more seem to answer; and where the index has no vectors of them, encoding them is what takes
longest of an answer. Which of them come near is told by their own words, and by how
near their passage is as a whole, whose vector the index has.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain, repeat

from adapters.reasoners.extractive import weights
from adapters.reasoners.extractive.evidence.scoring import ScoredUnit
from core.model.evidence import Evidence


def most_promising(found: Sequence[Evidence], worded: Sequence[Sequence[ScoredUnit]]) -> list[list[ScoredUnit]]:
    """Those of each passage's units, best first by their words, that are among the most promising of its search."""
    far = min((item.hit.dense for item in found if item.hit.dense is not None), default=0.0)

    def promise(one: ScoredUnit) -> float:
        dense = one.evidence.hit.dense
        return one.worth + (far if dense is None else dense)

    by_search = defaultdict[str, list[ScoredUnit]](list)
    rooms = defaultdict[str, Iterator[int]](lambda: chain(weights.UNITS_OF_FIRST, repeat(weights.UNITS_OF_PASSAGE)))
    for item, listed in zip(found, worded, strict=True):
        by_search[item.query].extend(listed[: next(rooms[item.query])])
    ranked = (sorted(of_one, key=promise, reverse=True)[: weights.UNITS_COMPARED] for of_one in by_search.values())
    kept = {id(one) for one in chain.from_iterable(ranked)}
    return [[one for one in listed if id(one) in kept] for listed in worded]
