"""What is drawn on a PDF's page beside its text: rules, and boxes to be ticked."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from adapters.documents.formats.pdf_frame import PageFrame

if TYPE_CHECKING:
    import pypdfium2

Box = tuple[float, float, float, float]

MAX_OBJECTS = 20_000
MAX_TICK_BOXES = 400
_SIDES = (5.0, 18.0)
"""How wide a box to be ticked may be, in points."""


@dataclass(frozen=True, slots=True)
class TickBox:
    """A square drawn beside a word, and whether something is drawn in it."""

    x: float
    y: float
    ticked: bool

    @property
    def mark(self) -> str:
        """As forms write it in text."""
        return "[x]" if self.ticked else "[ ]"

    def shown(self, frame: PageFrame) -> "TickBox":
        """The box on the page as shown."""
        return TickBox(*frame.point(self.x, self.y), self.ticked)


@dataclass(frozen=True, slots=True)
class Drawings:
    """The paths of a page, in the file's coordinates.

    Attributes:
        paths: how many there are.
        rules: the horizontal and vertical lines among them, as boxes (left, right, bottom, top).
        ticks: boxes to be ticked.
    """

    paths: int
    rules: tuple[Box, ...] = ()
    ticks: tuple[TickBox, ...] = ()

    @property
    def may_hold_table(self) -> bool:
        """Whether there are enough lines or boxes for a ruled table, and not so many that it is a drawing."""
        return 4 <= self.paths <= 2_000

    @classmethod
    def of(cls, page: "pypdfium2.PdfPage") -> "Drawings":
        """Read them from a page."""
        import pypdfium2.raw as pdfium

        if pdfium.FPDFPage_CountObjects(page.raw) > MAX_OBJECTS:
            return cls(0)
        paths = list(_paths(page.raw))
        rules = tuple(box for box, _ in paths if min(_sides(box)) < 3 and max(_sides(box)) > 20)
        return cls(len(paths), rules, _tick_boxes(paths))


def _sides(box: Box) -> tuple[float, float]:
    return box[1] - box[0], box[3] - box[2]


def _paths(page: Any) -> Iterator[tuple[Box, int]]:
    """The box of each path, and how many segments it has."""
    from ctypes import c_float

    import pypdfium2.raw as pdfium

    left, bottom, right, top = c_float(), c_float(), c_float(), c_float()
    for i in range(pdfium.FPDFPage_CountObjects(page)):
        item = pdfium.FPDFPage_GetObject(page, i)
        if pdfium.FPDFPageObj_GetType(item) != pdfium.FPDF_PAGEOBJ_PATH:
            continue
        if pdfium.FPDFPageObj_GetBounds(item, left, bottom, right, top):
            segments = pdfium.FPDFPath_CountSegments(item)
            yield (left.value, right.value, bottom.value, top.value), segments


def _tick_boxes(paths: list[tuple[Box, int]]) -> tuple[TickBox, ...]:
    """Squares apart from each other. Squares in a row without a gap are a field for letters, or a drawing."""
    squares: list[Box] = []
    marks: list[Box] = []
    for box, segments in paths:
        width, height = _sides(box)
        if not (2 < width < _SIDES[1] + 2 and 2 < height < _SIDES[1] + 2):
            continue
        around = next((square for square in squares[-8:] if _is_in(box, square)), None)
        if around is not None:
            if segments < 4 or not _is_in(around, box):  # else the same square, filled and then outlined
                marks.append(box)
        elif _SIDES[0] <= width <= _SIDES[1] and abs(width - height) < 2 and segments >= 4:
            squares.append(box)
    if not squares or len(squares) > MAX_TICK_BOXES or _touch(squares):
        return ()
    return tuple(
        TickBox((box[0] + box[1]) / 2, (box[2] + box[3]) / 2, any(_is_in(mark, box) for mark in marks))
        for box in squares
    )


def _touch(squares: list[Box]) -> bool:
    """Whether squares stand side by side without a gap."""
    ordered = sorted(squares, key=lambda box: (round(box[2]), box[0]))
    return any(abs(a[2] - b[2]) < 2 and b[0] - a[1] < 1.5 for a, b in pairwise(ordered))


def _is_in(inner: Box, outer: Box) -> bool:
    """Whether a box lies within another one, a pen's breadth off."""
    return (
        outer[0] - 1.5 <= inner[0]
        and inner[1] <= outer[1] + 1.5
        and outer[2] - 1.5 <= inner[2]
        and inner[3] <= outer[3] + 1.5
    )
