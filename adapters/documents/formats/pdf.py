"""PDF: text page by page, headings by outline or type size, tables with rules.

pdfium reads the text, fast enough for a handbook of a thousand pages. pdfplumber extracts the tables of pages with
ruling lines, within a time limit. Pages that are images are listed for OCR.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from adapters.documents.format import Format
from adapters.documents.formats.pdf_layout import lay_out
from adapters.documents.formats.pdf_lines import Line, read_lines
from adapters.documents.formats.pdf_markdown import heading_key, largest_text, page_blocks
from adapters.documents.formats.pdf_page import Box, Drawings, PageContent, content_of, filled_values
from adapters.documents.formats.pdf_tables import RuledPage, ruled_tables
from adapters.documents.titles import choose_title, iso_date
from core.model.document_content import ParsedDocument, PicturePage
from core.model.errors import DocumentRejected, NoText

if TYPE_CHECKING:
    import pypdfium2

MAX_PAGES = 5_000


def read(name: str, data: bytes) -> ParsedDocument:
    """Return the pages with text; the notes name pages without text, and images are listed for OCR."""
    document = _open(data)
    try:
        if document.get_formtype():
            document.init_forms()
        count = len(document)
        read_pages = [_read_page(document, i) for i in range(min(count, MAX_PAGES))]
        pages = [page.lines for page in read_pages]
        facts = document.get_metadata_dict()
        outline = _outline(document)
        drawn = [i for i, page in enumerate(read_pages) if page.lines and page.drawings.may_hold_table]
        empty = {i: content_of(document, i) for i in range(len(pages)) if not pages[i]}
    finally:
        document.close()
    pictures = tuple(PicturePage(i + 1) for i, content in empty.items() if content is PageContent.PICTURE)
    if not any(pages) and not pictures:
        raise _without_text(empty, ended=_has_end(data))
    if not any(pages):
        return ParsedDocument(choose_title(name, facts.get("Title")), (), "application/pdf", picture_pages=pictures)
    ruled = ruled_tables(data, drawn) if drawn else {}
    laid_out = [lay_out(page.lines, ruled.get(i, RuledPage()), page.rules) for i, page in enumerate(read_pages)]
    pages = [lines for lines, _ in laid_out]
    blocks = tuple(page_blocks(pages, outline, [found for _, found in laid_out]))
    notes = list(_notes(empty, count))
    if not _has_end(data):
        notes.append("the end of this file is missing; what is left of it was read")
    return ParsedDocument(
        title=choose_title(name, facts.get("Title"), largest_text(pages), markdown=[b.text for b in blocks]),
        blocks=blocks,
        media_type="application/pdf",
        modified=iso_date(facts.get("ModDate") or facts.get("CreationDate")),
        notes=tuple(notes),
        picture_pages=pictures,
    )


def _open(data: bytes) -> "pypdfium2.PdfDocument":
    import pypdfium2

    try:
        return pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if "password" in str(error).lower():
            raise DocumentRejected(
                "This PDF is protected by a password.", remedy="Save a copy without the password and add that."
            ) from error
        if not _has_end(data):
            raise _cut_off() from error
        raise DocumentRejected("This PDF is damaged and cannot be opened.", remedy="Export it again.") from error


def _has_end(data: bytes) -> bool:
    """Return whether the file's end is present; some programs append other bytes."""
    return b"startxref" in data or b"%%EOF" in data


def _cut_off() -> DocumentRejected:
    return DocumentRejected("This PDF is incomplete: its end is missing.", remedy="Fetch or export it again.")


_REASONS = {
    PageContent.DYNAMIC_FORM: (
        "This PDF is a form that only Adobe Reader draws (XFA).",
        "Print it to a PDF and add that.",
    ),
    PageContent.DRAWING: (
        "There is no text in this PDF. Its letters may be drawn as shapes.",
        "Export it again with its text, or run text recognition (OCR) on it.",
    ),
    PageContent.DAMAGED: ("This PDF is damaged: none of its pages can be opened.", "Export it again."),
}
"""Reasons for missing text, most specific first, with a remedy."""


