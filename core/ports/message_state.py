"""What is kept about messages, and requests to cancel the work on one."""

from collections.abc import Sequence
from datetime import timedelta
from enum import StrEnum
from typing import Protocol, TypeVar

from core.model.records import Record

KEPT_FOR = timedelta(days=30)  # after its last change, a record is kept for so long

R = TypeVar("R", bound=Record)


class CancelReason(StrEnum):
    """Why the work on a question is to end."""

    STOPPED = "stopped"
    EDITED = "edited"
    DELETED = "deleted"


class MessageStateStore(Protocol):
    """Keeps records about messages, each for ``KEPT_FOR`` after its last change, and forgets them with their owners.

    A worker that takes over, an edited question, a pressed button or an expiry finds by them what is already visible,
    rather than post a second time. Every record is found again through each of its owners (``Record.owners``): nobody
    can keep one that is not forgotten with its person and its thread.
    """

    async def read(self, blank: R) -> R | None:
        """Return the record at this address; None if nothing is kept. Only the address has to be given."""

    async def read_entries(self, blank: R) -> Sequence[R]:
        """Return all records that share this one's place and subject, each under a name of its own."""

    async def save(self, *records: Record, was: Record | None = None, fence: int | None = None) -> None:
        """Keep records, all in one step where they are of one thread: of each, the fields that are not empty.

        The one that ``was`` has become is written where it differs, emptied fields included; what others wrote
        meanwhile stays. Under a ``fence`` all must be of the leased thread. Raises LeaseLost when it is stale.
        """

    async def exchange(self, was: R, now: R) -> bool:
        """In one step: where nothing has changed what ``now`` changes of ``was``, keep ``now``. Whether it was kept.

        Of many callers with the same ``was``, exactly one succeeds.
        """

    async def remove(self, record: Record) -> None:
        """Keep it no longer; of several that share its address, this one alone."""

    async def request_cancel(self, thread: str, subject: str, reason: CancelReason) -> None:
        """Ask the worker of the question of this message in this thread to stop."""

    async def take_cancel(self, thread: str, subject: str) -> CancelReason | None:
        """Remove and return the reason to cancel that question; None without one."""
