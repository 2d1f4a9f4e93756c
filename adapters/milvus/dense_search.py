"""One leg of a search as calls on Milvus, and how its dense leg stays accurate in Milvus Lite.

Below 100,000 rows Milvus Lite 2.5 compares a query with every vector. From there on it looks into the nearest 4 of 100
lists (an inverted file, trained on the first rows), whatever the search asks for: nprobe is not passed on. On 110,000
vectors like the encoder's own that found .74 of the ten nearest; .56 to .77 where the filter leaves few rows.

A range search goes on from list to list until two in a row hold nothing near enough. So a search for the pool says how
near near enough is, and a second one, from somewhat below the pool's last score, brings what the first one missed: .95
of the ten nearest for 2 ms more, and 1.00 among 1,100 rows of a small base.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

INDEXED_FROM = 100_000  # rows; Milvus Lite's own constant
_SHARE, _LESS = 0.8, 0.06  # of the pool's last cosine: whichever of the two reaches further


@dataclass(frozen=True, slots=True)
class DenseSearch:
    """What every call of one search shares."""

    collection: str
    condition: str
    limit: int
    fields: Sequence[str]
    seconds: float

    def near(self, client: Any, field: str, query: Any) -> list[Any]:
        """Return the best hits of one leg."""
        return self._call(client, field, query, list(self.fields), {})

    def nearest(self, client: Any, field: str, vector: Any) -> list[Any]:
        """Return the best hits of the dense leg of a collection whose lists are only looked into in part."""
        first = self._call(client, field, vector, [], {})
        return self._within(client, field, vector, _radius(first)) if first else []

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


def _radius(hits: Sequence[Any]) -> float:
    """Return the cosine from which on a range search finds nearly all that belongs before the last of these."""
    last = float(hits[-1]["distance"])
    return max(-1.0, min(last * _SHARE, last - _LESS))
