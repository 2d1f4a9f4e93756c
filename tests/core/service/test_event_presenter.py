"""Every event of a run is shown in order, in any answer view."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime

from core.model.answer import Answer, Outcome, ResourceUsage
from core.model.conversation import Person, ThreadKey
from core.model.events import (
    AgentCompleted,
    AgentEvent,
    AgentFailed,
    AgentStarted,
    AnswerDelta,
    AnswerReset,
    CheckpointReached,
    GradingCompleted,
    Noticed,
    RetrievalCompleted,
    RetrievalStarted,
    RoutingDecided,
)
from core.model.inquiry import Checkpoint, CheckpointKind, Choice
from core.ports.answer_view import Step
from core.service.event_presenter import EventPresenter

NOW = datetime(2026, 1, 1, tzinfo=UTC)


class Transcript:
    """An answer view that writes down what it is told to show."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    async def open(self) -> None:
        self.lines.append("open")

    async def step(self, step: Step) -> None:
        self.lines.append(f"step {step.id}: {step.title} ({step.state}) {step.detail}".rstrip())

    async def write(self, text: str) -> None:
        self.lines.append(f"write {text}")

    async def rewrite(self, reason: str) -> None:
        self.lines.append(f"rewrite {reason}")

    async def notice(self, text: str) -> None:
        self.lines.append(f"notice {text}")

    async def conclude(self, answer: Answer, trace_id: str) -> None:
        self.lines.append(f"conclude {answer.outcome} {answer.text} under {trace_id}")

    async def offer(self, checkpoint: Checkpoint, answer: Answer, trace_id: str) -> None:
        self.lines.append(f"offer {checkpoint.kind} under {trace_id}")

    async def fail(self, message: str, trace_id: str) -> None:
        self.lines.append(f"fail {message} under {trace_id}")

    async def close(self) -> None:
        self.lines.append("close")


async def stream(*events: AgentEvent) -> AsyncIterator[AgentEvent]:
    for event in events:
        yield event


async def shown(*events: AgentEvent) -> list[str]:
    transcript = Transcript()
    await EventPresenter(transcript).show(stream(AgentStarted("t1", "Q?", "balanced", "extractive"), *events))
    return transcript.lines


async def test_a_search_is_one_line_that_is_first_running_then_done() -> None:
    found = RetrievalCompleted(1, "refunds", ("dense", "bm25"), 50, 20, 8, 8, 12.0, ("Refund policy", "FAQ"))
    assert await shown(RetrievalStarted(1, "refunds"), found) == [
        "step search-1: Searching “refunds” (running)",
        "step search-1: Searched “refunds” (done) 8 new of 8 passages: Refund policy, FAQ",
    ]


async def test_a_greeting_shows_no_steps() -> None:
    answer = Answer(Outcome.ANSWERED, "Hello!")
    lines = await shown(
        RoutingDecided(needs_retrieval=False, reason="greeting"), AnswerDelta("Hello!"), AgentCompleted(answer)
    )
    assert lines == ["write Hello!", "conclude answered Hello! under t1"]


async def test_a_reset_comes_between_the_void_text_and_the_new() -> None:
    lines = await shown(AnswerDelta("half"), AnswerReset("the model went away"), AnswerDelta("whole"))
    assert lines == ["write half", "rewrite the model went away", "write whole"]


async def test_the_last_event_is_returned_as_the_outcome() -> None:
    checkpoint = Checkpoint(
        "c1",
        CheckpointKind.CLARIFY,
        ThreadKey("console", "", "terminal", "t"),
        Person("p"),
        "Q?",
        "Which?",
        (Choice("option-1", "A"),),
        (),
        "",
        ResourceUsage(),
        NOW,
        NOW,
    )
    reached = CheckpointReached(checkpoint, Answer(Outcome.CLARIFIED, "Which?"))
    transcript = Transcript()
    assert await EventPresenter(transcript).show(stream(reached)) is reached


async def test_notices_and_failures_are_shown() -> None:
    lines = await shown(
        Noticed("I set that aside."), GradingCompleted(8, 3, 4.5, 10.0), AgentFailed("It is away.", "t1")
    )
    assert lines[0] == "notice I set that aside."
    assert lines[-1] == "fail It is away. under t1"
