"""Questions that mean the same, found by their vectors: agglomerative, with the number of groups given by a distance.

Average linkage on cosine distance (scipy). What all questions of a house have in common is taken off first, so that
one distance serves a house whose questions are all about software and one whose questions are about everything.
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

# Where groups end, and from how many questions on their mean says anything: research/measure/question_groups.py, taken
# from research/questions/gaps/calibration.tsv (V-measure .934 at .74 against .921 at best without taking the mean off).
DISTANCE = 0.74
DISTANCE_OF_FEW = 0.64
ENOUGH = 50
BATCH = 4_000  # grouped at once: 128 MB; the pairs of more do not fit where Footnote runs


def group_by_meaning(vectors: "Vectors", everything: "Vectors | None" = None) -> Sequence[int]:
    """Return the group of each of these, from 0: (n, dimension), of unit length, the newest first.

    ``everything`` that was asked in the same time says what all questions have in common; without it these do. Beyond
    a batch, older ones join the group whose middle is near enough, and what is left is grouped among itself.
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
    """Which of these is nearest to all of them."""
    return int((vectors @ vectors.mean(axis=0)).argmax())


def _nearest_group(points: "Vectors", before: "Vectors", groups: "Groups", limit: float) -> "Groups":
    """Return the group whose members are on average nearest, where that is within the limit; else -1."""
    import numpy as np

    middles = np.zeros((int(groups.max()) + 1, points.shape[1]), dtype=np.float32)
    np.add.at(middles, groups, before)
    middles /= np.bincount(groups)[:, None]
    near = points @ middles.T
    best = near.argmax(axis=1)
    chosen: Groups = np.where(near[np.arange(len(points)), best] >= 1 - limit, best, -1)
    return chosen


def _link(points: "Vectors", limit: float) -> "Groups":
    """Group by average linkage, from single members."""
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
