"""PDFs as other programs make them: turned pages, filled forms, imposed sheets, odd fonts, files that end early."""

import math
from collections.abc import Callable
from io import BytesIO
from typing import TYPE_CHECKING

import pytest

from adapters.documents.formats.pdf_lines import characters
from adapters.documents.reader import read
from core.model.document_content import ParsedDocument, PicturePage
from core.model.errors import DocumentRejected

if TYPE_CHECKING:
    import pypdf

HELVETICA = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>"


def text_of(parsed: ParsedDocument) -> str:
    return "\n\n".join(block.text for block in parsed.blocks)


def raw_pdf(*pages: tuple[bytes, bytes], font: bytes = HELVETICA, more: tuple[bytes, ...] = ()) -> bytes:
    """A PDF of these pages, each (its entries, its drawing); the font is object 3, `more` are objects 4 and on."""
    first = 4 + len(more)
    kids = b" ".join(b"%d 0 R" % (first + 2 * i) for i in range(len(pages)))
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[%s]/Count %d/MediaBox[0 0 600 800]>>" % (kids, len(pages)),
        font,
        *more,
    ]
    for i, (entries, drawing) in enumerate(pages):
        resources = b"" if b"/Resources" in entries else b"/Resources<</Font<</F1 3 0 R>>>>"
        objects.append(b"<</Type/Page/Parent 2 0 R/Contents %d 0 R%s%s>>" % (first + 2 * i + 1, resources, entries))
        objects.append(b"<</Length %d>>stream\n%s\nendstream" % (len(drawing), drawing))
    body, places = b"%PDF-1.7\n", []
    for number, content in enumerate(objects, 1):
        places.append(len(body))
        body += b"%d 0 obj%s endobj\n" % (number, content)
    rows = b"".join(b"%010d 00000 n \n" % place for place in places)
    size = len(objects) + 1
    end = b"xref\n0 %d\n0000000000 65535 f \n%strailer<</Root 1 0 R/Size %d>>\nstartxref\n%d\n%%%%EOF\n"
    return body + end % (size, rows, size, len(body))


def said(text: str, x: int, y: int, size: int = 11) -> bytes:
    """Drawing of one line of text."""
    return b"BT /F1 %d Tf %d %d Td (%s) Tj ET\n" % (size, x, y, text.encode("cp1252"))


def handbook_page() -> bytes:
    from fpdf import FPDF

    pdf = FPDF(format="letter")
    pdf.add_page()
    pdf.set_font("helvetica", style="B", size=20)
    pdf.cell(text="Travel policy", new_x="LMARGIN", new_y="NEXT")
    pdf.set_font("helvetica", size=11)
    pdf.multi_cell(0, text="Flights over six hours may be booked in premium economy by anyone. " * 5)
    pdf.ln(10)
    with pdf.table() as table:
        for row in (("City", "Hotel", "Meals"), ("Oslo", "190", "80"), ("Rome", "140", "60")):
            table.row(row)
    pdf.ln(10)
    pdf.multi_cell(0, text="Receipts are kept for seven years.")
    return bytes(pdf.output())


def turned(data: bytes, degrees: int, *, rounded: bool = False, said: bool = True) -> bytes:
    """The same page drawn sideways in the file and turned back for the reader, as scanners and printers do it.

    ``rounded``: by sine and cosine as they are computed; not ``said``: the reader turns the sheet.
    """
    import pypdf

    writer = pypdf.PdfWriter(clone_from=BytesIO(data))
    page = writer.pages[0]
    width, height = float(page.mediabox.width), float(page.mediabox.height)
    matrix = {90: (0, 1, -1, 0, height, 0), 180: (-1, 0, 0, -1, width, height), 270: (0, -1, 1, 0, 0, width)}[degrees]
    sine, cosine = math.sin(math.radians(degrees)), math.cos(math.radians(degrees))
    computed = (cosine, sine, -sine, cosine, *matrix[4:])
    page.add_transformation(pypdf.Transformation(computed if rounded else matrix))
    if degrees != 180:
        page.mediabox = page.cropbox = pypdf.generic.RectangleObject((0, 0, height, width))
    page.rotate(degrees if said else 0)
    return written(writer)


def written(writer: "pypdf.PdfWriter") -> bytes:
    out = BytesIO()
    writer.write(out)
    return out.getvalue()


@pytest.mark.parametrize("degrees", [90, 180, 270])
def test_a_page_that_is_turned_for_the_reader_reads_like_one_that_is_not(degrees: int) -> None:
    upright = handbook_page()
    assert "| Oslo | 190 | 80 |" in text_of(read("travel.pdf", upright))
    parsed = read("travel.pdf", turned(upright, degrees))
    assert parsed.title == "Travel policy"
    assert text_of(parsed) == text_of(read("travel.pdf", upright))


