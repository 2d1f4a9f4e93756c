"""A row of a table answers with the cell that is asked for, and not where it has no such cell or that says nothing."""

import pytest

from adapters.reasoners.extractive.evidence.columns import doubt_rows, may_answer, names_cell
from adapters.reasoners.extractive.evidence.scoring import (
    ScoredUnit,
    Words,
    is_asked_cell_empty,
    rarity_of,
    scored_by_words,
)
from core.model.evidence import Evidence, Hit
from core.model.passage_units import Unit, units
from tests.adapters.reasoners.scene import passage

MACHINES = """\
| Number | Type | Capacity kg | Warranty until |
| --- | --- | --- | --- |
| TW1 | tunnel washer | 60 | 2027 |
| ST1 | sterilizer |  | – |
"""


def row_of(number: str) -> Unit:
    (found,) = [unit for unit in units(MACHINES) if number in unit.text]
    return found


@pytest.mark.parametrize(
    ("question", "number", "empty"),
    [
        ("what is the capacity of ST1", "ST1", True),
        ("when does the warranty on ST1 run out", "ST1", True),
        ("what is the capacity of TW1", "TW1", False),
        ("what type is ST1", "ST1", False),
        ("who looks after ST1", "ST1", False),
    ],
)
def test_a_cell_that_is_asked_for_and_says_nothing_is_noticed(question: str, number: str, *, empty: bool) -> None:
    assert is_asked_cell_empty(question, row_of(number)) is empty


CHARGES = """\
| Code | Service | Price | Minimum charge |
| --- | --- | --- | --- |
| X1 | Shunting a trailer | 18.00 | |
| X2 | Plug for a reefer trailer | 3.20 | 12.80 |
"""


@pytest.mark.parametrize(
    ("question", "doubted"),
    [
        ("minimum charge for shunting a trailer", [True, True]),
        ("minimum charge for the plug of a reefer trailer", [True, False]),
        ("price for shunting a trailer", [False, False]),
    ],
)
def test_where_the_row_that_is_meant_has_an_empty_cell_no_other_row_answers(question: str, doubted: list[bool]) -> None:
    item = Evidence(1, Hit(passage(1, CHARGES, "Tariff"), 0.8), "asked")
    rows = scored_by_words(Words(question, rarity_of([item])), item)
    done = doubt_rows(Words(question, rarity_of([item])), rows)
    by_text = {one.unit.text: one.odds < 0.0 for one in done}
    assert [by_text[unit.text] for unit in units(CHARGES)] == doubted


TRUCKS = """| Truck | Model | Lift height m | Next inspection | Remark |
| --- | --- | --- | --- | --- |
| KP-01 | Haldor R20 | 13.2 | 2026-11-02 | tallest mast |
| KP-02 | Haldor R14 | 9.8 | 2026-12-01 | |
"""


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("lift height of KP-01", [True, False]),
        ("when is KP-02's next inspection", [False, True]),
        ("lift height of KP-07", [False, False]),
        ("price of KP-01", [False, False]),
        ("remark on KP-02", [False, False]),  # there is none
        ("which truck has the most lift height, KP-01?", [False, False]),  # asked of all of them
    ],
)
def test_a_cell_is_asked_for_by_its_column_and_its_row_and_nothing_else(question: str, named: list[bool]) -> None:
    here = passage(1, TRUCKS, "Trucks")
    assert [names_cell(question, here, unit) for unit in units(TRUCKS)] == named


FLEET = """\
| Vessel | Built | Cars | Day | Master | Fare | Crossing (minutes) | Warranty until |
| --- | --- | --- | --- | --- | --- | --- | --- |
| Blue Heron | 2012 | 16 | Wed | Mira Sand | £9.40 | 35 | expired |
"""
STOCK = """\
| Customer | Has stock for | Delivery |
| --- | --- | --- |
| Moorside Infirmary | 1.5 days | 06:10 |
"""


def row_answers(question: str, table: str) -> bool:
    (row,) = units(table)
    placed = passage(1, table, "Tables of 2026")
    return may_answer(Words(question, {}), ScoredUnit(Evidence(1, Hit(placed, 0.8), "asked"), row, 1.0, 1.0))


@pytest.mark.parametrize(
    "question",
    [
        "how many cars does the Blue Heron carry",
        "which day does the Blue Heron sail",
        "who is the master of the Blue Heron",
        "who commands the Blue Heron",
        "how much is the Blue Heron",
        "how long does the Blue Heron take",
        "when was the Blue Heron built",
        "what did the Blue Heron cost in 2026",
        "how many vessels are there",
        "tell me about the Blue Heron",
    ],
)
def test_a_row_answers_what_it_has_a_column_for(question: str) -> None:
    assert row_answers(question, FLEET)


@pytest.mark.parametrize(
    ("question", "table"),
    [
        ("how many lifeboats does the Blue Heron have", FLEET),
        ("which yard built the Blue Heron", FLEET),
        ("when did the warranty of the Blue Heron run out", FLEET),
        ("how much was the Blue Heron in 2023", FLEET),
        ("phone number of Moorside Infirmary", STOCK),
        ("who is account manager for Moorside Infirmary", STOCK),
        ("who drives to Moorside Infirmary", STOCK),
        ("how much does Moorside Infirmary pay", STOCK),
    ],
)
def test_a_row_of_the_right_thing_without_what_is_asked_of_it_does_not_answer(question: str, table: str) -> None:
    assert not row_answers(question, table)


def test_a_time_of_day_is_not_how_long_something_takes() -> None:
    planned = "| Meeting | When | Chair |\n| --- | --- | --- |\n| Round planning | Thursday, 11:00 | Gideon Marsh |\n"
    assert not row_answers("how long does the round planning take", planned)
    assert row_answers("when is the round planning", planned)


DEPOSITS = "| Instrument | Deposit |\n| --- | --- |\n| Trombone | £50 |\n"


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("deposit for a tuba", False),
        ("deposit for a trombone", True),
        ("what is the deposit", True),  # it says no more than the table's columns
        ("deposit for trombones of the tables", True),
    ],
)
def test_a_row_with_nothing_of_what_is_asked_beside_its_columns_is_of_something_else(
    question: str, *, answers: bool
) -> None:
    assert row_answers(question, DEPOSITS) is answers


SIZES = "| Grade | Deck | Frequency |\n|---|---|---|\n| T2 | 2 mm | 34 Hz |\n| T4 | 4 mm | 30 Hz |\n"


@pytest.mark.parametrize(
    ("question", "may"),
    [
        ("frequency of the deck for T4", [False, True]),
        ("frequency of the deck for T8", [False, False]),
        ("frequency of the deck", [True, True]),
    ],
)
def test_a_row_of_another_code_is_no_answer(question: str, may: list[bool]) -> None:
    item = Evidence(1, Hit(passage(1, SIZES, "Settings"), 0.8), "asked")
    asked = Words(question, rarity_of([item]))
    rows = [ScoredUnit(item, unit, 1.0, 1.0) for unit in units(item.passage.text)]
    assert [may_answer(asked, row) for row in rows] == may
