"""A message typed while a checkpoint is open."""

from datetime import UTC, datetime

import pytest

from core.model.answer import ResourceUsage
from core.model.conversation import Person, ThreadKey
from core.model.errors import NotFound
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

NOTHING = checkpoint(CheckpointKind.NOTHING_RELEVANT, Choice("caveats", "Answer with caveats"), Choice("stop", "Stop"))


def choice_of(message: str, where: Checkpoint) -> str | None:
    understood = match_typed_choice(message, where)
    return understood.id if understood else None


@pytest.mark.parametrize(
    "message",
    [
        "2",
        "2.",
        "number 2",
        "option-2",
        "the second one",
        "die zweite bitte",
        "le deuxième",
        "la segunda, por favor",
        "I mean the 2nd option",
        "Nummer zwei",
        "yes, I meant the job one, please",
        "the job one",
        "job timeout please",
        "die mit job",
        "The job timeout (API reference)",
        "How do I configure the job timeout?",
    ],
)
def test_a_reading_is_chosen_in_many_ways(message: str) -> None:
    assert choice_of(message, WHICH) == "option-2"


@pytest.mark.parametrize(
    "message",
    [
        "sure, after lunch",
        "ok let me ask Bob first",
        "the webhook delivery one",
        "the timeout",
        "What is the refund period?",
        "is the job queue down?",
        "we are a food bank, do we get a discount",
        "danke!",
        "that's wrong",
        "only the EU region",
        "dental insurance",
        "not the first one",
        "one sec",
        "the first two",
        "yes, one moment please",
        "give me two minutes",
        "👍",
    ],
)
@pytest.mark.parametrize("where", [WHICH, LONG, NOTHING], ids=["which", "long", "nothing"])
def test_anything_else_is_a_message_like_any_other(message: str, where: Checkpoint) -> None:
    assert choice_of(message, where) is None


@pytest.mark.parametrize(
    ("message", "choice"),
    [("yes please", "keep"), ("Go on", "keep"), ("weiter", "keep"), ("answer now", "answer"), ("1", "keep")],
)
def test_a_long_search_is_answered_in_words(message: str, choice: str) -> None:
    assert choice_of(message, LONG) == choice


def test_no_means_stop_only_where_a_button_offers_it() -> None:
    assert choice_of("no", NOTHING) == "stop"
    assert choice_of("no", WHICH) is None


@pytest.mark.parametrize("message", ["never mind", "stop", "Stop please", "vergiss es", "laisse tomber", "déjalo"])
@pytest.mark.parametrize("where", [WHICH, LONG, NOTHING], ids=["which", "long", "nothing"])
def test_every_card_can_be_stopped_in_words(message: str, where: Checkpoint) -> None:
    assert choice_of(message, where) == "stop"


@pytest.mark.parametrize("message", ["9", "0", "option 4", "the fifth one"])
def test_a_number_that_no_choice_has_is_an_error_that_names_the_choices(message: str) -> None:
    with pytest.raises(NotFound, match="2 the job timeout"):
        match_typed_choice(message, WHICH)


def test_the_label_of_a_choice_that_needs_words_asks_for_them() -> None:
    with pytest.raises(NotFound, match="own words"):
        match_typed_choice("something else", WHICH)
