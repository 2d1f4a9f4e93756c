"""Vectors to search among: real ones of some sentences, and any number of invented ones between them.

Encoding a million passages would take hours, and vectors at random are no stand-in: they have no neighbours, so that an
index which looks into the nearest lists finds next to nothing and is fast at it. So some sentences are encoded, and the
rest is made between a real vector and one of its neighbours, with noise, until a question's ten nearest are about as
near as in a real corpus of that size.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.ports.index import Vectors

NEIGHBOURS = 12
NOISE = 0.45  # its length beside the unit vector it is added to
_SEED = 7


@dataclass(frozen=True, slots=True)
class Cloud:
    """Real vectors with their neighbours."""

    real: "Vectors"  # (n, dimension)
    near: "Vectors"  # (n, NEIGHBOURS, dimension)

    def batch(self, number: int, size: int) -> "Vectors":
        """Return the batch of this number: (size, dimension), float32, unit length."""
        import numpy as np

        draw = np.random.default_rng((_SEED, number))
        one = draw.integers(0, len(self.real), size)
        other = self.near[one, draw.integers(0, self.near.shape[1], size)]
        share = draw.uniform(0.3, 0.7, (size, 1)).astype(np.float32)
        noise = draw.standard_normal((size, self.real.shape[1]), dtype=np.float32)
        noise *= NOISE / np.sqrt(np.float32(self.real.shape[1]))
        return _unit(_unit(share * self.real[one] + (1 - share) * other) + noise)

    def batches(self, count: int, size: int) -> Iterator["Vectors"]:
        """``count`` vectors in batches."""
        for number, start in enumerate(range(0, count, size)):
            yield self.batch(number, min(size, count - start))


def cloud_of(real: "Vectors") -> Cloud:
    """Return the cloud around these vectors."""
    import numpy as np

    nearest = np.argsort(-(real @ real.T), axis=1)[:, 1 : NEIGHBOURS + 1]
    return Cloud(real, real[nearest])


def _unit(vectors: "Vectors") -> "Vectors":
    import numpy as np

    unit: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit
