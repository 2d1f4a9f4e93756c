"""The contract of every trash store."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from redis.asyncio import Redis

from adapters.redis.kb_stores import RedisTrashStore
from core.model.conversation import Person
from core.model.knowledge import Document, KnowledgeBase
from core.ports.catalog import RemovedDocument, TrashStore
from tests.fakes.memory.trash_store import InProcessTrashStore

ADA = Person("slack:T1/U1", "Ada")
NOW = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)


class TrashContract:
    """Override ``trash_store``."""

    @pytest.fixture
    def trash_store(self) -> TrashStore:
        raise NotImplementedError

    async def test_a_removal_is_found_until_it_is_forgotten(self, trash_store: TrashStore) -> None:
        document = Document("d1", "handbook", "a.md", "A", "v1", "text/markdown", 3)
        removed = RemovedDocument(document, KnowledgeBase("handbook", "x", frozenset({"g"})), NOW, ADA.id, "copy")
        later = replace(removed, document=replace(document, id="d2"), at=NOW + timedelta(hours=1))
        await trash_store.keep_removal(removed)
        await trash_store.keep_removal(later)
        assert list(await trash_store.removals()) == [later, removed]
        assert await trash_store.removal("d1") == removed
        await trash_store.forget_removal("d1")
        assert await trash_store.removal("d1") is None

    async def test_replaced_versions_are_kept_beside_a_removal(self, trash_store: TrashStore) -> None:
        document = Document("d1", "handbook", "a.md", "A", "v3", "text/markdown", 3)
        removed = RemovedDocument(document, KnowledgeBase("handbook"), NOW, ADA.id, "copy")
        replaced = [
            replace(removed, document=replace(document, version=f"v{n}"), at=NOW - timedelta(hours=n), replaced=True)
            for n in (1, 2)
        ]
        for one in (*replaced, removed, replaced[0]):
            await trash_store.keep_removal(one)
        assert list(await trash_store.removals()) == [removed, *replaced]
        assert await trash_store.removal("d1") == removed
        await trash_store.forget_removal(removed.key)
        await trash_store.forget_removal(replaced[0].key)
        assert (await trash_store.removal("d1"), list(await trash_store.removals())) == (None, [replaced[1]])


class TestInProcessTrashStore(TrashContract):
    @pytest.fixture
    def trash_store(self) -> TrashStore:
        return InProcessTrashStore()


@pytest.mark.live
class TestRedisTrashStore(TrashContract):
    @pytest.fixture
    def trash_store(self, redis: Redis) -> TrashStore:
        return RedisTrashStore(redis)
