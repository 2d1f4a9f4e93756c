"""Office files besides their main text: page headers, footers, comments, links, and omitted parts."""

from collections.abc import Callable
from io import BytesIO
from typing import Any

import pytest

from adapters.documents.reader import read
from core.model.document_content import ParsedDocument

PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c636060606000000005000157a7d5d40000000049454e44ae426082"
)


def text_of(parsed: ParsedDocument) -> str:
    return "\n\n".join(block.text for block in parsed.blocks)


# --- Word


def document(*changes: Callable[[Any], None]) -> ParsedDocument:
    import docx

    made = docx.Document()
    made.add_heading("Bags", 1)
    made.add_paragraph("Bags are washed once a week.")
    for change in changes:
        change(made)
    out = BytesIO()
    made.save(out)
    return read("bags.docx", out.getvalue())


def header(text: str, kind: str = "header", section: int = 0) -> Callable[[Any], None]:
    def change(made: Any) -> None:
        margin = getattr(made.sections[section], kind)
        margin.is_linked_to_previous = False
        margin.paragraphs[0].text = text

    return change


def link(text: str, address: str, **where: str) -> Callable[[Any], None]:
    """A paragraph with a link, as Word writes it: a relation, or a field."""

    def change(made: Any) -> None:
        from docx.oxml import OxmlElement, parse_xml
        from docx.oxml.ns import nsdecls, qn

        paragraph = made.add_paragraph("Use ")
        if where.get("as_") == "field":
            for piece in (
                '<w:fldChar w:fldCharType="begin"/>',
                f'<w:instrText xml:space="preserve"> HYPERLINK "{address}" </w:instrText>',
                '<w:fldChar w:fldCharType="separate"/>',
                f"<w:t>{text}</w:t>",
                '<w:fldChar w:fldCharType="end"/>',
            ):
                paragraph._p.append(parse_xml(f"<w:r {nsdecls('w')}>{piece}</w:r>"))
        else:
            element = OxmlElement("w:hyperlink")
            kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/hyperlink"
            element.set(qn("r:id"), made.part.relate_to(address, kind, is_external=True))
            for word in text.split(" "):
                run = OxmlElement("w:r")
                words = OxmlElement("w:t")
                words.text = word if word == text.rsplit(" ", maxsplit=1)[-1] else f"{word} "
                words.set(qn("xml:space"), "preserve")
                run.append(words)
                element.append(run)
            paragraph._p.append(element)
        paragraph.add_run(" now.")

    return change


@pytest.mark.parametrize("kind", ["header", "first_page_header", "even_page_header"])
def test_a_page_header_is_read_below_the_title(kind: str) -> None:
    text = text_of(document(header("Owner: Tomas Wirth, review due 14 June 2027", kind)))
    assert text.startswith("# Bags\n\nPage header: Owner: Tomas Wirth, review due 14 June 2027\n\nBags are washed")


def test_a_page_footer_is_read_at_the_end_and_page_numbers_are_not() -> None:
    text = text_of(document(header("Reference QM-318", "footer"), header("Page 3 of 12", "header")))
    assert text.endswith("Bags are washed once a week.\n\nPage footer: Reference QM-318")
    assert "of 12" not in text


def test_headers_of_several_sections_are_said_once_each() -> None:
    def sections(made: Any) -> None:
        for text in ("Depot West", "Depot East", "Depot West"):
            made.add_section()
            header(text, section=len(made.sections) - 1)(made)

    text = text_of(document(header("Depot West"), sections))
    assert text.count("Page header: Depot West") == 1
    assert text.count("Page header: Depot East") == 1


@pytest.mark.parametrize("as_", ["relation", "field"])
@pytest.mark.parametrize("text", ["portal", "claims portal", "the form for leave"])
def test_the_address_behind_a_link_of_word_is_kept(as_: str, text: str) -> None:
    address = "https://forms.x.example/new?team=hr"
    assert f"Use [{text}]({address}) now." in text_of(document(link(text, address, as_=as_)))


@pytest.mark.parametrize("address", ["file:///c:/secret", "javascript:alert(1)", "https://a@b.example/x"])
def test_an_address_that_nobody_should_follow_is_not_kept(address: str) -> None:
    assert "Use portal now." in text_of(document(link("portal", address)))


def test_an_address_that_is_its_own_words_is_not_repeated() -> None:
    text = text_of(document(link("https://x.example/form", "https://x.example/form")))
    assert "Use https://x.example/form now." in text


def test_what_of_a_document_is_left_out_is_named() -> None:
    def change(made: Any) -> None:
        from docx.oxml import parse_xml
        from docx.oxml.ns import nsdecls

        made.add_picture(BytesIO(PIXEL))
        made.add_picture(BytesIO(PIXEL))
        described = made.add_picture(BytesIO(PIXEL))._inline.docPr
        described.set("descr", "Plan of the yard")
        gone = f"<w:del {nsdecls('w')}><w:r><w:delText>never</w:delText></w:r></w:del>"
        made.paragraphs[1]._p.append(parse_xml(gone))

    parsed = document(change)
    assert "[Image: Plan of the yard]" in text_of(parsed)
    assert parsed.notes == (
        "deleted text of tracked changes left out",
        "pictures without an alternative text not read: 2",
    )


# --- PowerPoint


def deck(*changes: Callable[[Any], None]) -> ParsedDocument:
    import pptx

    made = pptx.Presentation()
    slide = made.slides.add_slide(made.slide_layouts[1])
    slide.shapes.title.text = "Yard"
    slide.placeholders[1].text = "The gate is locked at nine."
    for change in changes:
        change(made)
    out = BytesIO()
    made.save(out)
    return read("yard.pptx", out.getvalue())


