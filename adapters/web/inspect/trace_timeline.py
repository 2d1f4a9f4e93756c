"""A trace as a timeline: what happened when, for how long, and what it took in all."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.model.answer import Answer
from core.model.events import AgentCompleted, AgentStarted, CheckpointReached, TimedEvent, TracedEvent
from core.service.explanations import describe_event

_LEAST = 0.4  # percent: what takes no time can be seen as well


@dataclass(frozen=True, slots=True)
class TraceRow:
    """One event. ``start`` and ``width`` are in percent of the whole, ``seconds`` since its beginning."""

    name: str
    text: str
    seconds: float
    took: float
    start: float
    width: float


@dataclass(frozen=True, slots=True)
class TraceTimeline:
    """All events of a trace. ``answer`` is its latest, with what it spent."""

    question: str
    rows: tuple[TraceRow, ...]
    seconds: float
    answer: Answer | None


def timeline(events: Sequence[TracedEvent]) -> TraceTimeline:
    """The events in order. An event is recorded when it is over, so that its bar ends where it stands."""
    began = min((traced.at - _took(traced) for traced in events), default=0.0)
    whole = max((traced.at for traced in events), default=0.0) - began
    per_cent = 100 / whole if whole > 0 else 0.0
    rows = tuple(_row(traced, began, per_cent) for traced in events)
    question = next((one.event.question for one in events if isinstance(one.event, AgentStarted)), "")
    ends = [one.event.answer for one in events if isinstance(one.event, AgentCompleted | CheckpointReached)]
    return TraceTimeline(question, rows, whole, ends[-1] if ends else None)


def _row(traced: TracedEvent, began: float, per_cent: float) -> TraceRow:
    took = _took(traced)
    start = (traced.at - took - began) * per_cent
    width = max(took * per_cent, _LEAST)
    name = str(traced.event.kind).removeprefix("AGENT_").replace("_", " ").capitalize()
    at = traced.at - began
    return TraceRow(name, describe_event(traced.event), at, took, min(start, 100 - _LEAST), min(width, 100))


def _took(traced: TracedEvent) -> float:
    """The seconds that a step took; 0 for what only happened."""
    return traced.event.duration_ms / 1000 if isinstance(traced.event, TimedEvent) else 0.0
