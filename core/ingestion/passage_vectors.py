"""What passages are found by: each one's own vector, and one for each of its sentences."""

from collections.abc import Sequence

from core.model.knowledge import Passage
from core.model.passage_units import texts_of_units
from core.model.sentence_vectors import SentenceVectors, digest_of
from core.ports.encoder import Encoder
from core.ports.index import PassageVectors

SENTENCES_AT_ONCE = 128  # encoded in one call, so that a question waits for no more


async def vectors_of(passages: Sequence[Passage], encoder: Encoder) -> list[PassageVectors]:
    """In the order of the passages. Raises ModelUnavailable when the encoder does not answer."""
    if not passages:
        return []
    wholes = await encoder.encode_passages([passage.searchable for passage in passages])
    sentences = await sentences_of(passages, encoder)
    return [PassageVectors(whole, some) for whole, some in zip(wholes, sentences, strict=True)]


async def sentences_of(passages: Sequence[Passage], encoder: Encoder) -> list[SentenceVectors]:
    """The vectors of the passages' sentences, in the order of the passages."""
    import numpy as np

    texts = [texts_of_units(passage) for passage in passages]
    flat = [text for some in texts for text in some]
    encoded = [
        await encoder.encode_passages(flat[start : start + SENTENCES_AT_ONCE])
        for start in range(0, len(flat), SENTENCES_AT_ONCE)
    ]
    rows = np.concatenate(encoded) if encoded else np.zeros((0, encoder.dimension), np.float32)
    ends = np.cumsum([len(some) for some in texts]).tolist()
    return [SentenceVectors.of(some, rows[end - len(some) : end]) for some, end in zip(texts, ends, strict=True)]


def is_current(passage: Passage, vectors: PassageVectors) -> bool:
    """Whether the sentences' vectors are of the sentences that the passage is parted into today."""
    return vectors.sentences.texts == digest_of(texts_of_units(passage))
