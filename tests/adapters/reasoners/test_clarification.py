"""Questions back between several senses of a noun, and the evidence for the one that was chosen."""

import pytest

from adapters.reasoners.extractive.decide.clarification import is_about_reading, question_back
from tests.adapters.reasoners.harness import inquiry
from tests.core.agent.fixtures import library, passage


@pytest.mark.parametrize(
    ("question", "several"),
    [
        ("How do I configure the timeout?", "timeouts"),
        ("What is the policy?", "policies"),
        ("What is the delay?", "delays"),
        ("What are the limits?", "limits"),
        ("What is the branch?", "branches"),
    ],
)
def test_asks_which_of_several_things_is_meant(question: str, several: str) -> None:
    assert question_back(question) == f"The documents mention several {several}. Which one?"


@pytest.mark.parametrize(
    ("reading", "about"),
    [
        ("session timeout (Security at work)", [True, False]),
        ("the delivery one", [False, True]),
        ("timeout", [True, True]),
        ("", [True, True]),
    ],
)
def test_keeps_to_passages_about_the_chosen_reading(reading: str, about: list[bool]) -> None:
    found = library(
        passage(1, "The console session timeout is 12 hours, whatever your work is."),
        passage(2, "The webhook delivery timeout is 8 seconds, whatever your work is."),
    )
    asked = inquiry("How do I configure the timeout?", reading=reading, library=found)
    assert [is_about_reading(asked, item) for item in found] == about
