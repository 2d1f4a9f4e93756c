"""The words of a question that are searched literally."""

import pytest

from core.model.text import without_stopwords


@pytest.mark.parametrize(
    ("question", "searched"),
    [
        ("what does too_many_pallets mean", "too many pallets mean"),
        ("what is the default of `expires_before`?", "default expires before"),
        ("what is _the_ limit", "limit"),
        ("is it on", "is it on"),
    ],
)
def test_the_small_words_of_a_question_are_left_out_but_those_of_an_identifier(question: str, searched: str) -> None:
    assert without_stopwords(question) == searched
