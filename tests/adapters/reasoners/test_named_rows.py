"""A yes/no question that names a row of a table is answered by that row, whatever else its neighbours have."""

import pytest

from adapters.reasoners.extractive.answer.selection import choose_quotations
from adapters.reasoners.extractive.evidence.named_rows import doubt_neighbours
from adapters.reasoners.extractive.evidence.scoring import ScoredUnit, WeighedPassage, Words, rarity_of
from core.model.evidence import Evidence, Hit
from core.model.passage_units import units
from tests.adapters.reasoners.scene import passage

PEOPLE = """\
| Name | Role | Works in |
| --- | --- | --- |
| Ada Lund | Baker | Leith |
| Colm Reddy | Driver | Denbry |
| Bea Mortlock | Driver for Ada Lund | Leith |
"""
OWNERS = """\
| Service | Owned by | Kept in |
| --- | --- | --- |
| `ovenwatch` | Team Crumb | Leith |
"""


def weighed(question: str, text: str) -> list[WeighedPassage]:
    item = Evidence(1, Hit(passage(1, text, "People"), 0.8), "asked")
    listed = tuple(ScoredUnit(item, unit, 1.0, 0.5, odds=1.0) for unit in units(text))
    return [WeighedPassage(item, Words(question, rarity_of([item])), listed, 0.5)]


def likely(question: str) -> list[str]:
    """The first cells of the rows that still may answer."""
    (found,) = doubt_neighbours(question, weighed(question, PEOPLE))
    return [one.unit.text.split("|")[1].strip() for one in found.units if one.odds > 0.0]


def test_the_row_that_is_named_answers_and_those_that_speak_of_it() -> None:
    assert likely("is Ada Lund in Leith?") == ["Ada Lund", "Bea Mortlock"]
    assert likely("does Colm Reddy work in Leith?") == ["Colm Reddy"]


@pytest.mark.parametrize(
    "question",
    ["who is in Leith?", "is anybody in Leith?", "is anyone else in Leith than Ada Lund?", "is the baker in?"],
)
def test_a_question_for_whoever_it_is_leaves_all_rows_as_they_are(question: str) -> None:
    assert likely(question) == ["Ada Lund", "Colm Reddy", "Bea Mortlock"]


@pytest.mark.parametrize(
    ("question", "table", "quoted"),
    [("is Colm Reddy in Leith?", PEOPLE, "| Colm Reddy | Driver | Denbry |"), ("who owns ovenwatch?", OWNERS, "")],
)
def test_nothing_is_followed_from_a_row_that_tells_what_is_asked(question: str, table: str, quoted: str) -> None:
    (found,) = weighed(question, table)
    row = next(one for one in found.units if quoted in one.unit.text)
    teams = "| Who | Team |\n| --- | --- |\n| Ada Lund | Team Crumb, Leith |"
    further = Evidence(2, Hit(passage(2, teams, "Teams"), 0.8), "asked")
    chosen = choose_quotations(question, [row], 3, [found.evidence, further])
    assert [unit.text for one in chosen for unit in one.units] == [row.unit.text]
