"""Single images: a screenshot, a photographed page, a fax. Text recognition (OCR) reads them later."""

import re
from functools import partial

from adapters.documents import reader
from adapters.documents.format import Format
from adapters.documents.page_images import page_count
from adapters.documents.titles import stem
from core.model.document_content import ParsedDocument, PicturePage


def read(name: str, data: bytes) -> ParsedDocument:
    """Return a document without text that lists the images for OCR. Raises DocumentRejected if it is damaged."""
    return ParsedDocument(
        title=stem(name),
        blocks=(),
        media_type=reader.detect(name, data),
        picture_pages=tuple(PicturePage(number) for number in range(1, page_count(data) + 1)),
    )


def _begins_with(mark: re.Pattern[bytes], data: bytes) -> bool:
    return mark.match(data) is not None


FORMATS = tuple(
    Format(
        media_type=f"image/{kind}",
        read=read,
        in_bytes=partial(_begins_with, re.compile(mark, re.DOTALL)),
        pictures="This is an image",
    )
    for kind, mark in (
        ("png", rb"\x89PNG\r\n\x1a\n"),
        ("jpeg", rb"\xff\xd8\xff"),
        ("gif", rb"GIF8"),
        ("tiff", rb"II\*\0|MM\0\*"),
        ("webp", rb"RIFF....WEBP"),
    )
)
