"""Tests with the buttons of a question that is asked back: short, different, and about the difference."""

import pytest

from core.agent.question_back import LONGEST, choice_labels

TIMEOUTS = (
    "How do I configure the job timeout (API reference, version 2)?",
    "How do I configure the connection timeout (API reference, version 2)?",
    "How do I configure the delivery timeout (Webhooks)?",
)


@pytest.mark.parametrize(
    ("options", "labels"),
    [
        (("Fleet plan", "Studio plan"), ("Fleet plan", "Studio plan")),
        (TIMEOUTS[:2], ("job timeout (API reference, version 2)", "connection timeout")),
        (TIMEOUTS, ("job timeout (API reference, version 2)", "connection timeout", "delivery timeout (Webhooks)")),
        (
            (
                "What is the refund policy in the Support policy 2024?",
                "What is the refund policy in the Support policy 2026?",
            ),
            ("2024", "2026"),
        ),
        (
            ("How long may a parcel take when the van is full?", "How long may a parcel take when the weather is bad?"),
            ("van is full", "weather is bad"),
        ),
        (
            (
                "the job timeout is too short for us, can it be raised (API reference, version 2)?",
                "the session timeout is too short for us, can it be raised (Security at work)?",
            ),
            ("job timeout", "session timeout"),
        ),
    ],
)
def test_a_label_says_what_sets_its_reading_apart(options: tuple[str, ...], labels: tuple[str, ...]) -> None:
    assert choice_labels(options) == labels


@pytest.mark.parametrize(
    "options",
    [
        (f"{'a' * 80}", f"{'b' * 80}"),
        (
            "The same thing over and over again, without any change",
            "The same thing over and over again, without any change?",
        ),
        ("Which of the rather long names of departments is it that you have in mind today?",),
        (" ? " * 30, "! " * 40),
    ],
)
def test_labels_are_never_too_long_empty_or_the_same(options: tuple[str, ...]) -> None:
    labels = choice_labels(options)
    assert len(set(labels)) == len(options)
    assert all(0 < len(label) <= LONGEST for label in labels)
