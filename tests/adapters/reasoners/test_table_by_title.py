"""The table that is called like what is counted or picked is looked for, comes first and is counted to its last row."""

from dataclasses import replace

import pytest

from adapters.reasoners.extractive.answer.tables.computed_answer import compute_answer, tables_that_answer
from adapters.reasoners.extractive.evidence.sufficiency import table_by_title, tables_to_look_for
from adapters.reasoners.extractive.question.aggregation import aggregation_of
from core.model.evidence import Evidence, EvidenceLibrary, Grade, Hit
from core.model.inquiry import Search, SearchAction, SearchKnowledge, SearchSource
from tests.adapters.reasoners.scene import inquiry, passage

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


def searched(question: str, title: str, *, grade: int = 1, made: int = 1) -> tuple[SearchAction, ...]:
    library, added = EvidenceLibrary().add([Hit(passage(1, HIRE, title), 0.8)], question)
    library = library.with_grades({item.id: Grade(grade) for item in added})
    searches = tuple(Search(SearchKnowledge(f"{question} {number}")) for number in range(made))
    return table_by_title(inquiry(question, library=library, searches=searches), tuple(library))


@pytest.mark.parametrize(
    ("question", "source"),
    [
        ("which site is the oldest", "sites"),
        ("how many sites are there", "sites"),
        ("which delivery is the heaviest", "deliveries"),
        ("which branch has the most visitors", "branches"),
    ],
)
def test_a_table_that_was_not_found_is_looked_for_by_what_its_rows_are(question: str, source: str) -> None:
    assert searched(question, "Things to hire") == (SearchSource(question, source),)


def test_it_is_looked_for_even_where_another_page_seems_to_tell() -> None:
    assert searched("how many sites are there", "Things to hire", grade=8)


@pytest.mark.parametrize(
    ("question", "title", "made"),
    [
        ("which site is the oldest", "Sites", 1),  # it is there
        ("when was the site opened", "Things to hire", 1),  # a row or a sentence answers
        ("which is the oldest", "Things to hire", 1),  # of what, nobody said
        ("which site is the oldest", "Things to hire", 3),  # enough was searched
    ],
)
def test_no_table_is_looked_for_where_none_is_meant_or_it_is_there(question: str, title: str, made: int) -> None:
    assert searched(question, title, made=made) == ()


def test_where_no_table_is_found_one_is_looked_for_by_its_column_first() -> None:
    library, _ = EvidenceLibrary().add([Hit(passage(1, "A box is light.", "Words we use"), 0.8)], "asked")
    question = "what is the heaviest box"
    first = Search(SearchKnowledge(question))
    asked = inquiry(question, library=library, searches=(first,))
    assert tables_to_look_for(asked, tuple(library)) == ()
    later = inquiry(question, library=library, searches=(first, Search(SearchKnowledge(f"{question} kg weight"))))
    assert tables_to_look_for(later, tuple(library)) == (SearchSource(question, "boxes"),)


def test_a_table_called_sites_has_a_site_in_each_row_and_comes_before_one_that_speaks_of_sites() -> None:
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
    ("question", "answers"), [("which lorry leaves earliest", True), ("which bus leaves earliest", False)]
)
def test_what_leaves_earliest_is_of_the_kind_that_the_row_says(question: str, *, answers: bool) -> None:
    assert bool(tables_that_answer(question, evidence(("Rounds", ROUNDS)))) is answers
