"""Scanned pages and images read by text recognition, and what is said where it is not installed."""

import io
import zipfile
from collections import Counter
from collections.abc import AsyncIterator

import numpy as np
import pytest
from PIL import Image

from adapters.documents.parser import DocumentParser, ocr_installed
from core.model.errors import DocumentRejected, NoText
from tests.adapters.documents.ocr_pages import WORDS, page_in_any_letters, page_pdf, picture, png, scanned

needs_ocr = [
    pytest.mark.live,
    pytest.mark.skipif(not ocr_installed(), reason="the ocr extra is not installed (make setup OCR=1)"),
]


SAID = {
    "German": (
        "Flüge über sechs Stunden dürfen von allen gebucht werden.",
        "Belege werden für die Prüfung sieben Jahre aufbewahrt.",
    ),
    "French": (
        "Les vols de plus de six heures peuvent être réservés par tous.",
        "Les reçus sont conservés pendant sept années à l'étage.",
    ),
    "Polish": (
        "Loty dłuższe niż sześć godzin są rezerwowane przez każdego.",
        "Paragony są przechowywane w biurze i nie są wysyłane.",
    ),
    "Turkish": (
        "Altı saatten uzun uçuşları herkes için ofis ayırtabilir.",
        "Makbuzlar yedi yıl kadar saklanır ve daha sonra atılır.",
    ),
}
UNKNOWN_LETTERS = {
    "Cyrillic": (
        "Рейсы более шести часов может бронировать каждый.",
        "Квитанции хранятся семь лет и отправляются в отдел.",
        "Счёт 2024-118 от 06.05.2024 на 1 250,00",
    ),
    "Greek": (
        "Οι πτήσεις άνω των έξι ωρών μπορούν να κρατηθούν.",
        "Οι αποδείξεις φυλάσσονται για επτά χρόνια.",
    ),
}


