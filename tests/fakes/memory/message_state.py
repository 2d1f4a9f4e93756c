"""Records about messages, kept in this process: for tests and for trying things out."""

from collections.abc import Sequence
from typing import TypeVar

from core.model.errors import LeaseLost
from core.model.record_codec import OWNER, changed_fields, entries_from_fields, from_fields, to_fields
from core.model.records import Record
from core.ports.message_state import CancelReason, MessageStateStore
from tests.fakes.memory.stores import InProcessState

R = TypeVar("R", bound=Record)


class InProcessMessageStateStore(MessageStateStore):
    """Forgets everything with the process. Shares the leases of the inbox on the same state."""

    def __init__(self, state: InProcessState | None = None) -> None:
        """Empty, or what is in this state."""
        self._state = state or InProcessState()

    async def read(self, blank: R) -> R | None:
        """The record at this one's address; None where nothing is kept."""
        return from_fields(blank, self._fields_of(blank))

    async def read_entries(self, blank: R) -> Sequence[R]:
        """All records that share this one's place and subject."""
        return entries_from_fields(blank, self._fields_of(blank))

    async def save(self, *records: Record, was: Record | None = None, fence: int | None = None) -> None:
        """Keep records. Raises LeaseLost when ``fence`` is stale."""
        for record in records:
            if fence is not None and self._state.fences.get(record.address.place) != fence:
                raise LeaseLost("Another worker has taken over this thread.")
            before = was if was is not None and was.address == record.address else None
            self._index(record).update(changed_fields(record, before))

    def _index(self, record: Record) -> dict[str, str]:
        """Note under each of its owners where this record is kept; what is kept there."""
        address, owners = record.address, record.owners
        for owner in owners.people | owners.threads:
            self._state.owned.setdefault(owner, set()).add((address.place, address.subject, address.entry))
        return self._state.records.setdefault((address.place, address.subject), {})

    async def exchange(self, was: R, now: R) -> bool:
        """Keep ``now`` in place of ``was``, once."""
        kept, before, after = self._fields_of(was), to_fields(was), to_fields(now)
        names = (before.keys() | after.keys()) - {OWNER}
        changed = [name for name in names if before.get(name, "") != after.get(name, "")]
        if not changed:
            return await self.read(was) is not None
        if any(kept.get(name, "") != before.get(name, "") for name in changed):
            return False
        owner = {OWNER: after[OWNER]} if OWNER in after else {}
        self._index(now).update({name: after.get(name, "") for name in changed} | owner)
        return True

    async def remove(self, record: Record) -> None:
        """Remove a record; nothing happens where there is none."""
        address = record.address
        if address.entry:
            self._fields_of(record).pop(address.entry, None)
        else:
            self._state.records.pop((address.place, address.subject), None)

    async def request_cancel(self, thread: str, subject: str, reason: CancelReason) -> None:
        """Ask whoever works on this question to stop."""
        self._state.cancel_requests[thread, subject] = reason

    async def take_cancel(self, thread: str, subject: str) -> CancelReason | None:
        """The reason of a requested cancel, once."""
        return self._state.cancel_requests.pop((thread, subject), None)

    def _fields_of(self, record: Record) -> dict[str, str]:
        address = record.address
        return self._state.records.get((address.place, address.subject), {})
