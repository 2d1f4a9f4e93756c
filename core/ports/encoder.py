"""Text as vectors, and query and passage judged together."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Vectors: TypeAlias = npt.NDArray[np.float32]
else:  # numpy costs a tenth of a second, and nobody here touches a number
    Vectors = object


class Encoder(Protocol):
    """Turns text into vectors of unit length."""

    @property
    def name(self) -> str:
        """The model, as the index remembers it."""

    @property
    def dimension(self) -> int:
        """The length of a vector."""

    async def encode_queries(self, texts: Sequence[str]) -> "Vectors":
        """(n, dimension), float32. Cached and fast: this is on the way of every question."""

    async def encode_passages(self, texts: Sequence[str]) -> "Vectors":
        """(n, dimension), float32. For many texts; yields to queries that arrive meanwhile."""

    async def count_tokens(self, texts: Sequence[str]) -> Sequence[int]:
        """Tokens of each text under this model, without truncation."""

    @property
    def window(self) -> int:
        """How many tokens of a text the model reads."""


class Reranker(Protocol):
    """Judges query and passage together."""

    @property
    def available(self) -> bool:
        """Whether a model is loaded; without one the fused order stands."""

    async def rerank(self, query: str, texts: Sequence[str]) -> Sequence[float] | None:
        """A probability in [0, 1] for each text, or None when no model is available."""
