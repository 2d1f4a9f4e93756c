"""A PDF page apart from its text: displayed area and rotation, rules, check boxes, form values."""

import ctypes
import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pypdfium2

Box = tuple[float, float, float, float]
"""Left, right, bottom, top, in points."""

SAMPLED = 200
"""Characters of a page that are sampled for the text direction."""


@dataclass(frozen=True, slots=True)
class PageFrame:
    """The displayed part of a page, turned so that its text reads from left to right.

    Coordinates in a file are those before rotation, whether `/Rotate` turns the page or a reader turns the sheet.
    Results here are in points from the bottom left corner of the page as it is read.

    Attributes:
        left, bottom, right, top: the displayed part in the file's coordinates.
        turned: clockwise rotation in degrees: 0, 90, 180 or 270.
        exact: whether the text matrices have exactly that direction, without rounding errors.
    """

    left: float
    bottom: float
    right: float
    top: float
    turned: int
    exact: bool = True

    @classmethod
    def of(cls, page: "pypdfium2.PdfPage", text: "pypdfium2.PdfTextPage") -> "PageFrame":
        """Return the frame of a page: its crop box, limited to the page."""
        turned, exact = _direction(text)
        left, bottom, right, top = page.get_bbox()
        return cls(left, bottom, right, top, page.get_rotation() if turned is None else turned, exact)

    @property
    def height(self) -> float:
        """Height of the displayed page."""
        return self.right - self.left if self.turned in (90, 270) else self.top - self.bottom

    def shows(self, box: tuple[float, float, float, float]) -> bool:
        """Return whether the middle of a box (left, right, bottom, top; the file's coordinates) is visible."""
        x, y = (box[0] + box[1]) / 2, (box[2] + box[3]) / 2
        return self.left - 1 <= x <= self.right + 1 and self.bottom - 1 <= y <= self.top + 1

    def point(self, x: float, y: float) -> tuple[float, float]:
        """Convert a point from file to displayed coordinates."""
        match self.turned:
            case 90:
                return y - self.bottom, self.right - x
            case 180:
                return self.right - x, self.top - y
            case 270:
                return self.top - y, x - self.left
            case _:
                return x - self.left, y - self.bottom

    def box(self, box: tuple[float, float, float, float]) -> tuple[float, float, float, float]:
        """Convert a box (left, right, bottom, top) from file to displayed coordinates."""
        (x0, y0), (x1, y1) = self.point(box[0], box[2]), self.point(box[1], box[3])
        return min(x0, x1), max(x0, x1), min(y0, y1), max(y0, y1)


def turn_upright(page: "pypdfium2.PdfPage") -> PageFrame:
    """Rotate the open page so that its text is upright; return its new frame."""
    text = page.get_textpage()
    frame = PageFrame.of(page, text)
    text.close()
    if frame.turned != page.get_rotation():
        page.set_rotation(frame.turned)
    return frame


