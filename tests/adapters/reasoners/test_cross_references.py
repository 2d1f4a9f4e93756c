"""A line that links to a page gives way to what the page itself says, where that is asked for."""

from dataclasses import replace

import pytest

from adapters.reasoners.extractive.evidence.cross_references import judge_links
from adapters.reasoners.extractive.evidence.scoring import ScoredUnit, WeighedPassage, Words, rarity_of
from core.model.evidence import Evidence, Hit
from core.model.passage_units import units
from tests.adapters.reasoners.scene import passage

CONTENTS = "* [Canoe scheme](benefits/canoes.md) – we help you to pay for a canoe, it works for everybody"
PAGE = "You pay for the canoe over a year, from what you earn before tax."
ELSEWHERE = "* [Canoe scheme](https://boats.example/scheme) – how it works"


def weighed(number: int, text: str, source: str, odds: float) -> WeighedPassage:
    item = Evidence(number, Hit(replace(passage(number, text, source), source=source), 0.8), "asked")
    listed = tuple(ScoredUnit(item, unit, 1.0, 1.0, odds=odds) for unit in units(text))
    return WeighedPassage(item, Words("asked", rarity_of([item])), listed, 0.5)


def first(question: str, line: str, page_odds: float) -> str:
    """What comes first of a line of the contents, which has the words, and of the page that it links to."""
    found = [weighed(1, line, "handbook/README.md", 3.0), weighed(2, PAGE, "handbook/benefits/canoes.md", page_odds)]
    judged = judge_links(question, found)
    return max((one for passage in judged for one in passage.units), key=lambda one: one.odds).unit.text


@pytest.mark.parametrize("question", ["how does the canoe scheme work", "what do I pay in the canoe scheme"])
def test_a_page_answers_before_the_line_that_links_to_it(question: str) -> None:
    assert first(question, CONTENTS, 0.3) == PAGE


@pytest.mark.parametrize("question", ["is there a canoe scheme", "what is the canoe scheme"])
def test_whether_there_is_such_a_thing_and_what_the_line_says_well(question: str) -> None:
    assert first(question, CONTENTS, 0.3) == CONTENTS


def test_a_page_that_has_no_answer_leaves_the_line_as_it_is() -> None:
    assert first("how does the canoe scheme work", CONTENTS, -0.5) == CONTENTS


def test_a_link_to_somewhere_else_is_no_sign_of_a_page_that_was_found() -> None:
    assert first("how does the canoe scheme work", ELSEWHERE, 0.3) == ELSEWHERE
