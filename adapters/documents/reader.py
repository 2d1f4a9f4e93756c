"""Any supported file to Markdown with locators: the format is found out, its reader loaded, its answer checked."""

import importlib
from collections.abc import Callable
from dataclasses import replace

from adapters.documents import media_types
from core.model.errors import NoText
from core.model.parsed_document import ParsedDocument

Reader = Callable[[str, bytes], ParsedDocument]

READERS: dict[str, str] = {
    "text/markdown": "text:read_markdown",
    "text/plain": "text:read_text",
    media_types.HTML: "html:read",
    media_types.PDF: "pdf:read",
    media_types.DOCX: "docx:read",
    media_types.PPTX: "pptx:read",
    media_types.XLSX: "xlsx:read",
    "text/csv": "csv:read",
    "text/tab-separated-values": "csv:read",
    media_types.EML: "eml:read",
    media_types.MSG: "msg:read",
    media_types.EPUB: "epub:read",
    media_types.RTF: "rtf:read",
    media_types.ODT: "odt:read",
    "text/x-rst": "rst:read",
    "application/json": "json:read_json",
    "application/x-ndjson": "json:read_lines",
    media_types.CODE: "source_code:read",
    media_types.ZIP: "zip_archive:read",
    **dict.fromkeys(media_types.IMAGES, "image:read"),
}
"""Media type to 'module:function' in `formats`; loaded when first needed."""


def read(name: str, data: bytes) -> ParsedDocument:
    """Any supported file as Markdown with places.

    Raises:
        DocumentRejected: with one reason that a person understands.
    """
    media_type = media_types.detect(name, data)
    module, function = READERS[media_type].split(":")
    reader: Reader = getattr(importlib.import_module(f"adapters.documents.formats.{module}"), function)
    parsed = reader(name, data)
    blocks = tuple(block for block in parsed.blocks if block.text.strip())
    if not blocks and not parsed.picture_pages:
        raise NoText("There is no text in this file.")
    notes = (*parsed.notes, *media_types.misnaming_notes(name, media_type))
    return replace(parsed, blocks=blocks, notes=notes)
