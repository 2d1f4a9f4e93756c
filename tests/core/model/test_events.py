"""What a run streams: which of its events say how long a step took."""

from dataclasses import fields
from typing import get_args

from core.model.events import AgentEvent, TimedEvent


def test_every_event_with_a_duration_is_a_timed_one_and_no_other() -> None:
    with_duration = {kind for kind in get_args(AgentEvent) if "duration_ms" in {one.name for one in fields(kind)}}
    assert with_duration == set(get_args(TimedEvent))
