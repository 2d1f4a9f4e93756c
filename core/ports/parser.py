"""The bytes of a file as a document."""

from collections.abc import Callable
from typing import Protocol

from core.model.parsed_document import ParsedDocument

PageProgress = Callable[[int, int], None]
"""Told (pages done, pages to do)."""


class Parser(Protocol):
    """Turns the bytes of a file into text with headings and places."""

    async def parse(self, name: str, data: bytes, progress: PageProgress | None = None) -> ParsedDocument:
        """The document's text; ``progress`` hears of pages that take seconds each, because they are pictures.

        Raises DocumentRejected with the reason when it cannot become knowledge.
        """
