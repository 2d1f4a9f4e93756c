"""Documents of known content in every format that Footnote reads, written by the libraries people write them with.

Each is the same `Content` through a writer of its own, so that what a reader ought to find is known exactly.
"""

import csv
import html
import io
import json
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from email.message import EmailMessage
from pathlib import Path

import matplotlib as mpl

ODT = "application/vnd.oasis.opendocument.text"
MANIFEST = "urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"
FONT = Path(mpl.get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf"


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with what is below it; a table's first row is its header."""

    heading: str
    level: int = 2
    paragraphs: tuple[str, ...] = ()
    items: tuple[str, ...] = ()
    table: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Content:
    """A document."""

    name: str
    title: str
    sections: tuple[Section, ...]

    def pieces(self) -> Iterator[str]:
        """All text in reading order, a table row by row."""
        yield self.title
        for section in self.sections:
            yield section.heading
            yield from section.paragraphs
            yield from section.items
            for row in section.table:
                yield " ".join(row)


@dataclass(frozen=True, slots=True)
class Case:
    """A file and what is known about it.

    Attributes:
        headings: in order. tables: rows of cells.
        places: a stretch of text and where it stands: a page or slide, a line of the file, or a cell ('B3').
    """

    file: str
    data: bytes
    pieces: tuple[str, ...]
    headings: tuple[str, ...] = ()
    tables: tuple[tuple[tuple[str, ...], ...], ...] = ()
    places: dict[str, int | str] = field(default_factory=dict)


CONTENTS = (
    Content(
        "handbook",
        "Travel policy",
        (
            Section("Booking", 2, (
                "Flights over six hours may be booked in premium economy by anyone. All others are economy flights.",
                "Trains are preferred wherever the journey takes less than five hours from door to door.",
            )),
            Section("Exceptions", 3, ("Medical reasons are confirmed by the people team, never by a manager.",),
                    ("A second suitcase for trips over two weeks", "A rental car where no train goes",
                     "A hotel above the limit during a fair")),
            Section("Receipts", 2, ("Receipts are kept for seven years and sent to finance@acme.example.",)),
        ),
    ),
    Content(
        "prices",
        "Price list 2024",
        (
            Section("Plans", 2, ("All prices are per person and month, without tax.",), (),
                    (("Plan", "Monthly", "Yearly", "Support"), ("Basic", "9.50", "95.00", "by mail"),
                     ("Team", "19.00", "190.00", "within one day"),
                     ("Enterprise", "49.00", "490.00", "within one hour"))),
            Section("Customer numbers", 2, ("A customer number has sixteen digits and is never shortened.",), (),
                    (("Customer", "Number"), ("Northwind", "1234567890123450"), ("Contoso", "4111111111111111"),
                     ("Fabrikam", "9876543210987650"))),
        ),
    ),
    Content(
        "incident",
        "Störung im Rechenzentrum Köln",
        (
            Section("Ursache", 2, ("Die Festplatte der Maschine war voll; die Überwachung hat das nicht bemerkt.",
                                   "Größe der Protokolle: über 80 Gigabyte in drei Tagen.")),
            Section("Maßnahmen", 2, (),
                    ("Protokolle täglich verdichten", "Überwachung ab 85 Prozent", "Übung im März")),
            Section("Beteiligte", 3, (), (), (("Name", "Rolle"), ("Jörg Müller", "Bereitschaft"),
                                             ("Zoë Çelik", "Leitung"), ("Łukasz Nowak", "Netz"))),
        ),
    ),
    Content(
        "manual",
        "Operating manual",
        tuple(
            Section(f"Chapter {i}: the {word} unit", 2, tuple(
                f"The {word} unit is checked every {n + 2} weeks by two people; step {n} of chapter {i} is signed."
                for n in range(1, 5)
            ))
            for i, word in enumerate(("cooling", "power", "network", "storage", "entry", "alarm"), 1)
        ),
    ),
    Content(
        "questions",
        "Frequent questions",
        (
            Section("How do I reset my password?", 2, ("Open the account page and choose Reset; a mail arrives.",)),
            Section("Who may see the wiki?", 2, ("Everybody in the company, and guests with an invitation.",),
                    ("Guests see one space", "Contractors see their team's spaces")),
            Section("What does it cost?", 2, ("Nothing for up to five people.",), (),
                    (("People", "Fee"), ("1 to 5", "free"), ("6 to 50", "120"), ("more", "ask us"))),
        ),
    ),
)  # fmt: skip


def markdown(content: Content) -> str:
    """Return the content as Markdown, which several writers share."""
    parts = [f"# {content.title}"]
    for section in content.sections:
        parts.append(f"{'#' * section.level} {section.heading}")
        parts.extend(section.paragraphs)
        if section.items:
            parts.append("\n".join(f"- {item}" for item in section.items))
        if section.table:
            rows = ["| " + " | ".join(row) + " |" for row in section.table]
            parts.append("\n".join([rows[0], "|" + " --- |" * len(section.table[0]), *rows[1:]]))
    return "\n\n".join(parts) + "\n"


def _line_places(content: Content, text: str) -> dict[str, int | str]:
    lines = text.split("\n")
    said = [one for section in content.sections for one in (*section.paragraphs, *section.items)]
    return {one: next(i for i, line in enumerate(lines, 1) if one in line) for one in said}


def write_md(content: Content) -> tuple[bytes, dict[str, int | str]]:
    text = "---\nowner: people\n---\n\n" + markdown(content)
    return text.encode(), _line_places(content, text)


def write_txt(content: Content) -> tuple[bytes, dict[str, int | str]]:
    parts = [f"{content.title}\n{'=' * len(content.title)}"]
    for section in content.sections:
        parts.append(f"{section.heading}\n{'-' * len(section.heading)}")
        parts.extend(section.paragraphs)
        parts.extend(f"* {item}" for item in section.items)
        parts.extend("   ".join(row) for row in section.table)
    text = "\n\n".join(parts) + "\n"
    return text.encode("utf-8-sig"), _line_places(content, text)


def write_rst(content: Content) -> tuple[bytes, dict[str, int | str]]:
    parts = [f"{'=' * len(content.title)}\n{content.title}\n{'=' * len(content.title)}"]
    for section in content.sections:
        parts.append(f"{section.heading}\n{('-' if section.level == 2 else '~') * len(section.heading)}")
        parts.extend(section.paragraphs)
        parts.append("\n".join(f"* {item}" for item in section.items))
        if section.table:
            rows = "\n".join("   * - " + "\n     - ".join(row) for row in section.table)
            parts.append(f".. list-table::\n   :header-rows: 1\n\n{rows}")
    text = "\n\n".join(part for part in parts if part) + "\n"
    return text.encode(), _line_places(content, text)


def page(content: Content, *, furniture: bool = True) -> str:
    """Return the content as a web page."""
    body = [f"<h1>{html.escape(content.title)}</h1>"]
    for section in content.sections:
        body.append(f"<h{section.level}>{html.escape(section.heading)}</h{section.level}>")
        body.extend(f"<p>{html.escape(text)}</p>" for text in section.paragraphs)
        if section.items:
            body.append("<ul>" + "".join(f"<li>{html.escape(item)}</li>" for item in section.items) + "</ul>")
        if section.table:
            rows = ["".join(f"<{'td' if i else 'th'}>{html.escape(c)}</{'td' if i else 'th'}>" for c in row)
                    for i, row in enumerate(section.table)]  # fmt: skip
            body.append("<table>" + "".join(f"<tr>{row}</tr>" for row in rows) + "</table>")
    main = "\n".join(body)
    if furniture:
        nav = '<nav><a href="/">Home</a> <a href="/prices">Buy now</a></nav>'
        main = f"{nav}<main>{main}</main><footer>Imprint and cookies</footer><script>track()</script>"
    head = f'<head><meta charset="utf-8"><title>{html.escape(content.title)}</title></head>'
    return f"<!DOCTYPE html><html>{head}<body>{main}</body></html>"


def write_html(content: Content) -> tuple[bytes, dict[str, int | str]]:
    return page(content).encode(), {}


def write_epub(content: Content) -> tuple[bytes, dict[str, int | str]]:
    out = io.BytesIO()
    body = page(content, furniture=False).replace(
        "<!DOCTYPE html><html>", '<html xmlns="http://www.w3.org/1999/xhtml">'
    )
    body = body.replace('<meta charset="utf-8">', "")
    with zipfile.ZipFile(out, "w") as package:
        package.writestr("mimetype", "application/epub+zip")
        package.writestr(
            "META-INF/container.xml",
            '<?xml version="1.0"?><container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">'
            '<rootfiles><rootfile full-path="content.opf" media-type="application/oebps-package+xml"/></rootfiles>'
            "</container>",
        )
        package.writestr(
            "content.opf",
            '<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id">'
            f'<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{html.escape(content.title)}</dc:title>'
            '<dc:identifier id="id">x</dc:identifier><dc:language>en</dc:language></metadata><manifest>'
            '<item id="c1" href="c1.xhtml" media-type="application/xhtml+xml"/></manifest>'
            '<spine><itemref idref="c1"/></spine></package>',
        )
        package.writestr("c1.xhtml", f'<?xml version="1.0" encoding="utf-8"?>{body}')
    return out.getvalue(), {}


def write_docx(content: Content) -> tuple[bytes, dict[str, int | str]]:
    import docx

    document = docx.Document()
    document.add_heading(content.title, level=1)
    for section in content.sections:
        document.add_heading(section.heading, level=section.level)
        for text in section.paragraphs:
            document.add_paragraph(text)
        for item in section.items:
            document.add_paragraph(item, style="List Bullet")
        if section.table:
            table = document.add_table(len(section.table), len(section.table[0]))
            for row, texts in zip(table.rows, section.table, strict=True):
                for cell, text in zip(row.cells, texts, strict=True):
                    cell.text = text
    out = io.BytesIO()
    document.save(out)
    return out.getvalue(), {}


def write_pptx(content: Content) -> tuple[bytes, dict[str, int | str]]:
    import pptx
    from pptx.util import Cm

    deck = pptx.Presentation()
    deck.slides.add_slide(deck.slide_layouts[0]).shapes.title.text = content.title
    places: dict[str, int | str] = {}
    for number, section in enumerate(content.sections, 2):
        slide = deck.slides.add_slide(deck.slide_layouts[1 if section.paragraphs or section.items else 5])
        slide.shapes.title.text = section.heading
        texts = [*section.paragraphs, *section.items]
        if texts:
            slide.placeholders[1].text = "\n".join(texts)
        if section.table:
            shape = slide.shapes.add_table(len(section.table), len(section.table[0]), Cm(1), Cm(12), Cm(20), Cm(5))
            for i, row in enumerate(section.table):
                for j, text in enumerate(row):
                    shape.table.cell(i, j).text = text
        places.update(dict.fromkeys(texts, number))
    out = io.BytesIO()
    deck.save(out)
    return out.getvalue(), places


def write_pdf(content: Content) -> tuple[bytes, dict[str, int | str]]:
    from fpdf import FPDF

    pdf = FPDF()
    pdf.add_font("body", fname=FONT)
    pdf.add_font("body", style="B", fname=FONT.with_name("DejaVuSans-Bold.ttf"))
    pdf.add_page()
    pdf.set_font("body", style="B", size=20)
    pdf.multi_cell(0, 10, text=content.title, new_x="LMARGIN", new_y="NEXT")
    places: dict[str, int | str] = {}
    for i, section in enumerate(content.sections):
        if i and i % 2 == 0:
            pdf.add_page()
        pdf.ln(4)
        pdf.set_font("body", style="B", size=15 if section.level == 2 else 13)
        pdf.multi_cell(0, 8, text=section.heading, new_x="LMARGIN", new_y="NEXT")
        pdf.set_font("body", size=11)
        for text in section.paragraphs:
            places[text[:40]] = pdf.page
            pdf.multi_cell(0, 6, text=text, new_x="LMARGIN", new_y="NEXT")
            pdf.ln(2)
        for item in section.items:
            places[item] = pdf.page
            pdf.multi_cell(0, 6, text=f"• {item}", new_x="LMARGIN", new_y="NEXT")
        if section.table:
            with pdf.table() as table:
                for row in section.table:
                    table.row(row)
    return bytes(pdf.output()), places


def write_xlsx(content: Content) -> tuple[bytes, dict[str, int | str]]:
    import openpyxl

    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Data"
    places: dict[str, int | str] = {}
    row = 1
    for text in (content.title,):
        sheet.cell(row, 1, text)
    for section in content.sections:
        row += 2
        sheet.cell(row, 1, section.heading)
        for text in (*section.paragraphs, *section.items):
            row += 1
            sheet.cell(row, 1, text)
            places[text] = f"A{row}"
        row += 1
        for cells in section.table:
            row += 1
            for column, text in enumerate(cells, 1):
                number = text.replace(".", "", 1).isdigit()
                cell = sheet.cell(row, column, (float(text) if "." in text else int(text)) if number else text)
                cell.number_format = "0.00" if number and "." in text else "General"
    out = io.BytesIO()
    book.save(out)
    return out.getvalue(), places


def table_of(content: Content) -> tuple[tuple[str, ...], ...]:
    """One table that says all of a content, for formats that are nothing but a table."""
    rows = [("Section", "Text")]
    for section in content.sections:
        rows += [(section.heading, text) for text in (*section.paragraphs, *section.items)]
        rows += [(section.heading, ", ".join(row)) for row in section.table]
    return tuple(rows)


def write_csv(content: Content) -> tuple[bytes, dict[str, int | str]]:
    out = io.StringIO()
    csv.writer(out, delimiter=";", lineterminator="\n").writerows(table_of(content))
    return out.getvalue().encode("utf-8-sig"), {text: i for i, (_, text) in enumerate(table_of(content), 1) if i > 1}


def write_json(content: Content) -> tuple[bytes, dict[str, int | str]]:
    rows = [dict(zip(table_of(content)[0], row, strict=True)) for row in table_of(content)[1:]]
    return json.dumps({"title": content.title, "entries": rows}, ensure_ascii=False, indent=1).encode(), {}


def write_eml(content: Content) -> tuple[bytes, dict[str, int | str]]:
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = "Ada <ada@acme.example>", "team@acme.example", content.title
    mail["Date"] = "Mon, 06 May 2024 10:00:00 +0000"
    mail.set_content(markdown(content))
    mail.add_alternative(page(content, furniture=False), subtype="html")
    return mail.as_bytes(), {}


def write_msg(content: Content) -> tuple[bytes, dict[str, int | str]]:
    from tests.adapters.documents.formats.test_formats import compound

    return compound(
        {
            "__properties_version1.0": bytes(32),
            "__substg1.0_001A001F": "IPM.Note".encode("utf-16-le"),
            "__substg1.0_0037001F": content.title.encode("utf-16-le"),
            "__substg1.0_0C1A001F": "Ada".encode("utf-16-le"),
            "__substg1.0_1000001F": markdown(content).split("\n", 1)[1].strip().encode("utf-16-le"),
        }
    ), {}


def write_rtf(content: Content) -> tuple[bytes, dict[str, int | str]]:
    def escaped(text: str) -> str:
        signs = ("\\" + sign if sign in "\\{}" else sign if ord(sign) < 128 else f"\\u{ord(sign)}?" for sign in text)
        return "".join(signs)

    styles = "".join(f"{{\\s{i}\\outlinelevel{i - 1} heading {i};}}" for i in (1, 2, 3))
    parts = ["{\\rtf1\\ansi\\ansicpg1252\\uc1{\\fonttbl{\\f0 Arial;}}{\\stylesheet{\\s0 Normal;}" + styles + "}"]
    parts.append(f"\\pard\\s1\\outlinelevel0\\b {escaped(content.title)}\\b0\\par")
    for section in content.sections:
        level = section.level
        parts.append(f"\\pard\\s{level}\\outlinelevel{level - 1}\\b {escaped(section.heading)}\\b0\\par")
        parts.extend(f"\\pard\\s0 {escaped(text)}\\par" for text in section.paragraphs)
        parts.extend(f"\\pard\\s0{{\\pntext\\bullet\\tab}}{escaped(item)}\\par" for item in section.items)
        for row in section.table:
            cells = "".join(f"\\cellx{(i + 1) * 2000}" for i in range(len(row)))
            texts = "".join(f"\\pard\\intbl {escaped(text)}\\cell" for text in row)
            parts.append(f"\\trowd{cells}{texts}\\row")
    return ("\n".join(parts) + "\\pard\\par}").encode("ascii"), {}


def write_odt(content: Content) -> tuple[bytes, dict[str, int | str]]:
    names = "".join(f' xmlns:{n}="urn:oasis:names:tc:opendocument:xmlns:{n}:1.0"' for n in ("office", "text", "table"))
    body = [f'<text:h text:outline-level="1">{html.escape(content.title)}</text:h>']
    for section in content.sections:
        body.append(f'<text:h text:outline-level="{section.level}">{html.escape(section.heading)}</text:h>')
        body.extend(f"<text:p>{html.escape(text)}</text:p>" for text in section.paragraphs)
        items = (f"<text:list-item><text:p>{html.escape(item)}</text:p></text:list-item>" for item in section.items)
        body.append(f"<text:list>{''.join(items)}</text:list>" if section.items else "")
        rows = ("".join(f"<table:table-cell><text:p>{html.escape(c)}</text:p></table:table-cell>" for c in row)
                for row in section.table)  # fmt: skip
        table = "".join(f"<table:table-row>{row}</table:table-row>" for row in rows)
        columns = (
            f'<table:table-column table:number-columns-repeated="{len(section.table[0])}"/>' if section.table else ""
        )
        body.append(f'<table:table table:name="Table1">{columns}{table}</table:table>' if table else "")
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as package:
        package.writestr("mimetype", "application/vnd.oasis.opendocument.text")
        package.writestr(
            "META-INF/manifest.xml",
            f'<?xml version="1.0"?><manifest:manifest xmlns:manifest="{MANIFEST}">'
            f'<manifest:file-entry manifest:full-path="/" manifest:media-type="{ODT}"/>'
            '<manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/>'
            "</manifest:manifest>",
        )
        package.writestr(
            "content.xml",
            f'<?xml version="1.0" encoding="UTF-8"?><office:document-content{names} office:version="1.2"><office:body>'
            f"<office:text>{''.join(body)}</office:text></office:body></office:document-content>",
        )
    return out.getvalue(), {}


Writer = Callable[[Content], tuple[bytes, dict[str, int | str]]]
WRITERS: dict[str, Writer] = {
    "md": write_md, "txt": write_txt, "rst": write_rst, "html": write_html, "epub": write_epub, "docx": write_docx,
    "pptx": write_pptx, "pdf": write_pdf, "xlsx": write_xlsx, "csv": write_csv, "json": write_json, "eml": write_eml,
    "msg": write_msg, "rtf": write_rtf, "odt": write_odt,
}  # fmt: skip
TABLES_ONLY = ("csv", "json")
NO_HEADINGS = ("xlsx", "csv", "json")


def cases() -> list[Case]:
    """Every content in every format."""
    return [_case(ending, writer, content) for ending, writer in WRITERS.items() for content in CONTENTS]


def _case(ending: str, writer: Writer, content: Content) -> Case:
    data, places = writer(content)
    headings = () if ending in NO_HEADINGS else tuple(section.heading for section in content.sections)
    if ending in TABLES_ONLY:
        rows = table_of(content)
        return Case(f"{content.name}.{ending}", data, tuple(" ".join(row) for row in rows), (), (rows,), places)
    tables = () if ending == "txt" else tuple(section.table for section in content.sections if section.table)
    return Case(f"{content.name}.{ending}", data, tuple(content.pieces()), headings, tables, places)
