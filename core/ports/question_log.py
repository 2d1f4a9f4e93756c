"""Log of how every question ended, kept for months. ``core.service.gaps`` finds gaps in the documents with it.

A question from a place that not everyone may read is stored without its text. It still counts, and is grouped with
others by its vector, which nobody sees.
"""

import base64
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from core.model.answer import Outcome

if TYPE_CHECKING:
    from core.ports.index import Vectors


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
