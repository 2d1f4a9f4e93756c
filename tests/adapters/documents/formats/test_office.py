"""Word, OpenDocument, PowerPoint and mail as office programs write them: everything besides plain paragraphs."""

import struct
from collections.abc import Iterator
from io import BytesIO
from typing import Any

import pytest

from adapters.documents.reader import detect, read
from core.model.document_content import ParsedDocument
from core.model.errors import DocumentRejected
from tests.adapters.documents.formats.test_formats import compound
from tests.adapters.documents.hostile import packed, word

MATH = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'


def text_of(parsed: ParsedDocument) -> str:
    return "\n\n".join(block.text for block in parsed.blocks)


def r(text: str) -> str:
    return f"<m:r><m:t>{text}</m:t></m:r>"


EQUATIONS = {
    r"\frac{a + b}{2}": f"<m:f><m:num>{r('a + b')}</m:num><m:den>{r('2')}</m:den></m:f>",
    r"\sqrt{x}": f"<m:rad><m:radPr><m:degHide m:val='1'/></m:radPr><m:deg/><m:e>{r('x')}</m:e></m:rad>",
    r"\sqrt[3]{x}": f"<m:rad><m:deg>{r('3')}</m:deg><m:e>{r('x')}</m:e></m:rad>",
    r"x_{i}^{2}": f"<m:sSubSup><m:e>{r('x')}</m:e><m:sub>{r('i')}</m:sub><m:sup>{r('2')}</m:sup></m:sSubSup>",
    r"\sum_{i=1}^{n} i": f"<m:nary><m:naryPr><m:chr m:val='∑'/></m:naryPr><m:sub>{r('i=1')}</m:sub>"
    f"<m:sup>{r('n')}</m:sup><m:e>{r('i')}</m:e></m:nary>",
    r"(a|b)": f"<m:d><m:e>{r('a')}</m:e><m:e>{r('b')}</m:e></m:d>",
    r"\begin{matrix} 1 & 0 \\ 0 & 1 \end{matrix}": "<m:m>"
    + "".join(f"<m:mr><m:e>{r(a)}</m:e><m:e>{r(b)}</m:e></m:mr>" for a, b in ("10", "01"))
    + "</m:m>",
    r"\sin x": f"<m:func><m:fName>{r('sin')}</m:fName><m:e>{r('x')}</m:e></m:func>",
    r"\alpha \leq \pi r^{2}": f"{r('α≤π')}<m:sSup><m:e>{r('r')}</m:e><m:sup>{r('2')}</m:sup></m:sSup>",
    r"\lim_{n\rightarrow 0} n": f"<m:func><m:fName><m:limLow><m:e>{r('lim')}</m:e><m:lim>{r('n→0')}</m:lim></m:limLow>"
    f"</m:fName><m:e>{r('n')}</m:e></m:func>",
    r"\hat{x}": f"<m:acc><m:e>{r('x')}</m:e></m:acc>",
}


@pytest.mark.parametrize(("latex", "omml"), EQUATIONS.items())
def test_an_equation_of_word_is_latex_in_its_place(latex: str, omml: str) -> None:
    text = '<w:r><w:t xml:space="preserve">{}</w:t></w:r>'.format
    body = f"<w:p {MATH}>{text('Here ')}<m:oMath>{omml}</m:oMath>{text(' holds.')}</w:p>"
    body += f"<w:p {MATH}><m:oMathPara><m:oMath>{omml}</m:oMath></m:oMathPara></w:p>"
    assert text_of(read("a.docx", word(body))) == f"Here ${latex}$ holds.\n\n$${latex}$$"


def test_comments_of_a_word_document_are_marked_as_such() -> None:
    import docx

    document = docx.Document()
    paragraph = document.add_paragraph("Refunds take five days.")
    document.add_comment(paragraph.runs, text="Is it still five?", author="Ada")
    document.add_paragraph("Cash takes ten.")
    out = BytesIO()
    document.save(out)
    assert text_of(read("a.docx", out.getvalue())) == (
        "Refunds take five days.\n\n[Comment by Ada: Is it still five?]\n\nCash takes ten."
    )


BOX = "<w:txbxContent><w:p><w:r><w:t>{}</w:t></w:r></w:p></w:txbxContent>".format
SPACES = (
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" xmlns:v="urn:schemas-microsoft-com:vml" '
    'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape"'
)


