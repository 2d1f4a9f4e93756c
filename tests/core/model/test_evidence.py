"""Evidence keeps its ids through an inquiry and into later turns."""

from core.model.evidence import EvidenceLibrary, Grade, Hit
from tests.core.agent.fixtures import library, passage


def test_what_is_found_again_is_not_new() -> None:
    shelf, added = EvidenceLibrary().add([Hit(passage(1), 0.5), Hit(passage(2), 0.4)], "first")
    again, new = shelf.add([Hit(passage(2), 0.9), Hit(passage(3), 0.3)], "second")
    assert [item.id for item in added] == [1, 2]
    assert [item.id for item in new] == [3]
    assert again.get(2) is not None
    assert [item.hit.score for item in again if item.id == 2] == [0.9]


def test_a_grade_holds_for_one_question_and_the_id_for_the_whole_thread() -> None:
    carried = library(passage(1), passage(2)).carry_over()
    assert carried.ungraded_items() == ()
    again, new = carried.add([Hit(passage(2), 0.9)], "another question")
    assert [item.id for item in new] == [2]
    assert [item.id for item in again.ungraded_items()] == [2]


def test_the_best_comes_first_and_the_weak_not_at_all() -> None:
    shelf = library(passage(1), passage(2), passage(3)).with_grades({1: Grade(4), 2: Grade(9), 3: Grade(6)})
    assert [item.id for item in shelf.relevant(5)] == [2, 3]


def test_what_an_audience_may_not_see_is_not_there() -> None:
    shelf = library(passage(1), passage(2, base="secret"))
    assert [item.id for item in shelf.readable_by(frozenset({"default"}))] == [1]
