"""Vectors of a passage's sentences, kept beside its own in eight bits a number.

A passage's vector says what it is about as a whole; the sentence that answers may be one of ten. In eight bits a
cosine is that of 32 within some thousandths, and a sentence takes as many bytes as a vector has numbers.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_MOST = 127  # of a number in eight bits


@dataclass(frozen=True, slots=True)
class SentenceVectors:
    """The vectors of some texts, in order; of the first ones where there was no room for all.

    ``digest`` is that of all the texts, by which another way of cutting the passage is noticed. ``numbers`` are
    (n, dimension) signed bytes, row by row, each row on a scale of its own.
    """

    digest: str = ""
    numbers: bytes = b""

    @classmethod
    def of(cls, texts: Sequence[str], vectors: "npt.NDArray[np.float32] | None" = None) -> "SentenceVectors":
        """From (n, dimension) vectors of n texts; of none where there are no texts."""
        import numpy as np

        if not texts or vectors is None:
            return cls(digest_of(texts))
        scaled = vectors * (_MOST / np.maximum(np.abs(vectors).max(axis=1, keepdims=True), 1e-9))
        return cls(digest_of(texts), np.rint(scaled).astype(np.int8).tobytes())

    def as_vectors(self, dimension: int) -> "npt.NDArray[np.float32]":
        """(n, dimension), float32, unit length."""
        import numpy as np

        rows = np.frombuffer(self.numbers, np.int8).reshape(-1, dimension).astype(np.float32)
        unit: npt.NDArray[np.float32] = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
        return unit


NO_SENTENCES = SentenceVectors()


def digest_of(texts: Sequence[str]) -> str:
    """Return what tells these texts, in this order, from others."""
    return blake2b("\x1f".join(texts).encode(errors="replace"), digest_size=6).hexdigest()


def cosines_of_nearest(passages: Sequence[SentenceVectors], vector: "npt.NDArray[np.float32]") -> list[float | None]:
    """For each passage the cosine of its nearest sentence with a vector of unit length; None where it has none."""
    import numpy as np

    dimension = len(vector)
    counts = [len(one.numbers) // dimension for one in passages]
    if not sum(counts):
        return [None] * len(passages)
    together = SentenceVectors("", b"".join(one.numbers for one in passages))
    cosines = together.as_vectors(dimension) @ vector
    starts = [start for start, count in zip(np.cumsum([0, *counts[:-1]]).tolist(), counts, strict=True) if count]
    best = iter(np.maximum.reduceat(cosines, starts).tolist())
    return [next(best) if count else None for count in counts]
