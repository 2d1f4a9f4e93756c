"""What sites were made of, in one hash of Redis by base and link."""

import json
from collections.abc import Sequence

from redis.asyncio import Redis

from adapters.redis.client import bounded_call
from adapters.redis.keys import SITES
from core.model.json_codec import from_json, to_json
from core.model.sites import Site
from core.ports.site_store import SiteStore


class RedisSiteStore(SiteStore):
    """Entries stay until they are taken away."""

    def __init__(self, client: Redis) -> None:
        self._client = client

    async def save_site(self, site: Site) -> None:
        """Keep it, replacing what was known of the same link in the same base; without pages it goes."""
        field = json.dumps([site.base, site.link])
        async with bounded_call():
            if site.pages:
                await self._client.hset(SITES, field, to_json(site))
            else:
                await self._client.hdel(SITES, field)

    async def sites(self, base: str) -> Sequence[Site]:
        """The sites of a base, by link."""
        async with bounded_call():
            stored = await self._client.hgetall(SITES)
        found: list[Site] = [from_json(Site, text) for field, text in stored.items() if json.loads(field)[0] == base]
        return sorted(found, key=lambda site: site.link)
