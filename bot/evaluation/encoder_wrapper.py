"""An encoder around another one: what a measurement changes it overrides, the rest is the wrapped one's."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.ports.encoder import Encoder

if TYPE_CHECKING:
    from core.ports.encoder import Vectors


class WrappedEncoder(Encoder):
    """Passes everything on."""

    def __init__(self, encoder: Encoder) -> None:
        """Around this one."""
        self._encoder = encoder

    @property
    def name(self) -> str:
        """The model."""
        return self._encoder.name

    @property
    def dimension(self) -> int:
        """The length of a vector."""
        return self._encoder.dimension

    @property
    def window(self) -> int:
        """How many tokens of a text the model reads."""
        return self._encoder.window

    async def encode_queries(self, texts: Sequence[str]) -> "Vectors":
        """(n, dimension), float32, unit length."""
        return await self._encoder.encode_queries(texts)

    async def encode_passages(self, texts: Sequence[str]) -> "Vectors":
        """(n, dimension), float32, unit length."""
        return await self._encoder.encode_passages(texts)

    async def count_tokens(self, texts: Sequence[str]) -> Sequence[int]:
        """Tokens of each text."""
        return await self._encoder.count_tokens(texts)
