"""Vectors of a passage's sentences, stored with its own vector in eight bits a number.

A passage's vector describes the whole passage, but the answer may be in one sentence of ten. With eight bits, a cosine
differs from the 32-bit one by some thousandths. A sentence takes one byte for each dimension.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_MOST = 127  # largest signed eight-bit number used


@dataclass(frozen=True, slots=True)
class SentenceVectors:
    """The vectors of some texts, in order, or of the first ones if there was no room for all.

    ``digest`` covers all the texts, to detect that the passage is now split differently. ``numbers`` are (n, dimension)
    signed bytes, row by row, each row with its own scale.
    """

    digest: str = ""
    numbers: bytes = b""

    @classmethod
    def of(cls, texts: Sequence[str], vectors: "npt.NDArray[np.float32] | None" = None) -> "SentenceVectors":
        """Return the quantised form of (n, dimension) vectors of n texts; without texts, an empty one."""
        import numpy as np

        if not texts or vectors is None:
            return cls(digest_of(texts))
        scaled = vectors * (_MOST / np.maximum(np.abs(vectors).max(axis=1, keepdims=True), 1e-9))
        return cls(digest_of(texts), np.rint(scaled).astype(np.int8).tobytes())

    def as_vectors(self, dimension: int) -> "npt.NDArray[np.float32]":
        """Return the vectors: (n, dimension), float32, unit length."""
        import numpy as np

        rows = np.frombuffer(self.numbers, np.int8).reshape(-1, dimension).astype(np.float32)
        unit: npt.NDArray[np.float32] = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
        return unit


NO_SENTENCES = SentenceVectors()


def digest_of(texts: Sequence[str]) -> str:
    """Return a digest of these texts in this order."""
    return blake2b("\x1f".join(texts).encode(errors="replace"), digest_size=6).hexdigest()


def cosines_of_nearest(passages: Sequence[SentenceVectors], vector: "npt.NDArray[np.float32]") -> list[float | None]:
    """Return for each passage the highest cosine of its sentences with a unit vector; None if it has no sentences."""
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
