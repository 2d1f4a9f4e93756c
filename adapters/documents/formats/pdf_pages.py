"""What a PDF's page without text is: a picture, a drawing, a form that is drawn elsewhere, or blank."""

from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pypdfium2

PICTURE_SHARE = 0.02
"""Pictures that cover less of the page than this are logos and rules, not scans."""

MAX_OBJECTS = 20_000
MAX_DEPTH = 8


class PageContent(StrEnum):
    """What is on a page that has no text."""

    PICTURE = "picture"
    DRAWING = "drawing"
    DYNAMIC_FORM = "dynamic form"
    BLANK = "blank"
    DAMAGED = "damaged"


def content_of(document: "pypdfium2.PdfDocument", index: int) -> PageContent:
    """What the page of this index, from 0, shows instead of text."""
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
        for item in page.get_objects(max_depth=MAX_DEPTH):
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
