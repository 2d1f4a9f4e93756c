"""Cosines between a question and sentences, a bounded number of them, and none when the encoder is away."""

import asyncio
from collections.abc import Sequence

from adapters.reasoners.extractive.selection import Unit
from core.errors import Unavailable
from core.evidence import Evidence
from core.ports import Encoder

_SENTENCES = 24  # encoded for one call
_OF_ONE = 2  # of one passage
_SECONDS = 3.0  # then words alone must do
_CHARACTERS = 400


class Similarity:
    """Encodes few and short texts, with a deadline."""

    def __init__(self, encoder: Encoder) -> None:
        """Compare with this encoder's vectors."""
        self._encoder = encoder

    async def of_sentences(self, text: str, sentences: Sequence[str]) -> list[float]:
        """The cosine of each sentence with the text; 0 beyond the bound and when the encoder does not answer."""
        few = [sentence[:_CHARACTERS] for sentence in sentences[:_SENTENCES]]
        if not few:
            return []
        try:
            async with asyncio.timeout(_SECONDS):
                query = (await self._encoder.encode_queries([text]))[0]
                vectors = await self._encoder.encode_passages(few)
        except (TimeoutError, Unavailable):
            return [0.0] * len(sentences)
        cosines = [float(value) for value in vectors @ query]
        return cosines + [0.0] * (len(sentences) - len(few))

    async def of_passages(
        self, question: str, ranked: Sequence[tuple[Evidence, Sequence[tuple[float, Unit]]]]
    ) -> list[tuple[float, float]]:
        """For each passage, its own cosine (the search's, where it has one) and that of its best unit."""
        share = max(1, min(_OF_ONE, _SENTENCES // max(1, len(ranked))))
        texts = [[unit.text for _, unit in units[:share]] for _, units in ranked]
        flat = await self.of_sentences(question, [text for few in texts for text in few])
        found: list[tuple[float, float]] = []
        at = 0
        for (item, _), few in zip(ranked, texts, strict=True):
            best = max(flat[at : at + len(few)], default=0.0)
            at += len(few)
            found.append((item.hit.dense if item.hit.dense is not None else best, best))
        return found
