"""What a row of Milvus holds, and what a search asks of it."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from adapters.milvus.dense_search import RadiusEstimator, Search
from adapters.milvus.rows import HIT_FIELDS, SHELF, both, equal, of_hit, on_shelves, shelf, to_passage, to_row
from core.model.knowledge import Locator, Passage
from core.ports.index import Scope

WHOLE = Passage(
    id="a%b",
    knowledge_base='say "so"',
    document="two\nlines",
    version="100 %41",
    section="日本語",
    ordinal=4,
    title="Leave",
    text="Thirty days.",
    heading=("Part I",),
    locator=Locator(page=3, label="Sheet 1"),
    source="folder/file.md",
    url="https://example.org/ä",
    dated="2026-02-03",
)


PLAIN = replace(WHOLE, id="a", knowledge_base="handbook", document="doc", version="v1", section="s1")


def row(passage: Passage = WHOLE) -> dict[str, Any]:
    return to_row(passage, np.zeros(4, dtype=np.float32))


@pytest.mark.parametrize("passage", [WHOLE, PLAIN, replace(WHOLE, id="a"), replace(PLAIN, id="%")])
def test_a_hit_is_whole_with_two_fields_and_its_id(passage: Passage) -> None:
    stored = row(passage)
    assert of_hit(stored["id"], {name: stored[name] for name in HIT_FIELDS}) == passage


def test_a_row_of_an_older_collection_is_read_too() -> None:
    older = row()
    del older[SHELF], older["about"]["keys"], older["about"]["ordinal"]
    assert to_passage(older) == of_hit(older["id"], older) == WHOLE


def test_a_base_has_one_number_that_milvus_can_hold() -> None:
    names = [f"base {n}" for n in range(1_000)]
    numbers = [shelf(name) for name in names]
    assert len(set(numbers)) == len(names)
    assert all(0 <= number < 2**63 for number in numbers)
    assert numbers == [shelf(name) for name in names]


def test_few_bases_are_compared_and_many_looked_up() -> None:
    few = on_shelves(Scope(frozenset({"a", "b"})))
    assert sorted(few.strip("()").split(" or ")) == sorted(f"shelf == {shelf(name)}" for name in "ab")
    many = on_shelves(Scope(frozenset(f"base {n}" for n in range(100))))
    assert many.startswith("shelf in [")
    assert " or " not in many


def test_alternatives_stay_together_beside_another_condition() -> None:
    condition = both(on_shelves(Scope(frozenset({"a", "b"}))), equal("section", "s"))
    assert condition.startswith("(shelf == ")
    assert condition.endswith(') and section == "s"')


class Scripted:
    """A client that answers with these scores, and keeps what it was asked."""

    def __init__(self, *answers: list[float]) -> None:
        self._answers = list(answers)
        self.asked: list[dict[str, Any]] = []

    def search(self, collection: str, **given: Any) -> list[list[dict[str, float]]]:
        self.asked.append({"collection": collection, **given})
        return [[{"distance": score} for score in self._answers.pop(0)]]


SEARCH = Search("passages", "shelf == 1", 3, HIT_FIELDS, 10.0)


@pytest.mark.parametrize(
    ("last", "from_there"), [(0.5, 0.4), (0.2, 0.14), (-0.5, -0.56), (-0.99, -1.0)], ids=["far", "near", "below", "end"]
)
def test_the_nearest_are_looked_for_from_somewhat_below_the_pools_last(last: float, from_there: float) -> None:
    client = Scripted([0.9, 0.8, last], [0.9, 0.85, 0.8])
    hits = SEARCH.nearest(client, "vector", [1.0])
    assert [hit["distance"] for hit in hits] == [0.9, 0.85, 0.8]
    first, second = client.asked
    assert first["output_fields"] == []
    assert first["search_params"] == {}
    assert second["output_fields"] == ["text", "about"]
    assert second["search_params"]["params"]["radius"] == pytest.approx(from_there)
    assert first["filter"] == second["filter"] == "shelf == 1"


def test_where_nothing_is_found_it_is_not_asked_again() -> None:
    client = Scripted([])
    assert SEARCH.nearest(client, "vector", [1.0]) == []
    assert len(client.asked) == 1


def axis(cosine: float) -> np.ndarray[Any, Any]:
    """A vector of this cosine to the first axis."""
    return np.array([cosine, (1 - cosine**2) ** 0.5], dtype=np.float32)


def reach(cosine: float, *, of: int = 200) -> RadiusEstimator:
    """One whose sample of shelf 7 is this near to the first axis, and whose sample of shelf 8 is nearer."""
    return RadiusEstimator({7: np.stack([axis(cosine)] * of), 8: np.stack([axis(0.99)] * of)})


def asked_of(client: Scripted, known: RadiusEstimator, *shelves: int) -> list[float]:
    """The scores that a dense search came back with."""
    return [hit["distance"] for hit in SEARCH.nearest(client, "vector", axis(1.0), known, shelves)]


def radii(client: Scripted) -> list[float | None]:
    return [asked["search_params"].get("params", {}).get("radius") for asked in client.asked]


def told(known: RadiusEstimator, *shelves: int) -> float:
    expected = known.expected(axis(1.0), shelves)
    assert expected is not None
    return expected


def test_a_sample_that_tells_how_far_to_reach_saves_the_first_of_the_two_searches() -> None:
    client, known = Scripted([0.9, 0.85, 0.8]), reach(0.6)
    expected = told(known, 7)
    assert asked_of(client, known, 7) == [0.9, 0.85, 0.8]
    assert radii(client) == [expected]
    assert client.asked[0]["output_fields"] == ["text", "about"]


def test_only_the_sample_of_the_bases_that_are_searched_counts() -> None:
    known = reach(0.5)
    assert told(known, 7) < told(known, 7, 8) == pytest.approx(told(known, 8))


def test_what_did_not_reach_far_enough_is_followed_by_what_does() -> None:
    """The pool's last is at 0.6, so that the search has to go on to 0.48."""
    client, known = Scripted([0.9, 0.7, 0.6], [0.9, 0.75, 0.7]), reach(0.6)
    expected = told(known, 7)
    assert asked_of(client, known, 7) == [0.9, 0.75, 0.7]
    assert radii(client) == [expected, pytest.approx(0.48)]


