"""What runs do and cost: traces, metrics, and the budget of a day."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

from core.model.answer import UsageCounts
from core.model.events import FinalEvent, TracedEvent


class TraceStore(Protocol):
    """Keeps the events of every trace for a time, for ``trace`` and ``why``."""

    async def record(
        self, trace_id: str, events: Sequence[TracedEvent], *, person_id: str = "", thread: str = ""
    ) -> None:
        """Append events to a trace, which is forgotten with this person, and with this thread (a key, as text)."""

    async def trace(self, trace_id: str) -> Sequence[TracedEvent]:
        """Return all events of a trace, in order; empty when unknown."""

    async def count(self, added: UsageCounts) -> None:
        """Add these to the counts."""

    async def counts(self) -> UsageCounts:
        """Return all that was counted since the installation began."""


class DailyBudget(Protocol):
    """What all answers of a day may cost together, across processes."""

    async def reserve(self, amount: float) -> bool:
        """Set this much of today's budget aside, or say that it is not there. Of many callers none overspends."""

    async def spent_share(self) -> float:
        """Return how much of today's budget is spent or set aside: 0 for nothing, 1 for all."""

    async def settle(self, reserved: float, spent: float) -> None:
        """Give back what was set aside, and book what was spent."""


class Metrics(Protocol):
    """Counts outcomes. Labels are few and bounded: no person, channel, question or document is ever one."""

    def track_work(self) -> AbstractContextManager[object]:
        """Entered while one delivery is being worked on."""

    def count_outcome(self, platform: str, final: FinalEvent | None) -> None:
        """Count how a question ended and what it took; None when it ended without an event of its own."""


class NoMetrics(Metrics):
    """Counts nothing: where nobody watches."""

    def track_work(self) -> AbstractContextManager[object]:
        """Return a context that counts nothing."""
        return nullcontext()

    def count_outcome(self, platform: str, final: FinalEvent | None) -> None:
        """Count nothing."""
