"""A house of 200 questions with twelve holes in its documents, as its log has them."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from core.model.answer import Outcome
from core.model.conversation import Person, ThreadKey
from core.model.knowledge import Document, KnowledgeBase
from core.ports.index import Encoder
from core.ports.memory import Feedback
from core.ports.usage import DocumentReference, LoggedQuestion, QuestionVector
from core.service.gaps.analysis import GapAnalysis, Reader
from tests.fakes.memory.clock import ManualClock
from tests.fakes.memory.stores import InProcessCatalog, InProcessFeedbackStore, InProcessQuestionLog, InProcessState

HERE = Path(__file__).parents[4] / "research" / "questions" / "gaps"
CANARY = "zanzibarcanary"
UNTIL = datetime(2026, 3, 30, 12, tzinfo=UTC)
HANDBOOK = DocumentReference("d1", "handbook", "Handbook")
BOARD = DocumentReference("d2", "board", "Board minutes")
EVERYTHING = Reader(frozenset({"handbook", "board"}))


@dataclass(frozen=True)
class Planted:
    """A line of the set: the hole it belongs to (``-``: none, ``+``: it was answered), where, and the question."""

    hole: str
    where: str
    question: str


def planted() -> list[Planted]:
    with (HERE / "planted.tsv").open(encoding="utf-8") as file:
        return [Planted(**row) for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)]


@dataclass
class House:
    """The stores of one installation, with a clock that stands at ``UNTIL``."""

    encoder: Encoder
    state: InProcessState = field(default_factory=InProcessState)

    def __post_init__(self) -> None:
        self.log = InProcessQuestionLog(self.state)
        self.feedback = InProcessFeedbackStore(self.state)
        self.catalog = InProcessCatalog()
        self.clock = ManualClock(UNTIL)
        self.analysis = GapAnalysis(self.log, self.feedback, self.catalog, self.clock)

    async def furnish(self) -> None:
        for reference, dated in ((HANDBOOK, "2026-01"), (BOARD, "2023-05-01")):
            await self.catalog.save_base(KnowledgeBase(reference.knowledge_base))
            await self.catalog.publish(
                Document(
                    reference.id,
                    reference.knowledge_base,
                    f"{reference.title}.md",
                    reference.title,
                    "v1",
                    "text/markdown",
                    3,
                    dated,
                )
            )

    async def asks(
        self,
        question: str,
        *,
        by: str = "slack:T/U1",
        ago: timedelta = timedelta(days=1),
        outcome: Outcome = Outcome.ABSTAINED,
        private: bool = False,
        space: str = "T",
        cited: tuple[DocumentReference, ...] = (),
        nearest: tuple[DocumentReference, ...] = (HANDBOOK,),
        conflicts: tuple[tuple[DocumentReference, DocumentReference], ...] = (),
        seconds: float = 1.0,
    ) -> LoggedQuestion:
        """One question, so long ago."""
        (vector,) = await self.encoder.encode_queries([question])
        number = len(self.state.questions)
        thread = ThreadKey("slack", space, "D1" if private else "C1", str(number))
        kept = LoggedQuestion(
            f"t{number:04}",
            str(thread),
            by,
            thread.place,
            UNTIL - ago,
            outcome,
            private,
            "" if private else question,
            QuestionVector.encode(self.encoder.name, vector),
            cited,
            nearest,
            conflicts,
            seconds,
            0.001,
        )
        await self.log.keep(kept)
        return kept

    async def dislikes(self, asked: LoggedQuestion, reason: str = "") -> None:
        """Somebody says that the answer did not help."""
        who = Person("slack:T/U9", "Nia")
        await self.feedback.keep(Feedback(asked.trace_id, who, helpful=False, reason=reason, thread=asked.thread))


async def lived_in(encoder: Encoder, rows: Sequence[Planted]) -> House:
    """The house after all these were asked, one an hour, by thirty people."""
    house = House(encoder)
    await house.furnish()
    for number, row in enumerate(rows):
        await house.asks(
            row.question,
            by=f"slack:T/U{number % 30}",
            ago=timedelta(hours=number + 1),
            outcome=Outcome.ANSWERED if row.hole == "+" else Outcome.ABSTAINED,
            private=row.where == "private",
        )
    return house
