"""Two things that a question sets against each other are compared by their two rows, both of which are quoted."""

import pytest

from adapters.reasoners.extractive.answer.tables.computed_answer import compute_answer, tables_that_answer
from adapters.reasoners.extractive.question.aggregation import aggregation_of
from core.model.evidence import Evidence, Hit
from core.model.markdown_lines import cells_of
from tests.adapters.reasoners.scene import passage

HIRE = """\
| instrument | code | plan | per_month_gbp | deposit_gbp |
| --- | --- | --- | --- | --- |
| Bassoon | BN-1 | Andante | 44.00 | 300 |
| Trombone | TB-1 | Adagio | 14.50 | 50 |
| French horn (double) | HN-2 | Andante | 33.00 | 180 |
| Harp (34 strings) | HP-34 | Allegro | 95.00 | 600 |
| Violin 1/2 | VN-12 | Adagio | 11.50 | 40 |
| Violin 3/4 | VN-34 | Adagio | 12.50 | 40 |
"""
PASSES = """\
| Pass | Where to | Valid for |
|---|---|---|
| Red | everywhere | 3 years |
| Blue | terminal | 3 years |
| Green | offices | 5 years |
"""
SITES = """\
| Code | Site | Since | Pitches |
| --- | --- | --- | --- |
| OXW | Oxwater | 1998 | 140 |
| BRA | Brackenlow | 1987 | 95 |
| THR | Thrushcombe | 2004 | 85 |
"""
CRACKS = "| Winter | Cracks | of which cellos |\n|---|---|---|\n| 2022/23 | 41 | 17 |\n| 2024/25 | 36 | 19 |\n"
PITCHES = """\
| Site | Kind | Low | High |
| --- | --- | --- | --- |
| Oxwater | grass | 19.00 | 34.00 |
| Oxwater | electric | 24.00 | 41.00 |
| Thrushcombe | grass | 16.50 | 27.00 |
| Thrushcombe | electric | 17.00 | 43.00 |
"""

WASHERS = """\
| Number | Type | Model | Capacity kg |
| --- | --- | --- | --- |
| TW1 | Tunnel washer | CBW 14 | 60 per chamber |
| TW2 | Tunnel washer | CBW 16 | 75 per chamber |
| IR1 | Ironer | R 4 | 20 |
| IR2 | Ironer | R 5 | 30 |
| IR3 | Ironer | R 6 | 40 |
"""


def evidence(table: str) -> list[Evidence]:
    return [Evidence(1, Hit(passage(1, table, "Tables"), 0.8), "asked")]


@pytest.mark.parametrize(
    ("question", "table", "more", "less"),
    [
        ("what costs more per month, bassoon or french horn", HIRE, "Bassoon", "French horn"),
        ("which is cheaper per month, the bassoon or the harp?", HIRE, "Bassoon", "Harp"),
        ("which pass lasts longer green or red", PASSES, "Green", "Red"),
        ("is oxwater or brackenlow bigger", SITES, "Oxwater", "Brackenlow"),
        ("more cracks in 2022/23 or 2024/25", CRACKS, "2022/23", "2024/25"),
        (
            "which is cheaper in low season, an electric pitch at oxwater or thrushcombe",
            PITCHES,
            "Thrushcombe",
            "Oxwater",
        ),
        ("which tunnel washer is bigger", WASHERS, "TW2", "TW1"),  # there are but two
    ],
)
def test_both_rows_are_quoted_and_the_one_with_the_most_comes_first(
    question: str, table: str, more: str, less: str
) -> None:
    found = compute_answer(question, aggregation_of(question), evidence(table))
    assert found is not None
    first, other = (unit.text for one in found.quotations for unit in one.units)
    assert more in first
    assert less in other
    assert tables_that_answer(question, evidence(table)) == {1}


@pytest.mark.parametrize(
    ("question", "table"),
    [
        ("which pass lasts longer, green or white", PASSES),  # there is no such pass
        ("which pass lasts longer, red or blue", PASSES),  # none does
        ("is a pass bigger, green or red", PASSES),  # no column of sizes
        ("what costs more per month, bassoon or violin", HIRE),  # there are two violins
        ("which ironer is bigger", WASHERS),  # there are three
        ("is the kitchen of the barn cheaper at oxwater or brackenlow", SITES),
        ("is the shower in the barn of oxwater or brackenlow bigger", SITES),  # of which the table says nothing
    ],
)
def test_a_table_does_not_answer_for_what_it_has_not_in_two_rows_and_a_column(question: str, table: str) -> None:
    assert tables_that_answer(question, evidence(table)) == frozenset()


def test_more_than_a_question_asks_either_of_is_no_comparison() -> None:
    assert aggregation_of("do I need three or more spares") is None


@pytest.mark.parametrize(
    ("question", "one", "other"),
    [
        ("whats the difference between red and green?", "Red", "Green"),
        ("what is the difference between the Blue pass and the Red pass?", "Blue", "Red"),
        ("compare red with blue", "Red", "Blue"),
    ],
)
def test_a_difference_is_told_by_the_two_rows_and_nothing_is_worked_out(question: str, one: str, other: str) -> None:
    found = compute_answer(question, None, evidence(PASSES))
    assert found is not None
    assert found.lead == ""
    assert [cells_of(unit.text)[0] for quote in found.quotations for unit in quote.units] == [one, other]
    assert tables_that_answer(question, evidence(PASSES)) == {1}


@pytest.mark.parametrize(
    "question", ["what is the difference between red and purple?", "what is the difference between red and red?"]
)
def test_a_difference_from_what_is_no_row_is_told_by_no_table(question: str) -> None:
    assert compute_answer(question, None, evidence(PASSES)) is None
    assert not tables_that_answer(question, evidence(PASSES))


def test_a_table_with_both_things_does_not_tell_what_sets_their_owners_apart() -> None:
    question = "what is the difference between green and blue paint drying in a cold hangar?"
    assert not tables_that_answer(question, evidence(PASSES))