def test_text_boxes_are_read_once_in_the_old_and_the_new_form() -> None:
    new = f"<mc:AlternateContent><mc:Choice Requires='wps'><wps:txbx>{BOX('New box')}</wps:txbx></mc:Choice>"
    new += f"<mc:Fallback><w:pict><v:textbox>{BOX('New box')}</v:textbox></w:pict></mc:Fallback></mc:AlternateContent>"
    old = f"<w:pict><v:textbox>{BOX('Old box')}</v:textbox></w:pict>"
    body = f"<w:p {SPACES}><w:r><w:t>Beside</w:t></w:r><w:r>{new}</w:r><w:r>{old}</w:r></w:p>"
    assert text_of(read("a.docx", word(body))) == "Beside\n\nNew box\n\nOld box"


def odt(body: str) -> bytes:
    names = "".join(f' xmlns:{n}="urn:oasis:names:tc:opendocument:xmlns:{n}:1.0"' for n in ("office", "text", "table"))
    content = f"<office:document-content{names}><office:body><office:text>{body}</office:text></office:body>"
    return packed(
        {
            "mimetype": "application/vnd.oasis.opendocument.text",
            "content.xml": f"{content}</office:document-content>",
        }
    )


def test_a_table_inside_a_cell_of_an_odt_is_read_once() -> None:
    def cell(inside: str) -> str:
        return f"<table:table-cell>{inside}</table:table-cell>"

    def p(text: str) -> str:
        return f"<text:p>{text}</text:p>"

    inner = f"<table:table><table:table-row>{cell(p('Oslo'))}{cell(p('190'))}</table:table-row></table:table>"
    rows = f"<table:table-header-rows><table:table-row>{cell(p('Trip'))}{cell(p('Hotels'))}</table:table-row>"
    rows += f"</table:table-header-rows><table:table-row>{cell(p('North'))}{cell(p('See') + inner)}</table:table-row>"
    assert text_of(read("a.odt", odt(f"<table:table>{rows}</table:table>"))) == (
        "| Trip | Hotels |\n| --- | --- |\n| North | See Oslo, 190 |"
    )


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig"])
def test_a_mail_saved_in_wide_characters_is_still_a_mail(encoding: str) -> None:
    mail = (
        "From: Ada <ada@acme.example>\r\nTo: team@acme.example\r\nSubject: Disk full\r\nMIME-Version: 1.0\r\n"
        "Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\nDie Störung ist behoben.\r\n"
    )
    parsed = read("a.eml", mail.encode(encoding))
    assert (parsed.title, parsed.media_type) == ("Disk full", "message/rfc822")
    assert text_of(parsed).endswith("Die Störung ist behoben.")


def number(tag: int, value: int) -> bytes:
    return struct.pack("<HHIQ", 0x0003, tag, 6, value)


@pytest.mark.parametrize(("page", "encoding", "text"), [
    (1251, "cp1251", "Сбой устранён"), (932, "cp932", "障害は解消しました"), (28595, "iso8859-5", "Сбой устранён"),
    (1252, "cp1252", "Störung behoben"), (936, "cp936", "故障已排除"),
])  # fmt: skip
def test_an_outlook_message_is_read_in_its_own_code_page(page: int, encoding: str, text: str) -> None:
    message = compound(
        {
            "__properties_version1.0": bytes(32) + number(0x3FFD, page) + number(0x3FDE, page),
            "__substg1.0_0037001E": text.encode(encoding),
            "__substg1.0_10130102": f"<html><body><p>{text}.</p></body></html>".encode(encoding),
        }
    )
    parsed = read("a.msg", message)
    assert (parsed.title, text_of(parsed)) == (text, f"# {text}\n\n{text}.")


@pytest.mark.parametrize(
    ("name", "head", "what"),
    [
        ("a.xml", '<?mso-application progid="Word.Document"?><w:wordDocument xmlns:w="x"/>', "Word XML document"),
        (
            "a.doc",
            '<w:wordDocument xmlns:w="http://schemas.microsoft.com/office/word/2003/wordml"/>',
            "Word 2003 XML document",
        ),
        ("a.xml", '<Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet"/>', "Excel 2003 XML workbook"),
    ],
)
def test_office_documents_of_2003_are_refused_by_name(name: str, head: str, what: str) -> None:
    with pytest.raises(DocumentRejected, match=what):
        detect(name, f'<?xml version="1.0"?>\n{head}'.encode())


