"""What the benchmark searches in: the same for everyone, of any size, and words as frequent as people's."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from core.model.errors import ConfigurationError
from core.model.text import content_words
from research.benchmark.corpus import SCOPE, Corpus, corpus_of
from research.benchmark.texts import texts_of
from tests.fakes.memory.encoder import HashingEncoder


async def corpus(size: int) -> Corpus:
    return await corpus_of(texts_of(None), size, HashingEncoder())


async def test_it_is_the_same_each_time() -> None:
    one, again = await corpus(1_500), await corpus(1_500)
    assert one.passage(1_234) == again.passage(1_234)
    assert list(one.questions) == list(again.questions)
    for (passages, vectors), (others, same) in zip(one.batches(), again.batches(), strict=True):
        assert passages == others
        assert np.array_equal(vectors, same)


async def test_a_larger_one_begins_with_the_smaller() -> None:
    small, large = await corpus(1_000), await corpus(3_000)
    assert small.passage(999) == large.passage(999)


async def test_it_has_the_size_that_was_asked_for_and_unit_vectors() -> None:
    batches = list((await corpus(2_300)).batches())
    assert sum(len(passages) for passages, _ in batches) == 2_300
    assert all(len(passages) == len(vectors) for passages, vectors in batches)
    assert np.linalg.norm(batches[-1][1], axis=1) == pytest.approx(1.0, abs=1e-5)
    assert len({passage.id for passages, _ in batches for passage in passages}) == 2_300


async def test_the_filter_lets_half_of_it_through() -> None:
    found = [passage for passages, _ in (await corpus(4_000)).batches() for passage in passages]
    assert sum(passage.knowledge_base in SCOPE.bases for passage in found) == 2_000


def test_most_words_are_rare_and_few_are_everywhere() -> None:
    texts = texts_of(None)
    spread = Counter(word for n in range(2_000) for word in set(content_words(texts.passage(n))))
    rare = sum(1 for count in spread.values() if count <= 20)
    assert rare > 0.5 * len(spread)
    assert 0 < sum(1 for count in spread.values() if count > 400) < 0.02 * len(spread)


def test_questions_and_sentences_come_from_data_sets_where_they_are_given(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    document = {"_id": "d", "text": "The lift is inspected in spring. Nobody may use it then."}
    asked = [{"_id": "q", "text": "when is the lift inspected next"}, {"_id": "r", "text": "too short"}]
    (tmp_path / "one" / "corpus.jsonl").write_text(json.dumps(document) + "\n")
    (tmp_path / "one" / "queries.jsonl").write_text("".join(json.dumps(one) + "\n" for one in asked))
    texts = texts_of(tmp_path)
    assert texts.questions == ["when is the lift inspected next"]
    assert "The lift is inspected in spring." in " ".join(texts.passage(n) for n in range(5))
    assert texts.some_questions(3) == ["when is the lift inspected next"] * 3


def test_a_folder_without_data_sets_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"no corpus\.jsonl"):
        texts_of(tmp_path)
