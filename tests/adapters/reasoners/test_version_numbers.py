"""Which version something is of, a number says without the word."""

import pytest

from adapters.reasoners.extractive.evidence.version_numbers import numbers_near
from adapters.reasoners.extractive.evidence.word_coverage import topic_words

TEXTS = ("Keeps a log of all queries, as of 2.16.0.", "Takes 20 minutes. Needs `gh` 2.99+ or v3.1.")


@pytest.mark.parametrize(
    ("question", "word"),
    [
        ("since which version is there a query log", "version"),
        ("what gh version do i need", "version"),
        ("from what release on are queries kept?", "releas"),
    ],
)
def test_numbers_with_points_are_near_to_the_version_that_is_asked_for(question: str, word: str) -> None:
    assert set(numbers_near(question, TEXTS)) == {word}
    assert set(numbers_near(question, TEXTS)[word]) == {"2.16.0", "2.99", "v3.1"}


@pytest.mark.parametrize("question", ["is version 2 still supported?", "when was it released?", "how long is it kept"])
def test_elsewhere_they_are_near_to_nothing(question: str) -> None:
    assert not numbers_near(question, TEXTS)


def test_since_which_version_is_a_question_for_the_version_alone() -> None:
    assert topic_words("since which version is there a query log") == topic_words("which version has a query log")


def test_that_something_is_to_be_found_is_not_what_a_question_is_about() -> None:
    assert topic_words("where can i find the ping key") == topic_words("the ping key")
    assert topic_words("where do we look for lost property") == topic_words("lost property")
