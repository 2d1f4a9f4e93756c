"""Read any supported file as Markdown with locators: detect the format, call its reader, check what it returns."""

from dataclasses import replace

from adapters.documents import media_types
from adapters.documents.encodings import repair, without_data
from adapters.documents.format import by_media_type
from core.model.document_content import ParsedDocument
from core.model.errors import NoText


def read(name: str, data: bytes) -> ParsedDocument:
    """Return the text of any supported file as Markdown with places.

    Raises:
        DocumentRejected: with one reason that a person understands.
    """
    media_type = media_types.detect(name, data)
    parsed = by_media_type()[media_type].read(name, data)
    blocks = tuple(
        replace(block, text=without_data(repair(block.text))) for block in parsed.blocks if block.text.strip()
    )
    if not blocks and not parsed.picture_pages:
        raise NoText("There is no text in this file.")
    notes = (*parsed.notes, *media_types.misnaming_notes(name, media_type))
    return replace(parsed, title=repair(parsed.title), blocks=blocks, notes=notes)
