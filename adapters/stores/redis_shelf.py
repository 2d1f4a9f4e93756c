"""What was removed, what is fetched again, what sites hold and what was proposed, in Redis. Copies lie elsewhere."""

import json
from collections.abc import Sequence

from redis.asyncio import Redis

from adapters.stores.redis_connection import reaching
from adapters.stores.redis_keys import PROPOSALS, REMOVED, SCHEDULES, SITES
from core.errors import Busy
from core.ingestion.shelves import Every, Proposal, Removed, Schedule, ShelfRecords
from core.ingestion.sites import Site
from core.serial import from_json, to_json

MOST_PROPOSALS = 500
MOST_PROPOSALS_EACH = 10

# KEYS proposals; ARGV id
_TAKE = """
local found = redis.call('HGET', KEYS[1], ARGV[1])
redis.call('HDEL', KEYS[1], ARGV[1])
return found
"""


class RedisShelfRecords(ShelfRecords):
    """Four hashes. Removals and proposals are forgotten by who sweeps; the others stay until they are taken away."""

    def __init__(self, client: Redis) -> None:
        self._client = client
        self._take = client.register_script(_TAKE)

    async def keep_removed(self, removed: Removed) -> None:
        """Keep it, replacing an earlier removal of the same document."""
        async with reaching():
            await self._client.hset(REMOVED, removed.document.id, to_json(removed))

    async def removed(self) -> Sequence[Removed]:
        """Everything that is kept, the latest first."""
        async with reaching():
            stored = await self._client.hvals(REMOVED)
        found: list[Removed] = [from_json(Removed, text) for text in stored]
        return sorted(found, key=lambda removed: removed.at, reverse=True)

    async def removal(self, document_id: str) -> Removed | None:
        """The latest removal of this document."""
        async with reaching():
            stored = await self._client.hget(REMOVED, document_id)
        removed: Removed | None = None if stored is None else from_json(Removed, stored)
        return removed

    async def forget_removed(self, document_id: str) -> None:
        """It was put back, or its time is over."""
        async with reaching():
            await self._client.hdel(REMOVED, document_id)

    async def schedule(self, schedule: Schedule) -> None:
        """Keep it, replacing the earlier one of the same link in the same base; NEVER takes it away."""
        field = json.dumps([schedule.base, schedule.link])
        async with reaching():
            if schedule.every is Every.NEVER:
                await self._client.hdel(SCHEDULES, field)
            else:
                await self._client.hset(SCHEDULES, field, to_json(schedule))

    async def schedules(self) -> Sequence[Schedule]:
        """All of them, the next one first."""
        async with reaching():
            stored = await self._client.hvals(SCHEDULES)
        found: list[Schedule] = [from_json(Schedule, text) for text in stored]
        return sorted(found, key=lambda schedule: schedule.next_at)

    async def keep_site(self, site: Site) -> None:
        """Keep it, replacing what was known of the same link in the same base; without pages it goes."""
        field = json.dumps([site.base, site.link])
        async with reaching():
            if site.pages:
                await self._client.hset(SITES, field, to_json(site))
            else:
                await self._client.hdel(SITES, field)

    async def sites(self, base: str) -> Sequence[Site]:
        """The sites of a base, by link."""
        async with reaching():
            stored = await self._client.hgetall(SITES)
        found: list[Site] = [from_json(Site, text) for field, text in stored.items() if json.loads(field)[0] == base]
        return sorted(found, key=lambda site: site.link)

    async def propose(self, proposal: Proposal) -> None:
        """Keep it. Raises Busy when too many wait, of this person or altogether."""
        waiting = await self.proposals()
        mine = sum(other.by.id == proposal.by.id for other in waiting)
        if mine >= MOST_PROPOSALS_EACH or len(waiting) >= MOST_PROPOSALS:
            raise Busy("Many proposals wait for an admin already.", remedy="Please try again when some are decided.")
        async with reaching():
            await self._client.hset(PROPOSALS, proposal.id, to_json(proposal))

    async def proposals(self) -> Sequence[Proposal]:
        """Those that wait, oldest first."""
        async with reaching():
            stored = await self._client.hvals(PROPOSALS)
        found: list[Proposal] = [from_json(Proposal, text) for text in stored]
        return sorted(found, key=lambda proposal: proposal.at)

    async def take_proposal(self, proposal_id: str) -> Proposal | None:
        """Take it, once: of many callers exactly one gets it."""
        async with reaching():
            stored = await self._take(keys=[PROPOSALS], args=[proposal_id])
        proposal: Proposal | None = None if stored is None else from_json(Proposal, stored)
        return proposal
