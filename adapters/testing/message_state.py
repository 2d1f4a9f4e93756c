"""What is posted where, kept in this process: for tests and for trying things out."""

from collections.abc import Mapping

from adapters.testing.stores import InProcessState
from core.model.errors import LeaseLost
from core.ports.message_state import MessageStateStore


class InProcessMessageStateStore(MessageStateStore):
    """Forgets everything with the process. Shares the leases of the inbox on the same state."""

    def __init__(self, state: InProcessState | None = None) -> None:
        """Empty, or what is in this state."""
        self._state = state or InProcessState()

    async def read(self, thread: str, subject: str) -> Mapping[str, str]:
        """Everything kept for a subject."""
        return dict(self._state.message_states.get((thread, subject), {}))

    async def keep(
        self, thread: str, subject: str, values: Mapping[str, str], *, fence: int | None = None, person: str = ""
    ) -> None:
        """Add or replace values."""
        if fence is not None and self._state.fences.get(thread) != fence:
            raise LeaseLost("Another worker has taken this thread over.")
        owner = person or (self._state.in_work.get(thread, "") if fence is not None else "")
        if owner:
            self._state.posted_by.setdefault((thread, subject), owner)
        self._state.message_states.setdefault((thread, subject), {}).update(values)

    async def take(self, thread: str, subject: str, name: str, leaving: Mapping[str, str] | None = None) -> str:
        """One value, read and removed."""
        kept = self._state.message_states.get((thread, subject), {})
        found = kept.pop(name, "")
        kept.update(leaving or {} if found else {})
        return found

    async def request_cancel(self, thread: str, subject: str, reason: str) -> None:
        """Ask whoever works on this subject to stop."""
        self._state.take_cancel[thread, subject] = reason

    async def take_cancel(self, thread: str, subject: str) -> str:
        """The reason, taken."""
        return self._state.take_cancel.pop((thread, subject), "")
