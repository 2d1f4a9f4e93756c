"""Words and sentences are remembered, a bounded number of them, whoever asks at the same time."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from adapters.reasoners.extractive.score.weighing import Similarity
from core.ingestion.passage_vectors import vectors_of
from core.model.errors import StoreUnavailable
from core.model.knowledge import Passage
from core.model.passage_units import texts_of_units, units
from core.ports.index import PassageVectors
from tests.fakes.memory.encoder import HashingEncoder
from tests.fakes.memory.index import InProcessIndex

if TYPE_CHECKING:
    from core.ports.index import Vectors

ROUND = 64  # sentences, as many as one call compares


class Yielding(HashingEncoder):
    """Lets others in while it encodes, as a thread does."""

    async def encode_passages(self, texts: Sequence[str]) -> "Vectors":
        """As the other, a turn of the loop later."""
        await asyncio.sleep(0)
        return await super().encode_passages(texts)


async def test_what_others_ask_for_meanwhile_takes_nothing_away() -> None:
    """More sentences than are remembered, asked for while some that were known wait for one that is new."""
    similarity = Similarity(Yielding())
    known = [f"Rule {number}: doors are closed." for number in range(ROUND - 1)]
    before = await similarity.of_sentences("doors", known)
    others = [
        similarity.of_sentences("doors", [f"Page {page}, line {line}." for line in range(ROUND)]) for page in range(100)
    ]
    again, *_ = await asyncio.gather(similarity.of_sentences("doors", [*known, "Something new."]), *others)
    assert again[:-1] == pytest.approx(before)


class Encodes(HashingEncoder):
    """Remembers what it was asked to encode."""

    def __init__(self) -> None:
        super().__init__()
        self.encoded: list[str] = []

    async def encode_passages(self, texts: Sequence[str]) -> "Vectors":
        """As the other."""
        self.encoded += texts
        return await super().encode_passages(texts)


class Away:
    """An index that does not respond."""

    async def known_vectors(self, passage_ids: Sequence[str]) -> dict[str, PassageVectors]:
        """Never."""
        raise StoreUnavailable("Milvus does not respond.")


RULES = Passage("p", "handbook", "doc", "v1", "s", 0, "Rules", "The doors are closed at nine. They open again at six.")


async def compared(index: "InProcessIndex | Away", passage: Passage = RULES) -> tuple[list[float], list[str]]:
    """The cosines of a passage's units with a question, and what was encoded for them."""
    encoder = Encodes()
    placed = [(passage, unit) for unit in units(passage.text)]
    return await Similarity(encoder, index).of_units("when do doors close", placed), encoder.encoded


async def kept() -> InProcessIndex:
    index = InProcessIndex()
    await index.add([RULES], await vectors_of([RULES], HashingEncoder()))
    return index


async def test_sentences_that_the_index_has_vectors_of_are_not_encoded_again() -> None:
    known, encoded = await compared(await kept())
    fresh, all_encoded = await compared(InProcessIndex())
    assert not encoded
    assert sorted(all_encoded) == sorted(texts_of_units(RULES))
    assert known == pytest.approx(fresh, abs=0.01)


async def test_a_passage_that_reads_otherwise_here_than_there_is_encoded() -> None:
    """One in another language is weighed by its English gloss, which has the same id."""
    _, encoded = await compared(await kept(), replace(RULES, text="The gates shut at nine. At six they open again."))
    assert len(encoded) == 2


async def test_while_the_index_is_away_sentences_are_encoded() -> None:
    cosines, encoded = await compared(Away())
    assert len(encoded) == 2
    assert all(cosines)
