"""A comparison of two versions or two sections is two questions, so that both sides are searched for and shown."""

import pytest

from adapters.reasoners.extractive.reasoner import ExtractiveReasoner
from adapters.reasoners.extractive.understand.parts import sides_of
from core.model.inquiry import Investigate
from tests.adapters.reasoners.harness import inquiry, meter, thread
from tests.fakes.memory.encoder import HashingEncoder


@pytest.mark.parametrize(
    ("question", "one", "other"),
    [
        ("courier to england 2025 compared to 2026", "courier to england 2025?", "courier to england 2026?"),
        ("what's the difference in price between Spark and Glow?", "price, Spark?", "price, Glow?"),
        (
            "how did the excess for car damage change between edition 6 and 7?",
            "excess for car damage, edition 6?",
            "excess for car damage, edition 7?",
        ),
        (
            "how far ahead are slots seen in v1 and v2",
            "how far ahead are slots seen in v1?",
            "how far ahead are slots seen in v2?",
        ),
        ("page size in dock v2, and what about v1?", "page size in dock v2?", "page size in dock v1?"),
        ("was the rent the same in 2024 or 2026", "was the rent the same in 2024?", "was the rent the same in 2026?"),
    ],
)
def test_what_is_compared_is_asked_of_each_side(question: str, one: str, other: str) -> None:
    assert sides_of(question) == (one, other)


@pytest.mark.parametrize(
    "question",
    [
        "which is heavier, the small or the large one?",
        "does depuration help against norovirus",
        "what is the difference between flex and saver tickets?",
        "how did you find that?",
        "small vs large",
        "punch vs ledger whats the difference",
        "2024 and 2026",
        "how many incidents were there from 2024 to 2026?",
    ],
)
def test_what_has_no_two_sides_in_one_place_stays_one_question(question: str) -> None:
    assert sides_of(question) == ()


def test_each_of_several_things_is_a_part() -> None:
    assert sides_of("compare Depot, Fleet and Spark in price") == (
        "Depot in price?",
        "Fleet in price?",
        "Spark in price?",
    )
    assert sides_of("what are the rules for lorries and for vans?") == (
        "what are the rules for lorries?",
        "what are the rules for vans?",
    )


async def test_both_sides_are_searched_for() -> None:
    asked = inquiry("What was the rent in 2024 compared to 2026?")
    plan = await ExtractiveReasoner(HashingEncoder()).understand(asked, thread(), meter())
    assert isinstance(plan, Investigate)
    assert plan.queries == ("What was the rent in 2024?", "What was the rent in 2026?")
    assert plan.question == "What was the rent in 2024 compared to 2026?"
