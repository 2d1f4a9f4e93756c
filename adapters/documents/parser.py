"""Entry points to the sandboxes: any file to text, and one page of a PDF to an image.

Files are parsed in one sandbox; pages that are images go through OCR in another. The OCR packages are an extra. Without
them, files that need OCR are refused with a reason that names the extra.
"""

import base64
import importlib.util
import json
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Self

from adapters.documents.format import by_media_type
from adapters.documents.sandbox.formulas import computed
from adapters.documents.sandbox.pool import MB, Sandbox, SandboxLimits
from adapters.documents.titles import stem
from core.model.document_content import Block, ParsedDocument, PicturePage
from core.model.errors import DocumentRejected, NoText
from core.ports.sources import Box, PagePicture, PagePictures

MAX_ATTACHED_PAGES = 3
"""For a file attached to a question, which waits for them."""

MAX_OCR_PAGES = 200
"""Pages read by OCR in one document: about ten to twenty minutes of two cores."""

OCR_LIMITS = SandboxLimits(memory=1_536 * MB, seconds=120.0, cpu_seconds=240, output_bytes=4 * MB, documents=100)
"""Limits for one page; the models alone take about 800 MB."""

MISSING = "pip install 'footnote[ocr]' reads them (from a checkout: make setup OCR=1)."


def ocr_installed() -> bool:
    """Return whether the OCR extra is installed."""
    return all(importlib.util.find_spec(name) is not None for name in ("rapidocr", "onnxruntime"))


class DocumentParser:
    """Parser of every file into text. Use it as `async with DocumentParser() as parser`.

    Args:
        sandbox: parses the files; created with default limits if omitted.
        with_ocr: whether pages that are images are read; by default, if the extra is installed.
    """

    def __init__(self, sandbox: Sandbox | None = None, *, with_ocr: bool | None = None) -> None:
        self._sandbox = sandbox or Sandbox()
        reads = ocr_installed() if with_ocr is None else with_ocr
        self._ocr = Sandbox(workers=1, limits=OCR_LIMITS, task="recognize") if reads else None
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        await self._stack.enter_async_context(self._sandbox)
        if self._ocr is not None:
            await self._stack.enter_async_context(self._ocr)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    async def parse(self, name: str, data: bytes, progress: Callable[[int, int], None] | None = None) -> ParsedDocument:
        """Return the document's text; call `progress` with (pages done, pages to do) during OCR.

        Raises:
            DocumentRejected: with the reason why it cannot be indexed.
        """
        return await self._parse(name, data, MAX_OCR_PAGES, progress)

    async def parse_attachment(self, name: str, data: bytes) -> ParsedDocument:
        """Parse a file attached to a question, with OCR for only a few pages. Raises DocumentRejected."""
        return await self._parse(name, data, MAX_ATTACHED_PAGES, None)

    async def _parse(
        self, name: str, data: bytes, most: int, progress: Callable[[int, int], None] | None
    ) -> ParsedDocument:
        parsed = await self._sandbox.read(name, data)
        if parsed.uncomputed:
            parsed = await self._with_formulas(name, data, parsed)
        if not parsed.picture_pages:
            return parsed
        if self._ocr is None:
            return self._without_ocr(parsed)
        return await self._with_ocr(self._ocr, name, data, parsed, most, progress)

    async def _with_formulas(self, name: str, data: bytes, parsed: ParsedDocument) -> ParsedDocument:
        """Return the workbook with its formulas computed, or unchanged if LibreOffice is missing or fails."""
        values = await computed(data)
        if values is None:
            return parsed
        try:
            found = await self._sandbox.read(name, values)
        except DocumentRejected:
            return parsed
        if found.uncomputed >= parsed.uncomputed:
            return parsed
        note = f"formulas computed by LibreOffice: {parsed.uncomputed - found.uncomputed}"
        return replace(found, title=parsed.title, modified=parsed.modified, notes=(*found.notes, note))

    def _without_ocr(self, parsed: ParsedDocument) -> ParsedDocument:
        pages = len(parsed.picture_pages)
        if parsed.blocks:
            return replace(
                parsed, notes=(*parsed.notes, f"{_picture_pages(pages)} without a text layer not read: {MISSING}")
            )
        what = by_media_type()[parsed.media_type].pictures or "This file is a scan"
        raise DocumentRejected(
            f"{what}: {_picture_pages(pages)} without a text layer, and text recognition (OCR) is not installed.",
            remedy=MISSING,
        )

    async def _with_ocr(
        self,
        ocr: Sandbox,
        name: str,
        data: bytes,
        parsed: ParsedDocument,
        most: int,
        progress: Callable[[int, int], None] | None,
    ) -> ParsedDocument:
        wanted = parsed.picture_pages[:most]
        found: list[tuple[PicturePage, Block]] = []
        notes: list[str] = []
        refused: list[tuple[PicturePage, DocumentRejected]] = []
        for done, page in enumerate(wanted):
            if progress is not None:
                progress(done, len(wanted))
            try:
                read = await ocr.read_page(name, data, page)
            except DocumentRejected as rejected:
                refused.append((page, rejected))
                continue
            found.extend((page, block) for block in read.blocks)
            notes.extend(f"{_page_name(page)} read by OCR: {note}" for note in read.notes)
        if not found and not parsed.blocks:
            raise next((why for _, why in refused if not isinstance(why, NoText)), refused[0][1])
        return _join_ocr_pages(
            name, parsed, found, [*_shorten_notes(notes), *_reasons(refused), *_left_out(parsed, most)]
        )


