"""Web pages as they are found: nested without end, cells full of headings, addresses hidden from collectors."""

import pytest

from adapters.documents.reader import read
from core.model.errors import DocumentRejected


def markdown(page: str) -> str:
    return read("a.html", page.encode()).blocks[0].text


@pytest.mark.parametrize(
    ("opened", "closed"),
    [
        ("<div>word ", "</div>"),
        ("<b>word ", "</b>"),
        ("<ul><li>word ", "</li></ul>"),
        ("<table><tr><td>word ", "</td></tr></table>"),
        ("<blockquote>word ", "</blockquote>"),
        ("<div class='menu'>word ", "</div>"),
    ],
)
@pytest.mark.timeout(60)
def test_a_page_nested_twenty_thousand_deep_is_read_whole(opened: str, closed: str) -> None:
    text = markdown(f"<h1>Top</h1>{opened * 20_000}end{closed * 20_000}<p>After it.</p>")
    assert text.count("word") == 20_000
    assert text.startswith("# Top")
    assert text.endswith("After it.")


def test_headings_and_paragraphs_inside_a_cell_are_words_apart() -> None:
    row = "<tr><td><h3>Basic</h3>for one</td><td><div>Free</div><div>of charge</div></td><td>a<h4>b</h4>c</td></tr>"
    text = markdown(f"<table><tr><th>Plan</th><th>Price</th><th>X</th></tr>{row}</table>")
    assert "| Basic for one | Free of charge | a b c |" in text


def test_a_heading_beside_text_is_a_line_of_its_own() -> None:
    text = markdown(
        "<div>Before<h2>Refunds</h2>Within 30 days<a href='/x'><h3>Cash</h3><span>in a week</span></a></div>"
    )
    assert text == "Before\n\n## Refunds\n\nWithin 30 days\n\n### Cash\n\nin a week"


def test_mail_addresses_behind_links_are_kept() -> None:
    page = """<p>Write to <a href="mailto:ops@acme.example?subject=Help">the team</a> or
    <a href="MAILTO:ada@acme.example">ada@acme.example</a>, <a href="mailto:">nobody</a>.</p>"""
    assert markdown(page) == "Write to the team (ops@acme.example) or ada@acme.example, nobody."


def hidden(address: str) -> str:
    return "5a" + "".join(f"{ord(letter) ^ 0x5A:02x}" for letter in address)


def test_mail_addresses_that_a_proxy_hides_are_uncovered() -> None:
    link = f'<a href="/cdn-cgi/l/email-protection#{hidden("ops@acme.example")}">Mail us</a>'
    span = f'<span class="__cf_email__" data-cfemail="{hidden("ada@acme.example")}">[email&#160;protected]</span>'
    assert markdown(f"<p>{link} or {span}.</p>") == "Mail us (ops@acme.example) or ada@acme.example."


def test_a_page_of_too_many_tags_is_refused_with_its_number() -> None:
    with pytest.raises(DocumentRejected, match=r"over 75,000 elements\. Add it in parts"):
        read("page.html", b"<a><b></a>" * 100_000)


def test_what_is_removed_with_furniture_is_not_looked_at_again() -> None:
    page = "<nav><div class='menu'><a>Home</a></div></nav>" + "<p>Refunds take 30 days. " * 20
    assert "Home" not in markdown(page)


@pytest.mark.parametrize(
    ("head", "href", "shown"),
    [
        ('<link rel="canonical" href="https://wiki.tarn.example/hr/absence">', "forms/a", "/hr/forms/a"),
        ('<base href="https://wiki.tarn.example/base/">', "../form", "/form"),
        ('<meta property="og:url" content="https://wiki.tarn.example/hr/">', "/f.pdf", "/f.pdf"),
        ('<base href="/files/"><link rel="canonical" href="https://wiki.tarn.example/hr/">', "f.pdf", "/files/f.pdf"),
    ],
)
def test_a_relative_link_is_shown_with_the_address_of_its_page(head: str, href: str, shown: str) -> None:
    body = f'<p>Send the <a href="{href}">absence form</a> before noon.</p>'
    page = f"<html><head>{head}</head><body>{body}</body></html>"

    assert markdown(page) == f"Send the [absence form](https://wiki.tarn.example{shown}) before noon."


@pytest.mark.parametrize(
    ("head", "href"),
    [
        ("", "form"),
        ('<base href="javascript:alert(1)">', "form"),
        ('<base href="https://user:secret@wiki.tarn.example/">', "form"),
        ('<link rel="canonical" href="https://wiki.tarn.example/">', "javascript:alert(1)"),
        ('<link rel="canonical" href="https://wiki.tarn.example/">', "https://[bad"),
        ('<link rel="canonical" href="https://wiki.tarn.example/">', "#part"),
    ],
)
def test_a_link_without_a_sound_address_is_its_words(head: str, href: str) -> None:
    body = f'<p>Send the <a href="{href}">absence form</a> before noon.</p>'
    page = f"<html><head>{head}</head><body>{body}</body></html>"

    assert markdown(page) == "Send the absence form before noon."
