"""Evidence keeps its ids through an inquiry and into later turns."""

import json

from core.model.evidence import MOST_FURTHER, EvidenceLibrary, Grade, Hit
from core.model.json_codec import from_json, to_json
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


def test_of_equal_grades_and_of_neighbouring_ones_the_search_decides() -> None:
    found = EvidenceLibrary().add([Hit(passage(1), 0.9), Hit(passage(2), 0.5), Hit(passage(3), 0.1)], "refunds")[0]
    equal = found.with_grades({1: Grade(7), 2: Grade(7), 3: Grade(7)})
    assert [item.id for item in equal.best_first()] == [1, 2, 3]
    last_is_best = found.with_grades({1: Grade(6), 2: Grade(5), 3: Grade(7)})
    assert [item.id for item in last_is_best.best_first()] == [1, 3, 2], "first and second beat first and last"


def test_between_equals_by_both_one_search_decides_and_of_several_the_grade() -> None:
    first = EvidenceLibrary().add([Hit(passage(1), 0.9), Hit(passage(2), 0.5)], "refunds")[0]
    assert [item.id for item in first.with_grades({1: Grade(7), 2: Grade(8)}).best_first()] == [1, 2]
    both = EvidenceLibrary().add([Hit(passage(1), 0.9)], "refunds")[0].add([Hit(passage(2), 0.5)], "late ones")[0]
    assert [item.id for item in both.with_grades({1: Grade(7), 2: Grade(8)}).best_first()] == [2, 1]


def test_what_nobody_has_graded_comes_last_however_well_it_scored() -> None:
    found = EvidenceLibrary().add([Hit(passage(1), 0.2), Hit(passage(2), 0.9), Hit(passage(3), 0.95)], "refunds")[0]
    assert [item.id for item in found.with_grades({1: Grade(1)}).best_first()] == [1, 3, 2]


def test_a_document_that_came_behind_stays_in_reach_until_it_is_looked_at() -> None:
    first, _ = EvidenceLibrary().add([Hit(passage(1), 0.9)], "refunds", [Hit(passage(2), 0.3), Hit(passage(3), 0.2)])
    assert [hit.passage.id for hit in first.further] == ["p2", "p3"]
    assert len(first) == 1
    assert first.ungraded_items() == first.items
    second, _ = first.add([Hit(passage(3), 0.8)], "late refunds", [Hit(passage(1), 0.5), Hit(passage(4), 0.1)])
    assert [hit.passage.id for hit in second.further] == ["p2", "p4"]
    assert second.with_grades({1: Grade(4)}).further == second.further
    assert second.carry_over().further == ()


def test_what_came_behind_is_bounded_and_no_wider_than_its_audience() -> None:
    many = [Hit(passage(n, base="secret" if n % 2 else "default"), 0.1) for n in range(2, 60)]
    shelf, _ = EvidenceLibrary().add([Hit(passage(1), 0.9)], "refunds", many)
    assert len(shelf.further) == MOST_FURTHER
    visible = shelf.readable_by(frozenset({"default"}))
    assert {hit.passage.knowledge_base for hit in visible.further} == {"default"}


def test_an_inquiry_that_an_earlier_version_parked_has_nothing_further() -> None:
    kept = json.loads(to_json(library(passage(1))))
    del kept["further"]
    assert from_json(EvidenceLibrary, json.dumps(kept)) == library(passage(1))
