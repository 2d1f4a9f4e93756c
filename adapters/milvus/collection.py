"""Our collection on Milvus: fields, BM25 function and indexes, its record, and its status on a server.

It has no partition key. With one (base name or hash), a real 2.3.5 server found only 7 or 8 of 100 upserted rows,
because its hashing differs between writes and reads. Milvus Lite 2.5 has no partition keys at all.
"""

import json
import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

from adapters.milvus.rows import BASE_HASH, KEY_BYTES, VARCHAR_BYTES
from core.model.errors import ConfigurationError, IndexMismatch

INDEXED = ("vector", "sparse")
OLDEST_SERVER = (2, 5)  # the first with BM25 functions
# For a server's collection. A process sees its own writes at once, and others' writes once they are confirmed, in 5 to
# 6 ms. With Strong, each search waits for the server's next time tick: 399 ms on a real one.
SERVER_CONSISTENCY = "Session"
EMBEDDED_CONSISTENCY = "Strong"  # costs nothing there


def check_server(client: Any, uri: str, seconds: float) -> None:
    """Raise ConfigurationError if the server is too old, before anything is created on it."""
    version = str(client.get_server_version(timeout=seconds))
    numbers = re.match(r"v?(\d+)\.(\d+)", version)
    if numbers is not None and (int(numbers[1]), int(numbers[2])) < OLDEST_SERVER:
        raise ConfigurationError(
            f"Milvus 2.5 or newer is needed: the server at {uri} is {version}, and has no BM25 functions.",
            remedy=(
                "Upgrade it, or set MILVUS_URI to another server. Without MILVUS_URI, Footnote uses the embedded"
                " Milvus Lite."
            ),
        )


# 1 (not written to the record): first version, with or without base hashes. 2: has an identity.
SCHEMA = 2


@dataclass(frozen=True, slots=True)
class CollectionRecord:
    """``model`` and ``dimension`` of the vectors; ``identity`` is unique to the collection, empty before schema 2."""

    model: str
    dimension: int
    schema: int = 1
    identity: str = ""

    @classmethod
    def new(cls, model: str, dimension: int) -> Self:
        """Return the record of a new collection, with a new identity."""
        return cls(model, dimension, SCHEMA, uuid.uuid4().hex)

    @classmethod
    def of(cls, description: str) -> Self:
        """Parse a collection's description; for a foreign collection, return a record that fails every check."""
        try:
            kept = json.loads(description)
            return cls(
                str(kept["model"]), int(kept["dimension"]), int(kept.get("schema", 1)), str(kept.get("identity", ""))
            )
        except (ValueError, KeyError, TypeError):
            return cls("something else", 0)

    def to_json(self) -> str:
        """Return the record as JSON for the collection's description; ``of`` parses it."""
        return json.dumps(asdict(self))

    def check(self, model: str, dimension: int) -> None:
        """Raise IndexMismatch unless model and dimension match and this version of Footnote supports the schema.

        Collections of schema 1 are read and written unchanged.
        """
        if self.schema > SCHEMA:
            raise IndexMismatch(
                f"The index was written by a newer Footnote: its schema is {self.schema}, and this one knows {SCHEMA}.",
                remedy="Upgrade Footnote. Or set MILVUS_URI to a new place and run footnote kb repair to fill it.",
            )
        if (self.model, self.dimension) != (model, dimension):
            raise IndexMismatch(
                f"The index was written with {self.model} ({self.dimension} dimensions), "
                f"but EMBEDDING_MODEL is {model} ({dimension}).",
                remedy=f"Set EMBEDDING_MODEL back to {self.model}, or MILVUS_URI to a new place and let "
                "footnote kb repair fill it.",
            )


def create_collection(client: Any, name: str, record: CollectionRecord, *, embedded: bool, seconds: float) -> None:
    """Create the collection without its indexes."""
    schema = fields_of(client, record)
    add_lexical_field(schema)
    level = EMBEDDED_CONSISTENCY if embedded else SERVER_CONSISTENCY
    client.create_collection(name, schema=schema, consistency_level=level, timeout=seconds)


def fields_of(client: Any, record: CollectionRecord) -> Any:
    """Return the schema without the fields of the lexical leg."""
    from pymilvus import DataType

    # In the description, because Milvus Lite loses properties.
    schema = client.create_schema(auto_id=False, enable_dynamic_field=False, description=record.to_json())
    schema.add_field("id", DataType.VARCHAR, max_length=KEY_BYTES, is_primary=True)
    for name in ("knowledge_base", "document", "version", "section"):
        schema.add_field(name, DataType.VARCHAR, max_length=KEY_BYTES)
    schema.add_field("ordinal", DataType.INT64)
    schema.add_field(BASE_HASH, DataType.INT64)
    schema.add_field("about", DataType.JSON)
    schema.add_field("vector", DataType.FLOAT_VECTOR, dim=record.dimension)
    return schema


def add_lexical_field(schema: Any) -> None:
    """Add the text with an analyzer that stems English, and the sparse field that Milvus computes from it."""
    from pymilvus import DataType, Function, FunctionType

    analyzer = {"type": "english"}
    schema.add_field("text", DataType.VARCHAR, max_length=VARCHAR_BYTES, enable_analyzer=True, analyzer_params=analyzer)
    schema.add_field("sparse", DataType.SPARSE_FLOAT_VECTOR)
    schema.add_function(
        Function(
            name="bm25", function_type=FunctionType.BM25, input_field_names=["text"], output_field_names=["sparse"]
        )
    )


def create_indexes(client: Any, name: str, fields: tuple[str, ...], seconds: float) -> None:
    """Create an index per field. AUTOINDEX is HNSW in Milvus Lite and the server's choice elsewhere."""
    indexes = client.prepare_index_params()
    if "vector" in fields:
        indexes.add_index("vector", index_type="AUTOINDEX", metric_type="COSINE")
    if "sparse" in fields:
        parameters = {"bm25_k1": 1.2, "bm25_b": 0.75}
        indexes.add_index("sparse", index_type="SPARSE_INVERTED_INDEX", metric_type="BM25", params=parameters)
    # No waiting: the collection is empty, and pymilvus would poll each index half a second later.
    client.create_index(name, indexes, sync=False, timeout=seconds)


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
