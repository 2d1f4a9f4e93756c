"""What decides and writes: an LLM and the extractive reasoner are the same to the loop."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, overload

from core.model.answer import Claim, ClaimVerdict
from core.model.conversation import Thread, Turn
from core.model.evidence import Evidence, Grade
from core.model.inquiry import AskBack, Decision, Inquiry, Plan

if TYPE_CHECKING:
    from core.model.budget import Meter


@dataclass(frozen=True, slots=True)
class DraftRestarted:
    """In a stream of draft text: forget what came before, another reasoner begins again."""

    reason: str


@dataclass(frozen=True, slots=True)
class DraftDeclined:
    """In place of a draft on the fast path: the evidence does not answer this, or not this alone.

    ``missing`` may say what to look for. ``unclear`` asks back, with the readings that the evidence answers each in its
    own way. Only where ``Inquiry.fast_path`` is set. What came before it in the stream is void.
    """

    missing: str = ""
    unclear: AskBack | None = None


class DraftRemark(str):
    """Draft text that the reasoner's own code says of the draft or the documents, such as that two versions differ.

    It is shown as it is and never checked: no model has written it, and it states nothing that a document could.
    """

    __slots__ = ()


class VerifierRecords(Protocol):
    """Keeps what was found out about a model's checks, by model and version of the prompt."""

    async def read(self, key: str) -> str:
        """Return what is kept; empty where nothing is. Raises StoreUnavailable."""

    async def keep(self, key: str, result: str) -> None:
        """Keep it. Raises StoreUnavailable."""


DraftPart = str | DraftRestarted | DraftDeclined  # a str may be a DraftRemark


@dataclass(frozen=True, slots=True)
class GradesWithDecision(Sequence[Grade]):
    """Grades, in order, of a reasoner that said in the same breath how to go on, so that it need not be asked.

    ``decision`` is None where it did not: then ``Reasoner.decide`` is asked, as after grades that come alone.
    """

    grades: tuple[Grade, ...]
    decision: Decision | None = None

    def __len__(self) -> int:
        return len(self.grades)

    @overload
    def __getitem__(self, index: int) -> Grade: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Grade, ...]: ...

    def __getitem__(self, index: int | slice) -> Grade | tuple[Grade, ...]:
        return self.grades[index]


class Reasoner(Protocol):
    """Decides and writes. An LLM and the extractive reasoner are the same to the loop.

    Every method is given the ``meter`` of the inquiry, reports what it uses to it, and raises ``BudgetExhausted``
    (from the meter) before a call that would go over, ``ModelUnavailable`` when it cannot work.
    """

    @property
    def name(self) -> str:
        """Who wrote this: shown with the answer and kept in the trace."""

    @property
    def top_k(self) -> int:
        """How many passages of one search it grades, where the search does not say."""

    async def understand(self, inquiry: Inquiry, thread: Thread, meter: "Meter") -> Plan:
        """Reply, ask back, or search and for what."""

    async def grade(self, inquiry: Inquiry, evidence: Sequence[Evidence], meter: "Meter") -> Sequence[Grade]:
        """Return one grade for each piece of evidence, in order; a ``GradesWithDecision`` may hold the decision too."""

    async def decide(self, inquiry: Inquiry, thread: Thread, meter: "Meter") -> Decision:
        """Return whether the graded evidence suffices, what is missing, or which readings to offer."""

    def compose(
        self, inquiry: Inquiry, thread: Thread, evidence: Sequence[Evidence], meter: "Meter"
    ) -> AsyncIterator[DraftPart]:
        """Yield the answer as Markdown in pieces, with ``[id]`` markers of the given evidence."""

    async def check(
        self, inquiry: Inquiry, claims: Sequence[Claim], evidence: Sequence[Evidence], meter: "Meter"
    ) -> Sequence[ClaimVerdict]:
        """Return a verdict for each part of a draft, in order, against all ``evidence`` it was written from.

        A claim may cite more of ``inquiry.library``. Verdicts of rules that only compare words are ``by_words``.
        """

    async def repair(
        self,
        inquiry: Inquiry,
        draft: str,
        failed: Sequence[ClaimVerdict],
        evidence: Sequence[Evidence],
        meter: "Meter",
    ) -> Sequence[str]:
        """Return a corrected sentence for each failed claim, in order; empty where no document says anything."""

    async def critique(self, inquiry: Inquiry, answer: str, meter: "Meter") -> str:
        """Return what of the question the answer leaves open, as a search query; empty when it is complete."""

    async def summarise(self, summary: str, turns: Sequence[Turn], meter: "Meter") -> str:
        """Return the summary, extended by these turns that are about to leave the window."""
