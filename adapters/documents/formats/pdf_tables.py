"""The ruled tables of a PDF's pages, within a time limit."""

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Any

from adapters.documents.formats.pdf_characters import characters
from adapters.documents.formats.pdf_frame import PageFrame, turn_upright
from adapters.documents.tables import table

if TYPE_CHECKING:
    import pypdfium2

TABLE_SECONDS = 15.0
"""How long the search for tables may take over the whole file; pages after that are plain text."""

MAX_COLUMNS = 12
OFF = 1e-6
"""What a matrix may be off by the rounding of whoever wrote it: sin 180 degrees is 1.2e-16."""


def has_rules(document: "pypdfium2.PdfDocument", index: int) -> bool:
    """Whether a page draws enough lines or boxes for a ruled table, and not so many that it is a drawing."""
    import pypdfium2.raw as pdfium

    page = document[index]
    try:
        objects = pdfium.FPDFPage_CountObjects(page.raw)
        if objects > 20_000:
            return False
        paths = sum(
            pdfium.FPDFPageObj_GetType(pdfium.FPDFPage_GetObject(page.raw, i)) == pdfium.FPDF_PAGEOBJ_PATH
            for i in range(objects)
        )
    finally:
        page.close()
    return bool(4 <= paths <= 2_000)


@dataclass(frozen=True, slots=True)
class RuledTable:
    """A ruled table and where it stands on the page; coordinates as in `Line`."""

    markdown: str
    left: float
    right: float
    bottom: float
    top: float

    def holds(self, left: float, right: float, bottom: float, top: float) -> bool:
        """Whether the middle of this is inside the table."""
        x, y = (left + right) / 2, (bottom + top) / 2
        return self.left - 2 <= x <= self.right + 2 and self.bottom - 2 <= y <= self.top + 2


def ruled_tables(data: bytes, indexes: list[int]) -> dict[int, list[RuledTable]]:
    """Ruled tables by page index, as many pages as the time allows. A page pdfplumber cannot read has none."""
    import pdfplumber
    from pdfminer.pdfexceptions import PDFException
    from pdfplumber.utils.exceptions import PdfminerException

    deadline = time.monotonic() + TABLE_SECONDS
    found: dict[int, list[RuledTable]] = {}
    with TurnedPages.of(data, indexes) as turned:
        try:
            with pdfplumber.open(BytesIO(turned.data), pages=[i + 1 for i in indexes]) as document:
                for page in document.pages:
                    if time.monotonic() > deadline:
                        break
                    found[page.page_number - 1] = list(_page_tables(page, turned))
                    page.close()
        except (PDFException, PdfminerException, ValueError, TypeError, KeyError, IndexError, AttributeError):
            return found  # the text has been read without it
    return found


def _page_tables(page: Any, turned: "TurnedPages") -> Iterator[RuledTable]:
    for shape in page.find_tables():
        rows = turned.cells(page, shape) or [[text or "" for text in row] for row in shape.extract()]
        filled = sum(bool(text.strip()) for row in rows for text in row)
        cells = sum(map(len, rows))
        chars = sum(len(text) for row in rows for text in row)
        if len(rows) < 2 or max(map(len, rows)) < 2 or filled < 4 or filled < cells * 0.3:
            continue
        if max(map(len, rows)) > MAX_COLUMNS and chars < filled * 3:  # letters in boxes: a drawing
            continue
        left, right, bottom, top = _as_shown(page, shape.bbox)
        yield RuledTable(table(rows), left, right, bottom, top)


def _as_shown(page: Any, box: tuple[float, float, float, float]) -> tuple[float, float, float, float]:
    """Pdfplumber's (left, top, right, bottom), counted downwards, as (left, right, bottom, top) of the shown page."""
    left, top, right, bottom = box
    x, _, _, low = map(float, page.cropbox)
    return left - x, right - x, low - bottom, low - top


@dataclass(frozen=True, slots=True)
class TurnedPages:
    """The document with those pages set upright whose text does not stand as their `/Rotate` says, or not exactly.

    Of these pages pdfplumber finds the rules, and pdfium what stands between them: pdfplumber drops or spells backwards
    what a matrix sets a hair's breadth off.
    """

    data: bytes
    document: "pypdfium2.PdfDocument"
    frames: dict[int, PageFrame]

    @classmethod
    @contextmanager
    def of(cls, data: bytes, indexes: Iterable[int]) -> "Iterator[TurnedPages]":
        """Open the document; it is written anew only where a page is to be turned."""
        import pypdfium2

        frames: dict[int, PageFrame] = {}
        with pypdfium2.PdfDocument(data) as document:
            for index in indexes:
                page = document[index]
                stated = page.get_rotation()
                frame = turn_upright(page)
                if not frame.exact or frame.turned != stated:
                    frames[index] = frame
                    _straighten(page)
                page.close()
            if frames:
                out = BytesIO()
                document.save(out)
                data = out.getvalue()
            yield cls(data, document, frames)

    def cells(self, page: Any, shape: Any) -> list[list[str]]:
        """The texts of a table's cells on such a page; empty on any other."""
        frame = self.frames.get(page.page_number - 1)
        if frame is None:
            return []
        shown = self.document[page.page_number - 1]
        text = shown.get_textpage()
        try:
            return [[_cell(text, frame, page, box) if box else "" for box in row.cells] for row in shape.rows]
        finally:
            text.close()
            shown.close()


def _straighten(page: "pypdfium2.PdfPage") -> None:
    """Set what stands a hair's breadth off upright exactly so: pdfplumber knows straight rules alone."""
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


def _cell(text: "pypdfium2.PdfTextPage", frame: PageFrame, page: Any, box: tuple[float, float, float, float]) -> str:
    left, right, bottom, top = frame.in_file(_as_shown(page, box))
    lines = text.get_text_bounded(left=left, bottom=bottom, right=right, top=top).splitlines()
    return "\n".join(characters(list(map(ord, line))) for line in lines)
