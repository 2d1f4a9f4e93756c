"""Jobs, removals, schedules, proposals and what is set aside, in plain dictionaries, for tests."""

from collections.abc import AsyncIterator, Collection, Sequence
from dataclasses import replace
from datetime import timedelta

from adapters.testing.stores import InProcessState
from core.model.errors import Busy
from core.model.jobs import Job, JobItem
from core.model.sites import Site
from core.ports.blob_store import BlobStore
from core.ports.job_store import JobStore
from core.ports.knowledge_records import Decision, Every, KnowledgeRecords, Proposal, RemovedDocument, Schedule


class InProcessJobStore(JobStore):
    """Keeps every job."""

    def __init__(self) -> None:
        self._jobs: dict[str, Job] = {}
        self._cancelled: dict[str, str] = {}

    async def keep(self, job: Job) -> bool:
        """Keep a new job; False when one of this id is known."""
        return self._jobs.setdefault(job.id, job) is job

    async def read(self, job_id: str) -> Job | None:
        """A job as it is now; None when it is unknown."""
        job = self._jobs.get(job_id)
        return replace(job, cancelled_by=self._cancelled.get(job_id, "")) if job else None

    async def record(self, job: Job, items: Sequence[JobItem] = ()) -> None:
        """Replace what is known of a job, and of these of its items."""
        kept = self._jobs.get(job.id, job)
        for item in items:
            kept = kept.with_item(item)
        self._jobs[job.id] = replace(job, items=kept.items)

    async def cancel(self, job_id: str, by: str) -> bool:
        """Ask whoever works on it to end it; False when it is unknown or asked already."""
        if job_id not in self._jobs or job_id in self._cancelled:
            return False
        self._cancelled[job_id] = by
        return True

    async def cancelled_by(self, job_id: str) -> str:
        """Who cancelled it; empty when nobody did."""
        return self._cancelled.get(job_id, "")

    async def recent(self, limit: int = 50) -> Sequence[Job]:
        """The newest jobs, newest first."""
        found = [job for name in self._jobs if (job := await self.read(name)) is not None]
        return sorted(found, key=lambda job: job.created_at, reverse=True)[:limit]


class InProcessKnowledgeRecords(KnowledgeRecords):
    """Keeps every removal, schedule and proposal."""

    def __init__(self, state: InProcessState | None = None, *, most_each: int = 10) -> None:
        self._removed: dict[str, RemovedDocument] = {}
        self._schedules: dict[tuple[str, str], Schedule] = {}
        self._sites: dict[tuple[str, str], Site] = {}
        self._proposals: dict[str, Proposal] = (state or InProcessState()).proposals
        self._decisions: dict[str, Decision] = {}
        self._most_each = most_each

    async def keep_removed(self, removed: RemovedDocument) -> None:
        """Keep it, replacing an earlier removal of the same document."""
        self._removed[removed.document.id] = removed

    async def removals(self) -> Sequence[RemovedDocument]:
        """Everything that is kept, the latest first."""
        return sorted(self._removed.values(), key=lambda removed: removed.at, reverse=True)

    async def removal(self, document_id: str) -> RemovedDocument | None:
        """The latest removal of this document."""
        return self._removed.get(document_id)

    async def forget_removed(self, document_id: str) -> None:
        """It was put back, or its time is over."""
        self._removed.pop(document_id, None)

    async def schedule(self, schedule: Schedule) -> None:
        """Keep it, or with NEVER take it away."""
        self._schedules.pop((schedule.base, schedule.link), None)
        if schedule.every is not Every.NEVER:
            self._schedules[schedule.base, schedule.link] = schedule

    async def schedules(self) -> Sequence[Schedule]:
        """All of them, the next one first."""
        return sorted(self._schedules.values(), key=lambda schedule: schedule.next_at)

    async def keep_site(self, site: Site) -> None:
        """Keep it, or without pages take it away."""
        self._sites.pop((site.base, site.link), None)
        if site.pages:
            self._sites[site.base, site.link] = site

    async def sites(self, base: str) -> Sequence[Site]:
        """The sites of a base, by link."""
        return sorted((site for site in self._sites.values() if site.base == base), key=lambda site: site.link)

    async def propose(self, proposal: Proposal) -> None:
        """Keep it. Raises Busy when too many of this person wait."""
        if sum(other.by.id == proposal.by.id for other in self._proposals.values()) >= self._most_each:
            raise Busy("Many proposals wait for an admin already.", remedy="Please try again when some are decided.")
        self._proposals[proposal.id] = proposal

    async def proposals(self) -> Sequence[Proposal]:
        """Those that wait, oldest first."""
        return sorted(self._proposals.values(), key=lambda proposal: proposal.at)

    async def proposal(self, proposal_id: str) -> Proposal | None:
        """One that waits."""
        return self._proposals.get(proposal_id)

    async def decide(self, decision: Decision) -> Decision | None:
        """Decide on what waits, once; the decision that holds."""
        if self._proposals.pop(decision.proposal, None) is not None:
            self._decisions[decision.proposal] = decision
        return self._decisions.get(decision.proposal)

    async def decision(self, proposal_id: str) -> Decision | None:
        """What was decided on it."""
        return self._decisions.get(proposal_id)

    async def undone(self) -> Sequence[Decision]:
        """Approvals whose job may not be in line yet, oldest first."""
        return sorted((one for one in self._decisions.values() if one.job), key=lambda decision: decision.at)

    async def settle(self, proposal_id: str) -> None:
        """The job of its approval is in line."""
        if proposal_id in self._decisions:
            self._decisions[proposal_id] = replace(self._decisions[proposal_id], job=None)


class InProcessBlobStore(BlobStore):
    """Keeps bytes by name; nothing here ever grows old."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}

    async def keep(self, name: str, data: bytes) -> None:
        """Keep them."""
        self.kept[name] = data

    async def read(self, name: str) -> bytes | None:
        """The bytes; None when they are not there."""
        return self.kept.get(name)

    async def forget(self, name: str) -> None:
        """Remove them, if they are there."""
        self.kept.pop(name, None)

    async def sweep(self, older_than: timedelta, *, sparing: Collection[str] = ()) -> int:
        """Nothing is old."""
        return 0

    async def entries(self) -> AsyncIterator[tuple[str, bytes]]:
        """Everything that is kept, by name."""
        for entry in list(self.kept.items()):
            yield entry

    async def keep_entry(self, entry: str, data: bytes) -> None:
        """Keep what ``entries`` gave."""
        self.kept[entry] = data
