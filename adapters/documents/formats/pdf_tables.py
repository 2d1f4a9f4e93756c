"""Ruled tables of PDF pages, within a time limit: pdfplumber finds the cells, pdfium reads their text.

Rules may enclose every row, groups of rows, or the whole table, so a ruled row may contain several text rows.
"""

import re
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from io import BytesIO
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from adapters.documents.formats.pdf_lines import CellLine, PageText, Stretch, is_right_to_left
from adapters.documents.formats.pdf_page import Box, PageFrame, turn_upright
from adapters.documents.tables import table

if TYPE_CHECKING:
    import pypdfium2

_FIGURE = re.compile(r"[^\w]{0,3}\d[\d\s.,:/%'’-]*[^\w]{0,2}(?:[A-Za-z€$£%]{1,3})?")
ROOM = 6.0
"""Horizontal margins of a cell in points, which are not available for words."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell's box and the lines of text in it."""

    box: Box
    lines: list[CellLine]

    @property
    def text(self) -> str:
        """The text of all lines."""
        return "\n".join(line.text for line in self.lines)


Row = Sequence[Cell | None]


def rows_of(ruled: Sequence[Row]) -> list[list[str]]:
    """Return the texts of a table's rows; split a ruled row that contains several text rows."""
    extents = _extents(ruled)
    named = [_with_names_apart(row, extents) for row in ruled]
    if len(named) > 2 and 1 < sum(map(bool, named[0])) < sum(map(bool, named[1])):
        named[0] = _with_group_names(named[0], extents)
    return [texts for i, row in enumerate(named) for texts in _parted(row, first=i == 0 and len(ruled) > 2)]


def holds_rows_without_rules(ruled: Sequence[Row]) -> bool:
    """Return whether a cell contains several columns itself, so that the rules only frame something."""
    if max(map(len, ruled)) > 4:
        return False
    parted = [(sum(len(line.parts) > 1 for line in cell.lines), cell) for row in ruled for cell in row if cell]
    return any(count > 3 and count > len(cell.lines) * 0.5 for count, cell in parted)


def _extents(ruled: Sequence[Row]) -> list[tuple[float, float]]:
    """Return the horizontal extent of each column, from its narrowest cell."""
    found: list[tuple[float, float]] = []
    for i in range(max(map(len, ruled))):
        boxes = [row[i].box for row in ruled if i < len(row) and row[i]]  # type: ignore[union-attr]
        narrow = min(boxes, key=lambda box: box[1] - box[0], default=(0.0, 0.0, 0.0, 0.0))
        found.append((narrow[0], narrow[1]))
    return found


def _with_names_apart(row: Row, extents: Sequence[tuple[float, float]]) -> list[Cell | None]:
    """Split a cell above several columns into one cell per column, each part above its own column.

    Text that spans all of these columns is repeated for each.
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
    """Repeat the name of a column group in the first row above each column of the group."""
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
    """Yield the text rows of a ruled row. The `first` row is usually a header with names of several lines."""
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
    """Return the baselines of the text lines in a row, from the top."""
    found: list[float] = []
    for line in sorted((line for cell in row if cell for line in cell.lines), key=lambda line: -line.baseline):
        if not found or found[-1] - line.baseline > line.size * 0.45:
            found.append(line.baseline)
    return found


def _line_at(cell: Cell | None, height: float) -> CellLine | None:
    lines = cell.lines if cell else ()
    return next((line for line in lines if abs(line.baseline - height) <= line.size * 0.45), None)


def _is_edge(row: Row, above: float, below: float) -> bool:
    """Return whether a text row ends between two heights: most columns continue, and the break is not a wrap."""
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
    """Return whether the first word of a line would have fit on the line above, so the break is deliberate."""
    words = line.text.split()
    first = (line.right - line.left) * len(words[0]) / max(len(line.text), 1) if words else 0.0
    return cell.box[1] - cell.box[0] - (over.right - over.left) > first + ROOM + over.size * 0.3


def _is_figure(text: str) -> bool:
    return bool(_FIGURE.fullmatch(text.strip()))


def _holds_figures(row: Row, height: float) -> bool:
    return any(line is not None and _is_figure(line.text) for line in (_line_at(cell, height) for cell in row))


def _is_even(row: Row, count: int) -> bool:
    """Return whether nearly all columns have as many lines as the row has parts."""
    filled = [cell for cell in row if cell and cell.lines]
    return sum(len(cell.lines) >= count - 1 for cell in filled) >= len(filled) * 0.8


def _text_at(cell: Cell, heights: Sequence[float], *, spans: bool) -> str:
    """Return a cell's text at these heights, or all of it if the cell spans several rows."""
    if spans:
        return cell.text
    lines = (_line_at(cell, height) for height in heights)
    return "\n".join(line.text for line in lines if line is not None)


