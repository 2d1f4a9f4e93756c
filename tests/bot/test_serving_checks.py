"""What doctor makes of a Milvus server's words, and of who serves."""

from dataclasses import replace

import pytest

from adapters.milvus.collection import CollectionStatus, FieldIndex
from adapters.redis.client import MemoryUse
from bot.store_checks import milvus_server_check, processes_check, redis_memory_check
from core.model.health import Health
from core.ports.inbox import ServingProcess

VECTOR = FieldIndex("vector", "HNSW", "Finished", 0)
SPARSE = FieldIndex("sparse", "SPARSE_INVERTED_INDEX", "Finished", 0)
WELL = CollectionStatus("v2.6.4", (SPARSE, VECTOR), "Loaded", 2, "")


def test_a_server_that_is_well_is_told_in_one_line() -> None:
    check = milvus_server_check(WELL)
    said = "v2.6.4; sparse SPARSE_INVERTED_INDEX, vector HNSW; Loaded, 2 replica(s); no partition key"
    assert (check.health, check.detail) == (Health.OK, said)


@pytest.mark.parametrize(
    ("status", "health", "said"),
    [
        (replace(WELL, load_state="NotLoad", replicas=0), Health.FAILED, "NotLoad, 0 replica"),
        (replace(WELL, indexes=(VECTOR,)), Health.FAILED, "none of sparse"),
        (replace(WELL, indexes=(SPARSE, replace(VECTOR, pending_rows=5_000))), Health.NOTE, "5,000 rows wait"),
        (replace(WELL, partition_key="base_hash"), Health.OK, "partition key base_hash"),
    ],
)
def test_what_is_wrong_with_it_is_named(status: CollectionStatus, health: Health, said: str) -> None:
    check = milvus_server_check(status)
    assert check.health is health
    assert said in check.detail


@pytest.mark.parametrize(
    ("roles", "health", "said"),
    [
        ([], Health.OK, "none serves now"),
        (["all"], Health.OK, "1 that answer and listen"),
        (["platform", "worker", "worker"], Health.OK, "1 that listen, 2 that answer"),
        (["platform"], Health.FAILED, "nobody answers"),
        (["worker"], Health.FAILED, "nobody listens"),
    ],
)
def test_processes_of_one_kind_alone_are_no_installation(roles: list[str], health: Health, said: str) -> None:
    check = processes_check([ServingProcess(f"p{n}", role, "index", "files") for n, role in enumerate(roles)])
    assert check.health is health
    assert said in check.detail


@pytest.mark.parametrize(
    ("memory", "health", "said"),
    [
        (MemoryUse(10, 100, "allkeys-lru"), Health.FAILED, "maxmemory-policy allkeys-lru"),
        (MemoryUse(10, 100, "volatile-ttl"), Health.FAILED, "maxmemory-policy volatile-ttl"),
        (MemoryUse(90 * 2**20, 100 * 2**20, "noeviction"), Health.NOTE, "90% of 100 MiB"),
        (MemoryUse(90, 100), Health.NOTE, "90%"),
    ],
)
def test_a_redis_that_forgets_or_is_nearly_full_is_told_of(memory: MemoryUse, health: Health, said: str) -> None:
    check = redis_memory_check(memory)
    assert check is not None
    assert (check.health, said in check.detail) == (health, True)


@pytest.mark.parametrize("memory", [MemoryUse(10), MemoryUse(10, 0, "allkeys-lru"), MemoryUse(10, 100, "noeviction")])
def test_a_redis_with_room_and_one_without_a_limit_are_in_order(memory: MemoryUse) -> None:
    assert redis_memory_check(memory) is None
