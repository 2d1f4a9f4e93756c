"""Creation of the collection: its fields, BM25 function and indexes, and the required server version.

It has no partition key. With one (base name or hash), a real 2.3.5 server found only 7 or 8 of 100 upserted rows,
because its hashing differs between writes and reads. Milvus Lite 2.5 has no partition keys at all.
"""

import re
from typing import Any

from adapters.milvus.collection_record import CollectionRecord
from adapters.milvus.rows import BASE_HASH, KEY_BYTES, VARCHAR_BYTES
from core.model.errors import ConfigurationError

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
