"""Pages of PDFs drawn in the sandbox, with the places where a quote stands."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from adapters.documents.parser import SandboxedPagePictures, picture_of
from core.model.errors import DocumentRejected

PDF = Path(__file__).parents[3] / "bot/samples/documents/policies/data-protection-overview.pdf"
SENTENCE = "All customer data is stored in Dublin, with a standby copy in Frankfurt."

pytestmark = pytest.mark.e2e


@pytest.fixture
async def pictures() -> AsyncIterator[SandboxedPagePictures]:
    async with SandboxedPagePictures() as drawing:
        yield drawing


async def test_the_quote_is_marked_where_it_stands(pictures: SandboxedPagePictures) -> None:
    data = PDF.read_bytes()
    marked = await pictures.draw("overview.pdf", data, 1, SENTENCE)
    plain = await pictures.draw("overview.pdf", data, 1)
    elsewhere = await pictures.draw("overview.pdf", data, 2, SENTENCE)
    assert marked.png.startswith(b"\x89PNG")
    assert marked.pages == 4
    assert plain.marks == elsewhere.marks == ()
    assert marked.marks
    for box in marked.marks:
        assert 0 < box.x < box.x + box.width < marked.width
        assert 0 < box.y < box.y + box.height < marked.height
        assert box.width > 5 * box.height, "a line, not a letter"


async def test_line_ends_hyphens_and_markup_of_the_quote_do_not_matter(pictures: SandboxedPagePictures) -> None:
    data = PDF.read_bytes()
    asked = "**All customer data** is stored in\nDub-\nlin, with a stand-by copy in `Frankfurt`."
    found, wanted = [await pictures.draw("a.pdf", data, 1, quote) for quote in (asked, SENTENCE)]
    assert found.marks == wanted.marks != ()


async def test_of_a_quote_that_is_not_there_as_a_whole_its_sentences_are_marked(
    pictures: SandboxedPagePictures,
) -> None:
    found = await pictures.draw("a.pdf", PDF.read_bytes(), 1, f"This sentence stands nowhere at all. {SENTENCE}")
    assert found.marks


@pytest.mark.parametrize(("data", "page", "reason"), [
    (b"%PDF-1.4 nonsense", 1, "cannot be shown"),
    (b"<html>", 1, "Only pages of PDFs"),
    (PDF.read_bytes(), 9, "no page 9: it has 4"),
])  # fmt: skip
async def test_what_cannot_be_drawn_is_refused_with_its_reason(
    pictures: SandboxedPagePictures, data: bytes, page: int, reason: str
) -> None:
    with pytest.raises(DocumentRejected, match=reason):
        await pictures.draw("a.pdf", data, page)


@pytest.mark.parametrize("body", [
    b"", b"[]", b"{}", b'{"png": "aGVsbG8="}', b'{"rejected": ""}',
    json.dumps({"png": "iVBORw0KGgo=", "width": "x", "height": 1, "pages": 1, "marks": []}).encode(),
    json.dumps({"png": "iVBORw0KGgo=", "width": 1, "height": 1, "pages": 1, "marks": [[1]]}).encode(),
])  # fmt: skip
def test_an_answer_that_makes_no_sense_is_no_picture(body: bytes) -> None:
    with pytest.raises(DocumentRejected):
        picture_of(body)