def test_where_the_pool_is_not_filled_it_is_looked_for_as_without_a_sample() -> None:
    client, known = Scripted([0.9], [0.9, 0.5, 0.4], [0.9, 0.8, 0.5]), reach(0.6)
    expected = told(known, 7)
    assert asked_of(client, known, 7) == [0.9, 0.8, 0.5]
    assert radii(client) == [expected, None, pytest.approx(0.32)]


@pytest.mark.parametrize("shelves", [(), (9,)], ids=["no base known", "another base"])
def test_a_base_that_the_sample_does_not_know_is_searched_twice(shelves: tuple[int, ...]) -> None:
    client = Scripted([0.9, 0.8, 0.5], [0.9, 0.8, 0.5])
    asked_of(client, reach(0.7), *shelves)
    assert radii(client) == [None, pytest.approx(0.4)]
    few = Scripted([0.9, 0.8, 0.5], [0.9, 0.8, 0.5])
    asked_of(few, reach(0.7, of=10), 7)
    assert radii(few) == [None, pytest.approx(0.4)]


def test_after_one_that_fell_short_all_reach_further_and_then_less_far_again() -> None:
    client, known = Scripted([0.9], [0.9, 0.5, 0.4], [0.9, 0.8, 0.5], *([[0.9, 0.9, 0.9]] * 20)), reach(0.6)
    before = told(known, 7)
    asked_of(client, known, 7)
    further = told(known, 7)
    for _ in range(20):
        asked_of(client, known, 7)
    assert further < told(known, 7) < before
    for _ in range(100):
        known.learn(enough=False)
    assert told(known, 7) == pytest.approx(0.6 * 0.8 - 0.5)
