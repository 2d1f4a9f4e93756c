"""Office files as other programs than ours write them: Strict Open XML, templates, slide shows, macros, broken styles.

Each was refused or read as empty while three other libraries read it: files of Apache POI's and Tika's own tests.
"""

import re
import zipfile
from collections.abc import Callable
from datetime import date
from io import BytesIO

import docx
import openpyxl
import pptx
import pytest

from adapters.documents.reader import read
from core.model.errors import DocumentRejected
from tests.adapters.documents.formats.test_formats import compound
from tests.adapters.documents.formats.test_office import number, text_of
from tests.adapters.documents.hostile import odt

Change = Callable[[str, bytes], bytes]


def rewritten(data: bytes, change: Change) -> bytes:
    out = BytesIO()
    with zipfile.ZipFile(BytesIO(data)) as package, zipfile.ZipFile(out, "w") as written:
        for name in package.namelist():
            written.writestr(name, change(name, package.read(name)))
    return out.getvalue()


def strict(_name: str, content: bytes) -> bytes:
    return re.sub(
        rb"http://schemas\.openxmlformats\.org/(?!package)(\w+)/2006/", rb"http://purl.oclc.org/ooxml/\1/", content
    )


def workbook() -> bytes:
    book = openpyxl.Workbook()
    book.active.append(["Hotel", "Price", "Since"])
    book.active.append(["Oslo", 190.5, date(2024, 5, 6)])
    book.active["B2"].number_format = "0.00"
    out = BytesIO()
    book.save(out)
    return out.getvalue()


def document() -> bytes:
    made = docx.Document()
    made.add_heading("Travel", 1)
    made.add_paragraph("Trains are preferred.")
    out = BytesIO()
    made.save(out)
    return out.getvalue()


def slides() -> bytes:
    deck = pptx.Presentation()
    deck.slides.add_slide(deck.slide_layouts[5]).shapes.title.text = "Trains are preferred."
    out = BytesIO()
    deck.save(out)
    return out.getvalue()


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("a.xlsx", workbook(), "| Oslo | 190.50 | 2024-05-06 |"),
        ("a.docx", document(), "# Travel\n\nTrains are preferred."),
        ("a.pptx", slides(), "## Trains are preferred."),
    ],
)
def test_strict_open_xml_is_read_as_the_transitional_kind(name: str, data: bytes, said: str) -> None:
    assert b"purl.oclc.org" not in data
    assert said in text_of(read(name, rewritten(data, strict)))


def as_main_part(content_type: str) -> Change:
    main = re.compile(rb"application/vnd\.openxmlformats-officedocument\.(?:wordprocessingml|presentationml)"
                      rb"\.(?:document|presentation)\.main\+xml")  # fmt: skip
    return lambda name, content: main.sub(content_type.encode(), content) if name == "[Content_Types].xml" else content


@pytest.mark.parametrize(
    ("name", "made", "content_type"),
    [
        ("a.dotx", document, "application/vnd.openxmlformats-officedocument.wordprocessingml.template.main+xml"),
        ("a.docm", document, "application/vnd.ms-word.document.macroEnabled.main+xml"),
        ("a.dotm", document, "application/vnd.ms-word.template.macroEnabledTemplate.main+xml"),
        ("a.ppsx", slides, "application/vnd.openxmlformats-officedocument.presentationml.slideshow.main+xml"),
        ("a.potx", slides, "application/vnd.openxmlformats-officedocument.presentationml.template.main+xml"),
        ("a.pptm", slides, "application/vnd.ms-powerpoint.presentation.macroEnabled.main+xml"),
        ("a.ppsm", slides, "application/vnd.ms-powerpoint.slideshow.macroEnabled.main+xml"),
    ],
)
def test_templates_slide_shows_and_files_with_macros_are_read(
    name: str, made: Callable[[], bytes], content_type: str
) -> None:
    assert "Trains are preferred." in text_of(read(name, rewritten(made(), as_main_part(content_type))))


def test_a_workbook_with_broken_styles_is_read_without_them_and_says_so() -> None:
    def broken(name: str, content: bytes) -> bytes:
        return content.replace(b"<cellStyle name=", b"<cellStyle nam=") if name == "xl/styles.xml" else content

    parsed = read("a.xlsx", rewritten(workbook(), broken))
    assert "| Oslo | 190.5 |" in text_of(parsed)
    assert any("styles of this workbook are damaged" in note for note in parsed.notes)


def test_a_workbook_that_is_damaged_elsewhere_is_still_refused() -> None:
    def broken(name: str, content: bytes) -> bytes:
        return b"<workbook" if name == "xl/workbook.xml" else content

    with pytest.raises(DocumentRejected, match="damaged"):
        read("a.xlsx", rewritten(workbook(), broken))


def test_an_odt_with_the_document_type_of_openoffice_is_read() -> None:
    declared = '<!DOCTYPE manifest:manifest PUBLIC "-//OpenOffice.org//DTD Manifest 1.0//EN" "Manifest.dtd">'
    assert "Trains are preferred." in text_of(read("a.odt", odt("Trains are preferred.", declaration=declared)))


@pytest.mark.parametrize(
    ("properties", "encoding", "text"),
    [
        (number(0x3FDE, 950), "cp950", "中文測試"),
        (number(0x3FF1, 0x404), "cp950", "中文測試"),
        (number(0x3FF1, 0x419), "cp1251", "Сбой устранён"),
        (number(0x3FF1, 0x409), "cp1252", "Störung behoben"),
        (b"", "cp1252", "Störung behoben"),
    ],
)
def test_an_outlook_message_without_a_code_page_uses_that_of_its_mail_or_locale(
    properties: bytes, encoding: str, text: str
) -> None:
    message = compound(
        {
            "__properties_version1.0": bytes(32) + properties,
            "__substg1.0_0037001E": text.encode(encoding),
            "__substg1.0_1000001E": f"{text}.".encode(encoding),
        }
    )
    assert text_of(read("a.msg", message)) == f"# {text}\n\n{text}."


def test_json_with_comments_and_commas_too_many_is_read() -> None:
    written = '// of the team\n{"title": "Trains", /* no\nflights */ "to": ["Oslo", "http://a//b",],}\n'
    assert "http://a//b" in text_of(read("a.json", written.encode()))
    with pytest.raises(DocumentRejected, match="damaged: line 1"):
        read("b.json", b'{"a": // b')
