"""What passages are found by: each one's own vector, and one for each of its sentences."""

import asyncio
from collections.abc import Mapping, Sequence

from core.model.knowledge import Passage
from core.model.passage_units import texts_of_units
from core.model.sentence_vectors import SentenceVectors, digest_of
from core.ports.index import Encoder, PassageVectors, Vectors


async def vectors_of(
    passages: Sequence[Passage], encoder: Encoder, known: Mapping[str, PassageVectors] | None = None
) -> list[PassageVectors]:
    """In the order of the passages. Of those ``known`` by their ids only what is lacking is encoded.

    Raises ModelUnavailable when the encoder does not answer.
    """
    if not passages:
        return []
    found = dict(known or {})
    texts = await asyncio.to_thread(_texts_of, passages)
    fresh = [passage for passage in passages if passage.id not in found]
    if fresh:
        wholes = await encoder.encode_passages([passage.searchable for passage in fresh])
        found.update((passage.id, PassageVectors(whole)) for passage, whole in zip(fresh, wholes, strict=True))
    # Those of an earlier version have no sentences, or others, where passages were parted otherwise.
    stale = [name for name, some in texts.items() if found[name].sentences.digest != digest_of(some)]
    flat = [text for name in stale for text in texts[name]]
    rows = await encoder.encode_passages(flat) if flat else None
    made = await asyncio.to_thread(_sentences, {name: texts[name] for name in stale}, rows)
    found.update((name, PassageVectors(found[name].whole, sentences)) for name, sentences in made.items())
    return [found[passage.id] for passage in passages]


def _texts_of(passages: Sequence[Passage]) -> dict[str, tuple[str, ...]]:
    return {passage.id: texts_of_units(passage) for passage in passages}


def _sentences(texts: Mapping[str, Sequence[str]], rows: Vectors | None) -> dict[str, SentenceVectors]:
    """The rows, which are of all texts in turn, as each passage's own."""
    made: dict[str, SentenceVectors] = {}
    start = 0
    for name, some in texts.items():
        own = None if rows is None else rows[start : start + len(some)]
        made[name] = SentenceVectors.of(some, own)
        start += len(some)
    return made
