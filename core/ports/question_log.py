"""How every question ended, kept for months: what the documents lack is seen in it (``core.service.gaps``).

A question that was asked where not everybody may read is kept without its words. It is still counted, and grouped with
others by its vector, which nobody is shown.
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
    """A document by its id in the catalog, with the title that it had when it was met."""

    id: str
    knowledge_base: str
    title: str


@dataclass(frozen=True, slots=True)
class QuestionVector:
    """What a question means, of unit length. ``numbers`` is base64 of little-endian float16: two bytes a number."""

    model: str  # the encoder's name: vectors of two models are not compared
    numbers: str

    @classmethod
    def encode(cls, model: str, vector: "Vectors") -> "QuestionVector":
        """From (dimension,), float32."""
        return cls(model, base64.b64encode(vector.astype("<f2").tobytes()).decode())

    def decode(self) -> "Vectors":
        """(dimension,), float32."""
        import numpy as np

        return np.frombuffer(base64.b64decode(self.numbers), dtype="<f2").astype(np.float32)


@dataclass(frozen=True, slots=True)
class LoggedQuestion:
    """One question as it ended. ``question`` is empty where its words are not for everybody."""

    trace_id: str
    thread: str  # the thread's key, as text: it is forgotten with the thread
    asker: str  # by id: it is forgotten with the person
    place: str  # the channel, qualified as settings and grants know it
    at: datetime
    outcome: Outcome
    private: bool = True
    question: str = ""  # self-contained, as it was understood
    vector: QuestionVector | None = None  # None where nothing was looked for
    cited: tuple[DocumentReference, ...] = ()
    nearest: tuple[DocumentReference, ...] = ()  # what was found for it, the nearest first
    conflicts: tuple[tuple[DocumentReference, DocumentReference], ...] = ()  # cited together, though they disagree
    seconds: float = 0.0
    cost: float = 0.0  # in the configured currency
    corrected: bool = False  # somebody has said what would have been right; set by ``mark_corrected`` alone
    for_operator: bool = False  # the operator asked where nobody else reads: only they may see its words


class QuestionLog(Protocol):
    """Keeps the newest questions: so many, and so long. Forgotten with the thread they stand in, and with the asker."""

    async def keep(self, question: LoggedQuestion) -> None:
        """Keep it, replacing what was kept of the same trace."""

    async def mark_corrected(self, trace_id: str) -> None:
        """Note that somebody corrected this answer. Of a question that is not kept nothing is noted."""

    def since(self, moment: datetime) -> AsyncIterator[LoggedQuestion]:
        """Yield those asked at this moment or later, oldest first."""
