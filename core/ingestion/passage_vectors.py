"""Vectors of passages and their sentences, and copies of passages to restore a document from."""

import asyncio
import gzip
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.model.json_codec import from_json, to_json
from core.model.knowledge import Document, Passage
from core.model.passage_units import texts_of_units
from core.ports.index import Encoder, Index, PassageVectors, Scope, SentenceVectors, Vectors, digest_of


async def vectors_of(
    passages: Sequence[Passage], encoder: Encoder, known: Mapping[str, PassageVectors] | None = None
) -> list[PassageVectors]:
    """Return the vectors in the order of the passages. For passages in ``known``, encode only missing vectors.

    Raises ModelUnavailable if the encoder does not respond.
    """
    if not passages:
        return []
    found = dict(known or {})
    texts = await asyncio.to_thread(_texts_of, passages)
    fresh = [passage for passage in passages if passage.id not in found]
    if fresh:
        wholes = await encoder.encode_passages([passage.searchable for passage in fresh])
        found.update((passage.id, PassageVectors(whole)) for passage, whole in zip(fresh, wholes, strict=True))
    # Vectors of an earlier version can miss sentences, or have others if the text was split differently.
    stale = [name for name, some in texts.items() if found[name].sentences.digest != digest_of(some)]
    flat = [text for name in stale for text in texts[name]]
    rows = await encoder.encode_passages(flat) if flat else None
    made = await asyncio.to_thread(_sentences, {name: texts[name] for name in stale}, rows)
    found.update((name, PassageVectors(found[name].whole, sentences)) for name, sentences in made.items())
    return [found[passage.id] for passage in passages]


def _texts_of(passages: Sequence[Passage]) -> dict[str, tuple[str, ...]]:
    return {passage.id: texts_of_units(passage) for passage in passages}


def _sentences(texts: Mapping[str, Sequence[str]], rows: Vectors | None) -> dict[str, SentenceVectors]:
    """Split the rows, which are of all texts in order, by passage."""
    made: dict[str, SentenceVectors] = {}
    start = 0
    for name, some in texts.items():
        own = None if rows is None else rows[start : start + len(some)]
        made[name] = SentenceVectors.of(some, own)
        start += len(some)
    return made


BATCH = 64  # passages written per call
_MOST_SENTENCES = 64_000_000  # bytes of vectors; sentences of a larger document are encoded when it is restored


@dataclass(frozen=True, slots=True)
class PassageCopy:
    """All passages of one version, in reading order, with vectors of the model named ``encoder``."""

    encoder: str
    passages: tuple[Passage, ...]
    dimension: int
    vectors: str  # base64 of little-endian float32, row by row
    sentences: tuple[tuple[str, str], ...] = ()  # per passage: digest of its sentences, base64 of their vectors


async def copy_passages(document: Document, index: Index, encoder: Encoder) -> PassageCopy | None:
    """Return the visible version's passages. None if some are missing because it was replaced or lost."""
    scope = Scope(frozenset({document.knowledge_base}))
    passages = await index.passages(document.id, document.version, scope)
    vectors = await index.known_vectors([passage.id for passage in passages])
    if len(passages) < document.passages or any(passage.id not in vectors for passage in passages):
        return None
    return await asyncio.to_thread(_copy, encoder.name, passages, vectors)


async def put_back(copy: PassageCopy, index: Index, encoder: Encoder) -> None:
    """Write the passages. Encode them again if another model encoded them, and add missing sentence vectors.

    They become visible when the document is published.
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
    """Return the copy as bytes, compressed."""
    return gzip.compress(to_json(copy).encode(), 5)


def unpack(data: bytes) -> PassageCopy:
    """Return the copy from the bytes of ``pack``."""
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
