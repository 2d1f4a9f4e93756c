"""One figure of a benchmark beside its baseline, and the arithmetic that every figure shares."""

from collections.abc import Sequence
from dataclasses import dataclass

JUDGED = 100_000  # passages; most targets are for this many


@dataclass(frozen=True, slots=True)
class ReportRow:
    """One figure, its baseline, and whether the target is reached: None where there is none at this size."""

    what: str
    value: str
    against: str
    target: str
    met: bool | None


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value below which this share lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
