"""What people thought of answers."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from core.model.answer import Citation
from core.model.conversation import Person


@dataclass(frozen=True, slots=True)
class Feedback:
    """A person's word on an answer. The last one of a person on an answer counts."""

    trace_id: str
    person: Person
    helpful: bool
    reason: str = ""
    question: str = ""
    answer: str = ""
    citations: tuple[Citation, ...] = ()
    at: datetime | None = None
    asker: str = ""  # whose question it was, by id; it is forgotten with them too
    thread: str = ""  # the key of the thread it was asked in, as text


class FeedbackStore(Protocol):
    """Keeps what people thought of answers."""

    async def keep(self, feedback: Feedback) -> Feedback | None:
        """Keep it; the person's earlier word on the same answer, which it replaces. None where it is their first."""

    def all(self) -> AsyncIterator[Feedback]:
        """Everything kept, oldest first."""
