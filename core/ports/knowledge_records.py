"""Removed documents, schedules, sites, proposals and the decisions on them, kept."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Protocol

from core.model.conversation import Person
from core.model.jobs import Job
from core.model.knowledge import Document, KnowledgeBase
from core.model.sites import Site


@dataclass(frozen=True, slots=True)
class RemovedDocument:
    """A document that was taken out, as it was, and the base it stood in. ``kept`` names the copy set aside."""

    document: Document
    base: KnowledgeBase
    at: datetime
    by: str
    kept: str
    whole_base: bool = False


class Every(StrEnum):
    """How often a link is fetched again."""

    DAILY = "daily"
    WEEKLY = "weekly"
    NEVER = "never"

    @property
    def interval(self) -> timedelta | None:
        """The time from one fetch to the next."""
        return {Every.DAILY: timedelta(days=1), Every.WEEKLY: timedelta(days=7)}.get(self)


@dataclass(frozen=True, slots=True)
class Schedule:
    """A link that is fetched again and again; ``limit`` above 0: with so many pages below it."""

    base: str
    link: str
    every: Every
    by: Person
    next_at: datetime
    limit: int = 0


@dataclass(frozen=True, slots=True)
class Proposal:
    """Something a person would have in the knowledge, until an admin has looked at it. ``text`` is Markdown."""

    id: str
    base: str  # empty: whoever approves it says where
    source: str
    title: str
    text: str
    by: Person
    at: datetime
    permalink: str | None = None


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


class KnowledgeRecords(Protocol):
    """Keeps what was removed, what is fetched again, what sites hold, and what was proposed. Old entries go."""

    async def keep_removed(self, removed: RemovedDocument) -> None:
        """Keep it, replacing an earlier removal of the same document."""

    async def removals(self) -> Sequence[RemovedDocument]:
        """Everything that is kept, the latest first."""

    async def removal(self, document_id: str) -> RemovedDocument | None:
        """The latest removal of this document."""

    async def forget_removed(self, document_id: str) -> None:
        """It was put back, or its time is over."""

    async def schedule(self, schedule: Schedule) -> None:
        """Keep it, replacing the earlier one of the same link in the same base; NEVER takes it away."""

    async def schedules(self) -> Sequence[Schedule]:
        """All of them, the next one first."""

    async def keep_site(self, site: Site) -> None:
        """Keep it, replacing what was known of the same link in the same base; without pages it goes."""

    async def sites(self, base: str) -> Sequence[Site]:
        """The sites of a base, by link."""

    async def propose(self, proposal: Proposal) -> None:
        """Keep it. Raises Busy when too many wait, of this person or altogether."""

    async def proposals(self) -> Sequence[Proposal]:
        """Those that wait, oldest first."""

    async def proposal(self, proposal_id: str) -> Proposal | None:
        """One that waits."""

    async def decide(self, decision: Decision) -> Decision | None:
        """Decide on what waits, once; the decision that holds, which may be an earlier one. None when there is neither.

        In the same step it ceases to wait, and what was approved is among the ``undone`` until it is settled.
        """

    async def decision(self, proposal_id: str) -> Decision | None:
        """What was decided on it, as long as that is known: for weeks."""

    async def undone(self) -> Sequence[Decision]:
        """Approvals whose job may not be in line yet, oldest first."""

    async def settle(self, proposal_id: str) -> None:
        """The job of its approval is in line: who decided stays known, what was proposed is forgotten here."""
