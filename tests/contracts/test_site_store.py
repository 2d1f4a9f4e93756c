"""The contract of every site store."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from redis.asyncio import Redis

from adapters.redis.kb_stores import RedisSiteStore
from core.model.conversation import Person
from core.model.jobs import Site
from core.ports.job_store import SiteStore
from tests.fakes.memory.site_store import InProcessSiteStore

ADA = Person("slack:T1/U1", "Ada")
NOW = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)


class SiteContract:
    """Override ``site_store``."""

    @pytest.fixture
    def site_store(self) -> SiteStore:
        raise NotImplementedError

    async def test_a_site_is_kept_with_its_pages_until_it_has_none(self, site_store: SiteStore) -> None:
        guide = Site("handbook", "https://b/", 50, {"https://b/x": 0, "https://b/y": 1}, "job1")
        other = Site("handbook", "https://a/", 5, {"https://a/": 0})
        for site in (guide, other, Site("elsewhere", "https://b/", 5, {"https://b/": 0})):
            await site_store.save_site(site)
        assert list(await site_store.sites("handbook")) == [other, guide]
        await site_store.save_site(replace(guide, pages={}))
        assert list(await site_store.sites("handbook")) == [other]


class TestInProcessSiteStore(SiteContract):
    @pytest.fixture
    def site_store(self) -> SiteStore:
        return InProcessSiteStore()


@pytest.mark.live
class TestRedisSiteStore(SiteContract):
    @pytest.fixture
    def site_store(self, redis: Redis) -> SiteStore:
        return RedisSiteStore(redis)
