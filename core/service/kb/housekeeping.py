"""What takes room and is of no use any more: copies past their time, and rows of versions that never became visible."""

from dataclasses import dataclass
from datetime import timedelta

from core.ingestion.ingestor import document_id_of
from core.ingestion.orphans import OrphanedPassages
from core.ingestion.trash import Trash
from core.model.clock import Clock
from core.ports.job_store import JobStore

TRASH_EVERY = timedelta(hours=1)
MOST_JOBS = 1_000  # looked through for documents that are about to be written


@dataclass(slots=True)
class Housekeeping:
    """Sweeps now and then; several processes may each do so. ``orphans`` is None where rows are not looked at."""

    trash: Trash
    jobs: JobStore
    clock: Clock
    orphans: OrphanedPassages | None = None
    _trash_swept: float = float("-inf")  # in seconds of the monotonic clock

    async def sweep(self) -> None:
        """Sweep what is due: copies of removed documents once an hour, orphaned passages as ``orphans`` says.

        Raises StoreUnavailable.
        """
        if self.clock.monotonic() - self._trash_swept > TRASH_EVERY.total_seconds():
            self._trash_swept = self.clock.monotonic()
            await self.trash.sweep()
        if self.orphans is not None and self.orphans.due:
            await self.orphans.look(await self._unwritten_documents())

    async def _unwritten_documents(self) -> frozenset[str]:
        """The ids of the documents that jobs are about to write: their passages are no orphans."""
        jobs = [job for job in await self.jobs.recent(MOST_JOBS) if not job.over]
        return frozenset(document_id_of(job.base, item.source) for job in jobs for item in job.items)
