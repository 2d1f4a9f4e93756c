"""Who looks after a thing, drives it or stands in for somebody is answered by the row that names just that."""

import pytest

from adapters.reasoners.extractive.evidence.responsibility import (
    judge_responsibility,
    rest_of_persons,
    search_for_owner,
)
from adapters.reasoners.extractive.evidence.scoring import ScoredUnit, WeighedPassage, Words, rarity_of
from core.model.evidence import Evidence, EvidenceLibrary, Grade, Hit
from core.model.inquiry import ReadSection, Search, SearchKnowledge
from core.model.passage_units import units
from tests.adapters.reasoners.scene import inquiry, passage

PEOPLE = """\
| Name | Does | Sits | Stands in |
| --- | --- | --- | --- |
| Henrike Oduya | Managing Director | first floor | Tomasz Brandt |
| Tomasz Brandt | Production Manager | glass office | Ewa Sobczyk |
| Gideon Marsh | Transport and vans | Gatehouse | none |
"""
MACHINES = """\
| Number | Site | Type | Maker | Looked after by |
| --- | --- | --- | --- | --- |
| IR1 | Pinnock | Ironer | Vasek Brothers | Colm Reddy |
| IR2 | Pinnock | Ironer | Vasek Brothers | Bea Mortlock |
| SW1 | Denbry | Sweeper | Vasek Brothers | |
| SW2 | Leith | Sweeper | Vasek Brothers | Ada Lund |
"""
ROUNDS = """\
| Round | Customer | Depot | Driver |
| --- | --- | --- | --- |
| R5 | Larchfield Hospice | Millbank | Owen Tack |
| R6 | Moorside Infirmary | Millbank | Lena Fair |
"""
JOBS = """\
| Job | Who | Deputy |
| --- | --- | --- |
| Press desk | Ffion Maddox | Honora Blythe |
"""


def answering(question: str, *tables: str) -> list[str]:
    """The rows that are good enough to be quoted, where none was before."""
    weighed = []
    for number, text in enumerate(tables, 1):
        item = Evidence(number, Hit(passage(number, text, "Tables"), 0.8), "asked")
        listed = tuple(ScoredUnit(item, unit, 0.1, 0.1, odds=-2.0) for unit in units(text))
        weighed.append(WeighedPassage(item, Words(question, rarity_of([item])), listed, 0.5))
    judged = judge_responsibility(question, weighed)
    return [one.unit.text for found in judged for one in found.units if one.odds > 0.0]


@pytest.mark.parametrize(
    ("question", "person"),
    [
        ("who stands in for tomasz when he's away", "Ewa Sobczyk"),
        ("deputy for the press desk", "Honora Blythe"),
        ("who runs the press desk now?", "Ffion Maddox"),
        ("who is in charge of the vans", "Gideon Marsh"),
        ("who looks after ironer 2", "Bea Mortlock"),
        ("who's responsible for IR1", "Colm Reddy"),
        ("whos driving to larchfield", "Owen Tack"),
        ("who drives R6", "Lena Fair"),
    ],
)
def test_the_row_of_the_thing_answers_with_its_one_person(question: str, person: str) -> None:
    (row,) = answering(question, PEOPLE, MACHINES, ROUNDS, JOBS)
    assert person in row


@pytest.mark.parametrize(
    "question",
    [
        "who made ironer 2",  # no one is asked for who looks after it
        "who insures the vans",
        "who looks after ironer 3",
        "who looks after sweeper 1",  # nobody does
        "who looks after the ironer",  # there are two, of two people
        "who runs leith",  # a sweeper there is not the site
        "who runs the gatehouse",  # somebody sits there
        "who drives to millbank",  # two do
        "who drives ironer 2",  # no such column
        "who stands in for gideon marsh",  # none
        "who stands in for ewa",
    ],
)
def test_nobody_is_named_where_the_table_does_not_tell_just_that(question: str) -> None:
    assert answering(question, PEOPLE, MACHINES, ROUNDS, JOBS) == []


def test_whom_somebody_stands_in_for_is_not_who_stands_in_for_her() -> None:
    table = "| Name | Stands in for |\n|---|---|\n| Ada Lund | Bram Teague |\n"
    assert answering("who stands in for ada", table) == []


@pytest.mark.parametrize(
    ("question", "grade", "reads"),
    [("who drives R9", 1, True), ("who drives R9", 8, False), ("who insures R9", 1, False)],
)
def test_where_nothing_answers_the_rest_of_a_table_of_drivers_is_read(
    question: str, grade: int, *, reads: bool
) -> None:
    found, added = EvidenceLibrary().add([Hit(passage(1, ROUNDS, "Rounds"), 0.8)], question)
    asked = inquiry(question, library=found.with_grades({item.id: Grade(grade) for item in added}))
    assert rest_of_persons(asked, tuple(asked.library)) == ((ReadSection(added[0].id),) if reads else ())


@pytest.mark.parametrize(
    ("question", "table", "searches"),
    [
        ("who is responsible for the proofing room?", MACHINES, ("proofing room owned by team",)),
        ("who looks after ironer 2", MACHINES, ()),
        ("who drives R9", ROUNDS, ()),
    ],
)
def test_where_no_row_tells_whose_it_is_such_a_table_is_searched_for(
    question: str, table: str, searches: tuple[str, ...]
) -> None:
    found, _ = EvidenceLibrary().add([Hit(passage(1, table, "Machines"), 0.8)], question)
    first = Search(SearchKnowledge(question))
    assert search_for_owner(inquiry(question, library=found, searches=(first,))) == tuple(
        SearchKnowledge(one) for one in searches
    )
    assert search_for_owner(inquiry(question, library=found, searches=(first, first))) == ()
