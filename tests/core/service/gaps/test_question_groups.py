"""Grouping vectors: few, many, and more than fit in one batch."""

import numpy as np
import pytest

from core.ports.index import Vectors
from core.service.gaps import question_groups
from core.service.gaps.question_groups import group_by_meaning


def clusters(groups: int, each: int, seed: int = 7) -> Vectors:
    """Return unit vectors around this many centres, one of each in turn."""
    rng = np.random.default_rng(seed)
    middles = rng.standard_normal((groups, 64))
    points = np.tile(middles, (each, 1)) + 0.2 * rng.standard_normal((groups * each, 64))
    unit: Vectors = (points / np.linalg.norm(points, axis=1, keepdims=True)).astype(np.float32)
    return unit


def partition(groups: list[int]) -> set[frozenset[int]]:
    return {frozenset(n for n, g in enumerate(groups) if g == group) for group in set(groups)}


def test_nothing_is_no_group() -> None:
    assert list(group_by_meaning(np.zeros((0, 4), dtype=np.float32))) == []


def test_one_question_is_one_group() -> None:
    assert list(group_by_meaning(clusters(1, 1))) == [0]


@pytest.mark.parametrize("each", [2, 30])
def test_what_is_near_is_together_whether_few_are_asked_or_many(each: int) -> None:
    found = partition(list(group_by_meaning(clusters(10, each))))
    assert found == {frozenset(range(group, 10 * each, 10)) for group in range(10)}


def test_more_than_a_batch_makes_the_same_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = clusters(12, 20)
    at_once = partition(list(group_by_meaning(vectors)))
    monkeypatch.setattr(question_groups, "BATCH", 50)
    assert partition(list(group_by_meaning(vectors))) == at_once


def test_what_everybody_says_holds_nothing_together() -> None:
    """A direction that all vectors share would make one group of them."""
    shared = clusters(12, 10) + 1.5 * clusters(1, 1)
    shared = (shared / np.linalg.norm(shared, axis=1, keepdims=True)).astype(np.float32)
    assert len(partition(list(group_by_meaning(shared)))) == 12
