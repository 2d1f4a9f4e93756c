"""Grouping of questions with the same meaning: agglomerative clustering of their vectors up to a distance.

It uses average linkage on cosine distance (scipy). The mean of an installation's questions is subtracted first, so one
distance fits an installation about software only and one about everything.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from core.ports.index import Vectors

    Groups: TypeAlias = npt.NDArray[np.int64]
else:
    Groups = object

# The distance at which groups end, and how many questions a mean needs: research/measure/question_groups.py, taken
# from research/questions/gaps/calibration.tsv (V-measure .934 at .74 against .921 at best without subtracting it).
DISTANCE = 0.74
DISTANCE_OF_FEW = 0.64
ENOUGH = 50
BATCH = 4_000  # grouped at once: 128 MB; more pairs do not fit into memory


def group_by_meaning(vectors: "Vectors", everything: "Vectors | None" = None) -> Sequence[int]:
    """Return the group of each vector, from 0. Vectors: (n, dimension), unit length, the newest first.

    ``everything`` are all questions of the same period, whose mean is subtracted; without it, that of ``vectors``.
    Beyond one batch, older questions join the nearest group within the limit, and the rest form groups of their own.
    """
    import numpy as np

    if not len(vectors):
        return []
    known = vectors if everything is None else everything
    limit = DISTANCE if len(known) >= ENOUGH else DISTANCE_OF_FEW
    points = _unit(vectors - known.mean(axis=0)) if len(known) >= ENOUGH else vectors
    groups = np.full(len(points), -1)
    for start in range(0, len(points), BATCH):
        part = np.arange(start, min(start + BATCH, len(points)))
        if start:
            groups[part] = _nearest_group(points[part], points[:start], groups[:start], limit)
        left = part[groups[part] < 0]
        groups[left] = _link(points[left], limit) + groups.max() + 1
    return [int(group) for group in groups]


def middle_of(vectors: "Vectors") -> int:
    """Return the index of the vector that is nearest to all others."""
    return int((vectors @ vectors.mean(axis=0)).argmax())


def _nearest_group(points: "Vectors", before: "Vectors", groups: "Groups", limit: float) -> "Groups":
    """Return for each point the group nearest on average, if within the limit; otherwise -1."""
    import numpy as np

    middles = np.zeros((int(groups.max()) + 1, points.shape[1]), dtype=np.float32)
    np.add.at(middles, groups, before)
    middles /= np.bincount(groups)[:, None]
    near = points @ middles.T
    best = near.argmax(axis=1)
    chosen: Groups = np.where(near[np.arange(len(points)), best] >= 1 - limit, best, -1)
    return chosen


def _link(points: "Vectors", limit: float) -> "Groups":
    """Cluster by average linkage, starting from single members."""
    import numpy as np
    from scipy.cluster.hierarchy import fcluster, linkage

    count = len(points)
    if count < 2:
        return np.zeros(count, dtype=np.int64)
    apart = np.maximum(0.0, 1.0 - points @ points.T)
    pairs = np.concatenate([apart[row, row + 1 :] for row in range(count - 1)]).astype(np.float64)
    found: Groups = fcluster(linkage(pairs, "average"), limit, "distance") - 1
    return found


def _unit(vectors: "Vectors") -> "Vectors":
    import numpy as np

    unit: Vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.float32(1e-9))
    return unit
