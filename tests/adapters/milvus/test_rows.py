"""Rows of Milvus, and the search requests."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from adapters.milvus.dense_search import DenseSearch
from adapters.milvus.rows import (
    BASE_HASH,
    HIT_FIELDS,
    base_hash,
    both,
    by_base_hash,
    equal,
    read_sentences,
    to_passage,
    to_row,
)
from core.model.knowledge import Locator, Passage
from core.ports.index import PassageVectors, Scope, SentenceVectors

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
    return to_row(passage, PassageVectors(np.zeros(4, dtype=np.float32)))


@pytest.mark.parametrize("passage", [WHOLE, PLAIN, replace(WHOLE, id="a"), replace(PLAIN, id="%")])
def test_a_hit_is_whole_with_two_fields_and_its_id(passage: Passage) -> None:
    stored = row(passage)
    assert to_passage({"id": stored["id"], **{name: stored[name] for name in HIT_FIELDS}}) == passage


def test_a_row_of_an_older_collection_is_read_too() -> None:
    older = row()
    del older[BASE_HASH], older["about"]["keys"], older["about"]["ordinal"]
    assert to_passage(older) == WHOLE


def test_a_base_has_one_number_that_milvus_can_hold() -> None:
    names = [f"base {n}" for n in range(1_000)]
    numbers = [base_hash(name) for name in names]
    assert len(set(numbers)) == len(names)
    assert all(0 <= number < 2**63 for number in numbers)
    assert numbers == [base_hash(name) for name in names]


def test_few_bases_are_compared_and_many_looked_up() -> None:
    few = by_base_hash(Scope(frozenset({"a", "b"})))
    assert sorted(few.strip("()").split(" or ")) == sorted(f"shelf == {base_hash(name)}" for name in "ab")
    many = by_base_hash(Scope(frozenset(f"base {n}" for n in range(100))))
    assert many.startswith("shelf in [")
    assert " or " not in many


def test_alternatives_stay_together_beside_another_condition() -> None:
    condition = both(by_base_hash(Scope(frozenset({"a", "b"}))), equal("section", "s"))
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


SEARCH = DenseSearch("passages", "shelf == 1", 3, HIT_FIELDS, 10.0)


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


def test_of_very_many_sentences_the_first_ones_are_kept_so_that_the_row_fits() -> None:
    vectors = np.eye(384, dtype=np.float32)[np.arange(500) % 384]
    whole = SentenceVectors.of([str(n) for n in range(500)], vectors)
    about = to_row(WHOLE, PassageVectors(vectors[0], whole))["about"]
    kept = read_sentences(about)
    assert len(json.dumps(about)) < 65_536
    assert kept.digest == whole.digest
    assert whole.numbers.startswith(kept.numbers)
    assert len(kept.numbers) % 384 == 0
    assert len(kept.as_vectors(384)) > 50
