"""The table that is called like what is counted or picked is looked for, comes first and is counted to its last row."""

from dataclasses import replace

import pytest

from adapters.reasoners.extractive.tables.aggregation import aggregation_of
from adapters.reasoners.extractive.tables.computed_answer import compute_answer, tables_that_answer
from core.model.evidence import Evidence, Hit
from tests.adapters.reasoners.harness import passage

HIRE = """\
| Thing | Per day | Where |
|---|---|---|
| Barbecue | 5 | all sites |
| Kayak | 9 | all sites |
| Bike | 7 | lake |
"""
SITES = """\
| Code | Lies | Since |
|---|---|---|
| OXW | on a lake | 1998 |
| BRA | inland | 1987 |
| THR | inland | 2004 |
"""


def evidence(*tables: tuple[str, str]) -> list[Evidence]:
    return [
        Evidence(number, Hit(replace(passage(number, text, title), dated=""), 0.8), "asked")
        for number, (title, text) in enumerate(tables, 1)
    ]


def test_a_table_titled_sites_ranks_above_a_table_that_mentions_sites() -> None:
    question = "how many sites are there"
    found = compute_answer(question, aggregation_of(question), evidence(("Hire at the sites", HIRE), ("sites", SITES)))
    assert found is not None
    assert found.lead == "Counted in the table, there are 3 sites:"


ROUNDS = """\
| Round | Leaves | Vehicle | Note |
|---|---|---|---|
| R4 | 06:15 | small lorry | |
| R5 | 05:10 | large lorry | ramp B |
| R6 | 08:20 | large lorry | bridge closed to lorries |
| R7 | 04:00 | van | |
"""


def test_a_word_of_the_question_picks_the_rows_of_one_column_only() -> None:
    question = "which lorry leaves earliest"
    found = compute_answer(question, aggregation_of(question), evidence(("Rounds", ROUNDS)))
    assert found is not None
    assert found.lead.endswith("is that of R5:")


@pytest.mark.parametrize(
    ("question", "answers"), [("which lorry leaves earliest", False), ("which bus leaves earliest", False)]
)
def test_the_earliest_is_no_evidence_where_only_cells_name_its_kind(question: str, *, answers: bool) -> None:
    assert bool(tables_that_answer(question, evidence(("Rounds", ROUNDS)))) is answers
