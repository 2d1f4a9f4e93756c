"""What people filled into a PDF: the values of its form's fields, ticked boxes, text typed onto the page."""

import ctypes
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pypdfium2

MAX_ANNOTATIONS = 5_000
MAX_BYTES = 64 * 1024
_INVISIBLE = 0x02 | 0x20  # Hidden, NoView: ISO 32000-1, table 165


@dataclass(frozen=True, slots=True)
class FilledValue:
    """A value and where it stands: (left, right, bottom, top) in the file's coordinates, points."""

    text: str
    box: tuple[float, float, float, float]


def filled_values(document: "pypdfium2.PdfDocument", page: "pypdfium2.PdfPage") -> Iterator[FilledValue]:
    """The filled fields of a page in the order of the file; `document.init_forms()` comes first."""
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
    """A string of pdfium: asked for its size in bytes first, UTF-16."""
    import pypdfium2.raw as pdfium

    size = min(read(None, 0), MAX_BYTES)
    if size <= 2:
        return ""
    buffer = ctypes.create_string_buffer(size)
    read(ctypes.cast(buffer, ctypes.POINTER(pdfium.FPDF_WCHAR)), size)
    return " ".join(buffer.raw.decode("utf-16-le", "ignore").replace("\0", "").split())