def _direction(text: "pypdfium2.PdfTextPage") -> tuple[int | None, bool]:
    """Return (clockwise degrees that make a page's text upright, or None; whether that is exact)."""
    import pypdfium2.raw as pdfium

    count = pdfium.FPDFText_CountChars(text.raw)
    found: Counter[int] = Counter()
    exact = True
    matrix = pdfium.FS_MATRIX()
    for i in range(0, count, max(1, count // SAMPLED)):
        if pdfium.FPDFText_GetUnicode(text.raw, i) > 32 and pdfium.FPDFText_GetMatrix(text.raw, i, matrix):
            angle = math.degrees(math.atan2(matrix.b, matrix.a))  # counterclockwise, like text matrices
            found[round(angle / 90) * 90 % 360] += 1
            exact = exact and 0 in (abs(matrix.a) + abs(matrix.d), abs(matrix.b) + abs(matrix.c))
    return (found.most_common(1)[0][0] if found else None), exact


MAX_OBJECTS = 20_000
MAX_TICK_BOXES = 400
_SIDES = (5.0, 18.0)
"""Minimum and maximum width of a check box, in points."""


@dataclass(frozen=True, slots=True)
class TickBox:
    """A check box: a square beside a word, ticked if something is drawn in it."""

    x: float
    y: float
    ticked: bool

    @property
    def mark(self) -> str:
        """The text form of the check box."""
        return "[x]" if self.ticked else "[ ]"

    def shown(self, frame: PageFrame) -> "TickBox":
        """Return the box in displayed coordinates."""
        return TickBox(*frame.point(self.x, self.y), self.ticked)


@dataclass(frozen=True, slots=True)
class Drawings:
    """The paths of a page, in the file's coordinates.

    Attributes:
        paths: number of paths.
        rules: horizontal and vertical lines, as boxes (left, right, bottom, top).
        ticks: check boxes.
    """

    paths: int
    rules: tuple[Box, ...] = ()
    ticks: tuple[TickBox, ...] = ()

    @property
    def may_hold_table(self) -> bool:
        """Whether the number of paths fits a ruled table: not too few, and not as many as in a drawing."""
        return 4 <= self.paths <= 2_000

    @classmethod
    def of(cls, page: "pypdfium2.PdfPage") -> "Drawings":
        """Read the paths of a page."""
        import pypdfium2.raw as pdfium

        if pdfium.FPDFPage_CountObjects(page.raw) > MAX_OBJECTS:
            return cls(0)
        paths = list(_paths(page.raw))
        rules = tuple(box for box, _ in paths if min(_sides(box)) < 3 and max(_sides(box)) > 20)
        return cls(len(paths), rules, _tick_boxes(paths))


def _sides(box: Box) -> tuple[float, float]:
    return box[1] - box[0], box[3] - box[2]


def _paths(page: Any) -> Iterator[tuple[Box, int]]:
    """Yield the box of each path and its number of segments."""
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
    """Return squares that do not touch. Touching squares are a field for letters, or a drawing."""
    squares: list[Box] = []
    marks: list[Box] = []
    for box, segments in _with_squares_of_lines(paths):
        width, height = _sides(box)
        if not (2 < width < _SIDES[1] + 2 and 2 < height < _SIDES[1] + 2):
            continue
        around = next((square for square in squares[-8:] if _is_in(box, square)), None)
        if around is not None:
            if segments < 4 or not _is_in(around, box):  # otherwise the same square, filled and then outlined
                marks.append(box)
        elif _SIDES[0] <= width <= _SIDES[1] and abs(width - height) < 2 and segments >= 4:
            squares.append(box)
    if not squares or len(squares) > MAX_TICK_BOXES or _touch(squares):
        return ()
    return tuple(
        TickBox((box[0] + box[1]) / 2, (box[2] + box[3]) / 2, any(_is_in(mark, box) for mark in marks))
        for box in squares
    )


def _with_squares_of_lines(paths: list[tuple[Box, int]]) -> list[tuple[Box, int]]:
    """Return the paths with each four consecutive lines around a square merged to that square."""
    joined: list[tuple[Box, int]] = []
    for path in paths:
        joined.append(path)
        sides = [box for box, _ in joined[-4:]]
        if len(sides) < 4 or any(min(_sides(box)) > 2 or not 4 < max(_sides(box)) < _SIDES[1] + 2 for box in sides):
            continue
        lefts, rights, bottoms, tops = zip(*sides, strict=True)
        around = (min(lefts), max(rights), min(bottoms), max(tops))
        width, height = _sides(around)
        across = [box for box in sides if _sides(box)[0] > width * 0.8]
        upright = [box for box in sides if _sides(box)[1] > height * 0.8]
        apart = [abs(across[0][2] - across[-1][2]), abs(upright[0][0] - upright[-1][0])] if across and upright else [0]
        if len(across) == len(upright) == 2 and min(apart) > min(_SIDES) - 2:
            joined[-4:] = [(around, 4)]
    return joined


def _touch(squares: list[Box]) -> bool:
    """Return whether any squares touch side by side."""
    ordered = sorted(squares, key=lambda box: (round(box[2]), box[0]))
    return any(abs(a[2] - b[2]) < 2 and b[0] - a[1] < 1.5 for a, b in pairwise(ordered))


def _is_in(inner: Box, outer: Box) -> bool:
    """Return whether a box is inside another one, with a tolerance of a line width."""
    return (
        outer[0] - 1.5 <= inner[0]
        and inner[1] <= outer[1] + 1.5
        and outer[2] - 1.5 <= inner[2]
        and inner[3] <= outer[3] + 1.5
    )


MAX_ANNOTATIONS = 5_000
MAX_BYTES = 64 * 1024
_INVISIBLE = 0x02 | 0x20  # Hidden, NoView: ISO 32000-1, table 165


@dataclass(frozen=True, slots=True)
class FilledValue:
    """A form value and its box (left, right, bottom, top) in the file's coordinates, in points."""

    text: str
    box: tuple[float, float, float, float]


def filled_values(document: "pypdfium2.PdfDocument", page: "pypdfium2.PdfPage") -> Iterator[FilledValue]:
    """Yield the filled fields of a page in file order; call `document.init_forms()` first."""
    import pypdfium2.raw as pdfium

    form = document.formenv.raw if document.formenv else None
    for i in range(min(pdfium.FPDFPage_GetAnnotCount(page.raw), MAX_ANNOTATIONS)):
        annotation = pdfium.FPDFPage_GetAnnot(page.raw, i)
        if not annotation:
            continue
        try:
            text = "" if pdfium.FPDFAnnot_GetFlags(annotation) & _INVISIBLE else _value(form, annotation)
            area = pdfium.FS_RECTF()
            if text and pdfium.FPDFAnnot_GetRect(annotation, area):
                yield FilledValue(text, (area.left, area.right, area.bottom, area.top))
        finally:
            pdfium.FPDFPage_CloseAnnot(annotation)


def _value(form: Any, annotation: Any) -> str:
    import pypdfium2.raw as pdfium

    subtype = pdfium.FPDFAnnot_GetSubtype(annotation)
    if subtype == pdfium.FPDF_ANNOT_FREETEXT:
        return _string(lambda buffer, size: pdfium.FPDFAnnot_GetStringValue(annotation, b"Contents", buffer, size))
    if subtype != pdfium.FPDF_ANNOT_WIDGET or form is None:
        return ""
    kind = pdfium.FPDFAnnot_GetFormFieldType(form, annotation)
    if kind in (pdfium.FPDF_FORMFIELD_CHECKBOX, pdfium.FPDF_FORMFIELD_RADIOBUTTON):
        return "[x]" if pdfium.FPDFAnnot_IsChecked(form, annotation) else "[ ]"
    if kind in (pdfium.FPDF_FORMFIELD_TEXTFIELD, pdfium.FPDF_FORMFIELD_COMBOBOX, pdfium.FPDF_FORMFIELD_LISTBOX):
        return _string(lambda buffer, size: pdfium.FPDFAnnot_GetFormFieldValue(form, annotation, buffer, size))
    return ""


def _string(read: Callable[[Any, int], int]) -> str:
    """Read a UTF-16 string from pdfium, after asking for its size in bytes."""
    import pypdfium2.raw as pdfium

    size = min(read(None, 0), MAX_BYTES)
    if size <= 2:
        return ""
    buffer = ctypes.create_string_buffer(size)
    read(ctypes.cast(buffer, ctypes.POINTER(pdfium.FPDF_WCHAR)), size)
    return " ".join(buffer.raw.decode("utf-16-le", "ignore").replace("\0", "").split())


PICTURE_SHARE = 0.02
"""Minimum share of the page that a scan covers; smaller images are logos and rules."""

MAX_OBJECT_DEPTH = 8


class PageContent(StrEnum):
    """What a page without text shows instead."""

    PICTURE = "picture"
    DRAWING = "drawing"
    DYNAMIC_FORM = "dynamic form"
    BLANK = "blank"
    DAMAGED = "damaged"


def content_of(document: "pypdfium2.PdfDocument", index: int) -> PageContent:
    """Return what the page of this index, from 0, shows instead of text."""
    import pypdfium2
    import pypdfium2.raw as pdfium

    try:
        page = document[index]
    except pypdfium2.PdfiumError:
        return PageContent.DAMAGED
    try:
        width, height = page.get_size()
        area = max(width * height, 1.0)
        kinds: dict[int, float] = {}
        for item in page.get_objects(max_depth=MAX_OBJECT_DEPTH):
            left, bottom, right, top = item.get_bounds()
            kinds[item.type] = kinds.get(item.type, 0.0) + max(0.0, right - left) * max(0.0, top - bottom)
            if len(kinds) > MAX_OBJECTS:
                break
    except pypdfium2.PdfiumError:
        return PageContent.DAMAGED
    finally:
        page.close()
    if kinds.get(pdfium.FPDF_PAGEOBJ_IMAGE, 0.0) >= area * PICTURE_SHARE:
        return PageContent.PICTURE
    if document.get_formtype() in (pdfium.FORMTYPE_XFA_FULL, pdfium.FORMTYPE_XFA_FOREGROUND):
        return PageContent.DYNAMIC_FORM
    drawn: tuple[Any, ...] = (pdfium.FPDF_PAGEOBJ_PATH, pdfium.FPDF_PAGEOBJ_SHADING, pdfium.FPDF_PAGEOBJ_IMAGE)
    return PageContent.DRAWING if any(kind in kinds for kind in drawn) else PageContent.BLANK