def deck(fill: Any) -> bytes:
    import pptx

    made = pptx.Presentation()
    fill(made)
    out = BytesIO()
    made.save(out)
    return out.getvalue()


def test_text_in_inherited_places_stands_where_it_is_seen() -> None:
    from pptx.util import Cm

    def fill(made: Any) -> None:
        slide = made.slides.add_slide(made.slide_layouts[3])  # a title and two contents side by side
        slide.shapes.title.text = "Plan"
        right, left = slide.placeholders[2], slide.placeholders[1]
        left.text, right.text = "First column", "Second column"
        box = slide.shapes.add_textbox(Cm(1), Cm(0.1), Cm(5), Cm(1))
        box.text_frame.text = "Above all"
        slide.shapes._spTree.remove(left._element)
        slide.shapes._spTree.append(left._element)

    assert text_of(read("a.pptx", deck(fill))) == "## Plan\n\nAbove all\n\nFirst column\n\nSecond column"


def chart_slides(made: Any) -> None:
    from pptx.chart.data import CategoryChartData, XyChartData
    from pptx.enum.chart import XL_CHART_TYPE
    from pptx.util import Cm

    bars = CategoryChartData()
    bars.categories = ["2023", "2024"]
    bars.add_series("Sold", (1_234_567, 2_500_000.5))
    points = XyChartData()
    series = points.add_series("Load")
    for x, y in ((1, 2.5), (10, 40)):
        series.add_data_point(x, y)
    for kind, data in ((XL_CHART_TYPE.COLUMN_CLUSTERED, bars), (XL_CHART_TYPE.XY_SCATTER, points)):
        slide = made.slides.add_slide(made.slide_layouts[6])
        slide.shapes.add_chart(kind, Cm(1), Cm(1), Cm(10), Cm(8), data)


def lines(parsed: ParsedDocument) -> Iterator[str]:
    for block in parsed.blocks:
        yield from block.text.split("\n")


def test_charts_are_the_tables_behind_them_with_all_their_digits() -> None:
    found = list(lines(read("a.pptx", deck(chart_slides))))
    assert "| 2023 | 1234567 |" in found
    assert "| 2024 | 2500000.5 |" in found
    assert "| Load | 10 | 40 |" in found


GROUPED = [
    ["Club", "First aiders", "", "Defibrillator"],
    ["", "Day", "Evening", "Location"],
    ["Clifton", "Ömer Şahin", "Zoë Grünwald", "Reception"],
    ["Redland", "Priya Nair", "Tom Ashby", "First floor"],
]


@pytest.mark.parametrize("downwards", [False, True])
def test_names_over_several_columns_of_a_word_table_join_those_below_them(downwards: bool) -> None:
    text = text_of(read("a.docx", word_table(GROUPED, downwards=downwards)))
    assert text.splitlines()[0] == "| Club | First aiders Day | First aiders Evening | Defibrillator Location |"
    assert text.splitlines()[2] == "| Clifton | Ömer Şahin | Zoë Grünwald | Reception |"


def test_a_row_below_a_name_over_several_columns_stays_a_row_where_it_is_one() -> None:
    rows = [["Club", "First aiders", "", "Defibrillator"], *GROUPED[2:]]
    lines = text_of(read("a.docx", word_table(rows))).splitlines()
    assert lines[2] == "| Clifton | Ömer Şahin | Zoë Grünwald | Reception |"
    assert len(lines) == 4


def word_table(rows: list[list[str]], *, downwards: bool = False) -> bytes:
    """A table in which the second cell of the first row spans the third, and on demand the first one the row below."""
    import docx

    document = docx.Document()
    table = document.add_table(rows=len(rows), cols=len(rows[0]))
    for at, row in enumerate(rows):
        for column, text in enumerate(row):
            table.cell(at, column).text = text
    table.cell(0, 1).merge(table.cell(0, 2))
    if downwards:
        table.cell(0, 0).merge(table.cell(1, 0))
    saved = BytesIO()
    document.save(saved)
    return saved.getvalue()
