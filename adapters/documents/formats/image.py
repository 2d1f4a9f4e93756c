"""Images by themselves: a screenshot, a photographed page, a fax. All of them is left to text recognition (OCR)."""

from adapters.documents import media_types
from adapters.documents.ocr.page_images import page_count
from adapters.documents.titles import stem
from core.model.parsed_document import ParsedDocument, PicturePage


def read(name: str, data: bytes) -> ParsedDocument:
    """No text yet: how many pictures there are to be read. Raises DocumentRejected when it is damaged."""
    return ParsedDocument(
        title=stem(name),
        blocks=(),
        media_type=media_types.detect(name, data),
        picture_pages=tuple(PicturePage(number) for number in range(1, page_count(data) + 1)),
    )