def _join_ocr_pages(
    name: str, parsed: ParsedDocument, found: list[tuple[PicturePage, Block]], notes: list[str]
) -> ParsedDocument:
    """Return the pages that had text and those that were read by OCR, in their order."""
    if any(page.member for page, _ in found):
        blocks = _with_members(list(parsed.blocks), found)
    else:
        blocks = sorted((*parsed.blocks, *(block for _, block in found)), key=lambda block: block.page or 0)
    if parsed.media_type.startswith("image/") and len(blocks) == 1:
        blocks = [replace(blocks[0], page=None)]
        notes = [note.removeprefix("page 1 ") for note in notes]
    title = parsed.title if parsed.blocks else stem(name)
    return replace(parsed, title=title, blocks=tuple(blocks), notes=(*parsed.notes, *notes), picture_pages=())


def _with_members(blocks: list[Block], found: list[tuple[PicturePage, Block]]) -> list[Block]:
    """Insert each OCR page of an archive after the blocks of its own file, or at the end."""
    for page, read in found:
        path = page.member.replace("\\", "/")
        number = read.page if path.lower().endswith((".pdf", ".tif", ".tiff")) else None
        block = replace(read, text=f"# {stem(path)}\n\n{read.text}", page=number, label=f"{path}: {read.label}")
        same = [i for i, one in enumerate(blocks) if (one.label or "").partition(": ")[0] == path]
        before = [i for i in same if (blocks[i].page or 0) <= (number or 0)] or same
        blocks.insert(before[-1] + 1 if before else len(blocks), block)
    return blocks


def _page_name(page: PicturePage) -> str:
    return f"{page.member[:100]}, page {page.number}" if page.member else f"page {page.number}"


def _picture_pages(pages: int) -> str:
    return "one page is a picture" if pages == 1 else f"{pages} pages are pictures"


def _shorten_notes(notes: list[str], most: int = 10) -> list[str]:
    return notes if len(notes) <= most else [*notes[:most], f"and {len(notes) - most} more pages read by OCR"]


def _reasons(refused: list[tuple[PicturePage, DocumentRejected]]) -> list[str]:
    return _shorten_notes([f"{_page_name(page)} not read by OCR: {Exception.__str__(why)}" for page, why in refused])


def _left_out(parsed: ParsedDocument, most: int) -> list[str]:
    left = len(parsed.picture_pages) - most
    return [f"{left} more pages are pictures; at most {most} are read by OCR"] if left > 0 else []


DRAWING = SandboxLimits(memory=768 * MB, seconds=15.0, cpu_seconds=15, output_bytes=16 * MB, documents=50)
MOST_MARKS = 200


class SandboxedPagePictures(Sandbox, PagePictures):
    """Renderer of PDF pages in a lazily started process. Use it with ``async with``."""

    def __init__(self) -> None:
        super().__init__(workers=1, limits=DRAWING, task="draw")

    async def draw(self, name: str, data: bytes, page: int, quote: str = "") -> PagePicture:
        """Draw one page, counted from 1. Raises DocumentRejected."""
        return picture_of(await self.draw_page(name, data, page, quote))


def picture_of(body: bytes) -> PagePicture:
    """Return the image in a worker's answer, which is not trusted.

    Raises:
        DocumentRejected: the worker's reason, or that its answer is malformed.
    """
    try:
        answer = json.loads(body)
        if reason := answer.get("rejected"):
            raise DocumentRejected(str(reason)[:1_000])
        png = base64.b64decode(answer["png"], validate=True)
        if not png.startswith(b"\x89PNG\r\n\x1a\n"):
            raise ValueError("no PNG")  # noqa: TRY301 - malformed, like the others
        marks = tuple(Box(*map(float, box)) for box in answer["marks"][:MOST_MARKS])
        return PagePicture(png, int(answer["width"]), int(answer["height"]), int(answer["pages"]), marks)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise DocumentRejected("This page could not be turned into a picture.") from error
