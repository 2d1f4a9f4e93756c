"""Fusion of the two searches into one ranking."""

from dataclasses import replace

import pytest

from core.model.knowledge import Passage
from core.ports.index import DenseAndBm25Hits
from core.retrieval.fusion import dense_weight, fuse

SHORT = "backup window"
LONG = (
    "which nightly backup window applies to replicated billing databases outside Frankfurt during quarterly maintenance"
)


def passage(name: str) -> Passage:
    return Passage(name, "handbook", f"{name}.md", "1", name, 0, name, f"Text of {name}.")


MEANING, WORDS = passage("meaning"), passage("words")
LEGS = DenseAndBm25Hits(dense=((MEANING, 0.8), (WORDS, 0.4)), bm25=((WORDS, 9.0), (MEANING, 4.0)))


def test_a_short_question_trusts_meaning_more_than_a_long_one() -> None:
    assert dense_weight(SHORT) > 0.6 > dense_weight(LONG) > 0.2


def test_where_the_legs_disagree_alike_the_length_of_the_question_decides() -> None:
    assert [hit.passage for hit in fuse(SHORT, LEGS, 2)] == [MEANING, WORDS]
    assert [hit.passage for hit in fuse(LONG, LEGS, 2)] == [WORDS, MEANING]


@pytest.mark.parametrize("question", ["", "a " * 400, "word " * 400, " ".join(f"word{n}" for n in range(3_000))])
def test_no_question_gives_a_leg_everything(question: str) -> None:
    assert 0.2 <= dense_weight(question) <= 0.8


def test_where_scores_lie_together_the_rank_still_tells() -> None:
    close = DenseAndBm25Hits(dense=((MEANING, 0.5001), (WORDS, 0.5)), bm25=((MEANING, 3.0), (WORDS, 3.0)))
    first, second = fuse(SHORT, close, 2)
    assert first.passage is MEANING
    assert first.score - second.score > 0.0


def test_the_sentence_that_answers_lifts_its_passage() -> None:
    near = replace(LEGS, nearest={"meaning": 0.1, "words": 0.9})
    assert [hit.passage for hit in fuse(SHORT, near, 2)] == [WORDS, MEANING]


def test_a_passage_without_sentences_is_told_by_its_own_vector() -> None:
    """One that an earlier version wrote stands beside one that has them: neither hides the other."""
    assert [hit.passage for hit in fuse(LONG, LEGS, 2)] == [WORDS, MEANING]
    mixed = replace(LEGS, nearest={"words": 0.3})
    assert [hit.passage for hit in fuse(LONG, mixed, 2)] == [MEANING, WORDS]


def test_what_a_leg_left_out_is_not_worth_nothing_there() -> None:
    """The dense leg returned all it was asked for: what it left out lies somewhere below its last one."""
    legs = DenseAndBm25Hits(dense=((MEANING, 0.8), (passage("third"), 0.7)), bm25=((WORDS, 9.0),))
    full, short = (fuse(SHORT, legs, asked) for asked in (2, 3))
    scores = [next(hit.score for hit in hits if hit.passage is WORDS) for hits in (full, short)]
    assert scores[0] > scores[1]
