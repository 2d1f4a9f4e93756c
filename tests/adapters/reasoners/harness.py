"""A small office with two documents, and the inquiries that tests ask there."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

from adapters.reasoners.openai.reasoner import OpenAIReasoner
from core.model.answer import Citation, Outcome
from core.model.budget import Meter
from core.model.conversation import Audience, Person, Thread, ThreadKey, Turn
from core.model.evidence import EvidenceLibrary, Grade, Hit
from core.model.inquiry import Inquiry, Limits
from core.model.knowledge import KnowledgeBase, Passage
from core.ports.reasoner import DraftPart, VerifierRecords
from tests.fakes.memory.clock import ManualClock
from tests.fakes.model.endpoint import ScriptedEndpoint

SECRET = "sk-very-secret-key"
KEY = ThreadKey("console", "", "terminal", "1")
ADA = Person("console:ada", "Ada")
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
REFUNDS = "Refunds stay open for 30 days after the purchase. Annual plans are refunded in part."
TIMEOUTS = "The planner's timeout is 90 seconds. It is set with PLANNER_TIMEOUT."


def meter(clock: ManualClock | None = None, *, seconds: float = 60.0, tokens: int = 40_000) -> Meter:
    return Meter(Limits(searches=5, tokens=tokens, seconds=seconds), clock or ManualClock())


def passage(number: int, text: str, title: str, **more: Any) -> Passage:
    return Passage(
        id=f"p{number}",
        knowledge_base="handbook",
        document=f"d{number}",
        version="1",
        section=f"s{number}",
        ordinal=0,
        title=title,
        text=text,
        source=f"{title.lower()}.md",
        dated="2026-01-01",
        **more,
    )


def library(*texts: str, grade: int | None = None, score: float = 0.8) -> EvidenceLibrary:
    texts = texts or (REFUNDS, TIMEOUTS)
    titles = ("Refunds", "Timeouts")
    hits = [
        Hit(passage(n, text, titles[n - 1] if n < 3 else f"Document {n}"), score) for n, text in enumerate(texts, 1)
    ]
    found, added = EvidenceLibrary().add(hits, "refund")
    return found if grade is None else found.with_grades({item.id: Grade(grade) for item in added})


def inquiry(question: str = "How long are refunds open?", **more: Any) -> Inquiry:
    bases = (KnowledgeBase("handbook", "How we work"), KnowledgeBase("api", "The API reference"))
    settings: dict[str, Any] = {"bases": bases, "id": "trace-1"} | more
    return Inquiry(
        question=question, thread=KEY, asker=ADA, audience=Audience(unrestricted=True), started_at=NOW, **settings
    )


def turn(question: str, answer: str, *cited: int) -> Turn:
    citations = tuple(
        Citation(n, evidence, f"p{evidence}", "handbook", "refunds.md", "Refunds", "", "…", 0.8)
        for n, evidence in enumerate(cited, 1)
    )
    return Turn(question, answer, Outcome.ANSWERED, ADA, NOW, "trace-0", citations=citations)


def thread(*turns: Turn, **more: Any) -> Thread:
    return Thread(KEY, turns=turns, **more)


async def text_of(parts: AsyncIterator[DraftPart]) -> str:
    """A draft that is nothing but text."""
    texts = [part async for part in parts]
    assert all(isinstance(part, str) for part in texts), texts
    return "".join(str(part) for part in texts)


class Believed(VerifierRecords):
    """Records that say of every model that it passed its control claims."""

    async def read(self, key: str) -> str:
        return json.dumps({"right": 12, "of": 12, "believed": True})

    async def keep(self, key: str, result: str) -> None:
        raise AssertionError("nothing is asked that is kept")


class Unasked(VerifierRecords):
    """Records of a fresh installation: no model was asked yet."""

    def __init__(self) -> None:
        self.kept: dict[str, str] = {}

    async def read(self, key: str) -> str:
        return self.kept.get(key, "")

    async def keep(self, key: str, result: str) -> None:
        self.kept[key] = result


@asynccontextmanager
async def opened(
    at: ScriptedEndpoint | str, *, seconds: float = 5.0, records: VerifierRecords | None = None
) -> AsyncIterator[OpenAIReasoner]:
    """A reasoner at this endpoint or address, whose checks are believed unless ``records`` say otherwise."""
    address = at if isinstance(at, str) else at.base_url
    reasoner = OpenAIReasoner(
        address,
        SECRET,
        "scripted",
        timeout_seconds=seconds,
        answer_seconds=seconds,
        backoff_seconds=0.001,
        records=records or Believed(),
    )
    try:
        yield reasoner
    finally:
        await reasoner.close()
