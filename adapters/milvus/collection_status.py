"""Status of our collection on a Milvus server: indexes, load state, replicas and partition key."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from adapters.milvus.schema import INDEXED

FINISHED = "Finished"
LOADED = "Loaded"


@dataclass(frozen=True, slots=True)
class FieldIndex:
    """The index of one field: its type and build progress."""

    field: str
    kind: str
    state: str
    pending_rows: int

    @property
    def is_built(self) -> bool:
        """Whether the index covers all rows, so that searches need no brute force."""
        return self.state == FINISHED and not self.pending_rows


@dataclass(frozen=True, slots=True)
class CollectionStatus:
    """Current status. ``partition_key`` is a field name, or empty without one (docs/scale.md)."""

    version: str
    indexes: Sequence[FieldIndex]
    load_state: str
    replicas: int
    partition_key: str

    @property
    def is_loaded(self) -> bool:
        """Whether the collection can be searched."""
        return self.load_state == LOADED

    @property
    def missing_indexes(self) -> frozenset[str]:
        """Fields that need an index for search but have none."""
        return frozenset(INDEXED) - {one.field for one in self.indexes}


def read_status(client: Any, collection: str, seconds: float) -> CollectionStatus:
    """Query a server (blocking). Raises MilvusException. Milvus Lite has no versions, states or replicas."""
    described = client.describe_collection(collection, timeout=seconds)
    names = client.list_indexes(collection, timeout=seconds)
    indexes = [_field_index(client.describe_index(collection, name, timeout=seconds)) for name in names]
    state = client.get_load_state(collection, timeout=seconds)["state"]
    loaded = getattr(state, "name", str(state))
    return CollectionStatus(
        version=str(client.get_server_version(timeout=seconds)),
        indexes=tuple(sorted(indexes, key=lambda one: one.field)),
        load_state=loaded,
        replicas=len(client.describe_replica(collection, timeout=seconds)) if loaded == LOADED else 0,
        partition_key=next((one["name"] for one in described["fields"] if one.get("is_partition_key")), ""),
    )


def _field_index(told: Mapping[str, Any]) -> FieldIndex:
    return FieldIndex(
        field=str(told["field_name"]),
        kind=str(told.get("index_type", "")),
        state=str(told.get("state", "")),
        pending_rows=int(told.get("pending_index_rows", 0)),
    )