@pytest.mark.parametrize("said", [True, False], ids=["said by /Rotate", "not said"])
@pytest.mark.parametrize("degrees", [90, 180, 270])
def test_a_page_that_was_turned_with_rounded_numbers_reads_like_one_that_was_not(degrees: int, *, said: bool) -> None:
    """sin 180 degrees is 1.2e-16 to most programs: cells were lost, spelt backwards, or no table was found."""
    upright = handbook_page()
    assert text_of(read("travel.pdf", turned(upright, degrees, rounded=True, said=said))) == text_of(
        read("travel.pdf", upright)
    )


def test_a_table_on_a_page_cut_out_of_a_larger_sheet_is_read_once() -> None:
    import pypdf

    writer = pypdf.PdfWriter(clone_from=BytesIO(handbook_page()))
    page = writer.pages[0]
    page.add_transformation(pypdf.Transformation().translate(200, 300))
    page.mediabox = pypdf.generic.RectangleObject((0, 0, 1200, 1400))
    page.cropbox = pypdf.generic.RectangleObject((200, 300, 812, 1092))
    assert text_of(read("travel.pdf", written(writer))) == text_of(read("travel.pdf", handbook_page()))


def test_text_outside_the_shown_part_of_a_page_is_not_cited_under_it() -> None:
    sheet = said("Left page says one thing", 50, 700) + said("Right page says another", 350, 700)
    both = sheet + said("Cut here", 700, 500)
    parsed = read("sheet.pdf", raw_pdf((b"/CropBox[0 0 300 800]", both), (b"/CropBox[300 0 600 800]", both)))
    assert [(block.page, block.text) for block in parsed.blocks] == [
        (1, "Left page says one thing"),
        (2, "Right page says another"),
    ]


def test_what_comes_back_at_the_edge_is_a_running_header_only_beside_other_text() -> None:
    header = said("Handbook of the house", 50, 785)
    alone = read("cards.pdf", raw_pdf(*[(b"", header)] * 4))
    beside = read("book.pdf", raw_pdf(*[(b"", header + said(f"Rule {name} holds.", 50, 400)) for name in "abcd"]))
    assert [block.text for block in alone.blocks] == ["Handbook of the house"] * 4
    assert [block.text for block in beside.blocks] == [f"Rule {name} holds." for name in "abcd"]


def test_characters_beyond_those_that_exist_cost_only_themselves() -> None:
    assert characters([0x52, 0x110000, 0x66FF_FFFF, 0x31, 0xD83D, 0xDE00, 0x1F600]) == "R1😀😀"


def widget(name: bytes, value: bytes, bottom: int, more: bytes = b"") -> bytes:
    """A field of one line that holds a value."""
    entries = b"/FT/Tx/T(%s)/V(%s)/Rect[150 %d 350 %d]/F 4/DA(/F1 11 Tf 0 g)%s"
    return b"<</Type/Annot/Subtype/Widget" + entries % (name, value, bottom, bottom + 20, more) + b">>"


def filled_form() -> bytes:
    """Two fields: one that says how it looks, and one that leaves that to the reader."""
    value = b"/Tx BMC q BT /F1 11 Tf 2 5 Td (Ada Lovelace) Tj ET Q EMC"
    form = b"<</Type/XObject/Subtype/Form/BBox[0 0 200 20]/Resources<</Font<</F1 3 0 R>>>>/Length %d>>"
    data = raw_pdf(
        (b"/Annots[5 0 R 6 0 R]", said("Name:", 50, 700) + said("Team:", 50, 670)),
        more=(
            form % len(value) + b"stream\n" + value + b"\nendstream",
            widget(b"name", b"Ada Lovelace", 695, b"/AP<</N 4 0 R>>"),
            widget(b"team", b"Operations", 665),
        ),
    )
    fields = b"/AcroForm<</Fields[5 0 R 6 0 R]/DA(/F1 11 Tf 0 g)/DR<</Font<</F1 3 0 R>>>>>>"
    return data.replace(b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Catalog/Pages 2 0 R" + fields + b">>")


def test_what_is_filled_into_a_form_is_read_where_it_stands() -> None:
    text = text_of(read("form.pdf", filled_form()))
    assert text == "Name: Ada Lovelace\n\nTeam: Operations"


PICTURE = (
    b"<</Type/XObject/Subtype/Image/Width 1/Height 1/ColorSpace/DeviceGray/BitsPerComponent 8/Length 1>>"
    b"stream\n\x80\nendstream"
)
SHOWS_PICTURE = (b"/Resources<</XObject<</I 4 0 R>>>>", b"q 600 0 0 800 0 0 cm /I Do Q")


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: raw_pdf((b"", b"")), "blank"),
        (lambda: raw_pdf((b"", b"100 100 m 200 300 l 300 100 l f")), "drawn"),
    ],
)
def test_a_pdf_without_text_says_what_it_is_instead(make: Callable[[], bytes], reason: str) -> None:
    with pytest.raises(DocumentRejected, match=reason):
        read("a.pdf", make())


