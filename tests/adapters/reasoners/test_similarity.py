"""Words and sentences are remembered, a bounded number of them, whoever asks at the same time."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pytest

from adapters.reasoners.extractive.evidence.similarity import Similarity
from adapters.testing.encoder import HashingEncoder

if TYPE_CHECKING:
    from core.ports.encoder import Vectors

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
