"""Which messages only point at the one that they reply to."""

import pytest

from core.model.message_text import only_points


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
