"""What a Milvus server says of our collection: its indexes, whether it is loaded, how often, and how it is spread."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from adapters.milvus.schema import INDEXED

FINISHED = "Finished"
LOADED = "Loaded"


@dataclass(frozen=True, slots=True)
class FieldIndex:
    """The index of one field: its type, and how far it is built."""

    field: str
    kind: str
    state: str
    pending_rows: int

    @property
    def is_built(self) -> bool:
        """Whether searches need not look at rows one by one."""
        return self.state == FINISHED and not self.pending_rows


@dataclass(frozen=True, slots=True)
class CollectionStatus:
    """As of now. ``partition_key`` is a field's name, empty where rows are not spread by one (docs/scale.md)."""

    version: str
    indexes: Sequence[FieldIndex]
    load_state: str
    replicas: int
    partition_key: str

    @property
    def is_loaded(self) -> bool:
        """Whether it can be searched."""
        return self.load_state == LOADED

    @property
    def missing_indexes(self) -> frozenset[str]:
        """Fields that a search needs an index of, and that have none."""
        return frozenset(INDEXED) - {one.field for one in self.indexes}


def read_status(client: Any, collection: str, seconds: float) -> CollectionStatus:
    """Ask a server; it blocks. Raises MilvusException. Milvus Lite knows no versions, states or replicas."""
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
