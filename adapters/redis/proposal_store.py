"""Proposals and what was decided about them, in Redis: whoever decides first has decided, in one script."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from redis.asyncio import Redis

from adapters.redis.client import bounded_call
from adapters.redis.keys import DECIDED, PROPOSALS, UNDONE
from core.model.errors import Busy
from core.model.json_codec import from_json, to_json
from core.ports.proposal_store import Decision, Proposal, ProposalStore

MOST_PROPOSALS = 500
MOST_PROPOSALS_EACH = 10

# KEYS proposals undone decided; ARGV id decision ttl, and anything where there is nothing to be done after it
_DECIDE = """
local earlier = redis.call('GET', KEYS[3]) or redis.call('HGET', KEYS[2], ARGV[1])
if earlier then return earlier end
if redis.call('HDEL', KEYS[1], ARGV[1]) == 0 then return '' end
if ARGV[4] ~= '' then redis.call('SET', KEYS[3], ARGV[2], 'EX', ARGV[3])
else redis.call('HSET', KEYS[2], ARGV[1], ARGV[2]) end
return ARGV[2]
"""

# KEYS undone decided; ARGV id decision ttl
_SETTLE = """
if redis.call('HDEL', KEYS[1], ARGV[1]) == 1 then redis.call('SET', KEYS[2], ARGV[2], 'EX', ARGV[3]) end
"""


class RedisProposalStore(ProposalStore):
    """Proposals and unsettled approvals are a hash each; what was decided is known for ``decided``."""

    def __init__(self, client: Redis, *, decided: timedelta = timedelta(days=30)) -> None:
        self._client = client
        self._ttl = int(decided.total_seconds())
        self._decide = client.register_script(_DECIDE)
        self._settle = client.register_script(_SETTLE)

    async def keep_proposal(self, proposal: Proposal) -> None:
        """Keep it. Raises Busy when too many wait, of this person or altogether."""
        waiting = await self.proposals()
        mine = sum(other.by.id == proposal.by.id for other in waiting)
        if mine >= MOST_PROPOSALS_EACH or len(waiting) >= MOST_PROPOSALS:
            raise Busy("Many proposals wait for an admin already.", remedy="Please try again when some are decided.")
        async with bounded_call():
            await self._client.hset(PROPOSALS, proposal.id, to_json(proposal))

    async def proposals(self) -> Sequence[Proposal]:
        """Those that wait, oldest first."""
        async with bounded_call():
            stored = await self._client.hvals(PROPOSALS)
        found: list[Proposal] = [from_json(Proposal, text) for text in stored]
        return sorted(found, key=lambda proposal: proposal.at)

    async def proposal(self, proposal_id: str) -> Proposal | None:
        """A proposal by its id; None when it is unknown or decided."""
        async with bounded_call():
            stored = await self._client.hget(PROPOSALS, proposal_id)
        proposal: Proposal | None = None if stored is None else from_json(Proposal, stored)
        return proposal

    async def decide(self, decision: Decision) -> Decision | None:
        """Decide on what waits, once; the decision that holds. None when there is none, and nothing waits."""
        name = decision.proposal
        async with bounded_call():
            held = await self._decide(
                keys=[PROPOSALS, UNDONE, f"{DECIDED}{name}"],
                args=[name, to_json(decision), self._ttl, "" if decision.job else "over"],
            )
        return _decision(held)

    async def decision(self, proposal_id: str) -> Decision | None:
        """What was decided on it, as long as that is known."""
        async with bounded_call():
            undone = await self._client.hget(UNDONE, proposal_id)  # first: what is settled goes from here to there
            return _decision(undone or await self._client.get(f"{DECIDED}{proposal_id}"))

    async def open_decisions(self) -> Sequence[Decision]:
        """Approvals whose job may not be in line yet, oldest first."""
        async with bounded_call():
            stored = await self._client.hvals(UNDONE)
        found: list[Decision] = [from_json(Decision, text) for text in stored]
        return sorted(found, key=lambda decision: decision.at)

    async def settle(self, proposal_id: str) -> None:
        """The job of its approval is in line: who decided stays known, what was proposed is forgotten here."""
        async with bounded_call():
            decision = _decision(await self._client.hget(UNDONE, proposal_id))
            if decision is not None:
                keys = [UNDONE, f"{DECIDED}{proposal_id}"]
                await self._settle(keys=keys, args=[proposal_id, to_json(replace(decision, job=None)), self._ttl])


def _decision(stored: str | bytes | None) -> Decision | None:
    decision: Decision | None = from_json(Decision, str(stored)) if stored else None
    return decision
