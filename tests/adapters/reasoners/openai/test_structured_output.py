"""Reading what models send, whatever they send."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.reasoners.openai.hidden_text import without_thoughts
from adapters.reasoners.openai.structured_output import (
    InsteadFilter,
    as_flag,
    as_number,
    as_text,
    as_texts,
    json_in,
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        ('```\n{"a": 1}\n```', {"a": 1}),
        ('As [1] says: {"a": [1, 2,],}', {"a": [1, 2]}),
        ('{"a": True, "b": None}', {"a": True, "b": None}),
        ('{"a": "keep ,] and True, as they are"}', {"a": "keep ,] and True, as they are"}),
        ('{"a": "two\nlines"}', {"a": "two\nlines"}),
        ('<think>{"a": 0}</think>{"a": 1}', {"a": 1}),
        ('{"a": 0}</think>{"a": 1}', {"a": 1}),
        ("[1] is the best source.", None),
        ("no json", None),
        ("", None),
        ('{"a": "bro', None),
    ],
)
def test_json_is_found_where_there_is_some(text: str, value: Any) -> None:
    assert json_in(text) == value


@given(st.text(alphabet='{}[]",:\\ntrue1 <think>/`'))
def test_no_text_makes_it_raise(text: str) -> None:
    json_in(text)
    without_thoughts(text)


def test_deep_nesting_is_no_json() -> None:
    assert json_in("[" * 100_000) is None


@pytest.mark.parametrize(
    ("value", "number"),
    [(3, 3), ("8/10", 8), ("[3]", 3), ("E3", 3), ([7], 7), (True, None), ("many", None), (None, None), (1e300, None)],
)
def test_numbers_are_read_from_what_surrounds_them(value: object, number: float | None) -> None:
    assert as_number(value) == number


def test_texts_and_flags_are_read_leniently() -> None:
    assert as_text(["refund", 30, None, {"query": "window"}]) == "refund 30 window"
    assert as_text({"weird": 1}) == ""
    assert as_texts("one", 3) == ("one",)
    assert as_texts(["a", "", "a", "b", "c"], 2) == ("a", "b")
    assert as_flag("Yes")
    assert not as_flag("no")


@given(st.integers(1, 40), st.sampled_from(["", "Thirty days [1].", "A MISSING: in the middle.\nThen\n", "- Mi\n"]))
def test_what_is_missing_is_read_and_not_shown_however_it_is_cut(size: int, before: str) -> None:
    text = f"{before}\n**MISSING:** who approves\nand so on"
    instead = InsteadFilter()
    shown = "".join(instead.feed(text[at : at + size]) for at in range(0, len(text), size)) + instead.rest()
    assert shown.strip() == before.strip()
    assert instead.has_line
    assert instead.complete
    assert instead.missing_text == "who approves"


@given(
    st.integers(1, 40),
    st.sampled_from(
        [
            "UNCLEAR: Which timeout? | The planner's? | The webhook's?\nand so on | more",
            "**UNCLEAR:** Which timeout?\n- The planner's?\n2. The webhook's?\n",
            "UNCLEAR: Which timeout?\n\n| The planner's? | The webhook's? |",
        ]
    ),
)
def test_a_question_back_is_read_and_not_shown_however_it_is_cut_and_laid_out(size: int, text: str) -> None:
    instead = InsteadFilter()
    shown = "".join(instead.feed(text[at : at + size]) for at in range(0, len(text), size)) + instead.rest()
    assert not shown.strip()
    assert instead.has_line
    assert (instead.asks, instead.missing_text) == (("Which timeout?", "The planner's?", "The webhook's?"), "")


@pytest.mark.parametrize("text", ["UNCLEAR:", "UNCLEAR: which?", "UNCLEAR: a | a | b", "MISSING: the | price | list"])
def test_less_than_two_readings_are_no_question_back(text: str) -> None:
    instead = InsteadFilter()
    instead.feed(text)
    assert instead.has_line
    assert instead.asks == ()


def test_a_question_back_is_not_waited_for_without_end() -> None:
    instead = InsteadFilter()
    instead.feed("UNCLEAR: Which?\n" + "and so on, " * 200)
    assert instead.complete


@given(
    st.integers(1, 40),
    st.sampled_from(["MISS", "UNCLEAR is what it is.", "It is MISSING: nothing.", "One.\n\n- MISS two", "\n\n"]),
)
def test_an_answer_in_which_nothing_is_missing_is_shown_whole(size: int, text: str) -> None:
    instead = InsteadFilter()
    shown = "".join(instead.feed(text[at : at + size]) for at in range(0, len(text), size)) + instead.rest()
    assert shown == text
    assert not instead.has_line
    assert instead.missing_text == ""
