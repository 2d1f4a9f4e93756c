"""Events of a run: durations, and their explanation for people."""

from dataclasses import fields
from datetime import UTC, datetime
from typing import get_args

from core.model.answer import Answer, Outcome, ResourceUsage
from core.model.conversation import Person, ThreadKey
from core.model.events import (
    AgentCompleted,
    AgentEvent,
    CheckpointReached,
    GradingCompleted,
    HallucinationChecked,
    RetrievalCompleted,
    TimedEvent,
    TracedEvent,
)
from core.model.inquiry import Checkpoint, CheckpointKind, Choice
from core.service.explanations import explanation_steps


def test_every_event_with_a_duration_is_a_timed_one_and_no_other() -> None:
    with_duration = {kind for kind in get_args(AgentEvent) if "duration_ms" in {one.name for one in fields(kind)}}
    assert with_duration == set(get_args(TimedEvent))


def _searched(query: str, *, new: int, note: str = "", sources: tuple[str, ...] = ("Leave",)) -> TracedEvent:
    found = RetrievalCompleted(1, query, ("dense",), 1, 1, new, new, 1.0, sources=sources, note=note)
    return TracedEvent(0.0, found)


def test_explains_searches_in_whole_sentences_without_evidence_numbers() -> None:
    told = explanation_steps(
        [
            _searched("leave", new=1),
            _searched("leave", new=0),
            _searched("the section around [3]", new=2, note="The section around [3] is now among the evidence."),
            _searched("source x", new=0, note="There is no source called 'x'", sources=()),
            TracedEvent(0.0, GradingCompleted(1, 1, 9.0, 0.1)),
        ]
    )
    assert told == (
        "I searched “leave”: 1 new passage from Leave.",
        "I searched “leave”: nothing new.",
        "I read more in Leave: 2 new passages.",
        "There is no source called 'x'.",
        "1 of 1 passage counted as evidence.",
    )


def test_an_explanation_says_nothing_that_is_zero_and_names_no_id() -> None:
    card = Checkpoint(
        id="0123456789abcdef",
        kind=CheckpointKind.CLARIFY,
        thread=ThreadKey("slack", "T1", "C1", "1.0"),
        asker=Person("slack:user:T1/U1"),
        question="timeouts?",
        message="Which timeout?",
        choices=(Choice("1", "Jobs"),),
        found=(),
        missing="",
        spent=ResourceUsage(),
        created_at=datetime(2026, 1, 1, tzinfo=UTC),
        expires_at=datetime(2026, 1, 2, tzinfo=UTC),
    )
    ended = Answer(Outcome.ANSWERED, "", spent=ResourceUsage(searches=1, seconds=0.25))
    told = explanation_steps(
        [
            TracedEvent(0.0, CheckpointReached(card, Answer(Outcome.CLARIFIED, ""))),
            TracedEvent(0.0, HallucinationChecked(True, 1.0, (), 3.0)),
            TracedEvent(0.0, AgentCompleted(ended)),
        ]
    )
    assert told == (
        "I asked how to continue: Which timeout?",
        "Every sentence is supported.",
        "Answered: 1 search, 0.25 s.",
    )
