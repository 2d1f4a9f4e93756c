"""A document's passages with their vectors, away from the index: set aside for a week, or in a backup."""

import asyncio
import gzip
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.ingestion.passage_vectors import vectors_of
from core.model.json_codec import from_json, to_json
from core.model.knowledge import Document, Passage
from core.model.sentence_vectors import SentenceVectors
from core.ports.index import Encoder, Index, PassageVectors, Scope, Vectors

BATCH = 64  # passages written back at a time
_MOST_SENTENCES = 64_000_000  # bytes of vectors; those of a larger document are encoded as it is put back


@dataclass(frozen=True, slots=True)
class PassageCopy:
    """All passages of one version, in reading order, as ``encoder`` (its name) encoded them."""

    encoder: str
    passages: tuple[Passage, ...]
    dimension: int
    vectors: str  # base64 of little-endian float32, row by row
    sentences: tuple[tuple[str, str], ...] = ()  # of each passage: digest of its sentences, base64 of their numbers


async def copy_passages(document: Document, index: Index, encoder: Encoder) -> PassageCopy | None:
    """The visible version's passages; None where they are not all there, because it has been replaced or lost."""
    scope = Scope(frozenset({document.knowledge_base}))
    passages = await index.passages(document.id, document.version, scope)
    vectors = await index.known_vectors([passage.id for passage in passages])
    if len(passages) < document.passages or any(passage.id not in vectors for passage in passages):
        return None
    return await asyncio.to_thread(_copy, encoder.name, passages, vectors)


async def put_back(copy: PassageCopy, index: Index, encoder: Encoder) -> None:
    """Write the passages; encoded again where another model encoded them, and their sentences where none did.

    They are visible when they are published.
    """
    import numpy as np

    vectors: Vectors = np.frombuffer(b64decode(copy.vectors), "<f4").reshape(-1, max(1, copy.dimension))
    for start in range(0, len(copy.passages), BATCH):
        batch = copy.passages[start : start + BATCH]
        wholes = vectors[start : start + BATCH].astype(np.float32)
        told = copy.sentences[start : start + BATCH] or [("", "")] * len(batch)
        sentences = [SentenceVectors(digest, b64decode(data)) for digest, data in told]
        kept = [PassageVectors(*pair) for pair in zip(wholes, sentences, strict=True)]
        known = {passage.id: one for passage, one in zip(batch, kept, strict=True)}
        await index.add(batch, await vectors_of(batch, encoder, known if copy.encoder == encoder.name else None))
    if copy.passages:
        await index.confirm(copy.passages[0].document, copy.passages[0].version)


def pack(copy: PassageCopy) -> bytes:
    """The copy as bytes, compressed."""
    return gzip.compress(to_json(copy).encode(), 5)


def unpack(data: bytes) -> PassageCopy:
    """The inverse of ``pack``."""
    copy: PassageCopy = from_json(PassageCopy, gzip.decompress(data))
    return copy


def _copy(encoder: str, passages: Sequence[Passage], vectors: Mapping[str, PassageVectors]) -> PassageCopy:
    import numpy as np

    found = [vectors[passage.id] for passage in passages]
    rows = np.stack([one.whole for one in found]).astype("<f4") if found else np.zeros((0, 0), "<f4")
    size = sum(len(one.sentences.numbers) for one in found)
    kept = found if size <= _MOST_SENTENCES else []
    sentences = tuple((one.sentences.digest, b64encode(one.sentences.numbers).decode()) for one in kept)
    return PassageCopy(
        encoder,
        tuple(passages),
        rows.shape[1],
        b64encode(rows.tobytes()).decode(),
        sentences,
    )
