"""A comparison of two versions or two sections is two questions, so that both sides are searched for and shown."""

import pytest

from adapters.reasoners.extractive.question.comparison import sides_of
from adapters.reasoners.extractive.reasoner import ExtractiveReasoner
from core.model.inquiry import Investigate
from tests.adapters.reasoners.scene import inquiry, meter, thread
from tests.fakes.memory.encoder import HashingEncoder


@pytest.mark.parametrize(
    ("question", "one", "other"),
    [
        ("courier to england 2025 compared to 2026", "courier to england 2025?", "courier to england 2026?"),
        ("rate limit on sandbox vs the real api", "rate limit on sandbox?", "rate limit on real api?"),
        ("rent of buoy 2 vs 2S for a full year", "rent of buoy 2 for a full year?", "rent of buoy 2S for a full year?"),
        ("what's the difference in price between Spark and Glow?", "price, Spark?", "price, Glow?"),
        (
            "how did the excess for car damage change between edition 6 and 7?",
            "excess for car damage, edition 6?",
            "excess for car damage, edition 7?",
        ),
        ("how does the notice differ in year 3 vs year 7?", "notice in year 3?", "notice in year 7?"),
        (
            "how far ahead are slots seen in v1 and v2",
            "how far ahead are slots seen in v1?",
            "how far ahead are slots seen in v2?",
        ),
        ("page size in dock v2, and what about v1?", "page size in dock v2?", "page size in dock v1?"),
        (
            "handling in: price this year and last year?",
            "handling in: price this year?",
            "handling in: price last year?",
        ),
        ("cold supplement now and two years ago?", "cold supplement now?", "cold supplement two years ago?"),
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
    assert sides_of(question) is None


async def test_both_sides_are_searched_for() -> None:
    asked = inquiry("What was the rent in 2024 compared to 2026?")
    plan = await ExtractiveReasoner(HashingEncoder()).understand(asked, thread(), meter())
    assert isinstance(plan, Investigate)
    assert plan.queries == ("What was the rent in 2024?", "What was the rent in 2026?")
    assert plan.question == "What was the rent in 2024 compared to 2026?"
