"""The events of every trace, and counters."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from core.model.events import TracedEvent


class TraceStore(Protocol):
    """Keeps the events of every trace for a time, for ``trace`` and ``why``."""

    async def record(
        self, trace_id: str, events: Sequence[TracedEvent], *, person_id: str = "", thread: str = ""
    ) -> None:
        """Append events to a trace, which is forgotten with this person, and with this thread (a key, as text)."""

    async def trace(self, trace_id: str) -> Sequence[TracedEvent]:
        """All events of a trace, in order; empty when unknown."""

    async def count(self, counters: Mapping[str, int]) -> None:
        """Add to named counters (outcomes, searches by answer, quick paths)."""

    async def counters(self) -> Mapping[str, int]:
        """The counters' values."""
