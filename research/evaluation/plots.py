"""Plots as SVG that follow the page's colours: bars with intervals, curves over a threshold, and stages of time.

Colours are CSS variables of the page: ``--one``, ``--two``, ``--three`` for data, ``--ink``, ``--soft``, ``--line``.
"""

from collections.abc import Mapping, Sequence
from html import escape
from itertools import pairwise
from typing import Any

WIDTH = 720
_LABEL = 150
_VALUE = 150  # room for "0.835 [0.790, 0.880]"
_BAR = 30
_LEFT, _RIGHT, _TOP, _HEIGHT = 48, 16, 12, 190


def bars(rows: Sequence[tuple[str, Mapping[str, float]]], title: str) -> str:
    """Return a bar for each (name, interval in [0, 1]), its whisker, and the numbers beside it."""
    span = WIDTH - _LABEL - _VALUE - 10
    drawn = []
    for n, (name, got) in enumerate(rows):
        y, middle = n * _BAR + 4, n * _BAR + 4 + 11
        low, high = (_LABEL + span * min(1.0, max(0.0, got[end])) for end in ("low", "high"))
        drawn.append(
            f'<text x="0" y="{middle + 4}">{escape(name)}</text>'
            f'<rect x="{_LABEL}" y="{y}" width="{span}" height="22" rx="4" class="track"/>'
            f'<rect x="{_LABEL}" y="{y}" width="{max(0.0, span * got["mean"]):.1f}" height="22" rx="4" class="bar"/>'
            f'<path d="M{low:.1f} {middle}H{high:.1f}M{low:.1f} {middle - 5}v10M{high:.1f} {middle - 5}v10" '
            f'class="whisker"/><text x="{_LABEL + span + 10}" y="{middle + 4}">{got["mean"]:.3f}'
            f'<tspan class="soft" dx="6">{got["low"]:.3f}–{got["high"]:.3f}</tspan></text>'
        )
    return _svg("".join(drawn), len(rows) * _BAR + 4, title)


def curves(
    points: Sequence[Mapping[str, Any]],
    lines: Sequence[tuple[str, str, str]],
    ends: tuple[float, float],
    title: str,
    *,
    mark: tuple[float, str] | None = None,
) -> str:
    """Shares in [0, 1] against ``threshold``: each line is (key, what it is, colour variable).

    Points that are not known are left out. ``mark`` is a threshold with its name.
    """
    first, last = ends
    span = WIDTH - _LEFT - _RIGHT

    def at(threshold: float, value: float) -> str:
        return f"{_LEFT + (threshold - first) / (last - first) * span:.1f},{_TOP + (1 - value) * _HEIGHT:.1f}"

    grid = "".join(
        f'<path d="M{_LEFT} {_TOP + (1 - share) * _HEIGHT:.1f}h{span}" class="grid"/>'
        f'<text x="{_LEFT - 8}" y="{_TOP + (1 - share) * _HEIGHT + 4:.1f}" text-anchor="end" class="soft">'
        f"{share:.0%}</text>"
        for share in (0.0, 0.25, 0.5, 0.75, 1.0)
    )
    ticks = "".join(
        f'<text x="{_LEFT + part * span:.1f}" y="{_TOP + _HEIGHT + 20}" text-anchor="middle" class="soft">'
        f"{first + part * (last - first):g}</text>"
        for part in _ticks(first, last)
    )
    drawn = []
    if mark:
        x = _LEFT + (mark[0] - first) / (last - first) * span
        drawn.append(
            f'<path d="M{x:.1f} {_TOP}v{_HEIGHT}" class="mark"/>'
            f'<text x="{x + 5:.1f}" y="{_TOP + _HEIGHT / 2:.1f}" class="soft">{escape(mark[1])}</text>'
        )
    for key, _, colour in lines:
        known = [(point["threshold"], point[key]) for point in points if point[key] is not None]
        places = " ".join(at(*place) for place in known)
        drawn.append(f'<polyline points="{places}" fill="none" stroke="var({colour})" stroke-width="2.5"/>')
        drawn += [
            f'<circle cx="{x}" cy="{y}" r="3" fill="var({colour})"/>'
            for x, y in (at(*place).split(",") for place in known)
        ]
    legend = "".join(
        f'<span><i style="background:var({colour})"></i>{escape(told)}</span>'
        for key, told, colour in lines
        if any(point[key] is not None for point in points)
    )
    return f'<div class="legend">{legend}</div>' + _svg(grid + ticks + "".join(drawn), _TOP + _HEIGHT + 28, title)


def _ticks(first: float, last: float) -> Sequence[float]:
    """Whole numbers where the ends are whole numbers apart, else five parts."""
    whole = last - first
    steps = int(whole) if whole.is_integer() and whole > 1 else 5
    return [n / steps for n in range(steps + 1)]


def stages(named: Mapping[str, float], title: str) -> str:
    """Median milliseconds of each stage as parts of one bar, with their names and numbers below."""
    total = sum(named.values()) or 1.0
    edges = [0.0]
    for value in named.values():
        edges.append(edges[-1] + value / total * WIDTH)
    colours = ("--one", "--two", "--three", "--four", "--five", "--six")
    drawn = "".join(
        f'<rect x="{start:.1f}" y="0" width="{max(0.5, end - start):.1f}" height="26" fill="var({colours[n % 6]})"/>'
        for n, (start, end) in enumerate(pairwise(edges))
    )
    legend = "".join(
        f'<span><i style="background:var({colours[n % 6]})"></i>{escape(name)} {_milliseconds(value)}</span>'
        for n, (name, value) in enumerate(named.items())
    )
    return _svg(drawn, 26, title) + f'<div class="legend">{legend}</div>'


def _milliseconds(value: float) -> str:
    return f"{value:.1f} ms" if value < 100 else f"{value:.0f} ms"


def _svg(inside: str, height: float, title: str) -> str:
    drawn = f'<svg viewBox="0 0 {WIDTH} {height:g}" role="img" aria-label="{escape(title)}">{inside}</svg>'
    return f'<div class="wide">{drawn}</div>'
