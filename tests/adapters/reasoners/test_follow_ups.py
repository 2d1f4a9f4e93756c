"""Follow-ups: what a question leaves out is put in from the question before it, and other questions stay."""

import pytest

from adapters.reasoners.extractive.understand.follow_up import resolve, resolve_part
from core.model.conversation import Exchange


def after(*questions: str) -> tuple[Exchange, ...]:
    """A thread of these questions, answers unknown."""
    return tuple(Exchange(question) for question in questions)


@pytest.mark.parametrize(
    ("before", "said", "understood"),
    [
        ("what does 422 mean", "and 401", "what does 401 mean?"),
        ("how much is poche 4 mm", "sorry i meant 14 mm", "how much is poche 14 mm?"),
        ("landing charge for a 180 t freighter", "make that a 60 t one", "landing charge for a 60 t freighter?"),
        ("How much is the Steady plan?", "and Always?", "How much is the Always plan?"),
        ("what is the rent for standard tickets", "for saver ones?", "what is the rent for saver tickets?"),
        ("mileage for own car?", "and if i take a colleague along", "mileage for own car if i take a colleague along?"),
        ("full pay on maternity leave", "not maternity - partner", "full pay on partner leave?"),
        ("price of the pass", "and what was it in 2025", "price of the pass in 2025?"),
    ],
)
def test_a_fragment_goes_into_the_question_before_it(before: str, said: str, understood: str) -> None:
    assert resolve(said, after(before)).question == understood


@pytest.mark.parametrize(
    ("before", "said", "understood"),
    [
        ("what's new in firmware F31", "what does it need to run", "what does F31 need to run"),
        ("tell me about tank L-03", "when will it be mended", "when will L-03 be mended"),
        ("How much is Spark?", "how long is the term?", "how long is the term (Spark)?"),
        ("what does alarm D2 mean", "what do i do first", "what do i do first (D2)"),
    ],
)
def test_a_pronoun_or_a_few_words_get_the_topic_of_the_last_question(before: str, said: str, understood: str) -> None:
    assert resolve(said, after(before)).question == understood


def test_she_is_the_person_whom_the_last_answer_names() -> None:
    last = Exchange("who runs customer care?", "Ada Lund runs it.")
    assert resolve("where does she sit?", (last,)).question == "where does Ada Lund sit?"


def test_where_two_questions_differ_the_next_fragment_goes() -> None:
    asked = after("what is a pint with breakfast", "what is a pint with lunch")
    assert resolve("and with dinner?", asked).question == "what is a pint with dinner?"


@pytest.mark.parametrize(
    "said",
    [
        "Which printers does the Leith office have?",
        "how do i get a parking permit for the depot",
        "Wie hoch ist die Kaution für Gäste?",
        "is it possible to pay by card at the desk?",
    ],
)
def test_a_question_that_stands_alone_stays(said: str) -> None:
    assert resolve(said, after("How much is the Steady plan?")).question == said


def test_a_correction_is_told_from_a_fragment_that_goes_on() -> None:
    asked = after("what does error 422 mean")
    assert resolve("no, i meant 401", asked).amends
    assert not resolve("and 401?", asked).amends


def test_what_leans_on_nothing_is_stuck() -> None:
    assert resolve("and that?", ()).stuck
    assert not resolve("and the invoice?", ()).stuck


def test_a_later_part_that_names_one_thing_is_of_what_the_first_was_about() -> None:
    first = "Who leads the workshop"
    assert resolve_part("what's the extension?", (first,)).question == "what's the extension (workshop)?"
    assert resolve_part("which days is the canteen open?", (first,)).question == "which days is the canteen open?"
