"""Usage and costs: traces, the question log, metrics, daily budgets and answer limits, and usage by channel.

The question log keeps for months how every question ended. ``core.service.gaps`` finds gaps in the documents with it.
A question from a place that not everyone may read is stored without its text. It still counts, and is grouped with
others by its vector, which nobody sees.
"""

import base64
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from core.model.answer import Outcome, UsageCounts
from core.model.budget import NOBODY, Account
from core.model.events import FinalEvent, TracedEvent

if TYPE_CHECKING:
    from core.ports.index import Vectors


class TraceStore(Protocol):
    """Store of the events of every trace for some time, for ``trace`` and ``why``."""

    async def record(
        self, trace_id: str, events: Sequence[TracedEvent], *, person_id: str = "", thread: str = ""
    ) -> None:
        """Append events to a trace. It is forgotten with this person and this thread (a key, as text)."""

    async def trace(self, trace_id: str) -> Sequence[TracedEvent]:
        """Return all events of a trace, in order; empty when unknown."""

    async def count(self, added: UsageCounts) -> None:
        """Add to the counts."""

    async def counts(self) -> UsageCounts:
        """Return all counts since the installation began."""


class DailyBudget(Protocol):
    """Daily budget for all answers together and for each channel, across processes."""

    async def reserve(self, amount: float, account: Account = NOBODY) -> str:
        """Reserve this amount of today's budgets; return the day, for ``settle``. Concurrent callers cannot overspend.

        Raises ModelUnavailable, which says whose budget is used up and until when.
        """

    async def spent_share(self) -> float:
        """Return the share of today's common budget that is spent or reserved, from 0 to 1."""

    async def settle(self, reserved: float, spent: float, account: Account = NOBODY, *, day: str) -> None:
        """Release the reserved amount and book what was spent, both on the ``day`` of the reservation."""


class AnswerCounts(Protocol):
    """Counter of today's answers, across processes."""

    async def take(self, most: Sequence[tuple[str, int]], question: str) -> str:
        """Count one more answer under each of these names, unless one has had as many as its number already.

        Then return that name, and count nothing; else an empty text. One ``question`` counts once a day, however often
        it is tried.
        """

    async def give_back(self, question: str) -> None:
        """Take back what was counted today for this question; nothing where nothing was."""


@dataclass(frozen=True, slots=True)
class UsageRow:
    """The usage on one day in one channel from one base, or what one question adds to it."""

    day: str  # in ISO
    place: str  # the channel's qualified id; for private answers, the platform
    base: str  # base of the answer's first source; empty if there is none
    answers: int = 0  # answers written
    quotes: int = 0
    not_found: int = 0
    tokens: int = 0
    cost: float = 0.0

    def plus(self, other: "UsageRow") -> "UsageRow":
        """Return this row with the other's numbers added."""
        return replace(
            self,
            answers=self.answers + other.answers,
            quotes=self.quotes + other.quotes,
            not_found=self.not_found + other.not_found,
            tokens=self.tokens + other.tokens,
            cost=self.cost + other.cost,
        )


class UsageBook(Protocol):
    """Store of usage sums for some weeks. It has no person, question or document."""

    async def book(self, used: UsageRow) -> None:
        """Add a row to its day."""

    async def rows(self, days: Sequence[str]) -> Sequence[UsageRow]:
        """Return the usage on these days, in no order."""


class Metrics(Protocol):
    """Metrics of outcomes. Labels are few and bounded, and never a person, channel, question or document."""

    def track_work(self) -> AbstractContextManager[object]:
        """Return a context for the time that one delivery is being worked on."""

    def count_outcome(self, platform: str, final: FinalEvent | None) -> None:
        """Count how a question ended and what it took; ``final`` is None if it ended without an event."""


class NoMetrics(Metrics):
    """Metrics that count nothing."""

    def track_work(self) -> AbstractContextManager[object]:
        """Return a context that counts nothing."""
        return nullcontext()

    def count_outcome(self, platform: str, final: FinalEvent | None) -> None:
        """Count nothing."""


@dataclass(frozen=True, slots=True)
class DocumentReference:
    """A document by its catalog id, with its title at the time."""

    id: str
    knowledge_base: str
    title: str


@dataclass(frozen=True, slots=True)
class QuestionVector:
    """The embedding of a question, of unit length. ``numbers`` is base64 of little-endian float16 (two bytes each)."""

    model: str  # the encoder's name; vectors of different models cannot be compared
    numbers: str

    @classmethod
    def encode(cls, model: str, vector: "Vectors") -> "QuestionVector":
        """Encode a vector of shape (dimension,), float32."""
        return cls(model, base64.b64encode(vector.astype("<f2").tobytes()).decode())

    def decode(self) -> "Vectors":
        """Return the vector: (dimension,), float32."""
        import numpy as np

        return np.frombuffer(base64.b64decode(self.numbers), dtype="<f2").astype(np.float32)


@dataclass(frozen=True, slots=True)
class LoggedQuestion:
    """One question and its outcome. ``question`` is empty if not everyone may read its text."""

    trace_id: str
    thread: str  # the thread's key, as text; the entry is forgotten with the thread
    asker: str  # by id; the entry is forgotten with the person
    place: str  # the channel's qualified id, as in settings and grants
    at: datetime
    outcome: Outcome
    private: bool = True
    question: str = ""  # self-contained, as it was understood
    vector: QuestionVector | None = None  # None if nothing was searched
    cited: tuple[DocumentReference, ...] = ()
    nearest: tuple[DocumentReference, ...] = ()  # the documents found for it, nearest first
    conflicts: tuple[tuple[DocumentReference, DocumentReference], ...] = ()  # cited together although they disagree
    seconds: float = 0.0
    cost: float = 0.0  # in the configured currency
    corrected: bool = False  # someone submitted a correction; set only by ``mark_corrected``
    for_operator: bool = False  # the operator asked in private; only they may see its text


class QuestionLog(Protocol):
    """Store of the newest questions, limited in number and age. Forgotten with their thread and their asker."""

    async def keep(self, question: LoggedQuestion) -> None:
        """Save a question, replacing the entry of the same trace."""

    async def mark_corrected(self, trace_id: str) -> None:
        """Mark an answer as corrected. Does nothing if the question is not stored."""

    def since(self, moment: datetime) -> AsyncIterator[LoggedQuestion]:
        """Yield the questions asked at this moment or later, oldest first."""
