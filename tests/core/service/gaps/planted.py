"""A question log of 200 questions, with twelve planted gaps in the documents."""

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
    """A question of the set: its gap (``-``: none, ``+``: it was answered), its place, and its text."""

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
        """Record one question of this age."""
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
        """Rate an answer as not helpful."""
        who = Person("slack:T/U9", "Nia")
        await self.feedback.keep(Feedback(asked.trace_id, who, helpful=False, reason=reason, thread=asked.thread))


async def lived_in(encoder: Encoder, rows: Sequence[Planted]) -> House:
    """Return the installation after all these questions, one an hour, by thirty people."""
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
