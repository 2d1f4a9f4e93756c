"""Cosines between a question and sentences, a bounded number of them, and none when the encoder is away."""

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from cachetools import LRUCache

from core.model.errors import Unavailable, first_of_ours
from core.model.knowledge import Passage
from core.model.passage_units import UNIT_CHARACTERS, Unit, befores, in_context, texts_of_units, units
from core.model.sentence_vectors import digest_of
from core.ports.index import Encoder, PassageVectors

if TYPE_CHECKING:
    from core.ports.index import Vectors

SENTENCES = 96  # compared in one call: those of two searches
SECONDS = 10.0  # then words alone must do; on a busy machine 3 cut off what a quiet one takes 0.1 for, and refused
_KNOWN_SECONDS = 2.0  # for what the index has of them; then they are encoded
_SENTENCES_AT_ONCE = 16  # encoded and remembered: what a deadline cuts off is there when it is asked for again
_KNOWN = 6_000  # sentences remembered, 1.5 kB each


class KnownVectors(Protocol):
    """Where the vectors of passages and their sentences are kept; an index is such a place."""

    async def known_vectors(self, passage_ids: Sequence[str]) -> Mapping[str, PassageVectors]:
        """Of those passages that are there. Raises StoreUnavailable."""


class Similarity:
    """Encodes few and short texts, with a deadline."""

    def __init__(self, encoder: Encoder, known: KnownVectors | None = None, seconds: float = SECONDS) -> None:
        """Compare with this encoder's vectors, where they come within so many seconds; ``known`` need no encoding."""
        self._encoder = encoder
        self._known = known
        self._seconds = seconds
        self._sentences: LRUCache[str, Vectors] = LRUCache(_KNOWN)

    async def of_sentences(self, text: str, sentences: Sequence[str]) -> list[float]:
        """The cosine of each sentence with the text; 0 beyond the bound and when the encoder does not answer."""
        few = [sentence[:UNIT_CHARACTERS] for sentence in sentences[:SENTENCES]]
        if not few:
            return []
        try:
            async with asyncio.timeout(self._seconds):
                queries, vectors = await asyncio.gather(self._encoder.encode_queries([text]), self._vectors(few))
        except (TimeoutError, Unavailable):
            return [0.0] * len(sentences)
        cosines = [float(value) for value in vectors @ queries[0]]
        return cosines + [0.0] * (len(sentences) - len(few))

    async def of_units(self, question: str, placed: Sequence[tuple[Passage, Unit]]) -> list[float]:
        """The cosine of each unit, read in its context, with the question; 0 beyond the bound."""
        before = {passage.id: befores(units(passage.text)) for passage, _ in placed}
        texts = [in_context(passage, unit, before[passage.id].get(unit))[:UNIT_CHARACTERS] for passage, unit in placed]
        await self._remember([passage for passage, _ in placed], {*texts} - {*self._sentences})
        return await self.of_sentences(question, texts)

    async def _remember(self, passages: Iterable[Passage], wanted: Collection[str]) -> None:
        """Take over the vectors of these texts that the passages have where they are kept.

        Not of a passage that reads otherwise there: one in another language is weighed by its gloss.
        """
        kept_there = {passage.id: passage for passage in passages if passage.knowledge_base}  # no attached file
        if self._known is None or not wanted or not kept_there:
            return
        try:
            async with asyncio.timeout(_KNOWN_SECONDS):
                kept = await self._known.known_vectors(list(kept_there))
        except (TimeoutError, Unavailable):
            return  # they are encoded
        for name, vectors in kept.items():
            texts = texts_of_units(kept_there[name])
            if vectors.sentences.digest == digest_of(texts):
                rows = vectors.sentences.as_vectors(self._encoder.dimension)
                # Copies: a row would keep all of its passage's. Of very many the first ones are kept.
                told = zip(texts, rows, strict=False)
                self._sentences.update((text, row.copy()) for text, row in told if text in wanted)

    async def slips_among(self, unknown: Sequence[str]) -> list[str]:
        """Those that are no word of the language: the encoder's vocabulary has its common words in one piece.

        All of them when the encoder does not answer.
        """
        if not unknown:
            return []
        try:
            async with asyncio.timeout(self._seconds):
                pieces = await self._encoder.count_tokens(unknown)
        except (TimeoutError, Unavailable):
            return list(unknown)
        return [word for word, count in zip(unknown, pieces, strict=True) if count > 1]

    async def _vectors(self, listed: Sequence[str]) -> "Vectors":
        """Return the vectors, (n, dimension), of sentences, most of which were met before."""
        import numpy as np

        # Held on to: what others ask for meanwhile may push out of the cache what was there.
        found = {text: self._sentences[text] for text in listed if text in self._sentences}
        # Of like length together, since a batch is as wide as its longest text; the longest first, so that what is left
        # for the end is short, and the cores end together.
        fresh = sorted({text for text in listed if text not in found}, key=lambda text: (-len(text), text))

        async def encode(some: Sequence[str]) -> None:
            encoded = dict(zip(some, await self._encoder.encode_passages(some), strict=True))
            found.update(encoded)
            self._sentences.update(encoded)

        try:
            async with asyncio.TaskGroup() as group:  # together: the encoder knows how many cores there are for them
                for start in range(0, len(fresh), _SENTENCES_AT_ONCE):
                    group.create_task(encode(fresh[start : start + _SENTENCES_AT_ONCE]))
        except BaseExceptionGroup as failures:
            raise first_of_ours(failures) from None
        return np.stack([found[text] for text in listed])
