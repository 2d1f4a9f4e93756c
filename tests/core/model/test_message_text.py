"""What is left of a chat message for understanding it."""

import pytest

from core.model.message_text import plain_question


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
