"""So many at a price a piece, or a year at one a month, is worked out from the row that is quoted, where it is sure."""

import pytest

from adapters.reasoners.extractive.answer.quote_markdown import Quotation
from adapters.reasoners.extractive.answer.tables.multiplication import multiply
from core.model.evidence import Evidence, Hit
from core.model.passage_units import units
from tests.adapters.reasoners.scene import passage

LINEN = """\
| Item | Rental, a piece | Own linen, a piece | If lost |
|---|---|---|---|
| Bed sheet | £0.61 | £0.44 | £6.20 |
"""
CELLO = "| instrument | per_month_gbp | deposit_gbp |\n|---|---|---|\n| Cello | 29.00 | 120 |\n"
LOCKER = "| Size | Per month | Per year |\n|---|---|---|\n| Small | £4 | £40 |\n"
NET = "| Item | Each |\n|---|---|\n| Net | £1,200.50 |\n"


def worked_out(question: str, table: str, rows: int = 1) -> str:
    item = Evidence(1, Hit(passage(1, table, "Prices"), 0.8), "asked")
    return multiply(question, [Quotation(item, units(table) * rows)])


@pytest.mark.parametrize(
    ("question", "table", "line"),
    [
        (
            "what do 200 bed sheets cost us on rental",
            LINEN,
            "Worked out from the row, 200 times *Rental, a piece* comes to £122.00:",
        ),
        ("rent for a year of a cello", CELLO, "Worked out from the row, 12 times *per_month_gbp* comes to 348.00:"),
        ("how much is a cello for 3 months", CELLO, "Worked out from the row, 3 times *per_month_gbp* comes to 87.00:"),
        ("price of 1,000 nets", NET, "Worked out from the row, 1,000 times *Each* comes to £1,200,500.00:"),
    ],
)
def test_a_price_is_multiplied_and_said_to_be(question: str, table: str, line: str) -> None:
    assert worked_out(question, table) == line


@pytest.mark.parametrize(
    ("question", "table"),
    [
        ("what does a bed sheet cost on rental", LINEN),  # one
        ("what do 200 bed sheets cost", LINEN),  # two prices a piece
        ("what do 200 bed sheets cost if they are lost on rental", LINEN),  # another price is named
        ("what do 200 or 300 bed sheets cost on rental", LINEN),
        ("do we have 200 bed sheets on rental", LINEN),  # no price is asked for
        ("what deposit do I pay for a year of a cello", CELLO),
        ("price of a small locker for a year", LOCKER),  # it says so itself
        ("price of a net of 20 kg", NET),
        ("price of net 12/3", NET),
    ],
)
def test_nothing_is_multiplied_where_it_is_not_certain(question: str, table: str) -> None:
    assert worked_out(question, table) == ""


def test_nothing_is_multiplied_over_several_rows() -> None:
    assert worked_out("price of 20 nets", NET, rows=2) == ""
