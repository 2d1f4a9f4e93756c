"""The order of what several searches found, for the question that they were made for."""

from typing import Any

from core.model.evidence import EvidenceLibrary, Hit
from core.model.inquiry import Investigate, Search, SearchKnowledge
from core.retrieval.ranking import rank_evidence
from tests.adapters.reasoners.scene import inquiry, passage

WHO = "When was the director of Free Guy born?"
OVER = "Shawn Levy born"


def titles(*searches: tuple[str, list[tuple[int, str, str, float]]], **more: Any) -> list[str]:
    """The ranked titles after these searches: each a query with its hits as (number, title, text, score)."""
    library = more.pop("library", EvidenceLibrary())
    for query, found in searches:
        library, _ = library.add([Hit(passage(n, text, title), score) for n, title, text, score in found], query)
    planned = more.pop("planned", (WHO,))
    made = tuple(Search(SearchKnowledge(query)) for query, _ in searches)
    asked = inquiry(WHO, library=library, plan=Investigate(WHO, planned), searches=made)
    return [item.passage.title for item in rank_evidence(asked)]


FREE_GUY = (1, "Free Guy", "A comedy directed by Shawn Levy.", 0.6)
CANTEEN = (2, "Canteen", "Soup.", 0.2)


def test_a_passage_that_good_evidence_names_ranks_high() -> None:
    later = (3, "Shawn Levy", "He was born in 1968.", 0.9)
    assert titles((WHO, [FREE_GUY, CANTEEN]), (OVER, [later])) == ["Free Guy", "Shawn Levy", "Canteen"]


def test_a_passage_that_bears_the_bridge_ranks_by_its_score() -> None:
    near = (3, "Night at the Museum", "Also made by Shawn Levy.", 0.9)
    far = (4, "Stranger Things", "Shawn Levy, too.", 0.1)
    ranked = titles((WHO, [FREE_GUY, CANTEEN]), (OVER, [near, far]))
    assert ranked == ["Free Guy", "Night at the Museum", "Canteen", "Stranger Things"]


def test_what_a_later_search_found_without_a_reason_comes_last_however_well_it_scored() -> None:
    stray = (3, "Births", "Who was born when.", 0.99)
    assert titles((WHO, [FREE_GUY, CANTEEN]), (OVER, [stray])) == ["Free Guy", "Canteen", "Births"]


def test_a_search_for_the_questions_own_words_adds_after_what_the_question_found() -> None:
    alike = (3, "Director", "The director of Free Guy.", 0.99)
    assert titles((WHO, [FREE_GUY, CANTEEN]), ("director Free Guy", [alike])) == ["Free Guy", "Canteen", "Director"]


def test_a_score_for_other_words_does_not_move_what_the_question_found() -> None:
    again = (2, "Canteen", "Soup.", 0.99)
    other = (3, "Kitchen", "Pans.", 0.4)
    assert titles((WHO, [FREE_GUY, other, CANTEEN]), ("Free Guy", [again])) == ["Free Guy", "Kitchen", "Canteen"]


def test_what_bears_the_bridge_and_is_found_again_over_it_moves_up_but_not_to_the_front() -> None:
    museum = (2, "Night at the Museum", "Made by Shawn Levy.", 0.1)
    again = (2, "Night at the Museum", "Made by Shawn Levy.", 0.99)
    other = (3, "Kitchen", "Pans.", 0.4)
    ranked = titles((WHO, [FREE_GUY, other, museum]), (OVER, [again]))
    assert ranked == ["Free Guy", "Night at the Museum", "Kitchen"]


def test_the_best_for_each_need_comes_before_the_rest() -> None:
    ranked = titles(("one", [FREE_GUY, (3, "Kitchen", "Pans.", 0.5)]), ("two", [CANTEEN]), planned=("one", "two"))
    assert ranked == ["Free Guy", "Canteen", "Kitchen"]


def test_evidence_that_an_earlier_turn_knew_stands_where_its_score_puts_it() -> None:
    kitchen, unfound = (3, "Kitchen", "Pans.", 0.3), (4, "Attic", "Boxes.", 0.9)
    earlier, _ = EvidenceLibrary().add(
        [Hit(passage(n, text, title), score) for n, title, text, score in (CANTEEN, unfound)], "before"
    )
    ranked = titles((WHO, [FREE_GUY, kitchen, CANTEEN]), library=earlier.carried_over())
    assert ranked[:3] == ["Free Guy", "Kitchen", "Canteen"]
