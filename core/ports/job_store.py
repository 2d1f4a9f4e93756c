"""Stores for the work on documents: jobs, schedules, sites and proposals."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Protocol

from core.model.conversation import Person
from core.model.jobs import Job, JobItem, Site


class JobStore(Protocol):
    """Store of jobs, including finished ones for some time."""

    async def keep(self, job: Job) -> bool:
        """Save a new job; False if its id is known."""

    async def read(self, job_id: str) -> Job | None:
        """Return the current state of a job; None if it is unknown."""

    async def record(self, job: Job, items: Sequence[JobItem] = ()) -> None:
        """Replace the state of a job and of these items. Does not change whether it was cancelled."""

    async def cancel(self, job_id: str, by: str) -> bool:
        """Ask the worker of this job to stop; False if the job is unknown or was already asked to."""

    async def find_canceller(self, job_id: str) -> str:
        """Return who cancelled the job; empty if no one did."""

    async def recent(self, limit: int = 50) -> Sequence[Job]:
        """Return the newest jobs, newest first."""


class Every(StrEnum):
    """How often a link is fetched again."""

    DAILY = "daily"
    WEEKLY = "weekly"
    ON_CHANGE = "on-change"  # file stores: listed every minute, read if something changed
    NEVER = "never"

    @property
    def interval(self) -> timedelta | None:
        """The time between two fetches or listings."""
        return {
            Every.DAILY: timedelta(days=1),
            Every.WEEKLY: timedelta(days=7),
            Every.ON_CHANGE: timedelta(minutes=1),
        }.get(self)


@dataclass(frozen=True, slots=True)
class Schedule:
    """A link that is fetched regularly. ``limit`` above 0: including up to this many pages below it."""

    base: str
    link: str
    every: Every
    by: Person
    next_at: datetime
    limit: int = 0

    def is_due(self, now: datetime) -> bool:
        """Return whether it is due, or more than an interval away because the clock was set back."""
        interval = self.every.interval
        return interval is not None and not timedelta() < self.next_at - now <= interval


class ScheduleStore(Protocol):
    """Store of schedules, one for each link of a base. Raises StoreUnavailable."""

    async def save_schedule(self, schedule: Schedule) -> None:
        """Save a schedule, replacing the one of the same link in the same base. NEVER deletes it."""

    async def schedules(self) -> Sequence[Schedule]:
        """Return all schedules, the next due first."""


class SiteStore(Protocol):
    """Store of sites, one for each link of a base. Raises StoreUnavailable."""

    async def save_site(self, site: Site) -> None:
        """Save a site, replacing the one of the same link in the same base. A site without pages is deleted."""

    async def sites(self, base: str) -> Sequence[Site]:
        """Return the sites of a base, by link."""


@dataclass(frozen=True, slots=True)
class DisputedSource:
    """One of two conflicting sources, and what it says."""

    base: str
    source: str
    title: str
    says: str
    dated: str = ""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A proposed document that waits for an admin's decision.

    ``text`` is the document in Markdown, read only by its ingest. ``beginning`` is its first words, without marks and
    title, for lists. It is empty in proposals that the first version saved.
    """

    id: str
    base: str  # empty: the approving admin chooses
    source: str
    title: str
    text: str
    by: Person
    at: datetime
    permalink: str | None = None
    beginning: str = ""
    sides: tuple[DisputedSource, ...] = ()  # conflicting sources: only people who may read both see it and decide
    audience: frozenset[str] = frozenset()  # only these may read it; empty: all readers of the base

    def readable_by(self, visible: frozenset[str]) -> bool:
        """Return whether people who may read these bases may see it."""
        return all(side.base in visible for side in self.sides)


@dataclass(frozen=True, slots=True)
class Decision:
    """An admin's decision on a proposal. ``job`` ingests what was approved and is kept here until it is queued."""

    id: str  # distinguishes two decisions of one person on one proposal
    proposal: str
    approved: bool
    by: Person
    at: datetime
    base: str = ""
    job: Job | None = None


class ProposalStore(Protocol):
    """Store of proposals until they are decided, and of decisions for weeks. Raises StoreUnavailable."""

    async def keep_proposal(self, proposal: Proposal) -> None:
        """Save a proposal. Raises Busy if too many are waiting, of this person or in total."""

    async def proposals(self) -> Sequence[Proposal]:
        """Return the waiting proposals, oldest first."""

    async def proposal(self, proposal_id: str) -> Proposal | None:
        """Return a proposal by id; None if it is unknown or decided."""

    async def decide(self, decision: Decision) -> Decision | None:
        """Decide on a waiting proposal, once. Return the decision in force, which may be an earlier one, or None.

        In the same step it stops waiting. An approval is in ``open_decisions`` until its job is queued.
        """

    async def decision(self, proposal_id: str) -> Decision | None:
        """Return the decision on a proposal, which is known for weeks."""

    async def open_decisions(self) -> Sequence[Decision]:
        """Return the approvals whose job may not be queued yet, oldest first."""

    async def reopen(self, proposal_id: str) -> None:
        """Delete the decision, so that it may be proposed again."""

    async def settle(self, proposal_id: str) -> None:
        """Delete the proposal once the job of its approval is queued. Who decided stays known."""
