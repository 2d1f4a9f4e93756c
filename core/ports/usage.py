"""What runs do and cost: traces, metrics, the budget and the answers of a day, and what was used by channel."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Protocol

from core.model.answer import UsageCounts
from core.model.budget import NOBODY, Account
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
    """What all answers of a day may cost together, and those of one channel, across processes."""

    async def reserve(self, amount: float, account: Account = NOBODY) -> None:
        """Set this much of today's budgets aside; of many callers none overspends.

        Raises ModelUnavailable, which says whose budget is used up and until when.
        """

    async def spent_share(self) -> float:
        """Return how much of what all may cost today is spent or set aside: 0 for nothing, 1 for all."""

    async def settle(self, reserved: float, spent: float, account: Account = NOBODY) -> None:
        """Give back what was set aside, and book what was spent."""


class AnswerCounts(Protocol):
    """How many answers there were today, across processes."""

    async def take(self, most: Sequence[tuple[str, int]], question: str) -> str:
        """Count one more answer under each of these names, unless one has had as many as its number already.

        Then return that name, and count nothing; else an empty text. One ``question`` counts once a day, however often
        it is tried.
        """

    async def give_back(self, question: str) -> None:
        """Take back what was counted today for this question; nothing where nothing was."""


@dataclass(frozen=True, slots=True)
class UsageRow:
    """What was used on one day in one channel from one base; or what one question adds to that."""

    day: str  # in ISO
    place: str  # the channel, qualified; of what one person alone reads the platform
    base: str  # of the answer's first source; empty where there is none
    answers: int = 0  # that were written
    quotes: int = 0
    not_found: int = 0
    tokens: int = 0
    cost: float = 0.0

    def plus(self, other: "UsageRow") -> "UsageRow":
        """Return this row with the sums of the other added."""
        return replace(
            self,
            answers=self.answers + other.answers,
            quotes=self.quotes + other.quotes,
            not_found=self.not_found + other.not_found,
            tokens=self.tokens + other.tokens,
            cost=self.cost + other.cost,
        )


class UsageBook(Protocol):
    """Keeps what was used for some weeks, as sums: no person, question or document is in it."""

    async def book(self, used: UsageRow) -> None:
        """Add this to its day."""

    async def rows(self, days: Sequence[str]) -> Sequence[UsageRow]:
        """Return what was used on these days, in no order."""


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
