"""The text of a chat message that is used to understand it."""

import pytest

from core.model.message_text import asks_by_words, is_question, only_points, plain_question


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("how long do refunds take :pray: ?", "how long do refunds take?"),
        ("🙏 how long do refunds take? 🎉", "how long do refunds take?"),
        ("what does `MT-4012` mean?", "what does MT-4012 mean?"),
        ("what does this mean?\n```python\nraise RateLimited(3)\n```", "what does this mean?\nraise RateLimited(3)"),
        ("is **support** open ~~today~~ at 10:30:45?", "is support open today at 10:30:45?"),
        ("what is std::string::npos:here?", "what is std::string::npos:here?"),
        ("  what   is\n\n\nthis? ", "what is\nthis?"),
        (":pray:", ":pray:"),
        ("👆", "👆"),
        ("which of 2 * 3 * 4 is right?", "which of 2 * 3 * 4 is right?"),
    ],
)
def test_leaves_words_and_drops_decoration(written: str, read: str) -> None:
    assert plain_question(written) == read


@pytest.mark.parametrize(
    "said",
    [
        *("", "^", "^^", "👆", "please help Bob with that", "please help @Bob with that", "any ideas?", "this"),
        *("can you answer this?", "can you help Bob's colleague", "what about this?", "same question", "thoughts?"),
        *("kannst du Bob dabei helfen?", "¿puedes ayudar a Bob con eso?", "peux-tu aider Bob avec ça ?"),
    ],
)
def test_points_at_the_message_it_replies_to(said: str) -> None:
    assert only_points(said, ["Bob", "Alice"])


@pytest.mark.parametrize(
    "said",
    [
        *("what is our rule for this?", "how do we fix that?", "thanks for that", "ok", "is that still right?"),
        *("what should I do about this?", "und in Teilzeit?", "help Carol with that"),
    ],
)
def test_says_something_of_its_own(said: str) -> None:
    assert not only_points(said, ["Bob", "Alice"])


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
