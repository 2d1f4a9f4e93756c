"""Runs with one hostile text in every place of their events, for the answer views of all platforms."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime

from core.model.answer import Answer, Citation, Outcome, ResourceUsage
from core.model.conversation import Person, ThreadKey
from core.model.events import (
    AgentCompleted,
    AgentEvent,
    AgentFailed,
    AgentStarted,
    AnswerDelta,
    CheckpointReached,
    Noticed,
    QueryRefined,
    RetrievalCompleted,
    RetrievalStarted,
    RoutingDecided,
)
from core.model.inquiry import Checkpoint, CheckpointKind, Choice
from core.model.jobs import ItemKind, ItemState, Job, JobItem, JobKind
from tests.e2e.hostile_texts import ALLOWED

STREAMED_SECONDS = 1.0  # long enough that what is written so far is shown
TRACE = "0123456789abcdef"
ANSWER_PLACES = ("reason", "query", "where", "sources", "note", "refinement", "notice", "streamed text", "answer",
                 "title", "locator", "document", "date", "answer's notice")  # fmt: skip
CHECKPOINT_PLACES = ("message", "found", "missing", "choice", "nearest title", "card's notice")


def citation(text: str) -> Citation:
    return Citation(1, 1, "p1", "default", text, text, text, text, 0.8, ALLOWED, text)


async def answering(text: str) -> AsyncIterator[AgentEvent]:
    """A run that ends in an answer."""
    yield AgentStarted(TRACE, text, "balanced", "scripted")
    yield RoutingDecided(needs_retrieval=True, reason=text)
    yield RetrievalStarted(1, text, text)
    yield RetrievalCompleted(1, text, (), 1, 0, 3, 1, 1.0, (text, text))
    yield RetrievalStarted(2, text)
    yield RetrievalCompleted(2, text, (), 1, 0, 0, 0, 1.0, (), text)
    yield QueryRefined(text, text, text)
    yield Noticed(text)
    shown = f"Before. {text}\n\nRefunds take [14 days]({ALLOWED}) [1]. {text} [1] See {ALLOWED}."
    for start in range(0, len(shown), 9):
        yield AnswerDelta(shown[start : start + 9])
        if start == 18:
            await asyncio.sleep(STREAMED_SECONDS)
    yield AgentCompleted(
        Answer(Outcome.ANSWERED, shown, (citation(text),), notices=(text,), spent=ResourceUsage(searches=1))
    )


async def asking(text: str) -> AsyncIterator[AgentEvent]:
    """A run that ends at a checkpoint."""
    yield AgentStarted(TRACE, text, "balanced", "scripted")
    now = datetime.now(UTC)
    choices = (Choice("answer", text[:60] or "…"), Choice("other", "Something else", asks_text=True))
    checkpoint = Checkpoint(
        id="c" * 16,
        kind=CheckpointKind.LONG_SEARCH,
        thread=ThreadKey("slack", "T", "C", "1"),
        asker=Person("slack:T/U"),
        question=text,
        message=text,
        choices=choices,
        found=(text, text),
        missing=text,
        spent=ResourceUsage(),
        created_at=now,
        expires_at=now,
    )
    answer = Answer(Outcome.PARKED, text, nearest=(citation(text),), notices=(text,))
    yield CheckpointReached(checkpoint, answer)


async def failing(text: str) -> AsyncIterator[AgentEvent]:
    """A run that ends in a failure."""
    yield AgentStarted(TRACE, text, "balanced", "scripted")
    yield AgentFailed(text, TRACE)


def job(text: str) -> Job:
    """A job whose subject, base, failures and reason are this text."""
    item = JobItem(ItemKind.FILE, text, text, text, state=ItemState.FAILED, reason=text, notes=(text,))
    asker, now = Person("p", text), datetime.now(UTC)
    return Job("0123456789abcdef", JobKind.INGEST, text, asker, now, subject=text, items=(item,), reason=text)
