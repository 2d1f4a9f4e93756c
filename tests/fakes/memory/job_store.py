"""Jobs, and bytes that are set aside, in plain dictionaries, for tests."""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

from core.model.jobs import Job, JobItem
from core.ports.catalog import BlobStore
from core.ports.job_store import JobStore


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

    async def find_canceller(self, job_id: str) -> str:
        """Who cancelled it; empty when nobody did."""
        return self._cancelled.get(job_id, "")

    async def recent(self, limit: int = 50) -> Sequence[Job]:
        """The newest jobs, newest first."""
        found = [job for name in self._jobs if (job := await self.read(name)) is not None]
        return sorted(found, key=lambda job: job.created_at, reverse=True)[:limit]


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

    async def sizes(self, names: Collection[str]) -> Mapping[str, int]:
        """Of each of these names that is there, how many bytes."""
        return {name: len(self.kept[name]) for name in names if name in self.kept}

    async def forget(self, name: str) -> None:
        """Remove them, if they are there."""
        self.kept.pop(name, None)

    async def sweep(self, older_than: timedelta, *, sparing: Collection[str] = ()) -> int:
        """Remove what is old: here nothing is."""
        return 0

    async def entries(self) -> AsyncIterator[tuple[str, bytes]]:
        """Everything that is kept, by name."""
        for entry in list(self.kept.items()):
            yield entry

    async def keep_entry(self, entry: str, data: bytes) -> None:
        """Keep what ``entries`` gave."""
        self.kept[entry] = data
