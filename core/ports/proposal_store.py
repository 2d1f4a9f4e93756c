"""What people would have in the knowledge, and what admins decided about it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from core.model.conversation import Person
from core.model.jobs import Job


@dataclass(frozen=True, slots=True)
class Proposal:
    """Something a person would have in the knowledge, until an admin has looked at it.

    ``text`` is the document it would become, in Markdown, which its ingest alone reads; ``beginning`` its first words
    without marks and title, for lists, empty where the first version kept it.
    """

    id: str
    base: str  # empty: whoever approves it says where
    source: str
    title: str
    text: str
    by: Person
    at: datetime
    permalink: str | None = None
    beginning: str = ""


@dataclass(frozen=True, slots=True)
class Decision:
    """What an admin said to a proposal. ``job`` brings in what was approved; it is kept here until it is in line."""

    id: str  # tells two decisions of one person on one proposal apart
    proposal: str
    approved: bool
    by: Person
    at: datetime
    base: str = ""
    job: Job | None = None


class ProposalStore(Protocol):
    """Keeps proposals until they are decided, and decisions for weeks. Raises StoreUnavailable."""

    async def keep_proposal(self, proposal: Proposal) -> None:
        """Keep it. Raises Busy when too many wait, of this person or altogether."""

    async def proposals(self) -> Sequence[Proposal]:
        """Those that wait, oldest first."""

    async def proposal(self, proposal_id: str) -> Proposal | None:
        """A proposal by its id; None when it is unknown or decided."""

    async def decide(self, decision: Decision) -> Decision | None:
        """Decide on what waits, once; the decision that holds, which may be an earlier one. None when there is neither.

        In the same step it ceases to wait, and what was approved is in ``open_decisions`` until its job is in line.
        """

    async def decision(self, proposal_id: str) -> Decision | None:
        """What was decided on it, as long as that is known: for weeks."""

    async def open_decisions(self) -> Sequence[Decision]:
        """Approvals whose job may not be in line yet, oldest first."""

    async def settle(self, proposal_id: str) -> None:
        """The job of its approval is in line: who decided stays known, what was proposed is forgotten here."""
