"""The events of every trace, and counts of how questions ended."""

from collections.abc import Sequence
from typing import Protocol

from core.model.events import TracedEvent
from core.model.usage import UsageCounts


class TraceStore(Protocol):
    """Keeps the events of every trace for a time, for ``trace`` and ``why``."""

    async def record(
        self, trace_id: str, events: Sequence[TracedEvent], *, person_id: str = "", thread: str = ""
    ) -> None:
        """Append events to a trace, which is forgotten with this person, and with this thread (a key, as text)."""

    async def trace(self, trace_id: str) -> Sequence[TracedEvent]:
        """All events of a trace, in order; empty when unknown."""

    async def count(self, added: UsageCounts) -> None:
        """Add these to the counts."""

    async def counts(self) -> UsageCounts:
        """All that was counted since the installation began."""
