"""Where the work on documents is kept: jobs, schedules, sites and proposals."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Protocol

from core.model.conversation import Person
from core.model.jobs import Job, JobItem, Site


class JobStore(Protocol):
    """Where jobs are kept, those that are over too, for a time."""

    async def keep(self, job: Job) -> bool:
        """Keep a new job; False when one of this id is known."""

    async def read(self, job_id: str) -> Job | None:
        """Return a job as it is now; None when it is unknown."""

    async def record(self, job: Job, items: Sequence[JobItem] = ()) -> None:
        """Replace what is known of a job, and of these of its items. Whether it was cancelled stays as it is."""

    async def cancel(self, job_id: str, by: str) -> bool:
        """Ask the worker of this job to end it; False when it is unknown or asked already."""

    async def find_canceller(self, job_id: str) -> str:
        """Return who cancelled it; empty when nobody did."""

    async def recent(self, limit: int = 50) -> Sequence[Job]:
        """Return the newest jobs, newest first."""


class Every(StrEnum):
    """How often a link is fetched again."""

    DAILY = "daily"
    WEEKLY = "weekly"
    ON_CHANGE = "on-change"  # a place that keeps files: looked at every minute, read when something there changed
    NEVER = "never"

    @property
    def interval(self) -> timedelta | None:
        """The time from one fetch, or look, to the next."""
        return {
            Every.DAILY: timedelta(days=1),
            Every.WEEKLY: timedelta(days=7),
            Every.ON_CHANGE: timedelta(minutes=1),
        }.get(self)


@dataclass(frozen=True, slots=True)
class Schedule:
    """A link that is fetched again and again; ``limit`` above 0: with so many pages below it."""

    base: str
    link: str
    every: Every
    by: Person
    next_at: datetime
    limit: int = 0

    def is_due(self, now: datetime) -> bool:
        """Return whether its time has come, or is further off than its interval: then the clock was set back since."""
        interval = self.every.interval
        return interval is not None and not timedelta() < self.next_at - now <= interval


class ScheduleStore(Protocol):
    """Keeps one schedule for each link of a base. Raises StoreUnavailable."""

    async def save_schedule(self, schedule: Schedule) -> None:
        """Keep it, replacing the earlier one of the same link in the same base; NEVER takes it away."""

    async def schedules(self) -> Sequence[Schedule]:
        """Return all of them, the next one first."""


class SiteStore(Protocol):
    """Keeps one site for each link of a base. Raises StoreUnavailable."""

    async def save_site(self, site: Site) -> None:
        """Keep it, replacing what was known of the same link in the same base; without pages it goes."""

    async def sites(self, base: str) -> Sequence[Site]:
        """Return the sites of a base, by link."""


@dataclass(frozen=True, slots=True)
class DisputedSource:
    """One of two sources that differ, and what it says."""

    base: str
    source: str
    title: str
    says: str
    dated: str = ""


@dataclass(frozen=True, slots=True)
class Proposal:
    """Something a person would have in the knowledge, until an admin has looked at it.

    ``text`` is the document it would become, in Markdown, which its ingest alone reads; ``beginning`` its first words
    without marks and title, for lists, empty where the first version kept it.
    """

    id: str
    base: str  # empty: the admin who approves it says where
    source: str
    title: str
    text: str
    by: Person
    at: datetime
    permalink: str | None = None
    beginning: str = ""
    sides: tuple[DisputedSource, ...] = ()  # that differ: only who may read both sees it and says which is right
    audience: frozenset[str] = frozenset()  # more people must not read it; empty: all who read the base

    def readable_by(self, visible: frozenset[str]) -> bool:
        """Return whether it may be seen by who reads these bases."""
        return all(side.base in visible for side in self.sides)


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
        """Return those that wait, oldest first."""

    async def proposal(self, proposal_id: str) -> Proposal | None:
        """Return a proposal by its id; None when it is unknown or decided."""

    async def decide(self, decision: Decision) -> Decision | None:
        """Decide on what waits, once; the decision that holds, which may be an earlier one. None when there is neither.

        In the same step it ceases to wait, and what was approved is in ``open_decisions`` until its job is in line.
        """

    async def decision(self, proposal_id: str) -> Decision | None:
        """Return what was decided on it, as long as that is known: for weeks."""

    async def open_decisions(self) -> Sequence[Decision]:
        """Approvals whose job may not be in line yet, oldest first."""

    async def reopen(self, proposal_id: str) -> None:
        """Forget what was decided, so that it may be proposed again."""

    async def settle(self, proposal_id: str) -> None:
        """Forget what was proposed once the job of its approval is queued; who decided stays known."""
