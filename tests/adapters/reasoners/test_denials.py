"""Where it is asked what is not so, a sentence that denies something comes before one that denies nothing."""

import pytest

from adapters.reasoners.extractive.evidence.denials import judge_denials
from adapters.reasoners.extractive.evidence.scoring import ScoredUnit, WeighedPassage, Words, rarity_of
from core.model.evidence import Evidence, Hit
from core.model.passage_units import units
from tests.adapters.reasoners.scene import passage

CASE = "In the case of a violin are bow, rosin and cloth. A shoulder rest is not included; we sell one for £14."


def best(question: str, text: str = CASE) -> str:
    """The text of the best unit, where all were as likely before."""
    item = Evidence(1, Hit(passage(1, text, "Hire"), 0.8), "asked")
    listed = tuple(ScoredUnit(item, unit, 1.0, 1.0, odds=0.5) for unit in units(text))
    (judged,) = judge_denials(question, [WeighedPassage(item, Words(question, rarity_of([item])), listed, 0.5)])
    return judged.units[0].unit.text


@pytest.mark.parametrize(
    "question",
    [
        "what's not in the case of a violin",
        "which thing isn't in the case",
        "what is missing from the case",
        "what dont I get",
    ],
)
def test_what_is_not_so_is_answered_by_the_sentence_that_denies(question: str) -> None:
    assert best(question).startswith("A shoulder rest")


@pytest.mark.parametrize(
    "question",
    [
        "what is in the case of a violin",
        "isn't the bow in the case",  # yes or no: either sentence decides
        "what do I pay if the bow is not in the case",
        "why not put the bow in the case",
        "what do I do when the bow is not in the case",
        "what happens to a customer who doesn't bring the case back",
    ],
)
def test_every_other_question_stays_as_it_was_judged(question: str) -> None:
    assert best(question).startswith("In the case")


def test_a_row_says_in_its_own_way_what_is_not_so() -> None:
    table = "| Plan | Cover |\n|---|---|\n| Slow | yes |\n| Fast | no |\n"
    assert "Slow" in best("which plan has no cover", table)