TABLE_SECONDS = 15.0
"""Time limit for finding tables in a file; later pages become plain text."""

MAX_COLUMNS = 12
OFF = 1e-6
"""Tolerance for rounding errors in a matrix, such as sin 180° = 1.2e-16."""


@dataclass(frozen=True, slots=True)
class RuledPage:
    """What rules make of a page: tables, and frames round texts, each a row of boxes side by side."""

    tables: tuple["FoundTable", ...] = ()
    frames: tuple[tuple[Box, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class FoundTable:
    """A table and its position on the page; coordinates as in `Line`."""

    rows: tuple[tuple[str, ...], ...]
    left: float
    right: float
    bottom: float
    top: float

    def holds(self, left: float, right: float, bottom: float, top: float) -> bool:
        """Return whether the middle of this box is inside the table."""
        x, y = (left + right) / 2, (bottom + top) / 2
        return self.left - 2 <= x <= self.right + 2 and self.bottom - 2 <= y <= self.top + 2

    @property
    def markdown(self) -> str:
        """The table as Markdown; full-width rows above and below it become text."""
        first, last = 0, len(self.rows)
        if max(map(len, self.rows)) > 2:
            while last - first > 2 and _is_caption(self.rows[first]):
                first += 1
            while last - first > 2 and _filled(self.rows[last - 1]) == 1 and len("".join(self.rows[last - 1])) > 20:
                last -= 1
        above = [" ".join("".join(row).split()) for row in self.rows[:first]]
        below = [" ".join("".join(row).split()) for row in self.rows[last:]]
        return "\n\n".join([*above, table(_with_one_header(self.rows[first:last])), *below])

    def continues(self, before: "FoundTable") -> bool:
        """Return whether this continues a table of the previous page: same width and number of columns."""
        same = abs(self.left - before.left) < 3 and abs(self.right - before.right) < 3
        return same and len(self.rows[0]) == len(before.rows[0])

    def with_header_of(self, before: "FoundTable") -> "FoundTable":
        """Return this table with the header of the table that it continues, unless it repeats the header."""
        header = next((row for row in before.rows if _filled(row) > 1), before.rows[0])
        return self if header in self.rows[:3] else replace(self, rows=(header, *self.rows))


def _is_caption(row: Sequence[str]) -> bool:
    """Return whether a row above the header is a caption: a single text, or a sentence split into cells."""
    return _filled(row) == 1 or (_filled(row) < len(row) * 0.4 and any(len(text.split()) > 8 for text in row))


def _filled(row: Sequence[str]) -> int:
    return sum(bool(text.strip()) for text in row)


def _with_one_header(rows: Sequence[Sequence[str]]) -> Sequence[Sequence[str]]:
    """Merge a two-line header, group names above column names, into one row."""
    if len(rows) < 3 or any(map(_has_digit, rows[0])) or any(map(_has_digit, rows[1][1:])):
        return rows
    if _filled(rows[1]) < 2 or (rows[0][0].strip() and rows[1][0].strip()) or not any(map(_has_digit, rows[2])):
        return rows
    return [[f"{upper} {lower}".strip() for upper, lower in zip(rows[0], rows[1], strict=True)], *rows[2:]]


def _has_digit(text: str) -> bool:
    return any(map(str.isdigit, text))


def ruled_tables(data: bytes, indexes: list[int]) -> dict[int, RuledPage]:
    """Return ruled tables and frames by page index until the time limit; none if pdfplumber fails."""
    import pdfplumber
    from pdfminer.pdfexceptions import PDFException
    from pdfplumber.utils.exceptions import PdfminerException

    deadline = time.monotonic() + TABLE_SECONDS
    found: dict[int, RuledPage] = {}
    with UprightPages.of(data, indexes) as upright:
        try:
            with pdfplumber.open(BytesIO(upright.data), pages=[i + 1 for i in indexes]) as document:
                for page in document.pages:
                    if time.monotonic() > deadline:
                        break
                    found[page.page_number - 1] = _ruled_page(page, upright)
                    page.close()
        except (PDFException, PdfminerException, ValueError, TypeError, KeyError, IndexError, AttributeError):
            return found  # the text is available without tables
    return found


def _ruled_page(page: Any, upright: "UprightPages") -> RuledPage:
    shapes = [
        shape for shape in page.find_tables() if len(shape.rows) > 1 and max(len(r.cells) for r in shape.rows) > 1
    ]
    tables: list[FoundTable] = []
    frames: list[tuple[Box, ...]] = []
    for shape, ruled in zip(shapes, upright.rows(page, shapes) if shapes else (), strict=True):
        if holds_rows_without_rules(ruled):
            frames += [tuple(cell.box for cell in row if cell and cell.lines) for row in ruled]
        elif (rows := _sound_rows(rows_of(ruled))) is not None:
            tables.append(FoundTable(rows, *_as_shown(page, shape.bbox)))
    return RuledPage(tuple(tables), tuple(frames))


def _sound_rows(rows: list[list[str]]) -> tuple[tuple[str, ...], ...] | None:
    """Return the rows in reading order (right-to-left scripts reversed), or None if they are not a table."""
    filled = sum(map(_filled, rows))
    chars = sum(len(text) for row in rows for text in row)
    if len(rows) < 2 or filled < 4 or filled < sum(map(len, rows)) * 0.3:
        return None
    if max(map(len, rows)) > MAX_COLUMNS and chars < filled * 3:  # letters in boxes: a drawing
        return None
    turned = is_right_to_left(" ".join(text for row in rows for text in row))
    return tuple(tuple(row[::-1] if turned else row) for row in rows)


def _as_shown(page: Any, box: tuple[float, float, float, float]) -> Box:
    """Convert (left, top, right, bottom) of pdfplumber to (left, right, bottom, top) of the displayed page."""
    left, top, right, bottom = box
    x, _, _, low = map(float, page.cropbox)
    return left - x, right - x, low - bottom, low - top


@dataclass(frozen=True, slots=True)
class UprightPages:
    """The document with pages turned upright if their text direction differs from `/Rotate` or is not exact."""

    data: bytes
    document: "pypdfium2.PdfDocument"
    frames: dict[int, PageFrame]

    @classmethod
    @contextmanager
    def of(cls, data: bytes, indexes: Iterable[int]) -> "Iterator[UprightPages]":
        """Open the document; rewrite it only if a page must be turned."""
        import pypdfium2

        frames: dict[int, PageFrame] = {}
        changed = False
        with pypdfium2.PdfDocument(data) as document:
            for index in indexes:
                page = document[index]
                stated = page.get_rotation()
                frames[index] = turn_upright(page)
                if not frames[index].exact or frames[index].turned != stated:
                    changed = True
                    _straighten(page)
                page.close()
            if changed:
                out = BytesIO()
                document.save(out)
                data = out.getvalue()
            yield cls(data, document, frames)

    def rows(self, page: Any, shapes: Sequence[Any]) -> list[list[list[Cell | None]]]:
        """Return the rows of each table of a page, with cell text from pdfium."""
        index = page.page_number - 1
        shown = self.document[index]
        text = shown.get_textpage()
        try:
            boxes = [_as_shown(page, box) for shape in shapes for row in shape.rows for box in row.cells if box]
            lines = iter(PageText(text.raw, self.frames[index]).cell_lines(boxes))
            places = iter(boxes)
            return [
                [[Cell(next(places), next(lines)) if box else None for box in row.cells] for row in shape.rows]
                for shape in shapes
            ]
        finally:
            text.close()
            shown.close()


def _straighten(page: "pypdfium2.PdfPage") -> None:
    """Remove rounding errors from matrices, because pdfplumber recognizes only exactly straight rules."""
    import pypdfium2.raw as pdfium

    matrix = pdfium.FS_MATRIX()
    for item in page.get_objects(max_depth=1):
        if not pdfium.FPDFPageObj_GetMatrix(item.raw, matrix):
            continue
        for name in "abcd":
            if 0 < abs(getattr(matrix, name)) < OFF:
                setattr(matrix, name, 0.0)
        pdfium.FPDFPageObj_SetMatrix(item.raw, matrix)
    page.gen_content()
