"""Slack's documented errors, each played for one question: one visible outcome, whatever is refused.

A sample here; ``python -m research.measure.slack_errors`` plays all of them.
"""

from collections.abc import Iterator

import pytest

from research.measure.slack_errors import SITUATIONS, Case, cases, played
from tests.fakes.slack import specs_are_here

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.timeout(400),
    pytest.mark.skipif(not specs_are_here(), reason="Slack's method descriptions are not beside this checkout"),
]
EVERY = 11  # of so many quick cases one
TELLING = {
    ("chat.update", "edit_window_closed"),
    ("chat.update", "invalid_blocks"),
    ("chat.postMessage", "invalid_blocks"),
    ("chat.postMessage", "is_archived"),
    ("chat.postMessage", "token_revoked"),
    ("chat.postMessage", "answer lost"),
    ("chat.postEphemeral", "user_not_in_channel"),
    ("chat.appendStream", "message_not_in_streaming_state"),
    ("chat.stopStream", "not JSON"),
    ("conversations.open", "missing_scope"),
    ("agents.sessions.setStatus", "not_authorized"),
}


def sample() -> Iterator[Case]:
    quick = [case for method in SITUATIONS for case in cases([method]) if not case.is_slow]
    for number, case in enumerate(quick):
        if number % EVERY == 0 or (case.method, case.error) in TELLING:
            yield case


async def test_whatever_slack_refuses_a_question_has_one_outcome() -> None:
    done = await played(list(sample()))
    assert len(done) > 100
    wrong = [f"{case}: {case.outcome}" for case in done if "LOST" in case.outcome or "DOUBLED" in case.outcome]
    assert wrong == []
