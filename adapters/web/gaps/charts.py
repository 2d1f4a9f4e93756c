"""Counts by week as bars of an SVG: drawn by attributes, since no style but our sheet's is let in."""

from collections.abc import Sequence
from dataclasses import dataclass

TALL = 24  # of the drawing, in its own units


@dataclass(frozen=True, slots=True)
class Bar:
    """One week's count, against the most of any week."""

    count: int
    most: int

    @property
    def height(self) -> float:
        """How tall it is drawn: of an empty week the ground line, of any other one enough to be seen."""
        return max(3.0, TALL * self.count / self.most) if self.count and self.most else 1.0

    @property
    def top(self) -> float:
        """Where it begins, from above."""
        return TALL - self.height


def bars(counts: Sequence[int]) -> list[Bar]:
    """A bar for each week."""
    most = max(counts, default=0)
    return [Bar(count, most) for count in counts]