def test_pages_without_text_are_named_for_what_they_are_and_blank_ones_not_at_all() -> None:
    data = raw_pdf((b"", said("Text", 50, 700)), (b"", b""), SHOWS_PICTURE, (b"", b"9 9 m 99 99 l S"), more=(PICTURE,))
    parsed = read("a.pdf", data)
    assert (parsed.notes, parsed.picture_pages) == (("page 4 of 4 drawn, without text",), (PicturePage(3),))


def test_a_scan_is_no_text_but_pictures_that_may_still_be_read() -> None:
    parsed = read("a.pdf", raw_pdf((b"", b""), SHOWS_PICTURE, more=(PICTURE,)))
    assert (parsed.blocks, parsed.picture_pages) == ((), (PicturePage(2),))


def test_bytes_behind_the_end_of_a_file_do_not_make_it_unreadable() -> None:
    data = raw_pdf((b"", said("Refunds take five days", 50, 700))) + b"\0garbage" * 3_000
    parsed = read("a.pdf", data)
    assert (text_of(parsed), parsed.notes) == ("Refunds take five days", ())


def test_a_file_without_its_end_says_so_and_gives_what_is_left() -> None:
    data = raw_pdf((b"", said("Refunds take five days", 50, 700)))
    parsed = read("a.pdf", data[: data.index(b"startxref")])
    assert text_of(parsed) == "Refunds take five days"
    assert parsed.notes == ("the end of this file is missing; what is left of it was read",)


def square_of_lines(x: int, y: int, *, thin: bool) -> bytes:
    """A square of four paths: strokes, or rectangles as thin as strokes."""
    sides = ((x, y, 9, 0), (x, y + 9, 9, 0), (x, y, 0, 9), (x + 9, y, 0, 9))
    if thin:
        return b"".join(b"%d %d %g %g re f " % (a, b, w or 0.6, h or 0.6) for a, b, w, h in sides)
    return b"".join(b"%d %d m %d %d l S " % (a, b, a + w, b + h) for a, b, w, h in sides)


@pytest.mark.parametrize("thin", [False, True])
@pytest.mark.parametrize(
    "mark",
    [
        b"%d 701 m %d 707 l S %d 707 m %d 701 l S ",  # a cross
        b"%d 704 m %d 701 l S %d 701 m %d 707 l S ",  # a tick
        b"%d 702 m %d 702 l %d 706 l %d 706 l h f ",  # filled
    ],
)
def test_a_box_drawn_as_lines_is_ticked_or_not(mark: bytes, *, thin: bool) -> None:
    drawing = b""
    for y, (question, yes) in zip((700, 670, 640), (("Ramp up", 1), ("Seal broken", 0), ("Door shut", 1)), strict=True):
        drawing += b"BT /F1 11 Tf 60 %d Td (%s:) Tj ET " % (y, question.encode())
        for x, word, ticked in ((160, b"Yes", yes), (230, b"No", not yes)):
            drawing += square_of_lines(x, y, thin=thin) + b"BT /F1 11 Tf %d %d Td (%s) Tj ET " % (x + 14, y, word)
            shifted = mark.replace(b"70", b"%d" % (y // 10)) % (x + 2, x + 7, x + 2, x + 7)
            drawing += shifted if ticked else b""

    text = text_of(read("a.pdf", raw_pdf((b"", drawing))))

    assert "Ramp up: [x] Yes [ ] No\n\nSeal broken: [ ] Yes [x] No\n\nDoor shut: [x] Yes [ ] No" in text


def set_apart(text: str, x: float, y: int, gap: float) -> bytes:
    """Text with each digit and sign placed by itself, this far from the next, in points."""
    from fpdf import FPDF

    widths = FPDF(unit="pt")
    widths.set_font("Helvetica", size=11)
    drawn = b""
    for letter in text:
        drawn += b"BT /F1 11 Tf %g %d Td (%s) Tj ET " % (x, y, letter.encode()) if letter != " " else b""
        x += widths.get_string_width(letter) + (gap if letter in "0123456789/-" else 0)
    return drawn


@pytest.mark.parametrize("gap", [1.5, 2.5, 3.5])
@pytest.mark.parametrize("text", ["02/11/2029", "2029-11-02", "30 June 2028"])
def test_a_date_that_is_set_digit_by_digit_is_one(text: str, gap: float) -> None:
    assert text in text_of(read("a.pdf", raw_pdf((b"", set_apart(f"ends {text}", 60, 700, gap)))))


def test_single_digits_beside_each_other_stay_apart() -> None:
    scores = b"".join(b"BT /F1 11 Tf %d 700 Td (%d) Tj ET " % (60 + 10 * at, at + 1) for at in range(6))

    assert "1 2 3 4 5 6" in text_of(read("a.pdf", raw_pdf((b"", scores))))
