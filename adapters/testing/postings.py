"""What is posted where, kept in this process: for tests and for trying things out."""

from collections.abc import Mapping

from adapters.testing.stores import InProcessState
from core.errors import LeaseLost
from core.ports import Postings


class InProcessPostings(Postings):
    """Forgets everything with the process. Shares the fences of the inbox on the same state."""

    def __init__(self, state: InProcessState | None = None) -> None:
        """Empty."""
        self._fences = (state or InProcessState()).fences
        self._kept: dict[tuple[str, str], dict[str, str]] = {}
        self._called_off: dict[tuple[str, str], str] = {}

    async def read(self, thread: str, subject: str) -> Mapping[str, str]:
        """Everything kept for a subject."""
        return dict(self._kept.get((thread, subject), {}))

    async def keep(self, thread: str, subject: str, values: Mapping[str, str], *, fence: int | None = None) -> None:
        """Add or replace values."""
        if fence is not None and self._fences.get(thread) != fence:
            raise LeaseLost("Another worker has taken this thread over.")
        self._kept.setdefault((thread, subject), {}).update(values)

    async def call_off(self, thread: str, subject: str, reason: str) -> None:
        """Ask whoever works on this subject to stop."""
        self._called_off[thread, subject] = reason

    async def called_off(self, thread: str, subject: str) -> str:
        """The reason, taken."""
        return self._called_off.pop((thread, subject), "")
