"""Store of records about messages, and requests to cancel the work on one."""

from collections.abc import Sequence
from datetime import timedelta
from enum import StrEnum
from typing import Protocol, TypeVar

from core.model.records import Record

KEPT_FOR = timedelta(days=30)  # after a record's last change

R = TypeVar("R", bound=Record)


class CancelReason(StrEnum):
    """Reasons to cancel the work on a question."""

    STOPPED = "stopped"
    EDITED = "edited"
    DELETED = "deleted"


class MessageStateStore(Protocol):
    """Store of records about messages, each for ``KEPT_FOR`` after its last change, forgotten with their owners.

    Records show what is already visible, so that a new worker, an edited question, a pressed button or an expiry does
    not post a second time. Every record can be found through each of its owners (``Record.owners``), so that every
    record is forgotten with its person and its thread.
    """

    async def read(self, blank: R) -> R | None:
        """Return the record at this address; None if there is none. Only the address has to be given."""

    async def read_entries(self, blank: R) -> Sequence[R]:
        """Return all records that share this one's place and subject, each with its own name."""

    async def save(self, *records: Record, was: Record | None = None, fence: int | None = None) -> None:
        """Save records, in one step if they are of one thread. Writes the fields of each that are not empty.

        The record that replaces ``was`` is written where it differs, including emptied fields. What others wrote in
        between stays. With a ``fence``, all must be of the leased thread. Raises LeaseLost if it is stale.
        """

    async def exchange(self, was: R, now: R) -> bool:
        """Save ``now``, in one step, unless a field that it changes has changed since ``was``. Return whether it did.

        Of many callers with the same ``was``, exactly one succeeds. Without a change, write nothing; return whether the
        record exists.
        """

    async def remove(self, record: Record) -> None:
        """Delete a record. If several share its address, only this one."""

    async def request_cancel(self, thread: str, subject: str, reason: CancelReason) -> None:
        """Ask the worker of this message's question to stop."""

    async def take_cancel(self, thread: str, subject: str) -> CancelReason | None:
        """Remove and return the reason to cancel this question; None if there is none."""
