"""A row of a table answers with the cell that is asked for, and not where it has no such cell or that says nothing."""

import pytest

from adapters.reasoners.extractive.evidence.rules import (
    is_asked_cell_empty,
)
from core.model.passage_units import Unit, units

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


FLEET = """\
| Vessel | Built | Cars | Day | Master | Fare | Crossing (minutes) | Warranty until |
| --- | --- | --- | --- | --- | --- | --- | --- |
| Blue Heron | 2012 | 16 | Wed | Mira Sand | £9.40 | 35 | expired |
"""
