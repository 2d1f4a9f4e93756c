"""The contract of every connection store."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from redis.asyncio import Redis

from adapters.redis.kb_stores import RedisConnectionStore
from core.model.connections import Connection, SyncedItem, SyncPhase, SyncState
from core.model.conversation import Person
from core.ports.connector import ConnectionStore
from tests.fakes.memory.connection_store import InProcessConnectionStore

NOW = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
WIKI = Connection(
    "wiki",
    "confluence",
    {"url": "https://example.atlassian.net"},
    {"token": "sealed"},
    Person("terminal:operator", "operator"),
    NOW,
    mapping={"g1": frozenset({"slack:team:T1"})},
)


class ConnectionContract:
    """Override ``store``."""

    @pytest.fixture
    def store(self) -> ConnectionStore:
        raise NotImplementedError

    async def test_keeps_connections_by_name(self, store: ConnectionStore) -> None:
        other = replace(WIKI, name="archive")
        for connection in (WIKI, other, replace(WIKI, minutes=60)):
            await store.save_connection(connection)
        assert list(await store.connections()) == [other, replace(WIKI, minutes=60)]

    async def test_an_unknown_connection_has_a_new_state_and_no_items(self, store: ConnectionStore) -> None:
        assert await store.state("wiki") == SyncState()
        assert dict(await store.items("wiki")) == {}

    async def test_keeps_state_and_items_together(self, store: ConnectionStore) -> None:
        state = SyncState(3, SyncPhase.DOCUMENTS, "c", started_at=NOW, bases={"d": "wiki"}, groups={"g": 2})
        items = [SyncedItem(str(number), "{}", "d", 3) for number in range(2_500)]
        await store.save_state("wiki", state, items)
        await store.save_items("wiki", [replace(items[0], reason="It is broken.", failed_since=NOW, tries=1)])
        await store.remove_items("wiki", ["1", "2"])
        assert await store.state("wiki") == state
        found = await store.items("wiki")
        assert len(found) == 2_498
        assert found["0"].failed_since == NOW
        assert found["2499"] == items[2499]

    async def test_forgets_all_of_one_connection(self, store: ConnectionStore) -> None:
        for name in ("wiki", "archive"):
            await store.save_connection(replace(WIKI, name=name))
            await store.save_state(name, SyncState(1), [SyncedItem("1", "{}", "d", 1)])
        await store.remove_connection("wiki")
        assert [one.name for one in await store.connections()] == ["archive"]
        assert await store.state("wiki") == SyncState()
        assert not await store.items("wiki")
        assert await store.items("archive")


class TestInProcessConnectionStore(ConnectionContract):
    @pytest.fixture
    def store(self) -> ConnectionStore:
        return InProcessConnectionStore()


@pytest.mark.live
class TestRedisConnectionStore(ConnectionContract):
    @pytest.fixture
    def store(self, redis: Redis) -> ConnectionStore:
        return RedisConnectionStore(redis)