def _without_text(empty: dict[int, PageContent], *, ended: bool) -> DocumentRejected:
    """Return the error that explains why a PDF has no text."""
    if not ended:
        return _cut_off()
    if set(empty.values()) == {PageContent.BLANK}:
        return NoText("There is no text in this PDF. Its pages are blank.")
    reason, remedy = next(said for kind, said in _REASONS.items() if kind in empty.values())
    return DocumentRejected(reason, remedy=remedy)


@dataclass(frozen=True, slots=True)
class ReadPage:
    """Content of a page: its lines, its drawings, and the rules in displayed coordinates."""

    lines: list[Line]
    drawings: Drawings
    rules: tuple[Box, ...] = ()


def _read_page(document: "pypdfium2.PdfDocument", index: int) -> ReadPage:
    """Return one page in file order, which follows columns; without lines if it is unreadable."""
    import pypdfium2

    try:
        page = document[index]
        drawings = Drawings.of(page)
        lines, frame = read_lines(page, drawings.ticks)
        for value in filled_values(document, page):
            _insert(lines, value.text, frame.box(value.box))
        page.close()
    except pypdfium2.PdfiumError:
        return ReadPage([], Drawings(0))
    return ReadPage(lines, drawings, tuple(map(frame.box, drawings.rules)))


def _insert(lines: list[Line], text: str, box: Box) -> None:
    """Insert a form value after its label on the same line, or above the lines below it."""
    left, right, bottom, top = box
    row = [i for i, line in enumerate(lines) if line.left < left and bottom - 3 < line.baseline < top]
    if row:
        label = max(row, key=lambda i: lines[i].right)
        shape = lines[label]
        place, baseline = label + 1, shape.baseline
    else:
        shape = lines[0] if lines else Line("", 10.0, left, right, bottom, top, bottom)
        place, baseline = next((i for i, line in enumerate(lines) if line.top < bottom), len(lines)), bottom + 2
    value = replace(shape, text=text, bold=False, left=left, right=right, baseline=baseline, at_edge=False)
    lines.insert(place, replace(value, bottom=bottom, top=top, parts=()))


def _outline(document: "pypdfium2.PdfDocument") -> dict[str, int]:
    """Return the bookmarks: heading text reduced to letters, with its level from 1."""
    found: dict[str, int] = {}
    for i, item in enumerate(document.get_toc(max_depth=6)):
        if i > 3_000:
            break
        found.setdefault(heading_key(item.get_title() or ""), item.level + 1)
    found.pop("", None)
    return found


def _notes(empty: dict[int, PageContent], count: int) -> Iterator[str]:
    """Yield notes on pages without text; blank pages are not mentioned, and images may be read by OCR."""
    for kind, said in (
        (PageContent.DRAWING, "drawn, without text"),
        (PageContent.DAMAGED, "unreadable"),
    ):
        numbers = [i + 1 for i, content in empty.items() if content is kind]
        if numbers:
            shown = ", ".join(map(str, numbers[:10])) + ("…" if len(numbers) > 10 else "")
            yield f"{'page' if len(numbers) == 1 else 'pages'} {shown} of {count} {said}"
    if count > MAX_PAGES:
        yield f"only the first {MAX_PAGES} of {count} pages were read"


FORMATS = (
    Format(
        media_type="application/pdf",
        read=read,
        label="PDF",
        suffixes=("pdf",),
        promises="PDF",
        in_bytes=lambda data: b"%PDF-" in data[:1024],
        rank=1,
        pictures="This PDF is a scan",
        not_a_title=r".*\.pdf|layout[ ]?\d*|scan(ned document)?[ _-]?\d*|(image|img|page|print)[ _-]?\d*|blank page"
        r"|t?his page (is )?(intentionally )?(left )?blank[ .]*|(crystal|jasper) ?reports?\b.*|reportlab .*"
        r"|powerpoint-pr[äa]sentation|présentation powerpoint|presentación de powerpoint|(folie|mappe|dokument)[ ]?\d*",
    ),
)
