"""Schema versions: older data is migrated, newer data is rejected."""

import pytest
from redis.asyncio import Redis

from adapters.milvus.collection import SCHEMA as COLLECTION_SCHEMA
from adapters.milvus.collection import CollectionRecord
from adapters.redis.keys import SCHEMA as SCHEMA_KEY
from adapters.redis.schema import SCHEMA, check_schema
from core.model.errors import ConfigurationError, IndexMismatch


@pytest.mark.live
async def test_redis_of_a_newer_version_is_not_touched(redis: Redis) -> None:
    await check_schema(redis)
    assert await redis.get(SCHEMA_KEY) == str(SCHEMA)
    await redis.set(SCHEMA_KEY, SCHEMA + 1)
    with pytest.raises(ConfigurationError, match=r"newer Footnote.* Upgrade Footnote"):
        await check_schema(redis)
    assert await redis.get(SCHEMA_KEY) == str(SCHEMA + 1)


def test_a_collection_of_a_newer_version_is_refused() -> None:
    newer = CollectionRecord("m", 3, COLLECTION_SCHEMA + 1, "x")
    with pytest.raises(IndexMismatch, match=r"newer Footnote.* Upgrade Footnote"):
        CollectionRecord.of(newer.to_json()).check("m", 3)


def test_a_collection_of_the_first_version_is_read_as_it_is() -> None:
    first = CollectionRecord.of('{"model": "m", "dimension": 3}')
    first.check("m", 3)
    assert (first.schema, first.identity) == (1, "")
