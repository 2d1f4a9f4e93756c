"""What is asked of Milvus 2.5 and newer, held to Milvus's own protocol as pymilvus compiled it.

The server that comes as a package is 2.3.5 and knows no functions. So that nothing rests on documentation alone: each
message, field and value that our statements put on the wire is looked up by name in the protocol, and the request that
creates the collection is made as pymilvus makes it and read back.
"""

import json
from typing import Any

import pytest
from pymilvus import MilvusClient
from pymilvus.client.prepare import Prepare
from pymilvus.grpc_gen import common_pb2, milvus_pb2, schema_pb2

from adapters.milvus.collection import (
    EMBEDDED_CONSISTENCY,
    SERVER_CONSISTENCY,
    CollectionRecord,
    add_lexical_field,
    fields_of,
)

CALLS = [
    "Connect",
    "GetVersion",
    "HasCollection",
    "CreateCollection",
    "DescribeCollection",
    "CreateIndex",
    "DescribeIndex",
    "LoadCollection",
    "GetLoadState",
    "GetReplicas",
    "Upsert",
    "Search",
    "Query",
    "Delete",
    "ShowCollections",
    "DropCollection",
]


def created() -> Any:
    """The schema of the collection, as it is sent."""
    schema = fields_of(MilvusClient, CollectionRecord.new("model", 384))
    add_lexical_field(schema)
    request = Prepare.create_collection_request("passages", schema, consistency_level=SERVER_CONSISTENCY)
    sent = schema_pb2.CollectionSchema()
    sent.ParseFromString(request.schema)
    return sent


@pytest.mark.parametrize("name", CALLS)
def test_the_service_has_every_call_that_we_make(name: str) -> None:
    service = milvus_pb2.DESCRIPTOR.services_by_name["MilvusService"]
    assert name in service.methods_by_name


def test_bm25_is_a_function_of_the_collection() -> None:
    (function,) = created().functions
    assert function.type == schema_pb2.FunctionType.Value("BM25")
    assert (list(function.input_field_names), list(function.output_field_names)) == (["text"], ["sparse"])


def test_the_text_is_analysed_as_english_and_bounded_in_bytes() -> None:
    text = next(one for one in created().fields if one.name == "text")
    told = {pair.key: pair.value for pair in text.type_params}
    assert text.data_type == schema_pb2.DataType.Value("VarChar")
    assert told["enable_analyzer"].lower() == "true"
    assert json.loads(told["analyzer_params"]) == {"type": "english"}
    assert int(told["max_length"]) <= 65_535


def test_the_sparse_field_is_the_functions_own() -> None:
    sparse = next(one for one in created().fields if one.name == "sparse")
    assert sparse.data_type == schema_pb2.DataType.Value("SparseFloatVector")
    assert sparse.is_function_output


def test_no_field_is_a_partition_key_and_one_is_the_primary() -> None:
    fields = created().fields
    assert not any(one.is_partition_key for one in fields)
    assert [one.name for one in fields if one.is_primary_key] == ["id"]


@pytest.mark.parametrize("level", [SERVER_CONSISTENCY, EMBEDDED_CONSISTENCY])
def test_consistency_levels_are_the_protocols(level: str) -> None:
    assert common_pb2.ConsistencyLevel.Value(level) >= 0  # it raises for what the protocol does not have


def test_what_doctor_reads_is_told() -> None:
    told = {field.name for field in milvus_pb2.IndexDescription.DESCRIPTOR.fields}
    assert {"field_name", "state", "indexed_rows", "pending_index_rows", "params"} <= told
    assert common_pb2.LoadState.Value("LoadStateLoaded")
    assert "replicas" in {field.name for field in milvus_pb2.GetReplicasResponse.DESCRIPTOR.fields}
