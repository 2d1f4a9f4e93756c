"""What every catalogue promises."""

from dataclasses import replace

import pytest
from redis.asyncio import Redis

from adapters.stores.redis_catalogue import RedisCatalogue
from adapters.testing.stores import InProcessCatalogue
from core.knowledge import Document, KnowledgeBase
from core.ports import Catalogue

LEAVE = Document("d1", "handbook", "leave.md", "Leave", "v1", "text/markdown", 4, notes=("a table was flattened",))
TRAVEL = Document("d2", "handbook", "travel.md", "Expenses", "v1", "text/markdown", 2)
PRICES = Document("d3", "sales & co: {x}", "prices.xlsx", "Prices", "v7", "application/x", 9, url="https://x.example")


class CatalogueContract:
    """Override ``catalogue``."""

    @pytest.fixture
    def catalogue(self) -> Catalogue:
        raise NotImplementedError

    async def test_it_remembers_which_index_its_passages_are_in(self, catalogue: Catalogue) -> None:
        assert await catalogue.index_identity() == ""
        for identity in ("one", "another"):
            await catalogue.remember_index(identity)
            assert await catalogue.index_identity() == identity

    async def test_bases_come_by_name_and_are_replaced_whole(self, catalogue: Catalogue) -> None:
        await catalogue.save_base(KnowledgeBase("sales"))
        await catalogue.save_base(KnowledgeBase("handbook", "old", frozenset({"a", "b"})))
        await catalogue.save_base(KnowledgeBase("handbook", "How we work"))
        assert await catalogue.bases() == [KnowledgeBase("handbook", "How we work"), KnowledgeBase("sales")]

    async def test_publishing_makes_one_version_visible_and_tells_what_it_replaced(self, catalogue: Catalogue) -> None:
        assert await catalogue.publish(LEAVE) is None
        newer = replace(LEAVE, version="v2", passages=5)
        assert await catalogue.publish(newer) == LEAVE
        assert await catalogue.document("d1") == newer
        assert await catalogue.visible_versions(["d1"]) == {"d1": "v2"}

    async def test_documents_come_by_base_and_title(self, catalogue: Catalogue) -> None:
        for document in (PRICES, LEAVE, TRAVEL):
            await catalogue.publish(document)
        assert await catalogue.documents(frozenset({"handbook", PRICES.knowledge_base})) == [TRAVEL, LEAVE, PRICES]
        assert await catalogue.documents(frozenset({"handbook"})) == [TRAVEL, LEAVE]
        assert await catalogue.documents(frozenset()) == []

    async def test_only_visible_documents_have_a_visible_version(self, catalogue: Catalogue) -> None:
        await catalogue.publish(LEAVE)
        await catalogue.publish(PRICES)
        asked = ["d1", "d3", "d1", "never there"]
        assert await catalogue.visible_versions(asked) == {"d1": "v1", "d3": "v7"}
        assert await catalogue.visible_versions([]) == {}

    @pytest.mark.parametrize("others", [0, 5_000], ids=["few", "more than Lua's stack"])
    async def test_ids_of_any_kind_and_number_are_asked_for_at_once(self, catalogue: Catalogue, others: int) -> None:
        odd = ['say "so"', "two\nlines", "日本語 😀", "back\\slash", "null", "[1]"]
        for name in odd:
            await catalogue.publish(replace(LEAVE, id=name, version=f"of {name}"))
        asked = [*odd, *(f"never there {n}" for n in range(others))]
        assert await catalogue.visible_versions(asked) == {name: f"of {name}" for name in odd}

    async def test_a_withdrawn_document_is_gone_at_once(self, catalogue: Catalogue) -> None:
        await catalogue.publish(LEAVE)
        assert await catalogue.withdraw("d1") == LEAVE
        assert await catalogue.document("d1") is None
        assert await catalogue.documents(frozenset({"handbook"})) == []
        assert await catalogue.visible_versions(["d1"]) == {}
        assert await catalogue.withdraw("d1") is None

    async def test_a_removed_base_takes_its_documents_along(self, catalogue: Catalogue) -> None:
        for base in ("handbook", PRICES.knowledge_base):
            await catalogue.save_base(KnowledgeBase(base))
        for document in (PRICES, LEAVE, TRAVEL):
            await catalogue.publish(document)
        await catalogue.remove_base("handbook")
        assert [base.name for base in await catalogue.bases()] == [PRICES.knowledge_base]
        assert await catalogue.visible_versions(["d1", "d2", "d3"]) == {"d3": "v7"}
        assert await catalogue.document("d1") is None


class TestInProcessCatalogue(CatalogueContract):
    @pytest.fixture
    def catalogue(self) -> Catalogue:
        return InProcessCatalogue()


@pytest.mark.live
class TestRedisCatalogue(CatalogueContract):
    @pytest.fixture
    def catalogue(self, redis: Redis) -> Catalogue:
        return RedisCatalogue(redis)
