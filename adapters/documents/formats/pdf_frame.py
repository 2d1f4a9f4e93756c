"""How a PDF's page is read: which part of it is shown, and which way its text stands."""

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pypdfium2

SAMPLED = 200
"""Characters of a page that are asked which way they stand."""


@dataclass(frozen=True, slots=True)
class PageFrame:
    """The part of a page that is shown, turned so that its text reads from left to right.

    Files hold coordinates as the page was before it was turned, by `/Rotate` for everybody, or by a reader who turns
    the sheet. Everything here speaks of the page as it is read, in points from its bottom left corner.

    Attributes:
        left, bottom, right, top: the shown part in the file's coordinates.
        turned: degrees clockwise: 0, 90, 180 or 270.
        exact: whether the text stands in that direction exactly, to the last digit of its matrices.
    """

    left: float
    bottom: float
    right: float
    top: float
    turned: int
    exact: bool = True

    @classmethod
    def of(cls, page: "pypdfium2.PdfPage", text: "pypdfium2.PdfTextPage") -> "PageFrame":
        """The frame of a page: its crop box as far as it lies on the page."""
        turned, exact = _direction(text)
        left, bottom, right, top = page.get_bbox()
        return cls(left, bottom, right, top, page.get_rotation() if turned is None else turned, exact)

    @property
    def height(self) -> float:
        """How high the page is as shown."""
        return self.right - self.left if self.turned in (90, 270) else self.top - self.bottom

    def shows(self, box: tuple[float, float, float, float]) -> bool:
        """Whether the middle of a box (left, right, bottom, top; the file's coordinates) can be seen."""
        x, y = (box[0] + box[1]) / 2, (box[2] + box[3]) / 2
        return self.left - 1 <= x <= self.right + 1 and self.bottom - 1 <= y <= self.top + 1

    def point(self, x: float, y: float) -> tuple[float, float]:
        """A point of the file as shown."""
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
        """A box (left, right, bottom, top) of the file as shown."""
        (x0, y0), (x1, y1) = self.point(box[0], box[2]), self.point(box[1], box[3])
        return min(x0, x1), max(x0, x1), min(y0, y1), max(y0, y1)


def turn_upright(page: "pypdfium2.PdfPage") -> PageFrame:
    """Turn the page, for this reading of it, so that its text is upright; its frame as it then is."""
    text = page.get_textpage()
    frame = PageFrame.of(page, text)
    text.close()
    if frame.turned != page.get_rotation():
        page.set_rotation(frame.turned)
    return frame


def _direction(text: "pypdfium2.PdfTextPage") -> tuple[int | None, bool]:
    """(degrees by which a page is to be turned clockwise for its text to be upright, whether that is exact)."""
    import pypdfium2.raw as pdfium

    count = pdfium.FPDFText_CountChars(text.raw)
    found: Counter[int] = Counter()
    exact = True
    matrix = pdfium.FS_MATRIX()
    for i in range(0, count, max(1, count // SAMPLED)):
        if pdfium.FPDFText_GetUnicode(text.raw, i) > 32 and pdfium.FPDFText_GetMatrix(text.raw, i, matrix):
            angle = math.degrees(math.atan2(matrix.b, matrix.a))  # against the clock, as text is set
            found[round(angle / 90) * 90 % 360] += 1
            exact = exact and 0 in (abs(matrix.a) + abs(matrix.d), abs(matrix.b) + abs(matrix.c))
    return (found.most_common(1)[0][0] if found else None), exact
