"""Answers that people found helpful become document tests."""

from datetime import UTC, datetime

import pytest

from bot.evaluation.document_tests import DocumentTest, export_feedback
from core.model.answer import Citation, Outcome
from core.model.conversation import Person, ThreadKey, Turn
from core.model.knowledge import Document, KnowledgeBase
from core.ports.memory import Feedback
from tests.fakes.memory.stores import InProcessCatalog, InProcessFeedbackStore, InProcessMemory

ANA, BEN = Person("slack:T1/U1"), Person("slack:T1/U2")
NOW = datetime(2026, 3, 2, tzinfo=UTC)
THREAD = ThreadKey("slack", "T1", "C1", "1")


class Office:
    """Two bases that both have a ``leave.md``, and people who judge answers."""

    def __init__(self) -> None:
        self.box, self.catalog = InProcessFeedbackStore(), InProcessCatalog()
        self.memory = InProcessMemory()

    async def shelve(self, base: str, source: str) -> None:
        await self.catalog.save_base(KnowledgeBase(base))
        await self.catalog.publish(Document(f"{base}-{source}", base, source, source, "1", "text/plain", 1))

    async def judge(self, trace: str, *cited: tuple[str, str], person: Person = ANA, helpful: bool = True) -> None:
        citations = tuple(
            Citation(n, n, "p", base, source, source, "", "", 0.9) for n, (base, source) in enumerate(cited, 1)
        )
        await self.box.keep(
            Feedback(
                trace, person, helpful, question=f"question {trace}?", citations=citations, at=NOW, thread=str(THREAD)
            )
        )


@pytest.fixture
async def office() -> Office:
    made = Office()
    await made.shelve("handbook", "leave.md")
    await made.shelve("law", "leave.md")
    await made.shelve("handbook", "pay.md")
    return made


async def export(office: Office, base: str = "handbook") -> list[dict[str, object]]:
    return await export_feedback(office.box, office.catalog, office.memory, base)


async def test_a_test_asks_for_the_sources_of_its_own_base(office: Office) -> None:
    await office.judge("t1", ("handbook", "leave.md"), ("law", "leave.md"), ("handbook", "pay.md"))
    assert await export(office) == [{"ask": "question t1?", "cites": ["leave.md", "pay.md"]}]
    assert await export(office, "law") == [{"ask": "question t1?", "cites": ["leave.md"]}]


async def test_two_quotes_of_one_document_are_one_source(office: Office) -> None:
    await office.judge("t1", ("handbook", "leave.md"), ("handbook", "leave.md"))
    assert await export(office) == [{"ask": "question t1?", "cites": ["leave.md"]}]


async def test_two_helpful_votes_are_one_test_and_a_tie_is_none(office: Office) -> None:
    for person in (ANA, BEN):
        await office.judge("t1", ("handbook", "pay.md"), person=person)
        await office.judge("t2", ("handbook", "pay.md"), person=person, helpful=person is ANA)
    assert [one["ask"] for one in await export(office)] == ["question t1?"]


async def test_leaves_out_sources_that_are_removed(office: Office) -> None:
    await office.judge("t1", ("handbook", "gone.md"))
    await office.judge("t2", ("handbook", "gone.md"), ("handbook", "pay.md"))
    assert await export(office) == [{"ask": "question t2?", "cites": ["pay.md"]}]


async def test_a_follow_up_brings_the_questions_before_it(office: Office) -> None:
    for trace in ("t0", "t1", "t2"):
        turn = Turn(f"question {trace}?", "An answer.", Outcome.ANSWERED, ANA, NOW, trace)
        await office.memory.remember(THREAD, turn, ())
    await office.judge("t1", ("handbook", "pay.md"))
    (test,) = await export(office)
    assert test["after"] == ["question t0?"]
    assert DocumentTest.model_validate(test).after == ("question t0?",)


async def test_no_helpful_answer_makes_an_empty_export(office: Office) -> None:
    await office.judge("t1", ("handbook", "pay.md"), helpful=False)
    assert await export(office) == []
