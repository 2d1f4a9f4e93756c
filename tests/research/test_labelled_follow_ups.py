"""Follow-ups as four layouts have them, and how close a rewrite comes to a person's."""

import json
from typing import Any

import pytest

from core.model.conversation import Exchange
from research.labelled.follow_ups import closeness, follow_ups_from, is_left_alone


def line(text: str, **about: Any) -> str:
    return json.dumps({"_id": "f1", "text": text, "metadata": about})


def test_our_own_layout_has_turns_with_answers_and_what_they_cited() -> None:
    turns = [{"question": "How much leave?", "answer": "27 days.", "documents": ["leave.md"]}]
    (found,) = follow_ups_from(
        [line("And sick?", turns=turns, rewrite="How much sick leave?", relevant={"leave.md": 2})]
    )
    assert found.earlier == (Exchange("How much leave?", "27 days.", ("leave.md",)),)
    assert (found.rewrite, found.relevant) == ("How much sick leave?", {"leave.md": 2})
    assert found.needs_context


def test_the_last_of_the_user_turns_is_the_follow_up_itself() -> None:
    (found,) = follow_ups_from([line("b", user_turns=["a", "b"], rewrite="b")])
    assert found.earlier == (Exchange("a"),)


def test_an_article_and_its_section_stand_where_a_thread_has_cited_titles() -> None:
    history = ["Carnegie", "Libraries", "Where are they?", "In many places."]
    (found,) = follow_ups_from([line("And why?", history=history, rewrite="Why?", changed=True)])
    assert found.earlier == (
        Exchange("", "", ("Carnegie", "Libraries")),
        Exchange("Where are they?", "In many places."),
    )


def test_an_assistant_message_belongs_to_the_question_before_it() -> None:
    history = ["Why?", "How?", "ASSISTANT: Like this."]
    (found,) = follow_ups_from([line("And when?", history=history, rewrite="When?", year=2021)])
    assert found.earlier == (Exchange("Why?"), Exchange("How?", "Like this."))


def test_a_line_without_a_rewrite_is_refused() -> None:
    with pytest.raises(KeyError):
        follow_ups_from([line("And when?", user_turns=["And when?"])])


def test_a_rewrite_that_differs_only_in_inflection_has_full_closeness() -> None:
    same = closeness("How long are positions of drivers kept?", "how long is a driver's position kept")
    assert (same.precision, same.recall, same.f1) == (1.0, 1.0, 1.0)


def test_a_question_as_asked_lacks_what_the_person_put_in() -> None:
    raw = closeness("And the photos?", "How long are delivery photos kept?")
    assert raw.precision == 1.0
    assert raw.recall < 0.5


def test_a_rewrite_that_only_drops_words_leaves_the_question_alone() -> None:
    assert is_left_alone("What is the rate limit?", "Hi, what is the rate limit please?")
    assert not is_left_alone("What is the Depot plan's rate limit?", "What is the rate limit?")
