"""The rows of a ruled table where rules go round groups of rows only, or round the whole table."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from adapters.documents.formats.pdf_lines import Box, CellLine, Stretch

_FIGURE = re.compile(r"[^\w]{0,3}\d[\d\s.,:/%'’-]*[^\w]{0,2}(?:[A-Za-z€$£%]{1,3})?")
ROOM = 6.0
"""Points of a cell's width that are no room for words: its margins."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell's box and the lines of text in it."""

    box: Box
    lines: list[CellLine]

    @property
    def text(self) -> str:
        """All of it."""
        return "\n".join(line.text for line in self.lines)


Row = Sequence[Cell | None]


def rows_of(ruled: Sequence[Row]) -> list[list[str]]:
    """The texts of a table's rows; a ruled row that holds several rows of text becomes as many."""
    extents = _extents(ruled)
    named = [_with_names_apart(row, extents) for row in ruled]
    if len(named) > 2 and 1 < sum(map(bool, named[0])) < sum(map(bool, named[1])):
        named[0] = _with_group_names(named[0], extents)
    return [texts for i, row in enumerate(named) for texts in _parted(row, first=i == 0 and len(ruled) > 2)]


def holds_rows_without_rules(ruled: Sequence[Row]) -> bool:
    """Whether a cell holds several columns of its own, row by row: the rules are a frame round something."""
    if max(map(len, ruled)) > 4:
        return False
    parted = [(sum(len(line.parts) > 1 for line in cell.lines), cell) for row in ruled for cell in row if cell]
    return any(count > 3 and count > len(cell.lines) * 0.5 for count, cell in parted)


def _extents(ruled: Sequence[Row]) -> list[tuple[float, float]]:
    """From where to where each column goes, by its narrowest cell."""
    found: list[tuple[float, float]] = []
    for i in range(max(map(len, ruled))):
        boxes = [row[i].box for row in ruled if i < len(row) and row[i]]  # type: ignore[union-attr]
        narrow = min(boxes, key=lambda box: box[1] - box[0], default=(0.0, 0.0, 0.0, 0.0))
        found.append((narrow[0], narrow[1]))
    return found


def _with_names_apart(row: Row, extents: Sequence[tuple[float, float]]) -> list[Cell | None]:
    """The row with the names of several columns, written into one cell above them, each above its own.

    What is written once above all of them is said with each of their names.
    """
    cells = list(row)
    for i, cell in enumerate(row):
        if cell is None or not any(len(line.parts) > 1 for line in cell.lines):
            continue
        below = [k for k in range(i, len(extents)) if cell.box[0] - 1 <= _middle(extents[k]) <= cell.box[1] + 1]
        if len(below) < 2 or any(cells[k] is not None for k in below if k != i):
            continue
        lines: dict[int, list[CellLine]] = {k: [] for k in below}
        for line in cell.lines:
            nearest = [_nearest(part, below, extents) for part in line.parts]
            if len(set(nearest)) < len(nearest):
                break
            for part, near in zip(line.parts, nearest, strict=True):
                alone = replace(line, text=part.text, left=part.left, right=part.right, parts=(part,))
                for k in below if len(nearest) == 1 else [near]:
                    lines[k].append(alone)
        else:
            for k in below:
                cells[k] = Cell((*extents[k], *cell.box[2:]), lines[k])
    return cells


def _with_group_names(row: Row, extents: Sequence[tuple[float, float]]) -> list[Cell | None]:
    """The first row with the name of a group of columns above each of them."""
    cells = list(row)
    for i, cell in enumerate(row):
        for k in range(i + 1, len(extents)):
            if cell is None or cells[k] is not None or not cell.box[0] <= _middle(extents[k]) <= cell.box[1]:
                break
            cells[k] = cell
    return cells


def _nearest(part: Stretch, columns: Sequence[int], extents: Sequence[tuple[float, float]]) -> int:
    return min(columns, key=lambda k: abs(_middle(extents[k]) - (part.left + part.right) / 2))


def _middle(extent: tuple[float, float]) -> float:
    return (extent[0] + extent[1]) / 2


def _parted(row: Row, *, first: bool) -> Iterator[list[str]]:
    """The rows of text within a ruled row. The `first` row is a header as a rule, with names of several lines."""
    heights = _heights(row)
    edges = [0, *(i for i in range(1, len(heights)) if _is_edge(row, heights[i - 1], heights[i])), len(heights)]
    parts = [heights[start:end] for start, end in pairwise(edges)]
    figures = any(_holds_figures(row, below) for below in heights[1:])
    if len(parts) < 2 or (not figures and (first or len(parts) < 3 or not _is_even(row, len(parts)))):
        yield [cell.text if cell else "" for cell in row]
        return
    key = next(i for i, cell in enumerate(row) if cell and len(cell.lines) > 1)
    for part in parts:
        yield [_text_at(cell, part, spans=i < key) if cell else "" for i, cell in enumerate(row)]


def _heights(row: Row) -> list[float]:
    """The heights of the lines of text in a row, from the top."""
    found: list[float] = []
    for line in sorted((line for cell in row if cell for line in cell.lines), key=lambda line: -line.baseline):
        if not found or found[-1] - line.baseline > line.size * 0.45:
            found.append(line.baseline)
    return found


def _line_at(cell: Cell | None, height: float) -> CellLine | None:
    lines = cell.lines if cell else ()
    return next((line for line in lines if abs(line.baseline - height) <= line.size * 0.45), None)


def _is_edge(row: Row, above: float, below: float) -> bool:
    """Whether a row ends between two heights: most columns go on, the key's too, and not because a line was full."""
    several = [cell for cell in row if cell and len(cell.lines) > 1]
    pairs = [(cell, _line_at(cell, above), _line_at(cell, below)) for cell in several]
    under = [(cell, over, line) for cell, over, line in pairs if line is not None]
    filled = sum(bool(cell and cell.lines) for cell in row)
    if not under or under[0][0] is not several[0] or len(under) < max(2, filled * 0.5):
        return False
    if under[0][2].text[:1].islower():
        return False
    return any(
        over is not None and (_has_room(cell, over, line) or (_is_figure(over.text) and _is_figure(line.text)))
        for cell, over, line in under
    )


def _has_room(cell: Cell, over: CellLine, line: CellLine) -> bool:
    """Whether the first word of a line would have found room on the line above, had it been one text."""
    words = line.text.split()
    first = (line.right - line.left) * len(words[0]) / max(len(line.text), 1) if words else 0.0
    return cell.box[1] - cell.box[0] - (over.right - over.left) > first + ROOM + over.size * 0.3


def _is_figure(text: str) -> bool:
    return bool(_FIGURE.fullmatch(text.strip()))


def _holds_figures(row: Row, height: float) -> bool:
    return any(line is not None and _is_figure(line.text) for line in (_line_at(cell, height) for cell in row))


def _is_even(row: Row, count: int) -> bool:
    """Whether nearly all columns have as many lines as the row has parts."""
    filled = [cell for cell in row if cell and cell.lines]
    return sum(len(cell.lines) >= count - 1 for cell in filled) >= len(filled) * 0.8


def _text_at(cell: Cell, heights: Sequence[float], *, spans: bool) -> str:
    """What a cell holds at these heights. One line before the key of several rows is each row's: a group's name."""
    if spans:
        return cell.text
    lines = (_line_at(cell, height) for height in heights)
    return "\n".join(line.text for line in lines if line is not None)
