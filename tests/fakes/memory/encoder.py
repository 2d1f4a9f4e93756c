"""An encoder without a model: instant, the same everywhere, and texts that share words are near each other."""

import hashlib
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from core.model.text import content_words, words

if TYPE_CHECKING:
    from core.ports.index import Vectors


class HashingEncoder:
    """``Encoder`` by feature hashing of word stems (Weinberger et al. 2009): each stem adds its own direction."""

    def __init__(self, dimension: int = 64, window: int = 256, name: str = "hashing") -> None:
        self._dimension = dimension
        self._window = window
        self._name = name

    @property
    def name(self) -> str:
        """The model's name."""
        return self._name

    @property
    def dimension(self) -> int:
        """The length of a vector."""
        return self._dimension

    @property
    def window(self) -> int:
        """How many tokens it would read; it reads all."""
        return self._window

    async def encode_queries(self, texts: Sequence[str]) -> "Vectors":
        """(n, dimension), float32, unit length."""
        return self._encode(texts)

    async def encode_passages(self, texts: Sequence[str]) -> "Vectors":
        """(n, dimension), float32, unit length."""
        return self._encode(texts)

    async def count_tokens(self, texts: Sequence[str]) -> Sequence[int]:
        """One token a word."""
        return [len(words(text)) for text in texts]

    def _encode(self, texts: Sequence[str]) -> "Vectors":
        import numpy as np

        vectors = np.zeros((len(texts), self._dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in content_words(text) or (text,):
                vectors[row] += _direction(word, self._dimension)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        unit: Vectors = vectors / np.maximum(lengths, np.float32(1e-12))
        return unit


@lru_cache(maxsize=50_000)
def _direction(word: str, dimension: int) -> "Vectors":
    import numpy as np

    seed = int.from_bytes(hashlib.sha256(word.encode(errors="replace")).digest()[:8])
    return np.random.default_rng(seed).standard_normal(dimension).astype(np.float32)
