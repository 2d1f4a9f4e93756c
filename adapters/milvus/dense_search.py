"""One leg of a search as calls on Milvus, and a workaround for the inaccurate dense leg of Milvus Lite.

Below 100,000 rows Milvus Lite 2.5 compares a query with every vector. Above, it searches the nearest 4 of 100 lists (an
inverted file, trained on the first rows) and ignores nprobe. On 110,000 vectors like the encoder's own, that found .74
of the ten nearest, and .56 to .77 with a filter that leaves few rows.

A range search continues through the lists until two in a row contain nothing within the radius. A first search fills
the pool, and a second one, with a radius somewhat below the pool's last score, finds what the first missed. Together
they find .95 of the ten nearest for 2 ms more, and 1.00 among 1,100 rows of a small base.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

INDEXED_FROM = 100_000  # rows; a constant of Milvus Lite
_SHARE, _LESS = 0.8, 0.06  # of the pool's last cosine; the lower of the two results is used


@dataclass(frozen=True, slots=True)
class DenseSearch:
    """Parameters shared by the calls of one search."""

    collection: str
    condition: str
    limit: int
    fields: Sequence[str]
    seconds: float

    def near(self, client: Any, field: str, query: Any) -> list[Any]:
        """Return the best hits of one leg."""
        return self._call(client, field, query, list(self.fields), {})

    def nearest(self, client: Any, field: str, vector: Any) -> list[Any]:
        """Return the best hits of the dense leg if Milvus searches only some of its lists."""
        first = self._call(client, field, vector, [], {})
        if not first:
            return []
        last = float(first[-1]["distance"])
        radius = max(-1.0, min(last * _SHARE, last - _LESS))  # a cosine within which nearly all better rows are
        return self._call(client, field, vector, list(self.fields), {"params": {"radius": radius}})

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
