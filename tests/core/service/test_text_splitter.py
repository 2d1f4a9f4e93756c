"""Splitting long answers: nothing is lost, doubled or broken."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.service.text_splitter import split_markdown


def test_a_short_text_is_one_piece() -> None:
    assert split_markdown("Refunds take 14 days [1].", 100) == ("Refunds take 14 days [1].",)


def test_an_empty_text_is_one_empty_piece() -> None:
    assert split_markdown("", 100) == ("",)


def test_paragraphs_are_kept_together_where_they_fit() -> None:
    first, second = "One. " * 12, "Two. " * 12
    assert split_markdown(f"{first.strip()}\n\n{second.strip()}", 80) == (first.strip(), second.strip())


def test_a_fence_that_is_cut_is_closed_and_opened_again_in_its_language() -> None:
    code = "\n".join(f"line_{n} = {n}" for n in range(40))
    pieces = split_markdown(f"Look:\n\n```python\n{code}\n```\n\nDone.", 200)
    assert len(pieces) > 2
    assert all(len(piece) <= 200 for piece in pieces)
    assert all(piece.count("```") % 2 == 0 for piece in pieces)
    assert all(piece.startswith("```python\n") for piece in pieces[1:-1])
    whole = "\n".join(pieces)
    assert all(whole.count(f"line_{n} = {n}\n") == 1 for n in range(40))


def test_a_marker_stays_whole_and_with_its_word() -> None:
    text = "word [12][3] " * 60
    for piece in split_markdown(text, 101):
        assert not piece.startswith("[")
        assert not re.search(r"\[\d*$", piece)


@pytest.mark.parametrize("whole", ["[the policy](https://a.example/" + "x" * 40 + ")", "`some code here`", "&amp;"])
def test_links_code_and_entities_are_not_cut(whole: str) -> None:
    for padding in range(60, 100):
        pieces = split_markdown("x" * padding + whole + "y" * 60, 100)
        assert sum(whole in piece for piece in pieces) == 1


def test_a_limit_without_room_is_refused() -> None:
    with pytest.raises(ValueError, match="room"):
        split_markdown("text", 10)


@given(
    st.lists(
        st.sampled_from(["word", "[1]", "\n\n", "\n", ". ", "```\n", "&lt;", "xxxxxxxxxxxxxxxxxxxxxxx"]), max_size=120
    )
)
def test_every_word_comes_through_in_order_and_every_piece_fits(parts: list[str]) -> None:
    text = " ".join(parts)
    pieces = split_markdown(text, 90)
    assert all(len(piece) <= 90 for piece in pieces)
    assert re.findall(r"word|x+|\[1\]|&lt;", " ".join(pieces)) == re.findall(r"word|x+|\[1\]|&lt;", text)
