"""One leg of a search as calls on Milvus, and how its dense leg stays accurate in Milvus Lite.

Below 100,000 rows Milvus Lite 2.5 compares a query with every vector. From there on it looks into the nearest 4 of 100
lists (an inverted file, trained on the first rows), whatever the search asks for: nprobe is not passed on. On 110,000
vectors like the encoder's own that found .74 of the ten nearest; .56 to .77 where the filter leaves few rows.

A range search goes on from list to list until two in a row hold nothing near enough. So a search for the pool says how
near near enough is, and a second one, from somewhat below the pool's last score, brings what the first one missed: .95
of the ten nearest for 2 ms more, and 1.00 among 1,100 rows of a small base.

Mostly the first of the two is not needed: a thousand vectors of the collection tell well enough beforehand how near
the pool's last will be (``RadiusEstimator``).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from core.ports.encoder import Vectors

INDEXED_FROM = 100_000  # rows; Milvus Lite's own constant
_SHARE, _LESS = 0.8, 0.06  # of the pool's last cosine: whichever of the two reaches further
_WENT_ON = 0.9, 0.04  # of the last of a pool that a range search found: few of the nearest are missing from that one

SAMPLED = 1_000  # vectors: 1.5 MB of 384 dimensions, compared with a query in 0.1 ms
_FEWEST = 100  # of the sample in a scope; of fewer the pool's last cannot be told
_NEAREST = 4  # of the sample, whose mean goes with the pool's last: a correlation of .9
_FURTHER, _NEARER, _FURTHEST = 0.03, 0.001, 0.5  # steps of the cosine; one in thirty asks twice


class RadiusEstimator:
    """How far down a dense search has to reach, told before it is made.

    The cosines of the few nearest in a sample go up and down with that of the pool's last; by how much they differ is
    learned from each search: after one that did not reach far enough all go further, after one that did a little less
    far. So a sample of any size or age will do, and what it says is a matter of speed alone, never of what is found.
    """

    def __init__(self, vectors: Mapping[int, "Vectors"]) -> None:
        """The sample: of each shelf its vectors, (n, dimension)."""
        self._vectors = vectors
        self._further = -0.15  # rather too near at first: that costs a short call, too far may be half of all lists

    def expected(self, vector: "Vectors", shelves: Collection[int]) -> float | None:
        """The least cosine to ask for among these shelves; None where the sample knows too little of them."""
        import numpy as np

        known = [self._vectors[shelf] for shelf in shelves if shelf in self._vectors]
        if sum(map(len, known)) < _FEWEST:
            return None
        cosines = np.concatenate([some @ vector for some in known])
        nearest = float(np.partition(cosines, -_NEAREST)[-_NEAREST:].mean())
        return max(-1.0, _SHARE * nearest - self._further)

    def learn(self, *, enough: bool) -> None:
        """Whether what was expected reached far enough."""
        self._further = max(-_FURTHEST, min(_FURTHEST, self._further + (-_NEARER if enough else _FURTHER)))


@dataclass(frozen=True, slots=True)
class Search:
    """What every call of one search shares."""

    collection: str
    condition: str
    limit: int
    fields: Sequence[str]
    seconds: float

    def near(self, client: Any, field: str, query: Any) -> list[Any]:
        """The best hits of one leg."""
        return self._call(client, field, query, list(self.fields), {})

    def nearest(
        self, client: Any, field: str, vector: Any, reach: RadiusEstimator | None = None, shelves: Collection[int] = ()
    ) -> list[Any]:
        """The best hits of the dense leg of a collection whose lists are only looked into in part.

        With a ``reach`` that knows the ``shelves`` it is mostly one call instead of two: 3.5 ms became 2.7 ms at
        100,000 rows, with .986 of the ten nearest as before (200 questions).
        """
        expected = None if reach is None else reach.expected(vector, shelves)
        if reach is None or expected is None:
            return self._nearest_from(client, field, vector, self._call(client, field, vector, [], {}))
        hits = self._within(client, field, vector, expected)
        enough = len(hits) >= self.limit and expected <= _enough(hits, *_WENT_ON)
        reach.learn(enough=enough)
        if enough:
            return hits
        # Short of the pool, these are near ones only, of few lists: they do not tell how near its last one is.
        first = hits if len(hits) >= self.limit else self._call(client, field, vector, [], {})
        return self._nearest_from(client, field, vector, first)

    def _nearest_from(self, client: Any, field: str, vector: Any, first: list[Any]) -> list[Any]:
        return self._within(client, field, vector, _enough(first)) if first else []

    def _within(self, client: Any, field: str, vector: Any, cosine: float) -> list[Any]:
        return self._call(client, field, vector, list(self.fields), {"params": {"radius": cosine}})

    def _call(self, client: Any, field: str, query: Any, fields: list[str], params: dict[str, Any]) -> list[Any]:
        found = client.search(
            self.collection,
            data=[query],
            anns_field=field,
            filter=self.condition,
            limit=self.limit,
            output_fields=fields,
            search_params=params,
            timeout=self.seconds,
        )
        hits: list[Any] = found[0]
        return hits


def _enough(hits: Sequence[Any], share: float = _SHARE, less: float = _LESS) -> float:
    """The cosine from which on a range search finds nearly all that belongs before the last of these."""
    last = float(hits[-1]["distance"])
    return max(-1.0, min(last * share, last - less))
