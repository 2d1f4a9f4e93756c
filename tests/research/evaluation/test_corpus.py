"""Vectors that are kept from one measurement to the next."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from research.evaluation.corpus import CorpusParser, KeptVectors
from tests.fakes.memory.encoder import HashingEncoder

if TYPE_CHECKING:
    from core.ports.index import Vectors


class CountingEncoder(HashingEncoder):
    """Remembers which passages it had to encode."""

    def __init__(self, name: str = "counting") -> None:
        super().__init__(name=name)
        self.encoded: list[str] = []

    async def encode_passages(self, texts: Sequence[str]) -> "Vectors":
        self.encoded += texts
        return await super().encode_passages(texts)


async def test_a_passage_is_encoded_once_and_comes_back_as_it_was(tmp_path: Path) -> None:
    encoder = CountingEncoder()
    first = await KeptVectors(encoder, tmp_path / "kept").encode_passages(["one", "two", "one"])
    again = await KeptVectors(encoder, tmp_path / "kept").encode_passages(["two", "three", "one"])
    assert encoder.encoded == ["one", "two", "three"]
    assert np.array_equal(first[[1, 0]], again[[0, 2]])
    assert again.dtype == np.float32
    assert np.array_equal(again, await HashingEncoder().encode_passages(["two", "three", "one"]))


async def test_another_model_has_vectors_of_its_own(tmp_path: Path) -> None:
    one, other = CountingEncoder("one"), CountingEncoder("other")
    await KeptVectors(one, tmp_path).encode_passages(["text"])
    await KeptVectors(other, tmp_path).encode_passages(["text"])
    assert (one.encoded, other.encoded) == (["text"], ["text"])


async def test_no_passages_are_no_vectors(tmp_path: Path) -> None:
    assert (await KeptVectors(HashingEncoder(), tmp_path).encode_passages([])).shape == (0, 64)


async def test_a_text_of_a_corpus_is_one_block_under_its_title() -> None:
    parsed = await CorpusParser().parse("Title", "Grüße.".encode())
    assert (parsed.title, [block.text for block in parsed.blocks]) == ("Title", ["Grüße."])
