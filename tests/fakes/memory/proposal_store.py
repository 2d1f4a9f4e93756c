"""Proposals and decisions in dictionaries, for tests."""

from collections.abc import Sequence
from dataclasses import replace

from core.model.errors import Busy
from core.ports.job_store import Decision, Proposal, ProposalStore
from tests.fakes.memory.stores import InProcessState


class InProcessProposalStore(ProposalStore):
    """Keeps every proposal and every decision; ``state`` is shared with what forgets people."""

    def __init__(self, state: InProcessState | None = None, *, most_each: int = 10) -> None:
        self._proposals: dict[str, Proposal] = (state or InProcessState()).proposals
        self._decisions: dict[str, Decision] = {}
        self._most_each = most_each

    async def keep_proposal(self, proposal: Proposal) -> None:
        """Keep it. Raises Busy when too many of this person wait."""
        if sum(other.by.id == proposal.by.id for other in self._proposals.values()) >= self._most_each:
            raise Busy(
                "Many proposals are already waiting for an admin.",
                remedy="Please try again when an admin has decided some of them.",
            )
        self._proposals[proposal.id] = proposal

    async def proposals(self) -> Sequence[Proposal]:
        """Those that wait, oldest first."""
        return sorted(self._proposals.values(), key=lambda proposal: proposal.at)

    async def proposal(self, proposal_id: str) -> Proposal | None:
        """A proposal by its id; None when it is unknown or decided."""
        return self._proposals.get(proposal_id)

    async def decide(self, decision: Decision) -> Decision | None:
        """Decide on what waits, once; the decision that holds."""
        if self._proposals.pop(decision.proposal, None) is not None:
            self._decisions[decision.proposal] = decision
        return self._decisions.get(decision.proposal)

    async def decision(self, proposal_id: str) -> Decision | None:
        """What was decided on it."""
        return self._decisions.get(proposal_id)

    async def open_decisions(self) -> Sequence[Decision]:
        """Approvals whose job may not be in line yet, oldest first."""
        return sorted((one for one in self._decisions.values() if one.job), key=lambda decision: decision.at)

    async def reopen(self, proposal_id: str) -> None:
        """What was decided is forgotten."""
        self._decisions.pop(proposal_id, None)

    async def settle(self, proposal_id: str) -> None:
        """The job of its approval is in line."""
        if proposal_id in self._decisions:
            self._decisions[proposal_id] = replace(self._decisions[proposal_id], job=None)
