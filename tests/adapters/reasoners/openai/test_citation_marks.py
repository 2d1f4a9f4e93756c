"""What is a mark and what belongs to the text, however a stream cuts it."""

import pytest

from adapters.reasoners.openai.draft import CitationMarks

TEXTS = ("The flat has 40 m² of floor. Write Dear {1} into the letter.",)


@pytest.mark.parametrize("size", [1, 3, 1_000])
@pytest.mark.parametrize(
    ("written", "read"),
    [
        (r"It is open \[1\].", "It is open [1]."),
        ("It is open [Document 1, Refund policy v2].", "It is open [1]."),
        ("It is open.¹ And closed².", "It is open.[1] And closed[2]."),
        ("It is open {1}.", "It is open [1]."),
        ("It has 40 m², 3 km² and 10².", "It has 40 m², 3 km² and 10²."),
        ("Write Dear {1}. Then {name} or {7}.", "Write Dear {1}. Then {name} or {7}."),
        ("It is open [1, as was said] [note: 1].", "It is open [1, as was said] [note: 1]."),
    ],
)
def test_a_mark_is_told_from_the_text_however_it_comes(written: str, read: str, size: int) -> None:
    marks = CitationMarks((1, 2), TEXTS)
    pieces = [marks.feed(written[start : start + size]) for start in range(0, len(written), size)]
    assert "".join(pieces) + marks.rest() == read
