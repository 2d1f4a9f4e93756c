"""The contract of every catalog."""

from dataclasses import replace

import pytest
from redis.asyncio import Redis

from adapters.redis.catalog import RedisCatalog
from core.model.knowledge import Document, KnowledgeBase
from core.ports.catalog import Catalog
from tests.fakes.memory.stores import InProcessCatalog

LEAVE = Document("d1", "handbook", "leave.md", "Leave", "v1", "text/markdown", 4, notes=("a table was flattened",))
TRAVEL = Document("d2", "handbook", "travel.md", "Expenses", "v1", "text/markdown", 2)
PRICES = Document("d3", "sales & co: {x}", "prices.xlsx", "Prices", "v7", "application/x", 9, url="https://x.example")


class CatalogueContract:
    """Override ``catalog``."""

    @pytest.fixture
    def catalog(self) -> Catalog:
        raise NotImplementedError

    async def test_it_remembers_which_index_its_passages_are_in(self, catalog: Catalog) -> None:
        assert await catalog.index_identity() == ""
        for identity in ("one", "another"):
            await catalog.remember_index(identity)
            assert await catalog.index_identity() == identity

    async def test_bases_come_by_name_and_are_replaced_whole(self, catalog: Catalog) -> None:
        await catalog.save_base(KnowledgeBase("sales"))
        await catalog.save_base(KnowledgeBase("handbook", "old", frozenset({"a", "b"})))
        await catalog.save_base(KnowledgeBase("handbook", "How we work"))
        assert await catalog.bases() == [KnowledgeBase("handbook", "How we work"), KnowledgeBase("sales")]

    async def test_publishing_makes_one_version_visible_and_tells_what_it_replaced(self, catalog: Catalog) -> None:
        assert await catalog.publish(LEAVE) is None
        newer = replace(LEAVE, version="v2", passages=5)
        assert await catalog.publish(newer) == LEAVE
        assert await catalog.document("d1") == newer
        assert await catalog.visible_versions(["d1"]) == {"d1": "v2"}

    async def test_a_record_is_replaced_only_while_its_version_is_visible(self, catalog: Catalog) -> None:
        await catalog.publish(LEAVE)
        known = replace(LEAVE, origin="here:/srv/docs")
        assert await catalog.republish(known)
        assert await catalog.document("d1") == known
        await catalog.publish(replace(LEAVE, version="v2"))
        assert not await catalog.republish(known)
        assert not await catalog.republish(PRICES)
        assert await catalog.documents(frozenset({"handbook", PRICES.knowledge_base})) == [replace(LEAVE, version="v2")]

    async def test_documents_come_by_base_and_title(self, catalog: Catalog) -> None:
        for document in (PRICES, LEAVE, TRAVEL):
            await catalog.publish(document)
        assert await catalog.documents(frozenset({"handbook", PRICES.knowledge_base})) == [TRAVEL, LEAVE, PRICES]
        assert await catalog.documents(frozenset({"handbook"})) == [TRAVEL, LEAVE]
        assert await catalog.documents(frozenset()) == []

    async def test_each_change_counts_itself_and_others_can_be_counted(self, catalog: Catalog) -> None:
        assert await catalog.changes() == 0
        await catalog.save_base(KnowledgeBase("handbook"))
        await catalog.publish(LEAVE)
        await catalog.withdraw("d1")
        await catalog.remove_base("handbook")
        assert await catalog.changes() == 4
        assert await catalog.count_change() == 5
        assert (await catalog.count_change(at_least=9), await catalog.count_change(at_least=3)) == (9, 10)

    async def test_only_visible_documents_have_a_visible_version(self, catalog: Catalog) -> None:
        await catalog.publish(LEAVE)
        await catalog.publish(PRICES)
        asked = ["d1", "d3", "d1", "never there"]
        assert await catalog.visible_versions(asked) == {"d1": "v1", "d3": "v7"}
        assert await catalog.visible_versions([]) == {}

    @pytest.mark.parametrize("others", [0, 5_000], ids=["few", "more than Lua's stack"])
    async def test_ids_of_any_kind_and_number_are_asked_for_at_once(self, catalog: Catalog, others: int) -> None:
        odd = ['say "so"', "two\nlines", "日本語 😀", "back\\slash", "null", "[1]"]
        for name in odd:
            await catalog.publish(replace(LEAVE, id=name, version=f"of {name}"))
        asked = [*odd, *(f"never there {n}" for n in range(others))]
        assert await catalog.visible_versions(asked) == {name: f"of {name}" for name in odd}

    async def test_a_withdrawn_document_is_gone_at_once(self, catalog: Catalog) -> None:
        await catalog.publish(LEAVE)
        assert await catalog.withdraw("d1") == LEAVE
        assert await catalog.document("d1") is None
        assert await catalog.documents(frozenset({"handbook"})) == []
        assert await catalog.visible_versions(["d1"]) == {}
        assert await catalog.withdraw("d1") is None

    async def test_a_removed_base_takes_its_documents_along(self, catalog: Catalog) -> None:
        for base in ("handbook", PRICES.knowledge_base):
            await catalog.save_base(KnowledgeBase(base))
        for document in (PRICES, LEAVE, TRAVEL):
            await catalog.publish(document)
        await catalog.remove_base("handbook")
        assert [base.name for base in await catalog.bases()] == [PRICES.knowledge_base]
        assert await catalog.visible_versions(["d1", "d2", "d3"]) == {"d3": "v7"}
        assert await catalog.document("d1") is None


class TestInProcessCatalogue(CatalogueContract):
    @pytest.fixture
    def catalog(self) -> Catalog:
        return InProcessCatalog()


@pytest.mark.live
class TestRedisCatalogue(CatalogueContract):
    @pytest.fixture
    def catalog(self, redis: Redis) -> Catalog:
        return RedisCatalog(redis)
