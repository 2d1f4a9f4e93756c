"""Small true things for the stores' contract suites: turns, evidence, parked inquiries."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from core.model.answer import Citation, Outcome, ResourceUsage
from core.model.conversation import Audience, Person, ThreadKey, Turn
from core.model.evidence import Evidence, Grade, Hit
from core.model.inquiry import (
    AskBack,
    Checkpoint,
    CheckpointKind,
    Choice,
    Inquiry,
    Investigate,
    Search,
    SearchKnowledge,
)
from core.model.knowledge import KnowledgeBase, Locator, Passage
from core.ports.memory import ParkedInquiry

NOW = datetime(2026, 3, 2, 10, 30, tzinfo=UTC)
ANA = Person("slack:T1/U1", "Ana")
BEN = Person("slack:T1/U2", "Ben {of} the café")
THREAD = ThreadKey("slack", "T1", "C/1", "17{3}.0 ü")
OTHER_THREAD = ThreadKey("discord", "G1", "C1", "")


def evidence(number: int) -> Evidence:
    passage = Passage(
        id=f"p{number}",
        knowledge_base="handbook",
        document="leave.md",
        version="v1",
        section="s1",
        ordinal=number,
        title="Leave",
        text=f"Rule {number}: “thirty days” – no less.",
        heading=("Leave", "Parental"),
        locator=Locator(page=number),
    )
    return Evidence(number, Hit(passage, 0.9, dense=0.8, bm25=12.5), f"query {number}", Grade(8, "It says so."))


def turn(trace: str, *, asker: Person = ANA, cites: tuple[int, ...] = (), answer: str = "Thirty days [1].") -> Turn:
    return Turn(
        question=f"How many days? ({trace})",
        answer=answer,
        outcome=Outcome.ANSWERED,
        asker=asker,
        at=NOW,
        trace_id=trace,
        citations=tuple(
            Citation(n, number, f"p{number}", "handbook", "leave.md", "Leave", "page 1", "thirty days", 0.8)
            for n, number in enumerate(cites, 1)
        ),
        knowledge_bases=frozenset({"handbook"}),
    )


def parked(name: str, *, asker: Person = ANA, thread: ThreadKey = THREAD, minutes: float = 30) -> ParkedInquiry:
    checkpoint = Checkpoint(
        id=name,
        kind=CheckpointKind.LONG_SEARCH,
        thread=thread,
        asker=asker,
        question="How many days?",
        message="Three searches are done.",
        choices=(Choice("more", "Keep searching"), Choice("narrow", "Narrow it", asks_text=True)),
        found=("Leave",),
        missing="the enterprise plan",
        spent=ResourceUsage(searches=3),
        created_at=NOW,
        expires_at=NOW + timedelta(minutes=minutes),
    )
    inquiry = Inquiry(
        id=f"trace-{name}",
        question="How many days?",
        thread=thread,
        asker=asker,
        audience=Audience(frozenset({"slack:channel:T1/C1"})),
        started_at=NOW,
        bases=(KnowledgeBase("handbook", "How we work", frozenset({"slack:channel:T1/C1"})),),
        plan=Investigate("How many days of leave?", ("leave days",)),
        searches=(Search(SearchKnowledge("leave days"), found=3, new=1),),
        proposals=(SearchKnowledge("parental leave"),),
    )
    return ParkedInquiry(checkpoint, replace(inquiry, library=inquiry.library.add([evidence(1).hit], "leave days")[0]))


def asking_back(name: str) -> ParkedInquiry:
    """A parked inquiry whose plan is a question back."""
    earlier = parked(name)
    return replace(earlier, inquiry=replace(earlier.inquiry, plan=AskBack("Which timeout?", ("Login", "Request"))))