def comments(kind: str, body: str, people: str) -> Callable[[Any], None]:
    def change(made: Any) -> None:
        from pptx.opc.package import Part
        from pptx.opc.packuri import PackURI

        office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
        modern = "http://schemas.microsoft.com/office/2018/10/relationships"
        reltypes = (
            (f"{office}/comments", f"{office}/commentAuthors")
            if kind == "old"
            else (f"{modern}/comments", f"{modern}/authors")
        )
        for owner, reltype, path, content in (
            (made.slides[0].part, reltypes[0], "/ppt/comments/one.xml", body),
            (made.part, reltypes[1], "/ppt/people.xml", people),
        ):
            part = Part(PackURI(path), "application/xml", owner.package, content.encode())
            owner.relate_to(part, reltype)

    return change


OLD = (
    '<p:cmLst xmlns:p="p"><p:cm authorId="3"><p:text>Since when?</p:text></p:cm></p:cmLst>',
    '<p:cmAuthorLst xmlns:p="p"><p:cmAuthor id="3" name="Ada Brook"/></p:cmAuthorLst>',
)
_SAID = "<c:txBody><a:p><a:r><a:t>{}</a:t></a:r></a:p></c:txBody>"
_REPLY = f'<c:replyLst><c:reply authorId="4">{_SAID.format("Since May.")}</c:reply></c:replyLst>'
NEW = (
    f'<c:cmLst xmlns:c="c" xmlns:a="a"><c:cm authorId="3">{_REPLY}{_SAID.format("Since when?")}</c:cm></c:cmLst>',
    '<c:authorLst xmlns:c="c"><c:author id="3" name="Ada Brook"/><c:author id="4" name="Ben Ohm"/></c:authorLst>',
)


def test_comments_of_reviewers_on_slides_are_read_as_such() -> None:
    assert text_of(deck(comments("old", *OLD))).endswith("at nine.\n\n[Comment by Ada Brook: Since when?]")


def test_threads_of_comments_on_slides_are_read_as_such() -> None:
    text = text_of(deck(comments("new", *NEW)))
    assert text.endswith("[Comment by Ada Brook: Since when?]\n\n[Reply by Ben Ohm: Since May.]")


def test_a_comment_of_somebody_unknown_is_still_a_comment() -> None:
    assert "[Comment: Since when?]" in text_of(deck(comments("old", OLD[0], '<p:cmAuthorLst xmlns:p="p"/>')))


def test_links_of_runs_shapes_and_cells_keep_their_addresses() -> None:
    def change(made: Any) -> None:
        from pptx.util import Inches

        slide = made.slides[0]
        run = slide.placeholders[1].text_frame.paragraphs[0].add_run()
        run.text = " See the plan"
        run.hyperlink.address = "https://x.example/plan"
        box = slide.shapes.add_textbox(Inches(1), Inches(5), Inches(2), Inches(1))
        box.text_frame.text = "Booking"
        box.click_action.hyperlink.address = "https://x.example/book"
        cells = slide.shapes.add_table(2, 2, Inches(1), Inches(6), Inches(4), Inches(1)).table
        for place, words in {(0, 0): "Topic", (0, 1): "Form", (1, 0): "Leave"}.items():
            cells.cell(*place).text = words
        run = cells.cell(1, 1).text_frame.paragraphs[0].add_run()
        run.text = "absence"
        run.hyperlink.address = "https://x.example/leave"

    text = text_of(deck(change))
    assert "at nine. [See the plan](https://x.example/plan)" in text
    assert "[Booking](https://x.example/book)" in text
    assert "| Leave | [absence](https://x.example/leave) |" in text


def test_what_of_slides_is_left_out_is_named() -> None:
    def change(made: Any) -> None:
        made.slides[0].shapes.add_picture(BytesIO(PIXEL), 0, 0)
        hidden = made.slides.add_slide(made.slide_layouts[5])
        hidden.shapes.title.text = "Secret"
        hidden._element.set("show", "0")

    parsed = deck(change)
    assert "Secret" not in text_of(parsed)
    assert parsed.notes == ("hidden slides left out: 2", "pictures without an alternative text not read: 1")


# --- other formats' links


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("a.html", b"<p>Use <a href='https://x.example/f'>the form</a>.</p>", "Use [the form](https://x.example/f)."),
        ("a.html", b"<p><a href='https://x.example/(1)'>One <b>two</b></a></p>", "[One **two**](https://x.example/%281%29)"),
        ("a.html", b"<p>See <a href='/here'>this</a> <a href='#x'>part</a>.</p>", "See this part."),
        ("a.html", b"<h1><a href='https://x.example/'>Yard</a></h1><p>Text.</p>", "# Yard\n\nText."),
        ("a.html", b"<table><tr><th>T<th>F<tr><td>L<td><a href='https://x.example/f'>f</a></table>",
         "| T | F |\n| --- | --- |\n| L | [f](https://x.example/f) |"),
        ("a.rtf", rb'{\rtf1 Use {\field{\*\fldinst{HYPERLINK "https://x.example/f"}}{\fldrslt{\ul the form}}}.\par}',
         "Use [the form](https://x.example/f)."),
        ("a.rtf", rb"{\rtf1 Page {\field{\*\fldinst PAGE}{\fldrslt 3}}.\par}", "Page 3."),
    ],
)  # fmt: skip
def test_addresses_are_kept_in_other_formats(name: str, data: bytes, expected: str) -> None:
    assert text_of(read(name, data)) == expected
