"""Every request except BM25 on a real Milvus server, and behaviour that Milvus Lite cannot show."""

import time
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from pymilvus import MilvusClient

from adapters.milvus.index import MilvusIndex
from adapters.milvus.rows import VARCHAR_BYTES
from bot.store_checks import milvus_server_check
from core.model.errors import ConfigurationError
from core.model.health import Health
from core.ports.index import Scope
from tests.contracts import test_index as shared
from tests.contracts.test_index import ODD_NAMES, add, find, passage
from tests.fakes.memory.encoder import HashingEncoder
from tests.topologies.milvus_server import AVAILABLE, DenseMilvusIndex, milvus_server

pytestmark = [
    pytest.mark.live,
    pytest.mark.timeout(900),
    pytest.mark.skipif(not AVAILABLE, reason="There is no Milvus server here: pip install milvus==2.3.5 --no-deps."),
]
ENCODER = HashingEncoder()
SHARED = (
    shared.test_a_passage_comes_back_whole,
    shared.test_an_empty_index_knows_no_vectors,
    shared.test_an_id_twice_in_one_batch_is_one_passage,
    shared.test_known_vectors_come_back_as_they_were_written,
    shared.test_many_documents_are_swept,
    shared.test_many_passages_are_written_and_listed_in_batches,
    shared.test_no_two_indexes_have_the_same_identity,
    shared.test_nothing_is_added_when_nothing_is_given,
    shared.test_one_source_alone_can_be_searched,
    shared.test_passages_are_counted_by_the_version_that_is_asked_for,
    shared.test_removing_all_but_one_version_leaves_that_one,
    shared.test_searches_and_writes_run_side_by_side,
    shared.test_sweeping_deletes_exactly_the_versions_that_are_named,
    shared.test_the_filter_is_inside_the_query,
)


def opened(server: str, name: str) -> DenseMilvusIndex:
    return DenseMilvusIndex(server, model=ENCODER.name, dimension=ENCODER.dimension, collection=name)


@asynccontextmanager
async def new_index(server: str) -> AsyncIterator[DenseMilvusIndex]:
    name = f"c{uuid.uuid4().hex}"
    async with opened(server, name) as made:
        yield made
    client = MilvusClient(uri=server)
    client.drop_collection(name)
    client.close()


async def test_every_statement_of_ours_runs_on_a_real_server(subtests: pytest.Subtests) -> None:
    """One test, because there is one server: two that start at once take each other's ports."""
    with milvus_server() as server:
        with subtests.test("too old"):
            await a_server_without_bm25_functions_is_named_and_left_as_it_was(server)
        for harness in (*SHARED, *OURS):
            with subtests.test(harness.__name__):
                async with new_index(server) as index:
                    await harness(index)


async def a_server_without_bm25_functions_is_named_and_left_as_it_was(server: str) -> None:
    index = MilvusIndex(server, model=ENCODER.name, dimension=ENCODER.dimension, collection="never_made")
    with pytest.raises(ConfigurationError, match=r"Milvus 2\.5 or newer is needed: .* is v2\.3\.5"):
        await index.open()
    await index.close()
    client = MilvusClient(uri=server)
    assert not client.has_collection("never_made")
    client.close()


async def what_one_process_has_confirmed_another_finds(index: DenseMilvusIndex) -> None:
    await add(index, *(passage(f"p{n}", f"leave {n}", version="v1") for n in range(100)))
    assert await index.confirm("doc", "v1") == 100
    async with opened(index._connection.uri, index._collection) as another:
        assert another.identity == index.identity
        assert len(await find(another, "leave 7", "handbook")) == 10
        assert await another.passage_counts({"doc": "v1"}) == {"doc": 100}


async def a_search_does_not_wait_for_the_servers_clock(index: DenseMilvusIndex) -> None:
    """Not a bound on time, which a busy machine may take: only that the one wait there is, is not in every search."""
    await add(index, *(passage(f"p{n}", f"leave {n}", version="v1") for n in range(50)))
    await index.confirm("doc", "v1")
    searched, confirmed = [], []
    for _ in range(7):
        began = time.monotonic()
        await find(index, "leave 7", "handbook")
        searched.append(time.monotonic() - began)
        began = time.monotonic()
        await index.confirm("doc", "v1")
        confirmed.append(time.monotonic() - began)
    assert sorted(searched)[3] < sorted(confirmed)[3]


async def fields_are_bounded_in_bytes_as_ours_are(index: DenseMilvusIndex) -> None:
    head = len("Leave\n")
    whole = "日" * ((VARCHAR_BYTES - head) // 3)
    await add(index, passage("a", whole))
    (found,) = await index.passages("doc", "v1", Scope(frozenset({"handbook"})))
    assert found.text == whole


async def names_of_any_kind_stay_names_here_too(index: DenseMilvusIndex) -> None:
    named = [passage(f"p{n}", "leave", base=name, document=name, version=name) for n, name in enumerate(ODD_NAMES)]
    await add(index, *named)
    for n, name in enumerate(ODD_NAMES):
        assert await find(index, "leave", name) == {f"p{n}"}
        assert await index.confirm(name, name) == 1
        assert await index.remove(name) == 1


async def doctor_is_told_of_indexes_load_and_replicas(index: DenseMilvusIndex) -> None:
    await add(index, *(passage(f"p{n}", f"leave {n}", version="v1") for n in range(50)))
    status = await index.status()
    assert status is not None
    assert status.version.startswith("v2.3.5")
    assert (status.load_state, status.replicas, status.partition_key) == ("Loaded", 1, "")
    (vector,) = status.indexes
    assert (vector.field, vector.kind) == ("vector", "AUTOINDEX")
    assert status.missing_indexes == {"sparse"}  # which this server cannot have
    assert milvus_server_check(replace(status, indexes=(vector, replace(vector, field="sparse")))).health is Health.OK
    client = MilvusClient(uri=index._connection.uri)
    client.release_collection(index._collection)
    client.close()
    released = await index.status()
    assert released is not None
    assert (released.is_loaded, released.replicas) == (False, 0)
    assert milvus_server_check(released).health is Health.FAILED


OURS = (
    doctor_is_told_of_indexes_load_and_replicas,
    what_one_process_has_confirmed_another_finds,
    a_search_does_not_wait_for_the_servers_clock,
    fields_are_bounded_in_bytes_as_ours_are,
    names_of_any_kind_stay_names_here_too,
)
