"""Jobs, kept."""

from collections.abc import Sequence
from typing import Protocol

from core.model.jobs import Job, JobItem


class JobStore(Protocol):
    """Where jobs are kept, those that are over too, for a time."""

    async def keep(self, job: Job) -> bool:
        """Keep a new job; False when one of this id is known."""

    async def read(self, job_id: str) -> Job | None:
        """A job as it is now; None when it is unknown."""

    async def record(self, job: Job, items: Sequence[JobItem] = ()) -> None:
        """Replace what is known of a job, and of these of its items. Whether it was cancelled stays as it is."""

    async def cancel(self, job_id: str, by: str) -> bool:
        """Ask whoever works on it to end it; False when it is unknown or asked already."""

    async def find_canceller(self, job_id: str) -> str:
        """Who cancelled it; empty when nobody did."""

    async def recent(self, limit: int = 50) -> Sequence[Job]:
        """The newest jobs, newest first."""