def archive(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as package:
        for name, data in files.items():
            package.writestr(name, data)
    return out.getvalue()


@pytest.fixture
async def parser() -> AsyncIterator[DocumentParser]:
    async with DocumentParser() as parser:
        yield parser


def words(text: str) -> Counter[str]:
    return Counter(text.split())


class TestWithTheExtra:
    pytestmark = needs_ocr

    async def test_a_scan_is_read_page_by_page_and_says_how_sure_it_is(self, parser: DocumentParser) -> None:
        pages = [picture(page_pdf(WORDS[:4])), picture(page_pdf(WORDS[4:]))]
        told: list[tuple[int, int]] = []
        parsed = await parser.parse(
            "scan.pdf", scanned(*pages, before="A page with text"), lambda done, total: told.append((done, total))
        )
        assert [block.page for block in parsed.blocks] == [1, 2, 3]
        assert parsed.blocks[0].label is None
        assert (parsed.blocks[1].label or "").startswith("read by OCR, 9")
        assert told == [(0, 2), (1, 2)]
        for block, said in zip(parsed.blocks[1:], (WORDS[:4], WORDS[4:]), strict=True):
            assert words(block.text) == words(" ".join(said))
        assert [note.split(":")[0] for note in parsed.notes] == ["page 2 read by OCR", "page 3 read by OCR"]
        assert parsed.notes[0].startswith("page 2 read by OCR: English, 9")

    async def test_a_screenshot_is_a_document_by_itself(self, parser: DocumentParser) -> None:
        parsed = await parser.parse("error.png", png(picture(page_pdf(WORDS[:3]), dpi=96)))
        assert (parsed.title, parsed.media_type) == ("error", "image/png")
        [block] = parsed.blocks
        assert block.page is None
        assert "premium economy" in block.text

    async def test_a_scan_that_hangs_on_a_question_is_read_for_its_first_pages(self, parser: DocumentParser) -> None:
        page = picture(page_pdf(WORDS[:2]))
        parsed = await parser.parse_attachment("scan.pdf", scanned(*[page] * 5))
        assert [block.page for block in parsed.blocks] == [1, 2, 3]
        assert parsed.notes[-1] == "2 more pages are pictures; at most 3 are read by OCR"

    async def test_a_picture_without_text_is_a_file_without_text_and_no_failure(self, parser: DocumentParser) -> None:
        with pytest.raises(NoText, match="no text in this picture"):
            await parser.parse("sky.png", png(Image.new("L", (800, 600), 200)))

    async def test_noise_is_refused_rather_than_indexed(self, parser: DocumentParser) -> None:
        grain = np.random.default_rng(1).integers(0, 255, (900, 700), dtype=np.uint8)
        with pytest.raises(DocumentRejected, match=r"no text in this picture|only \d+% sure"):
            await parser.parse("noise.png", png(Image.fromarray(grain)))

    async def test_a_page_too_poor_to_rely_on_is_refused_and_the_others_are_read(self, parser: DocumentParser) -> None:
        poor = picture(page_pdf(WORDS[4:]), dpi=40, noise=60)
        parsed = await parser.parse("scan.pdf", scanned(picture(page_pdf(WORDS[:4])), poor))
        assert [block.page for block in parsed.blocks] == [1]
        assert any(note.startswith("page 2 not read by OCR: ") for note in parsed.notes)

    async def test_two_columns_are_read_one_after_the_other(self, parser: DocumentParser) -> None:
        left, right = (
            picture(page_pdf(part, size=9), dpi=150).crop((0, 0, 800, 500)) for part in (WORDS[:4], WORDS[4:])
        )
        both = Image.new("L", (1640, 500), 255)
        both.paste(left, (0, 0))
        both.paste(right, (840, 0))
        text = (await parser.parse("columns.png", png(both))).blocks[0].text
        assert text.index("Parental leave") < text.index("refund takes")

    @pytest.mark.parametrize("language", ["German", "French", "Polish", "Turkish"])
    async def test_the_language_of_a_page_is_named_and_its_accents_are_kept(
        self, language: str, parser: DocumentParser
    ) -> None:
        parsed = await parser.parse("page.png", png(picture(page_in_any_letters(SAID[language]))))
        assert parsed.notes[0].startswith(f"read by OCR: {language}, 9")
        assert words(parsed.blocks[0].text) == words(" ".join(SAID[language]))

    @pytest.mark.parametrize(("letters", "lines"), UNKNOWN_LETTERS.items())
    async def test_a_page_in_letters_that_are_not_read_is_refused_rather_than_indexed_as_dots(
        self, letters: str, lines: tuple[str, ...], parser: DocumentParser
    ) -> None:
        with pytest.raises(DocumentRejected, match=r"which text recognition \(OCR\) does not read") as refused:
            await parser.parse("page.png", png(picture(page_in_any_letters(lines))))
        assert "Latin letters, Chinese and Japanese" in str(refused.value)

    async def test_pictures_in_an_archive_are_read_with_their_paths(self, parser: DocumentParser) -> None:
        pages = [picture(page_pdf(WORDS[:3])), picture(page_pdf(WORDS[3:6]))]
        files = {
            "notes/a.md": b"# Notes\n\nOf Monday.",
            "scans/lease.pdf": scanned(pages[0], before="A page with text"),
            "z.md": b"# Last",
            "shots/error.png": png(pages[1]),
        }
        told: list[tuple[int, int]] = []
        parsed = await parser.parse("all.zip", archive(files), lambda done, total: told.append((done, total)))
        assert [(block.label or "").partition(",")[0] for block in parsed.blocks] == [
            "notes/a.md", "scans/lease.pdf", "scans/lease.pdf: read by OCR", "z.md", "shots/error.png: read by OCR"
        ]  # fmt: skip
        assert [block.page for block in parsed.blocks] == [None, 1, 2, None, None]
        assert "premium economy" in parsed.blocks[2].text
        assert "sixteen weeks" in parsed.blocks[4].text
        assert told == [(0, 2), (1, 2)]
        assert parsed.notes[0].startswith("scans/lease.pdf, page 2 read by OCR: English")

    async def test_an_archive_of_nothing_but_pictures_is_a_document(self, parser: DocumentParser) -> None:
        parsed = await parser.parse("shots.zip", archive({"a.png": png(picture(page_pdf(WORDS[:3])))}))
        assert (parsed.title, len(parsed.blocks)) == ("shots", 1)


class TestWithoutTheExtra:
    async def test_an_archive_names_the_extra_for_its_pictures(self) -> None:
        image = png(picture(page_pdf()))
        async with DocumentParser(with_ocr=False) as parser:
            parsed = await parser.parse("a.zip", archive({"a.md": b"# A", "b.png": image}))
            assert "footnote[ocr]" in parsed.notes[0]
            with pytest.raises(DocumentRejected, match="nothing but pictures: one page is a picture"):
                await parser.parse("b.zip", archive({"b.png": image}))

    async def test_the_reason_names_the_extra(self) -> None:
        image = picture(page_pdf())
        async with DocumentParser(with_ocr=False) as parser:
            for name, data, what in (("a.png", png(image), "an image"), ("a.pdf", scanned(image), "a scan")):
                with pytest.raises(DocumentRejected, match=rf"This (PDF )?is {what}: one page is a picture") as refused:
                    await parser.parse(name, data)
                assert "footnote[ocr]" in str(refused.value)

    async def test_what_has_text_is_read_and_the_pictures_are_named(self) -> None:
        async with DocumentParser(with_ocr=False) as parser:
            parsed = await parser.parse("a.pdf", scanned(picture(page_pdf()), before="A page with text"))
        assert [block.text for block in parsed.blocks] == ["A page with text"]
        assert parsed.notes[0].startswith("one page is a picture without a text layer not read: pip install")

    @pytest.mark.parametrize("data", [b"\x89PNG\r\n\x1a\n" + bytes(50), b"\xff\xd8\xff" + bytes(50)])
    async def test_a_damaged_image_says_so(self, data: bytes) -> None:
        async with DocumentParser(with_ocr=False) as parser:
            with pytest.raises(DocumentRejected, match="damaged"):
                await parser.parse("a.png", data)
