"""The contract of every proposal store."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from redis.asyncio import Redis

from adapters.redis.kb_stores import RedisProposalStore
from core.model.conversation import Person
from core.model.errors import Busy
from core.model.incoming_events import ReplyTarget
from core.model.jobs import Job, JobKind
from core.ports.job_store import Decision, DisputedSource, Proposal, ProposalStore
from tests.fakes.memory.proposal_store import InProcessProposalStore

ADA = Person("slack:T1/U1", "Ada")
SIDES = (DisputedSource("board", "a.md", "A", "90 days", "2026-03"), DisputedSource("default", "b.md", "B", "30 days"))
NOW = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)


def _job(job_id: str) -> Job:
    return Job(job_id, JobKind.INGEST, "handbook", ADA, NOW, reply_target=ReplyTarget(channel="C1"))


class ProposalContract:
    """Override ``proposal_store``."""

    @pytest.fixture
    def proposal_store(self) -> ProposalStore:
        raise NotImplementedError

    async def test_a_proposal_waits_until_it_is_decided(self, proposal_store: ProposalStore) -> None:
        proposal = Proposal("p1", "", "T/C/1", "Refunds", "# Refunds", ADA, NOW, "https://a", sides=SIDES)
        await proposal_store.keep_proposal(proposal)
        assert list(await proposal_store.proposals()) == [proposal]
        assert await proposal_store.proposal("p1") == proposal
        assert await proposal_store.decision("p1") is None
        rejected = Decision("d1", "p1", approved=False, by=ADA, at=NOW)
        assert await proposal_store.decide(rejected) == rejected
        assert list(await proposal_store.proposals()) == []
        assert list(await proposal_store.open_decisions()) == []
        assert await proposal_store.proposal("p1") is None
        assert await proposal_store.decision("p1") == rejected

    async def test_what_was_decided_can_be_proposed_and_decided_again(self, proposal_store: ProposalStore) -> None:
        proposal = Proposal("p1", "", "T/C/1", "Refunds", "# Refunds", ADA, NOW)
        for number, job in enumerate((None, _job("j1"), _job("j2"))):
            await proposal_store.keep_proposal(proposal)
            decision = Decision(f"d{number}", "p1", job is not None, ADA, NOW, job=job)
            assert await proposal_store.decide(decision) == decision
            if number == 1:
                await proposal_store.settle("p1")
            await proposal_store.reopen("p1")
            assert await proposal_store.decision("p1") is None
        assert list(await proposal_store.open_decisions()) == []

    async def test_of_many_decisions_the_first_holds(self, proposal_store: ProposalStore) -> None:
        await proposal_store.keep_proposal(Proposal("p1", "", "T/C/1", "Refunds", "# Refunds", ADA, NOW))
        made = [Decision(f"d{n}", "p1", n % 2 == 0, ADA, NOW, job=_job(f"j{n}") if n % 2 == 0 else None)
                for n in range(4)]  # fmt: skip
        held = await asyncio.gather(*(proposal_store.decide(one) for one in made))
        assert len({one.id for one in held if one is not None}) == 1
        assert None not in held
        assert await proposal_store.decision("p1") == held[0]

    async def test_what_never_waited_cannot_be_decided(self, proposal_store: ProposalStore) -> None:
        assert await proposal_store.decide(Decision("d1", "p1", approved=True, by=ADA, at=NOW, job=_job("j1"))) is None
        assert await proposal_store.decision("p1") is None
        assert list(await proposal_store.open_decisions()) == []

    async def test_an_approval_keeps_its_job_until_that_is_settled(self, proposal_store: ProposalStore) -> None:
        for number in (2, 1):
            await proposal_store.keep_proposal(Proposal(f"p{number}", "", "T/C/1", "Refunds", "# Refunds", ADA, NOW))
            at = NOW + timedelta(minutes=number)
            await proposal_store.decide(
                Decision(f"d{number}", f"p{number}", True, ADA, at, "handbook", _job(f"j{number}"))
            )
        assert [one.job for one in await proposal_store.open_decisions()] == [_job("j1"), _job("j2")]
        await proposal_store.settle("p1")
        await proposal_store.settle("p1")
        await proposal_store.settle("never there")
        assert [one.proposal for one in await proposal_store.open_decisions()] == ["p2"]
        settled = await proposal_store.decision("p1")
        assert settled == Decision("d1", "p1", True, ADA, NOW + timedelta(minutes=1), "handbook")
        assert await proposal_store.decide(Decision("late", "p1", approved=False, by=ADA, at=NOW)) == settled

    async def test_one_person_has_ten_proposals_waiting_at_most(self, proposal_store: ProposalStore) -> None:
        for number in range(10):
            await proposal_store.keep_proposal(Proposal(str(number), "", str(number), "x", "x", ADA, NOW))
        with pytest.raises(Busy):
            await proposal_store.keep_proposal(Proposal("11", "", "11", "x", "x", ADA, NOW))
        await proposal_store.keep_proposal(Proposal("12", "", "12", "x", "x", Person("slack:T1/U2"), NOW))


class TestInProcessProposalStore(ProposalContract):
    @pytest.fixture
    def proposal_store(self) -> ProposalStore:
        return InProcessProposalStore()


@pytest.mark.live
class TestRedisProposalStore(ProposalContract):
    @pytest.fixture
    def proposal_store(self, redis: Redis) -> ProposalStore:
        return RedisProposalStore(redis)
