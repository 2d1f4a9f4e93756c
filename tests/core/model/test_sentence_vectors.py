"""Vectors of sentences in eight bits a number."""

import numpy as np
import pytest

from core.ports.index import NO_SENTENCES, SentenceVectors, cosines_of_nearest

DIMENSION = 384
DRAW = np.random.default_rng(7)


def unit_vectors(count: int) -> np.ndarray:
    drawn = DRAW.standard_normal((count, DIMENSION)).astype(np.float32)
    return np.asarray(drawn / np.linalg.norm(drawn, axis=1, keepdims=True))


def test_a_cosine_stays_what_it_was_within_a_hundredth() -> None:
    vectors = unit_vectors(400)
    kept = SentenceVectors.of([str(n) for n in range(400)], vectors).as_vectors(DIMENSION)
    assert np.abs(kept @ vectors[0] - vectors @ vectors[0]).max() < 0.01


def test_other_sentences_and_another_order_have_another_digest() -> None:
    vectors = unit_vectors(2)
    made = [SentenceVectors.of(texts, vectors).digest for texts in (("a", "b"), ("b", "a"), ("ab", ""))]
    assert len(set(made)) == 3


def test_the_nearest_sentence_of_each_passage_counts() -> None:
    vectors = unit_vectors(5)
    passages = [
        SentenceVectors.of(["a", "b"], vectors[:2]),
        NO_SENTENCES,
        SentenceVectors.of(["c", "d", "e"], vectors[2:]),
    ]
    first, none, third = cosines_of_nearest(passages, vectors[1])
    assert first == pytest.approx(1.0, abs=0.001)
    assert none is None
    assert third == pytest.approx(float((vectors[2:] @ vectors[1]).max()), abs=0.01)


def test_where_no_passage_has_any_none_is_near() -> None:
    assert cosines_of_nearest([NO_SENTENCES, SentenceVectors.of([], unit_vectors(0))], unit_vectors(1)[0]) == [
        None,
        None,
    ]
    assert cosines_of_nearest([], unit_vectors(1)[0]) == []
