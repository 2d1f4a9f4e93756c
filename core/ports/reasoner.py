"""The reasoner port: an LLM and the extractive reasoner look the same to the loop."""

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
    """Element of a draft stream: discard the text so far, because another reasoner starts again."""

    reason: str


@dataclass(frozen=True, slots=True)
class DraftDeclined:
    """Replaces a draft on the fast path: the evidence does not answer this, or not only this.

    ``missing`` may say what to search for. ``unclear`` asks back, with readings that the evidence answers differently.
    Only used if ``Inquiry.fast_path`` is set. Text before it in the stream is void.
    """

    missing: str = ""
    unclear: AskBack | None = None


class DraftRemark(str):
    """Draft text from the reasoner's own code about the draft or the documents, such as that two versions differ.

    It is shown unchanged and never checked, because no model wrote it and it states nothing that a document could.
    """

    __slots__ = ()


class VerifierRecords(Protocol):
    """Store of test results on a model's verification, by model and prompt version."""

    async def read(self, key: str) -> str:
        """Return the stored result; empty if there is none. Raises StoreUnavailable."""

    async def keep(self, key: str, result: str) -> None:
        """Save a result. Raises StoreUnavailable."""


DraftPart = str | DraftRestarted | DraftDeclined  # a str may be a DraftRemark


@dataclass(frozen=True, slots=True)
class GradesWithDecision(Sequence[Grade]):
    """Grades, in order, from a reasoner that also decided how to continue, which saves a call.

    ``decision`` None: it did not decide. Then ``Reasoner.decide`` is called, as after plain grades.
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
    """The component that decides and writes. An LLM and the extractive reasoner look the same to the loop.

    Every method gets the ``meter`` of the inquiry and reports its usage to it. It raises ``BudgetExhausted`` (from the
    meter) before a call that would exceed the budget, and ``ModelUnavailable`` if it cannot work.
    """

    @property
    def name(self) -> str:
        """The reasoner's name, shown with the answer and stored in the trace."""

    @property
    def top_k(self) -> int:
        """The number of passages that it grades per search, if the search does not say."""

    async def understand(self, inquiry: Inquiry, thread: Thread, meter: "Meter") -> Plan:
        """Return the plan: reply, ask back, or search for certain queries."""

    async def grade(self, inquiry: Inquiry, evidence: Sequence[Evidence], meter: "Meter") -> Sequence[Grade]:
        """Return one grade for each piece of evidence, in order. A ``GradesWithDecision`` may include the decision."""

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

        A claim may cite other items of ``inquiry.library``. Verdicts from rules that only compare words are
        ``by_words``.
        """

    async def repair(
        self,
        inquiry: Inquiry,
        draft: str,
        failed: Sequence[ClaimVerdict],
        evidence: Sequence[Evidence],
        meter: "Meter",
    ) -> Sequence[str]:
        """Return a corrected sentence for each failed claim, in order; empty if no document supports one."""

    async def critique(self, inquiry: Inquiry, answer: str, meter: "Meter") -> str:
        """Return the part of the question that the answer leaves open, as a search query; empty if none."""

    async def summarise(self, summary: str, turns: Sequence[Turn], meter: "Meter") -> str:
        """Return the summary extended by these turns, which are about to leave the window."""
