"""A message typed while a checkpoint is open."""

from datetime import UTC, datetime

import pytest

from core.model.answer import ResourceUsage
from core.model.conversation import Person, ThreadKey
from core.model.inquiry import Checkpoint, CheckpointKind, Choice
from core.service.typed_choice import match_typed_choice

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def checkpoint(kind: CheckpointKind, *choices: Choice) -> Checkpoint:
    key = ThreadKey("console", "", "terminal", "t")
    return Checkpoint(
        "c1",
        kind,
        key,
        Person("p"),
        "How do I configure the timeout?",
        "Which?",
        choices,
        (),
        "",
        ResourceUsage(),
        NOW,
        NOW,
    )


WHICH = checkpoint(
    CheckpointKind.CLARIFY,
    Choice("option-1", "the connection timeout (API reference)", "How do I configure the connection timeout?"),
    Choice("option-2", "the job timeout (API reference)", "How do I configure the job timeout?"),
    Choice("other", "Something else", asks_text=True),
)
LONG = checkpoint(
    CheckpointKind.LONG_SEARCH,
    Choice("keep", "Keep searching"),
    Choice("answer", "Answer now"),
    Choice("narrow", "Narrow it", asks_text=True),
)


def choice_of(message: str, where: Checkpoint) -> str | None:
    understood = match_typed_choice(message, where)
    return understood.choice.id if understood else None


@pytest.mark.parametrize("message", ["2", "the job one", "job timeout please", "option-2"])
def test_a_reading_is_chosen_in_many_ways(message: str) -> None:
    assert choice_of(message, WHICH) == "option-2"


def test_words_that_fit_no_reading_are_the_askers_own() -> None:
    understood = match_typed_choice("the webhook delivery one", WHICH)
    assert understood is not None
    assert (understood.choice.id, understood.text) == ("other", "the webhook delivery one")


@pytest.mark.parametrize(
    "message",
    [
        "What is the refund period?",
        "who leads Team Compass",
        "we are a food bank, do we get a discount",
        "i start on monday. when does my laptop come",
    ],
)
def test_a_new_question_is_a_new_question(message: str) -> None:
    assert choice_of(message, WHICH) is None
    assert choice_of(message, LONG) is None


@pytest.mark.parametrize("message", ["danke!", "ok, thanks a lot", "Merci", "no thanks", "that's wrong", "no, wrong"])
def test_thanks_and_objections_are_no_words_to_search_for(message: str) -> None:
    nothing = checkpoint(CheckpointKind.NOTHING_RELEVANT, Choice("caveats", "Answer with caveats"))
    for where in (WHICH, nothing, LONG):
        assert choice_of(message, where) in {None, "stop", "keep", "answer"}
    assert {choice_of(message, nothing) for message in ("danke!", "that's wrong", "wrong answer")} == {None}
    assert choice_of("wrong invoice sent", nothing) == "own-terms"


@pytest.mark.parametrize(
    ("message", "choice"),
    [
        ("yes please", "keep"),
        ("Go on", "keep"),
        ("answer now", "answer"),
        ("1", "keep"),
        ("only the EU region", "narrow"),
        ("refunds, May 2025", "narrow"),
        ("the north depot, list prices", "narrow"),
    ],
)
def test_a_long_search_is_answered_in_words(message: str, choice: str) -> None:
    assert choice_of(message, LONG) == choice


def test_own_terms_are_tried_when_nothing_was_found() -> None:
    nothing = checkpoint(
        CheckpointKind.NOTHING_RELEVANT, Choice("caveats", "Answer with caveats"), Choice("stop", "Stop")
    )
    understood = match_typed_choice("dental insurance", nothing)
    assert understood is not None
    assert understood.choice.value == "dental insurance"
    assert choice_of("stop", nothing) == "stop"
