"""Questions by week as an SVG column chart with axes: drawn by attributes, because the page allows no inline styles."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from core.service.gaps.report import Week

WIDTH, HEIGHT = 440, 190  # of the drawing, in its own units
LEFT, BOTTOM, TOP = 34, 26, 10  # room for the labels of the axes
KINDS = (
    ("answered", "Answered"),
    ("abstained", "Not in the documents"),
    ("unanswered", "Left open"),
    ("failed", "Failed"),
)
_STEPS = (1, 2, 5)


@dataclass(frozen=True, slots=True)
class Bar:
    """One kind of outcome of one week, as a rectangle."""

    kind: str
    name: str
    count: int
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Label:
    """A label of an axis, and where its tick is."""

    text: str
    at: float


@dataclass(frozen=True, slots=True)
class WeekChart:
    """What the template draws: stacked columns, lines across with their counts, and the weeks below."""

    parts: tuple[Bar, ...]
    counts: tuple[Label, ...]
    weeks: tuple[Label, ...]
    summary: str


def week_chart(weeks: Sequence[Week]) -> WeekChart:
    """Draw these weeks, from the first in which anybody asked."""
    weeks = weeks[next((n for n, week in enumerate(weeks) if week.asked), 0) :]
    ticks = count_ticks(max((sum(_counts(week)) for week in weeks), default=0))
    slot = (WIDTH - LEFT) / max(len(weeks), 4)  # a single week is no wall
    tall = (HEIGHT - TOP - BOTTOM) / ticks[-1]
    parts = []
    for n, week in enumerate(weeks):
        counts = _counts(week)
        for (kind, name), count, top in zip(KINDS, counts, accumulate(counts), strict=True):
            if count:
                x, y = LEFT + slot * (n + 0.2), HEIGHT - BOTTOM - top * tall
                parts.append(Bar(kind, name.lower(), count, x, y, slot * 0.6, count * tall))
    every = -(-len(weeks) // 6)  # as many labels as fit side by side
    below = tuple(
        Label(f"{week.start:%d %b}", LEFT + slot * (n + 0.5)) for n, week in enumerate(weeks) if n % every == 0
    )
    counts_beside = tuple(Label(str(tick), HEIGHT - BOTTOM - tick * tall) for tick in ticks)
    said = "; ".join(f"week of {week.start}: {week.asked} asked, {week.answered} answered" for week in weeks)
    return WeekChart(tuple(parts), counts_beside, below, said)


def count_ticks(most: int) -> list[int]:
    """Round numbers from 0 to at least ``most``, in at most five steps."""
    size = 1
    while True:
        for step in (size * one for one in _STEPS):
            if step * 5 >= most:
                return list(range(0, max(most + step - 1, step) // step * step + 1, step))
        size *= 10


def _counts(week: Week) -> tuple[int, ...]:
    return tuple(getattr(week, kind) for kind, _ in KINDS)
