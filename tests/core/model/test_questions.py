"""Whether a message asks for something, by its form."""

import pytest

from core.model.message_text import asks_by_words, is_question


@pytest.mark.parametrize(
    "text",
    [
        "how do I change it",
        "until when",
        "and for how long",
        "is Frankfurt the standby region",
        "can refunds be split",
        "i start on monday. when does my laptop come",
        "we are a charity, do we get a discount",
        "great, thanks. does a revoked one stop right away too",
        "explain that more simply",
        "wann verfällt der Urlaub",
        "hallo, kann ich das zurückgeben",
        "was kostet Fleet",
        "y a-t-il une limite",
        "le prix de Fleet, c'est combien",
        "cuánto cuesta el plan Fleet",
        "hola, se puede pagar con factura",
    ],
)
def test_a_question_needs_no_question_mark(text: str) -> None:
    assert asks_by_words(text)


@pytest.mark.parametrize(
    "text",
    [
        "Will do!",
        "have a nice evening",
        "is fine",
        "nice city, was there in June",
        "I told them, will do",
        "we moved, which is nice",
        "when I get back I'll look",
        "could be the cache",
        "must have missed it",
        "tell bob I am late",
        "ich weiß, was du meinst",
        "lunch is at noon",
    ],
)
def test_a_remark_is_no_question(text: str) -> None:
    assert not is_question(text)


def test_a_question_mark_asks_whatever_the_words_say() -> None:
    assert is_question("Tuesday morning?")
    assert not asks_by_words("Tuesday morning?")


def test_the_question_mark_of_an_address_asks_nothing() -> None:
    assert not is_question("I put it at https://example.com/list?page=2")
